"""Compares the history of symbols with `git log -L` on the same lines of a real repository: `history_attribution.py REPOSITORY [COUNT]`.

Both start from the lines a symbol has now. `git log -L` carries those lines back through every commit; Orbit asks for each commit which
symbol of that name stood in the lines it changed. Prints how far they agree, and for each difference what kind it is.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from orbit.graph import Graph

SEED = 7


def log_range(root: Path, first: int, last: int, path: str) -> list[str]:
    command = ["git", "log", "--no-merges", "--format=%H", "-s", f"-L{first},{last}:{path}"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()


def run(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def explain(root: Path, sha: str, path: str, is_ours: bool, name: str, oldest: int) -> str:
    """Why one side lists a commit and the other does not. `oldest`: when -L saw the lines first."""
    here = [line for line in run(root, "show", "--format=", "--name-status", "-M", sha, "--").splitlines() if path in line.split("\t")]
    if not here:
        return "only -L: the file had another path then, and Orbit follows no renames"
    if any(line.startswith("R") for line in here):
        return f"only {'Orbit: this commit gave the file its path, so all of it is new' if is_ours else '-L: this commit gave the file its path'}"
    patch = run(root, "show", "--format=", "-U0", sha, "--", path).splitlines()
    heads = [line for line in patch if f" {name}" in line and ("def " in line or "class " in line)]
    removed, added = (any(line.startswith(sign) for line in heads) for sign in "-+")
    if is_ours:
        if sha not in run(root, "log", "--format=%H", "--", path).split():
            return "only Orbit: on a side of a merge that brought the same change twice; git's simplified history shows the other side"
        if int(run(root, "show", "-s", "--format=%ct", sha)) < oldest:
            return "only Orbit: older than the oldest line of today's symbol; the name is older than its lines"
        return "only Orbit: touches the symbol by its name (moved, repeated, or lines taken away at its edge) on lines -L does not carry back"
    if added or removed:
        return "only -L: the definition line itself changed (another name, or another symbol's lines)"
    return "only -L: lines that were not, or not yet, the symbol's"


def main() -> None:
    root, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 60
    with Graph.open(root) as graph:
        graph.sync()
        started = time.perf_counter()
        overview = graph.overview("dir:src", format="full", limit=100_000)
        rows = [(file.path, s) for file in overview.files if file.symbols for s in file.symbols if s.kind in ("function", "method", "class")]
        chosen = random.Random(SEED).sample(rows, min(count, len(rows)))
        same = ours_only = theirs_only = equal = 0
        why: Counter[str] = Counter()
        for path, symbol in chosen:
            selector = f"symbol:{path}#{symbol.qualified}:{symbol.kind}"
            shown = graph.show(selector)
            ours = {commit.sha for commit in graph.history(selector, limit=100_000).commits}
            theirs = set(log_range(root, *shown.lines, path))
            same += len(ours & theirs)
            ours_only += len(ours - theirs)
            theirs_only += len(theirs - ours)
            equal += ours == theirs
            oldest = min((int(run(root, "show", "-s", "--format=%ct", sha)) for sha in theirs), default=0)
            for sha in ours ^ theirs:
                why[explain(root, sha, path, sha in ours, symbol.name, oldest)] += 1
        print(f"{len(chosen)} symbols in {time.perf_counter() - started:.0f} s: {equal} with the very same commits")
        print(f"commits: {same} by both, {ours_only} only by Orbit, {theirs_only} only by git log -L")
        elsewhere = sum(number for reason, number in why.items() if "another path then" in reason)
        print(f"of what -L lists at the same path, Orbit lists {same} of {same + theirs_only - elsewhere}")
        for reason, number in why.most_common():
            print(f"{number:5} {reason}")


if __name__ == "__main__":
    main()
