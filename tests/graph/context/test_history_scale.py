"""A history of 2,200 commits: how fast it is walked and extended, and whether it agrees with `git log -L`."""

from __future__ import annotations

import random
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit.config import Workspace
from orbit.graph import Graph
from orbit.graph.index.history import DEFAULT_PATTERN, extend

Git = Callable[..., str]
COMMITS, FILES, FUNCTIONS = 2_200, 12, 8


def stream(seed: int) -> str:
    """For `git fast-import`: each commit changes, adds or takes away a line inside one function."""
    dice = random.Random(seed)
    bodies = {(file, name): [f"    step_{line} = {line}" for line in range(4)] for file in range(FILES) for name in range(FUNCTIONS)}
    pieces = []
    for number in range(COMMITS):
        if number:
            file, name = dice.choice(list(bodies))
            body, way = bodies[file, name], dice.random()
            at = dice.randrange(1, len(body) - 1)
            if way < 0.6:
                body[at] = f"    step_{at} = {number}"
            elif way < 0.85 or len(body) < 4:
                body.insert(at, f"    more_{number} = {number}")
            else:
                del body[at]
            files = [file]
        else:
            files = list(range(FILES))
        message = f"Change {number} [T20260101-{number % 97}]"
        pieces.append(f"commit refs/heads/main\nmark :{number + 1}\ncommitter A <a@example.org> {1_700_000_000 + number * 60} +0000\n")
        pieces.append(f"data {len(message)}\n{message}\n" + (f"from :{number}\n" if number else ""))
        for file in files:
            text = "\n\n".join(f"def task_{name}():\n" + "\n".join(bodies[file, name]) + "\n    return step_0" for name in range(FUNCTIONS)) + "\n"
            pieces.append(f"M 100644 inline pkg/part_{file}.py\ndata {len(text)}\n{text}\n")
    return "".join(pieces)


@pytest.fixture
def long(repository: Path, git: Git) -> Path:
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repository, input=stream(3).encode(), check=True, capture_output=True)
    git("checkout", "-q", "-f", "main")
    return repository


@pytest.mark.slow
def test_a_long_history_is_walked_fast_and_agrees_with_git(long: Path, git: Git) -> None:
    workspace, pattern = Workspace(long), re.compile(DEFAULT_PATTERN)
    git("reset", "-q", "--hard", "HEAD~10")
    started = time.process_time()
    done = extend(workspace, pattern)
    rate = done.commits_walked / (time.process_time() - started)
    assert done.commits_walked == COMMITS - 10
    assert rate > 300, f"{rate:.0f} commits a second of processor time, {done.duration_ms} ms in all"
    git("merge", "-q", "--ff-only", "ORIG_HEAD")
    started = time.process_time()
    assert extend(workspace, pattern).commits_walked == 10
    assert time.process_time() - started < 0.2
    with Graph.open(long) as graph:
        graph.sync()
        for file in range(FILES):
            for name in range(0, FUNCTIONS, 1 if file < 4 else 3):
                selector = f"symbol:pkg/part_{file}.py#pkg.part_{file}.task_{name}:function"
                first, last = graph.show(selector).lines
                theirs = git("log", "-s", "--format=%H", f"-L{first},{last}:pkg/part_{file}.py").split()
                assert [commit.sha for commit in graph.history(selector, limit=5_000).commits] == theirs, selector
