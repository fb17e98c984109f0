"""Speed, row by row: each as a time and as a ratio to a floor measured in the same run. Answers are checked before a timing is believed.

    python bench/run.py [--corpus mixed] [--rounds 3] [--json FILE] [--trend FILE]

Floors: CPU of parsing the same files with bare tree-sitter (cold sync), `git ls-files` and a stat of each file (no-change and one-file sync),
a lookup by name in SQLite (questions), starting Python (commands). Rounds are interleaved with their floors; the best round counts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import apsw
from corpus import cache, corpus, files
from extraction import cpu, measure, parse_all, sources, threads
from trend import add_to_trend

from orbit.errors import AmbiguousError
from orbit.graph import Graph
from orbit.graph.index.extract import kernel
from orbit.graph.query.search import SymbolMatch

ORBIT = [sys.executable, "-c", "from orbit.cli import main; main()"]
SAMPLES = {"flask": ("Flask", "class", "app.py"), "rich": ("Console", "class", "console.py"), "rxjs": ("Observable", "class", "Observable.ts")}
LOOKUP = "SELECT symbol.* FROM text JOIN symbol ON symbol.name = text.id WHERE text.value = ?"
Row = dict[str, float]


def tree_of(name: str, room: Path) -> Path:
    """A committed copy of a corpus, so that nothing is written into the cache."""
    root = room / name
    shutil.copytree(corpus(name), root)
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "corpus"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


def run_command(command: list[str], root: Path) -> tuple[float, float, int]:
    """(wall seconds, CPU seconds, peak PSS in bytes) of a command and all its children."""
    started = time.perf_counter()
    child = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, done = [0], threading.Event()
    watcher = threading.Thread(target=_watch_memory, args=(child.pid, peak, done))
    watcher.start()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    done.set()
    watcher.join()
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} left with {child.returncode}")
    return wall, used.ru_utime + used.ru_stime, peak[0]


def _watch_memory(pid: int, peak: list[int], done: threading.Event) -> None:
    while not done.wait(0.02):
        peak[0] = max(peak[0], sum(map(_pss, _tree(pid))))


def _tree(pid: int) -> list[int]:
    try:
        children = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        children = []
    return [pid, *(below for child in children for below in _tree(child))]


def _pss(pid: int) -> int:
    try:
        return next(int(line.split()[1]) * 1024 for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def list_and_stat(root: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
    for path in listed.split(b"\0")[:-1]:
        os.lstat(os.path.join(os.fsencode(root), path))


def cold(root: Path, name: str, rounds: int) -> dict[str, Row]:
    """The command from nothing, beside the parser alone on the same files. CPU over CPU: the count of processes then does not matter."""
    contents = sources(corpus(name), [])
    for language in contents:
        kernel(language)  # compiling a query is no parsing: the floor is without it
    best = {"wall": 1e9, "cpu": 1e9, "floor": 1e9}
    peak = 0
    for _ in range(rounds):
        best["floor"] = min(best["floor"], sum(cpu(parse_all, language, held) for language, held in contents.items()))
        shutil.rmtree(root / ".orbit", ignore_errors=True)
        wall, used, memory = run_command([*ORBIT, "graph", "sync"], root)
        best["wall"], best["cpu"], peak = min(best["wall"], wall), min(best["cpu"], used), max(peak, memory)
    size = sum(path.stat().st_size for path in (root / ".orbit").rglob("*") if path.is_file())
    held = sum(len(source) for held in contents.values() for source in held)
    return {
        f"cold sync ({name})": {"seconds": best["wall"], "cpu": best["cpu"], "floor": best["floor"], "ratio": best["cpu"] / best["floor"]},
        f"peak memory ({name})": {"bytes": peak, "floor": held, "ratio": peak / held},
        f"database ({name})": {"bytes": size, "floor": held, "ratio": size / held},
    }


def refresh(graph: Graph, root: Path, rounds: int) -> dict[str, Row]:
    """Syncs in process: nothing changed, and one file changed."""
    still, floor, one = [], [], []
    path = next(path for language, path in files(root) if language == "python" and path.stat().st_size > 4000)
    original = path.read_bytes()
    graph.sync()
    for count in range(5 * rounds):
        floor.append(timed(lambda: list_and_stat(root)))
        still.append(timed(graph.sync))
        path.write_bytes(original + f"\n\ndef bench_{count}():\n    return bench_{count}\n".encode())
        one.append(timed(graph.sync))
    if not graph.search(f"bench_{5 * rounds - 1}").matches:
        raise SystemExit("a changed file was not seen: its timing means nothing")
    path.write_bytes(original)
    graph.sync()
    lowest = min(floor)
    return {
        "no-change sync": {"seconds": min(still), "p95": p95(still), "floor": lowest, "ratio": min(still) / lowest},
        "one file changed": {"seconds": min(one), "p95": p95(one), "floor": lowest, "ratio": min(one) / lowest},
    }


def p95(times: list[float]) -> float:
    return quantiles(times, n=20)[-1]


def questions(graph: Graph, database: Path, rounds: int) -> dict[str, Row]:
    """Search, refs and impact for names of the graph, beside a bare lookup of the same names."""
    db = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    wanted = [name for (name,) in db.execute("SELECT DISTINCT name FROM symbols WHERE kind IN ('function', 'method', 'class') ORDER BY name")]
    found = [(name, graph.search(name, kind="symbol").matches) for name in random.Random(4).sample(wanted, min(40, len(wanted)))]
    picked = [(hits[0].selector, name) for name, hits in found if hits and isinstance(hits[0], SymbolMatch)]
    asks: dict[str, Callable[[str, str], Any]] = {
        "search": lambda _, name: graph.search(name),
        "refs": lambda selector, _: graph.refs(selector),
        "impact": lambda selector, _: graph.impact(selector, depth=3),
    }
    times: dict[str, list[float]] = {label: [] for label in ["lookup", *asks]}
    for _ in range(rounds):
        for selector, name in picked:
            times["lookup"].append(timed(lambda name=name: list(db.execute(LOOKUP, (name,)))))  # type: ignore[misc]
            for label, ask in asks.items():
                times[label].append(timed(lambda ask=ask, s=selector, n=name: _answered(ask, s, n)))  # type: ignore[misc]
    floor = median(times["lookup"])
    return {label: {"seconds": median(times[label]), "p95": p95(times[label]), "floor": floor, "ratio": median(times[label]) / floor} for label in asks}


def _answered(ask: Callable[[str, str], Any], selector: str, name: str) -> None:
    with contextlib.suppress(AmbiguousError):
        ask(selector, name)


def command_start(root: Path, rounds: int) -> dict[str, Row]:
    """`orbit graph refs` from start to exit, beside Python starting and ending."""
    best = {"wall": 1e9, "cpu": 1e9, "floor": 1e9}
    for _ in range(3 * rounds):
        best["floor"] = min(best["floor"], run_command([sys.executable, "-c", "pass"], root)[1])
        wall, used, _ = run_command([*ORBIT, "graph", "refs", "Console.print"], root)
        best["wall"], best["cpu"] = min(best["wall"], wall), min(best["cpu"], used)
    return {"refs as a command": {"seconds": best["wall"], "cpu": best["cpu"], "floor": best["floor"], "ratio": best["cpu"] / best["floor"]}}


def check(graph: Graph, root: Path) -> dict[str, Any]:
    """Are the answers right? Two builds agree, and known things are found where they are."""
    first = graph.digest().digest
    answer = graph.sync(full=True)
    if graph.digest().digest != first:
        raise SystemExit("two builds of the same tree differ: no timing is believed")
    for package, (name, kind, file) in SAMPLES.items():
        if not any(path.name.startswith(package + "-") for path in root.iterdir()):
            continue
        hits = [hit for hit in graph.search(name, kind="symbol").matches if isinstance(hit, SymbolMatch)]
        if not any(hit.symbol_kind == kind and hit.name == name and hit.path.startswith(package) and hit.path.endswith(file) for hit in hits):
            raise SystemExit(f"{kind} {name} of {package} was not found in {file}: no timing is believed")
    return {"digest": first, "files": answer.files_indexed, "symbols": answer.symbols, "refs": answer.refs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpus", default="mixed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=cache() / "result.json")
    parser.add_argument("--trend", type=Path, default=cache() / "trend.json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        root = tree_of(given.corpus, Path(room))
        rows = cold(root, given.corpus, given.rounds)
        with Graph.open(root) as graph:
            answers = check(graph, root)
            rows |= refresh(graph, root, given.rounds)
            rows |= questions(graph, Path(graph.sync().db), given.rounds)
        rows |= command_start(root, given.rounds)
    measured = measure(corpus(given.corpus), [], given.rounds)
    rows["extraction"] = {"cpu": measured["all"]["extract"], "floor": measured["all"]["parse"], "ratio": measured["all"]["extract_ratio"]}
    second = threads(corpus(given.corpus), [], given.rounds)
    rows["two threads"] = {"seconds": second["two"], "floor": second["one"], "ratio": second["two"] / second["one"]}
    for label, row in rows.items():
        amount = f"{row['bytes'] / 1e6:10.1f} MB" if "bytes" in row else f"{row.get('seconds', row.get('cpu', 0)) * 1000:10.1f} ms"
        tail = f"  p95 {row['p95'] * 1000:.1f} ms" if "p95" in row else ""
        print(f"{label:24} {amount}  {row['ratio']:7.2f}x{tail}")
    result = {"answers": answers, "rows": rows, "extraction": measured, "threads": second}
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    add_to_trend(given.trend, {label: row["ratio"] for label, row in rows.items()})


if __name__ == "__main__":
    main()
