"""Real repositories in temporary folders, away from the user's own git configuration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]
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
