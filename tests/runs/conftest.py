"""Shared by the tests of runs: a real worktree in a temporary folder, and readers of its files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from orbit.config import Workspace
from orbit.runs.rundir import RunFolder

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes long; run with -m slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "slow" not in config.getoption("-m"):
        for item in items:
            if HERE in item.path.parents and item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow; run with -m slow"))


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A worktree without git, and the runs in it."""
    (tmp_path / ".orbit").mkdir()
    return RunFolder(Workspace(tmp_path))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git worktree with one committed file."""
    root = tmp_path / "repository"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "."], ["add", "."], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Child processes in other folders import the same `orbit` as the tests do."""
    import orbit

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(Path(orbit.__file__).parents[1]), os.environ.get("PYTHONPATH")])))


Finished = subprocess.CompletedProcess[str]


@pytest.fixture
def run_program() -> Callable[..., Finished]:
    """Runs one of the programs beside the tests to its end."""

    def run(name: str, *words: Any, **options: Any) -> Finished:
        command = [sys.executable, str(HERE / "programs" / name), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, **options)

    return run


@pytest.fixture
def orbit() -> Callable[..., Finished]:
    """The command line in a process of its own."""

    def run(root: Path, *words: str, env: Mapping[str, str] = {}, **options: Any) -> Finished:
        command = [sys.executable, "-c", "from orbit.cli import main; main()", *words]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **env}, **options)

    return run
