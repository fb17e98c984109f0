"""How many of the test files that real commits changed together with the code would `impact` have named? `diff_impact.py REPOSITORY [COUNT]`.

For each of the newest commits that change code and existing tests, and at most ten files: the tree before it, with its changes outside
tests applied and nothing else. What `impact --worktree` then lists is compared with the test files the commit itself changed. The
repository is checked out back and forth: give it a clone.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from orbit.graph import Graph
from orbit.graph.query.diff import find_changed, impact_of_diff
from orbit.graph.query.impact import ImpactParams

MOST_FILES = 10


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return path.endswith(".py") and (path.startswith(("tests/", "test/")) or "/tests/" in path) and name.startswith("test_")


def chosen(root: Path, tip: str, count: int) -> list[tuple[str, list[str], list[str]]]:
    """(commit, code it changed, existing test files it changed)."""
    found = []
    for sha in git(root, "rev-list", "--no-merges", tip).split():
        rows = [line.split("\t") for line in git(root, "diff-tree", "--no-commit-id", "--name-status", "--no-renames", "-r", sha).splitlines()]
        tests = [row[1] for row in rows if row[0] == "M" and is_test(row[1])]
        sources = [row[1] for row in rows if row[0] in "MA" and row[1].endswith(".py")]
        code = [path for path in sources if not path.startswith(("docs/", "tests/", "examples/")) and not is_test(path)]
        if tests and code and len(rows) <= MOST_FILES:
            found.append((sha, code, tests))
            if len(found) == count:
                break
    return found


def main() -> None:
    root, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 30
    tip = git(root, "rev-parse", "HEAD").strip()
    wanted = named = by_reference = listed_files = all_files = near_named = near_files = 0
    how: Counter[str] = Counter()
    missed: list[str] = []
    try:
        for sha, code, tests in chosen(root, tip, count):
            git(root, "checkout", "-q", "--force", "--detach", f"{sha}^")
            with Graph.open(root) as graph:
                graph.sync()
                git(root, "checkout", "-q", sha, "--", *code)
                git(root, "reset", "-q")
                graph.sync()
                answer = graph.put(lambda db, ask, here=root: impact_of_diff(db, ask, find_changed(db, here, ask)), ImpactParams(worktree=True))
            rows = answer.tests or []
            paths = {row.path for row in rows}
            evidence = {path: next(row.evidence for row in rows if row.path == path) for path in paths}
            every = {path for path in git(root, "ls-files").splitlines() if is_test(path)}
            wanted += len(tests)
            named += sum(path in paths for path in tests)
            by_reference += sum(evidence.get(path) in ("calls", "changed") for path in tests)
            how.update(evidence[path] for path in tests if path in paths)
            missed += [f"{sha[:10]} {path}" for path in tests if path not in paths]
            listed_files += len(paths & every)
            near = {row.path for row in rows if row.evidence != "import"}
            near_named += sum(path in near for path in tests)
            near_files += len(near & every)
            all_files += len(every)
            git(root, "checkout", "-q", "--force", "--detach", tip)
    finally:
        git(root, "checkout", "-q", "--force", "--detach", tip)
    print(f"{named} of {wanted} changed test files named ({named / wanted:.0%}); by references alone {by_reference} ({by_reference / wanted:.0%})")
    print(f"of all test files, {listed_files / all_files:.0%} were named on average; evidence: {dict(how)}")
    print(f"without imports as evidence: {near_named} ({near_named / wanted:.0%}), naming {near_files / all_files:.0%} of all test files")
    for line in missed:
        print("missed", line)


if __name__ == "__main__":
    main()
