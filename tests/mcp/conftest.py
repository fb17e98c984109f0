"""A small repository with every kind of thing the tools can be asked for, real ones, and a client that talks to a server on them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from desk import Desk

SOURCE = Path(__file__).resolve().parent.parent.parent

FILES = {
    "pkg/__init__.py": "",
    "pkg/jobs.py": '''\
from pkg.store import Store


class Base:
    def run(self):
        return "scheduler tick failed"


class Nightly(Base):
    def run(self):
        return load(Store())


def load(store):
    return store.read()
''',
    "pkg/store.py": '''\
class Store:
    def read(self):
        return 1
''',
    "pkg/cli.py": '''\
import click

from pkg.jobs import Nightly, load


@click.command("nightly")
def nightly():
    Nightly().run()
    load(None)
''',
    "tests/test_jobs.py": '''\
from pkg.jobs import load


def test_load():
    assert load(None)
''',
    "settings.toml": "[retry]\nlimit = 3\n",
}


@pytest.fixture(scope="session", autouse=True)
def _plain_git(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("GIT_CEILING_DIRECTORIES", os.fspath(tmp_path_factory.getbasetemp()))
        patch.delenv("CODEX_HOME", raising=False)
        yield


def _make(root: Path) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return _commit(root)


def _commit(root: Path) -> Path:
    for arguments in (["init", "-q", "--template="], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return root


@pytest.fixture(scope="session")
def make_repository() -> Callable[[Path], Path]:
    return _make


def _make_real(root: Path, name: str) -> Path:
    """A real repository: `own` is a clone of this one, other names are installed packages, put under git."""
    if name == "own":
        if not (SOURCE / ".git").exists():
            pytest.skip("away from the source tree")
        subprocess.run(["git", "clone", "-q", "--local", str(SOURCE), str(root)], check=True, capture_output=True)
        return root
    package = find_spec(name)
    assert package is not None
    assert package.origin is not None
    shutil.copytree(Path(package.origin).parent, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    return _commit(root)


@pytest.fixture(scope="session")
def make_real() -> Callable[[Path, str], Path]:
    return _make_real


@pytest.fixture
def real_repository(tmp_path: Path) -> Path:
    return _make_real(tmp_path / "real", "click")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return _make(tmp_path / "work")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A client whose server has indexed its repository; shared, so tests do not change files."""
    with Desk(_make(tmp_path_factory.mktemp("shared") / "work"), "--tools", "all") as client:
        assert client.call("graph_sync")["files_indexed"] > 0
        yield client


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak-seconds", default="60", help="how long the slow soak of the MCP server runs")
