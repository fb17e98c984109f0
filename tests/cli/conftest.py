"""The command as a user runs it: a process of its own, in a worktree of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit.graph import Graph

Run = Callable[..., "subprocess.CompletedProcess[str]"]
FILES = {
    "jobs.py": """\
class Job:
    def start(self):
        return run_due(1)


class Daily(Job):
    pass


def run_due(count):
    return count
""",
    "main.py": "from jobs import Job, run_due\n\n\ndef main():\n    job = Job()\n    job.start()\n    print('all jobs are done')\n    return run_due(2)\n",
    "twice.py": "def run_due():\n    pass\n",
    "settings.toml": "[jobs]\nretry_limit = 3\n",
}


@pytest.fixture
def orbit(tmp_path: Path) -> Run:
    """Runs `orbit` in the test's worktree."""

    def run(*arguments: str, cwd: Path = tmp_path, **environment: str) -> subprocess.CompletedProcess[str]:
        settings = {**os.environ, "HOME": str(tmp_path), "GIT_CEILING_DIRECTORIES": str(tmp_path.parent), **environment}
        command = [sys.executable, "-c", "from orbit.cli import main; main()", *arguments]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=settings, check=False)

    return run


@pytest.fixture(scope="session")
def _synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("synced")
    for path, text in FILES.items():
        (root / path).write_text(text, encoding="utf-8")
    with Graph.open(root) as graph:
        graph.sync()
    return root


@pytest.fixture
def worktree(tmp_path: Path, _synced: Path) -> Path:
    """A synced worktree of the test's own."""
    shutil.copytree(_synced, tmp_path, dirs_exist_ok=True)
    return tmp_path
