"""How many of the test files that real commits changed together with the code would `impact` have named? `diff_impact.py REPOSITORY...`.

For each of the newest commits that change code and existing tests, and at most ten files: the tree before it, with its changes outside
tests applied and nothing else. What `impact --worktree` then lists is compared with the test files the commit itself changed, whatever it changed them for.
Commits that change only layout and comments of the code are left out. The repositories are checked out back and forth: give it clones.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

from orbit.graph import Graph
from orbit.graph.query.diff import find_changed, impact_of_diff
from orbit.graph.query.impact import ImpactParams
from orbit.graph.query.runnable import TestRow

COUNT, MOST_FILES = 30, 10
EVIDENCE = ("calls", "name", "file_name", "likely")


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return path.endswith(".py") and (path.startswith(("tests/", "test/")) or "/tests/" in path) and name.startswith("test_")


def says_other(root: Path, sha: str, path: str) -> bool:
    """Did a commit change more of a file than its layout and comments? If not, no test was changed because of it."""
    sides = []
    for side in (f"{sha}^", sha):
        shown = subprocess.run(["git", "show", f"{side}:{path}"], cwd=root, capture_output=True, check=False)
        sides.append(ast.dump(ast.parse(shown.stdout)) if shown.returncode == 0 else None)
    return sides[0] != sides[1]


def chosen(root: Path, tip: str, count: int) -> list[tuple[str, list[str], list[str]]]:
    """(commit, code it changed, existing test files it changed)."""
    found = []
    for sha in git(root, "rev-list", "--no-merges", tip).split():
        rows = [line.split("\t") for line in git(root, "diff-tree", "--no-commit-id", "--name-status", "--no-renames", "-r", sha).splitlines()]
        tests = [row[1] for row in rows if row[0] == "M" and is_test(row[1])]
        sources = [row[1] for row in rows if row[0] in "MA" and row[1].endswith(".py")]
        code = [path for path in sources if not path.startswith(("docs/", "tests/", "examples/")) and not is_test(path)]
        if tests and code and len(rows) <= MOST_FILES and any(says_other(root, sha, path) for path in code):
            found.append((sha, code, tests))
            if len(found) == count:
                break
    return found


def ask(root: Path, sha: str, code: list[str]) -> list[TestRow]:
    """What `impact` says of a commit's code, given the tests as they were before."""
    git(root, "checkout", "-q", "--force", "--detach", f"{sha}^")
    with Graph.open(root) as graph:
        graph.sync()
        git(root, "checkout", "-q", sha, "--", *code)
        git(root, "reset", "-q")
        graph.sync()
        return graph.put(lambda db, asked: impact_of_diff(db, asked, find_changed(db, root, asked)), ImpactParams(worktree=True)).tests or []


def measure(root: Path, count: int) -> None:
    tip = git(root, "rev-parse", "HEAD").strip()
    commits = chosen(root, tip, count)
    wanted = every = 0
    hits, named = Counter[str](), Counter[str]()  # by the surest evidence of a file
    missed = []
    try:
        for sha, code, tests in commits:
            evidence: dict[str, str] = {}
            for row in ask(root, sha, code):
                evidence.setdefault(row.path, row.evidence)
            known = {path for path in git(root, "ls-files").splitlines() if is_test(path)}
            wanted, every = wanted + len(tests), every + len(known)
            hits.update(evidence[path] for path in tests if path in evidence)
            named.update(evidence[path] for path in known if path in evidence)
            missed += [f"  missed {sha[:10]} {path}" for path in tests if path not in evidence]
    finally:
        git(root, "checkout", "-q", "--force", "--detach", tip)
    print(f"{root.name} at {tip[:10]}: {len(commits)} commits, {every / len(commits):.0f} test files; changed by the commits {wanted}")
    for number in range(1, len(EVIDENCE) + 1):
        found, listed = (sum(counter[one] for one in EVIDENCE[:number]) for counter in (hits, named))
        print(f"  {' + '.join(EVIDENCE[:number]):34} {found:3} of {wanted} ({found / wanted:.0%}), naming {listed / every:.0%} of all test files")
    print("\n".join(missed))


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        measure(Path(folder), COUNT)
