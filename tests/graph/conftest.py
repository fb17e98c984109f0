"""Real repositories in temporary folders, away from the user's own git configuration."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]
PIECES = [
    "a", "b", "c", "foo", "bar", ".c", ".", "*", "**", "?", "/", "/", "[a-c]", "[!a]", "[^b]", "[]a]", "[[:alpha:]]", "[a", "\\", "\\*", "\\[",
    "-", " ", "é", "!", "#", "[a-]", "A",
]  # fmt: skip
LINES = [
    "*", "!*/", "/*", "!/a", "a/", "**/b", "a/**", "a/**/b", "foo**/bar", "/foo**", "*.c", "!a.c", "a?", "\\!a", "\\#a", "#a", "a \\ ",
    "foo/", "!foo/bar", "*/a", "a//", "//a", "/", "**", "a\r",
]  # fmt: skip
CONFIG = """\
[user]
	name = A
	email = a@example.org
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
"""


@pytest.fixture(autouse=True)
def _plain_git(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    (home / ".gitconfig").write_text(CONFIG, encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", os.fspath(tmp_path_factory.getbasetemp()))


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs git in the test's folder, or in `cwd`; returns what it writes."""

    def run(*arguments: str, cwd: Path = tmp_path) -> str:
        return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True, errors="surrogateescape").stdout.strip()

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    git("init", "-q", "--template=")
    return tmp_path


@pytest.fixture
def write() -> Callable[[Path, dict[str, str]], None]:
    """Writes files given as path and text below a folder."""

    def write_files(root: Path, files: dict[str, str]) -> None:
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")

    return write_files


@pytest.fixture
def grow_tree() -> Callable[[Path, int, list[str], tuple[str, ...]], tuple[list[str], list[str]]]:
    """Grows a random tree of folders and files with these names, and ignore files with random patterns in some folders; returns its folders and files."""

    def grow(root: Path, seed: int, names: list[str], ignore_names: tuple[str, ...]) -> tuple[list[str], list[str]]:
        choose = random.Random(seed)
        folders: list[str] = []
        for _ in range(12):
            folder = f"{choose.choice(['', *folders])}/{choose.choice(names)}".lstrip("/")
            if folder not in folders and folder.count("/") < 4:
                (root / folder).mkdir()
                folders.append(folder)
        files = sorted({f"{choose.choice(['', *folders])}/{choose.choice(names)}".lstrip("/") for _ in range(60)} - set(folders))
        for file in files:
            (root / file).touch()
        for ignore_name in ignore_names:
            for folder in ["", *choose.sample(folders, min(4, len(folders)))]:
                lines = [random_pattern(choose) for _ in range(choose.randint(1, 6))]
                (root / folder / ignore_name).write_bytes("\n".join(lines).encode() + choose.choice([b"", b"\n"]))
        return folders, files

    return grow


def random_pattern(choose: random.Random) -> str:
    if choose.random() < 0.3:
        return choose.choice(LINES)
    middle = "".join(choose.choice(PIECES) for _ in range(choose.randint(1, 5)))
    return ("!" if choose.random() < 0.25 else "") + middle + ("/" if choose.random() < 0.2 else "")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--edits", default="2000", help="how many random edits the slow test of incremental syncs makes")
