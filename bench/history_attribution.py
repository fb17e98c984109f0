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


def explain(root: Path, sha: str, path: str, is_ours: bool, introduced: set[str], name: str) -> str:
    """Why one side lists a commit and the other does not."""
    changed = subprocess.run(["git", "show", "--format=", "--name-status", "-M", sha, "--"], cwd=root, capture_output=True, text=True, check=True).stdout
    here = [line for line in changed.splitlines() if path in line.split("\t")]
    if not here:
        return "only -L: the file was then at another path (a rename, not followed by Orbit)"
    if any(line.startswith("R") for line in here):
        return f"only {'Orbit' if is_ours else '-L'}: the commit renamed the file"
    patch = subprocess.run(["git", "show", "--format=", "-U0", sha, "--", path], cwd=root, capture_output=True, text=True, check=True).stdout
    removed = any(line.startswith("-") and f" {name}" in line and ("def " in line or "class " in line) for line in patch.splitlines())
    added = any(line.startswith("+") and f" {name}" in line and ("def " in line or "class " in line) for line in patch.splitlines())
    if is_ours:
        if introduced and sha not in introduced:
            return "only Orbit: -L had lost the lines, or follows another parent of a merge"
        return "only Orbit: a commit on a side of a merge that -L does not follow"
    if added and not removed:
        return "only -L: the symbol is introduced or moved here"
    if removed or added:
        return "only -L: the definition line changed (symbol renamed, or its lines were another symbol's)"
    return "only -L: lines that were not yet, or not only, the symbol's"


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
            for sha in ours ^ theirs:
                why[explain(root, sha, path, sha in ours, theirs, symbol.name)] += 1
        print(f"{len(chosen)} symbols in {time.perf_counter() - started:.0f} s: {equal} with the very same commits")
        print(f"commits: {same} by both, {ours_only} only by Orbit, {theirs_only} only by git log -L")
        for reason, number in why.most_common():
            print(f"{number:5} {reason}")


if __name__ == "__main__":
    main()
