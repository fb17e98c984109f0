"""The command as a user runs it: a process of its own, in a worktree of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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


@pytest.fixture
def worktree(tmp_path: Path, orbit: Run) -> Path:
    """A synced worktree."""
    for path, text in FILES.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    done = orbit("graph", "sync", "--json")
    assert done.returncode == 0, done.stderr
    return tmp_path
