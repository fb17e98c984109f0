"""Speed, row by row: each as a time and as a ratio to a floor measured in the same run. Answers are checked before a timing is believed.

    python bench/run.py [--quick] [--only PART ...] [--rounds 3] [--json FILE] [--trend FILE] [--plant STAGE] [--write]

Floors: parsing the same files with bare tree-sitter in as many processes (cold sync, stages), the same rows into bare SQLite tables (write),
`git ls-files` and a stat of each file (syncs of what is there), an indexed lookup in a bare SQLite table (questions), starting Python (commands).
Rounds are interleaved with their floors; the best round counts. Ratios are of CPU time: on a busy machine wall time says little.
`--quick` leaves out Django and the tree of 5,000 files, `--only` all but some parts of the rest. `--plant` makes one stage 30% slower: the gate
must then fail.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

import apsw
from corpus import cache, corpus
from extraction import cpu, extract_all
from measure import cpu_now, environment, least, p95, parse_all, parse_floor, run_command, sources, taken
from questions import check, questions
from stages import STAGES, plant, stage_stretches
from targets import machine, report, write_section
from trees import added, edited, tree_of
from trend import add_to_trend

from orbit.config import cpu_limit
from orbit.graph import Graph

ORBIT = [sys.executable, "-c", "from orbit.cli import main; main()"]
FILES_AT_ONCE = 16
COPIES = 24
PARTS = ("cold", "questions", "commands", "stages", "refresh")
IDLE = """
import sys
from pathlib import Path
from orbit.graph import Graph
with Graph.open(".") as graph:
    graph.sync()
    graph.search("open")
    print(next(line.split()[1] for line in Path("/proc/self/smaps_rollup").read_text().splitlines() if line.startswith("Pss:")))
"""
Row = dict[str, float]


class Bench:
    """One run: its trees, the environment of its commands, and the rows so far."""

    def __init__(self, room: Path, rounds: int, planted: str | None) -> None:
        self.room, self.rounds, self.env = room, rounds, environment()
        self.orbit = ORBIT if planted is None else [sys.executable, str(Path(__file__).with_name("stages.py")), planted]
        self.processes = cpu_limit()
        self.rows: dict[str, Row] = {}
        self.answers: dict[str, Any] = {}

    def cold(self, root: Path, name: str) -> None:
        """The command from nothing, beside the parser alone on the same files in as many processes."""
        contents = sources(corpus(name))
        best, peak = [1e9] * 4, 0
        for _ in range(self.rounds):
            floor_wall, floor_cpu = parse_floor(contents, self.processes)
            shutil.rmtree(root / ".orbit", ignore_errors=True)
            wall, used, _ = run_command([*self.orbit, "graph", "sync"], root, self.env)
            best = [min(pair) for pair in zip(best, (wall, used, floor_wall, floor_cpu), strict=True)]
        shutil.rmtree(root / ".orbit", ignore_errors=True)
        _, _, peak = run_command([*self.orbit, "graph", "sync"], root, self.env, watch=0.02)  # apart: looking costs time
        wall, used, floor_wall, floor_cpu = best
        held = sum(len(source) for held in contents.values() for source in held)
        size = database(root).stat().st_size
        self.rows |= {
            f"cold sync ({name})": {
                "seconds": wall, "cpu": used, "floor": floor_cpu, "floor_wall": floor_wall, "ratio": used / floor_cpu, "wall_ratio": wall / floor_wall,
            },
            f"peak memory ({name})": {"bytes": peak, "floor": held, "ratio": peak / held},
            f"database ({name})": {"bytes": size, "floor": held, "ratio": size / held},
        }  # fmt: skip

    def stages(self, graph: Graph, root: Path, name: str) -> None:
        """A build in this process, by stage: resolution and the rest over parsing, writing over a bare insertion of the rows."""
        contents, found = sources(corpus(name)), dict[str, list[list[float]]]()
        for _ in range(self.rounds):
            inserted = min(insert_cpu(database(root)) for _ in range(3))
            for stage, stretches in {"insert": [inserted], **extraction(contents), **stage_stretches(graph)}.items():
                found.setdefault(stage, []).append(stretches)
        best = {stage: least(rounds) for stage, rounds in found.items()}
        for stage, floor in (("extraction", "parse"), ("resolution", "parse"), ("write", "insert"), ("rest", "parse")):
            used = best["extract"] if stage == "extraction" else best[stage]
            self.rows[f"stage: {stage}"] = {"cpu": used, "floor": best[floor], "ratio": used / best[floor]}

    def refresh(self, graph: Graph, root: Path, name: str, edits: int, *, checked: bool = True) -> None:
        """Syncs in process: nothing changed; one file changed, a different one each time; a copy of some of them added. `checked`: the graph is that
        of a fresh build after the edits."""
        graph.sync()
        times: dict[str, list[tuple[float, float]]] = {"floor": [], "still": [], "one": [], "added": []}
        with edited(root, edits) as changes:
            paths = []
            for path in changes:
                paths.append(path)
                times["one"].append(taken(graph.sync))
                times["floor"].append(taken(lambda: list_and_stat(root)))
                times["still"].append(taken(graph.sync))
            if checked:
                check(graph, root)
            for path in paths[:COPIES]:
                with added(root, path):
                    seen: list[int] = []
                    times["added"].append(taken(lambda seen=seen: seen.append(graph.sync().files_changed)))  # type: ignore[misc]
                    if seen != [1]:
                        raise SystemExit(f"a copy of {path} was added, and {seen[0]} files changed: no timing is believed")
                graph.sync()
        graph.sync()
        walls = {label: [wall for wall, _ in held] for label, held in times.items()}
        used = {label: median(cpu for _, cpu in held) for label, held in times.items()}
        for label, row in (("still", "no-change sync"), ("one", "one file changed"), ("added", "one file added")):
            self.rows[f"{row} ({name})"] = {
                "seconds": median(walls[label]), "p95": p95(walls[label]), "cpu": used[label], "floor": used["floor"], "ratio": used[label] / used["floor"],
            }  # fmt: skip

    def commands(self, root: Path, name: str) -> None:
        """`orbit graph refs` from start to exit, beside Python starting and ending; and what an idle handle holds."""
        best = [1e9] * 3
        for _ in range(5 * self.rounds):
            floor = run_command([sys.executable, "-c", "pass"], root, self.env)[1]
            wall, used, _ = run_command([*self.orbit, "graph", "refs", "Console.print"], root, self.env)
            best = [min(pair) for pair in zip(best, (wall, used, floor), strict=True)]
        self.rows["refs as a command"] = {"seconds": best[0], "cpu": best[1], "floor": best[2], "ratio": best[1] / best[2]}
        printed = subprocess.run([sys.executable, "-c", IDLE], cwd=root, env=self.env, check=True, capture_output=True, text=True).stdout
        size = database(root).stat().st_size
        self.rows[f"idle memory ({name})"] = {"bytes": int(printed) * 1024, "floor": size, "ratio": int(printed) * 1024 / size}

    def mixed(self, wanted: list[str]) -> None:
        """The parts asked for. Each starts from a graph that the command has built."""
        root = tree_of("mixed", self.room)
        if "cold" in wanted:
            self.cold(root, "mixed")
        else:
            run_command([*self.orbit, "graph", "sync"], root, self.env)
        with Graph.open(root) as graph:
            self.answers = check(graph, root, again=False)
            settle()
            if "questions" in wanted:
                self.rows |= questions(graph, database(root), "mixed", self.rounds)
        if "commands" in wanted:
            self.commands(root, "mixed")
        with Graph.open(root) as graph:
            if "stages" in wanted:
                self.stages(graph, root, "mixed")
                if graph.digest().digest != self.answers["digest"]:
                    raise SystemExit("a build in one process differs from that of the command: no timing is believed")
            settle()
            if "refresh" in wanted:
                self.refresh(graph, root, "mixed", 8 * self.rounds)

    def django(self) -> None:
        root = tree_of("django", self.room)
        self.cold(root, "django")
        shutil.rmtree(root)

    def large(self) -> None:
        """5,000 files, 100k symbols: the scale the targets of refreshes and questions speak of."""
        root = tree_of("large", self.room)
        run_command([*self.orbit, "graph", "sync"], root, self.env)
        with Graph.open(root) as graph:
            answer = graph.sync()
            self.answers["large"] = {"files": answer.files_indexed, "symbols": answer.symbols, "refs": answer.refs}
            if answer.files_indexed < 5000 or answer.symbols < 100_000:
                raise SystemExit(f"the large tree has {answer.files_indexed} files and {answer.symbols} symbols: too small for its rows")
            settle()
            self.rows |= questions(graph, database(root), "100k symbols", self.rounds)
            self.refresh(graph, root, "5,000 files", 120)


def extraction(contents: dict[str, list[bytes]]) -> dict[str, list[float]]:
    """CPU seconds of parsing and of extracting, some files at a time, one right after the other."""
    some = [(name, held[at : at + FILES_AT_ONCE]) for name, held in contents.items() for at in range(0, len(held), FILES_AT_ONCE)]
    pairs = [(cpu(parse_all, name, held), cpu(extract_all, name, held)) for name, held in some]
    return {"parse": [parse for parse, _ in pairs], "extract": [extract for _, extract in pairs]}


def settle() -> None:
    """What the harness holds is no garbage of the program's: its collector shall not walk it."""
    gc.collect()
    gc.freeze()


def database(root: Path) -> Path:
    return next((root / ".orbit" / "graph").glob("*.db"))


def insert_cpu(path: Path) -> float:
    """CPU seconds of SQLite taking the rows of the largest tables into bare ones in memory: no indexes, no words, no disk."""
    used = 0.0
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as db, closing(apsw.Connection(":memory:")) as bare:
        for table in ("text", "symbol", "ref", "string", "uses"):
            rows = db.execute(f"SELECT * FROM {table}").fetchall()
            bare.execute(f"CREATE TABLE {table} ({', '.join(f'c{at}' for at in range(len(rows[0])))})")
            started = cpu_now()
            with bare:
                bare.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
            used += cpu_now() - started
    return used


def list_and_stat(root: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
    for path in listed.split(b"\0")[:-1]:
        os.lstat(os.path.join(os.fsencode(root), path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=cache() / "result.json")
    parser.add_argument("--trend", type=Path, default=cache() / "trend.json")
    parser.add_argument("--plant", choices=sorted(STAGES))
    parser.add_argument("--write", action="store_true", help="put the table into docs/BENCHMARKS.md")
    given = parser.parse_args()
    started = time.perf_counter()
    if given.plant:
        plant(given.plant)
    with tempfile.TemporaryDirectory() as room:
        bench = Bench(Path(room), given.rounds, given.plant)
        bench.mixed(given.only)
        if not given.quick:
            bench.django()
            bench.large()
    print(report(bench.rows))
    print(f"{time.perf_counter() - started:.0f} s, {bench.processes} processes, load {os.getloadavg()[0]:.1f}")
    if given.write:
        write_section("rows", f"{machine()}\n\n{report(bench.rows)}")
    result = {"answers": bench.answers, "rows": bench.rows, "load": os.getloadavg()[0]}
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if not given.plant and given.only == list(PARTS):
        add_to_trend(given.trend, {label: row["ratio"] for label, row in bench.rows.items()})


if __name__ == "__main__":
    main()
