"""Questions to a graph: are the answers right, and what do they take beside an indexed lookup in bare SQLite."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import apsw
from measure import least, p95

from orbit.errors import OrbitError
from orbit.graph import Graph
from orbit.graph.query.search import SymbolMatch

NAMES = 60
LOOKUPS = 20  # one is too short to time
SAMPLES = {"flask": ("Flask", "class", "app.py"), "rich": ("Console", "class", "console.py"), "rxjs": ("Observable", "class", "Observable.ts")}
LEAST_REFS = 10  # of each sample: all three are used all over their packages


def check(graph: Graph, root: Path, *, again: bool = True) -> dict[str, Any]:
    """Are the answers right? Known things are found where they are, with their users, and (`again`) a fresh build is equal to what is there."""
    first = graph.digest().digest
    answer = graph.sync(full=again)
    if again and graph.digest().digest != first:
        raise SystemExit("two builds of the same tree differ: no timing is believed")
    for package, (name, kind, file) in SAMPLES.items():
        if not any(path.name.startswith(package + "-") for path in root.iterdir()):
            continue
        hits = [hit for hit in graph.search(name, kind="symbol").matches if isinstance(hit, SymbolMatch)]
        found = [hit for hit in hits if hit.symbol_kind == kind and hit.name == name and hit.path.startswith(package) and hit.path.endswith(file)]
        if not found:
            raise SystemExit(f"{kind} {name} of {package} was not found in {file}: no timing is believed")
        if graph.refs(found[0].selector).total < LEAST_REFS or not graph.impact(found[0].selector, depth=3).touched:
            raise SystemExit(f"{name} of {package} has lost its users: no timing is believed")
    return {"digest": first, "files": answer.files_indexed, "symbols": answer.symbols, "refs": answer.refs}


def questions(graph: Graph, database: Path, tree: str, rounds: int) -> dict[str, dict[str, float]]:
    """Search, refs, callees and impact for names of the graph, beside a lookup of the same names: wall time of all, the best CPU time of each."""
    db = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    bare = _bare(db)
    picked = _picked(graph, db)
    asks: dict[str, Callable[[str, str], Any]] = {
        "search": lambda _, name: graph.search(name),
        "refs": lambda selector, _: graph.refs(selector),
        "callees": lambda selector, _: graph.callees(selector),
        "impact": lambda selector, _: graph.impact(selector, depth=3),
    }
    walls: dict[str, list[float]] = {label: [] for label in asks}
    used: dict[str, list[list[float]]] = {label: [] for label in ["floor", *asks]}
    for _ in range(4 * rounds):
        used["floor"].append([_cpu(lambda name=name: _look_up(bare, name)) / LOOKUPS for _, name in picked])  # type: ignore[misc]
        for label, ask in asks.items():
            used[label].append([])
            for selector, name in picked:
                started = time.perf_counter()
                used[label][-1].append(_cpu(lambda ask=ask, s=selector, n=name: ask(s, n)))  # type: ignore[misc]
                walls[label].append(time.perf_counter() - started)
    best = {label: least(held) for label, held in used.items()}
    return {
        f"{label} ({tree})": {
            "seconds": median(walls[label]), "p95": p95(walls[label]), "cpu": best[label] / len(picked), "floor": best["floor"] / len(picked),
            "ratio": best[label] / best["floor"],
        }
        for label in asks
    }  # fmt: skip


def _look_up(bare: apsw.Connection, name: str) -> None:
    for _ in range(LOOKUPS):
        bare.execute("SELECT * FROM symbol WHERE name = ?", (name,)).fetchall()


def _cpu(work: Callable[[], Any]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started


def _bare(db: apsw.Connection) -> apsw.Connection:
    """The same symbols in one plain table with an index: no rules, no answer structs."""
    bare = apsw.Connection(":memory:")
    bare.execute("CREATE TABLE symbol (name TEXT, qualified TEXT, kind TEXT, file TEXT, start INTEGER)")
    rows = db.execute("SELECT name, qualified, kind, file_path, span_start FROM symbols ORDER BY name, qualified, file_path, span_start")
    with bare:
        bare.executemany("INSERT INTO symbol VALUES (?, ?, ?, ?, ?)", rows)
        bare.execute("CREATE INDEX symbol_name ON symbol (name)")
    return bare


def _picked(graph: Graph, db: apsw.Connection) -> list[tuple[str, str]]:
    """(selector, name) of the same symbols in every run, of those that name one thing."""
    wanted = [name for (name,) in db.execute("SELECT DISTINCT name FROM symbols WHERE kind IN ('function', 'method', 'class') ORDER BY name")]
    picked = []
    for name in random.Random(4).sample(wanted, len(wanted)):
        hits = [hit for hit in graph.search(name, kind="symbol").matches if isinstance(hit, SymbolMatch) and hit.name == name]
        try:
            graph.refs(hits[0].selector)
        except (IndexError, OrbitError):
            continue
        picked.append((hits[0].selector, name))
        if len(picked) == NAMES:
            break
    return picked
