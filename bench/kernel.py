"""The Linux kernel as a worktree: does a tree of 59k files build, answer and refresh?

    python bench/kernel.py [--json FILE] [--edits 24] [--check] [--no-floor] [--write]

`--check` also builds the graph a second time after the edits and compares: it takes as long as the first build. The worktree, 2 GB with its
git repository, is made once in the cache beside the corpora. Its graph is made anew each time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from corpus import cache, corpus
from measure import parse_floor, run_command, sources
from questions import questions
from run import Bench, database
from targets import machine, report, write_section
from trees import commit

from orbit.graph import Graph

LEAST_FILES = 55_000


def worktree() -> Path:
    """A committed copy of the corpus. Made beside its place first: a half-made one is never used."""
    root = cache() / "worktrees" / "linux"
    if not root.is_dir():
        made = root.with_name("linux.tmp")
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(next(path for path in corpus("linux").iterdir() if path.is_dir()), made)
        commit(made)
        made.rename(root)
    return root


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, default=cache() / "kernel.json")
    parser.add_argument("--edits", type=int, default=24)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--no-floor", action="store_true")
    parser.add_argument("--write", action="store_true", help="put the table into docs/BENCHMARKS.md")
    given = parser.parse_args()
    root = worktree()
    with tempfile.TemporaryDirectory() as room:
        bench = Bench(Path(room), 1, None)
        floor_wall, floor_cpu = (0.0, 0.0) if given.no_floor else parse_floor(sources(root), bench.processes)
        shutil.rmtree(root / ".orbit", ignore_errors=True)
        wall, used, peak = run_command([*bench.orbit, "graph", "sync"], root, bench.env, watch=0.2)
        rows = {"kernel: cold sync": {"seconds": wall, "cpu": used}, "kernel: peak memory": {"bytes": peak}}
        if floor_cpu:
            rows["kernel: cold sync"] |= {"floor": floor_cpu, "ratio": used / floor_cpu, "wall_ratio": wall / floor_wall}
        rows["kernel: database"] = {"bytes": database(root).stat().st_size}
        with Graph.open(root) as graph:
            answer = graph.sync()
            found = {"files": answer.files_indexed, "symbols": answer.symbols, "refs": answer.refs}
            if found["files"] < LEAST_FILES or not graph.refs("symbol:mm/slab_common.c#kfree").total:
                raise SystemExit(f"the kernel's graph is not whole: {found}")
            bench.rows = questions(graph, database(root), "kernel", 3)
            bench.refresh(graph, root, "kernel", given.edits, checked=given.check)
    rows |= {f"kernel: {label.partition(' (')[0]}": row for label, row in bench.rows.items()}
    print(report(rows))
    print(found)
    if given.write:
        counts = ", ".join(f"{count:,} {name}" for name, count in found.items())
        write_section("kernel", f"{machine()} {counts}.\n\n{report(rows)}")
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps({"answers": found, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
