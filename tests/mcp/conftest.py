"""A small repository with every kind of thing the tools can be asked for, and a client that talks to a server on it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desk import Desk

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
    (home / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n", encoding="utf-8")
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
    for arguments in (["init", "-q", "--template="], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return root


@pytest.fixture(scope="session")
def make_repository() -> Callable[[Path], Path]:
    return _make


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
