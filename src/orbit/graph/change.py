"""Where the graph and the decisions meet: what governs a symbol, and the impact of a diff with what governs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import apsw

from orbit.adr import AdrStore, Place
from orbit.graph.query.answer import Decision
from orbit.graph.query.diff import MOST_CHANGED, Changed, find_changed, impact_of_diff
from orbit.graph.query.impact import ImpactAnswer, ImpactParams

if TYPE_CHECKING:
    from orbit.graph import Graph


def impact_of_change(graph: Graph, ask: ImpactParams) -> ImpactAnswer:
    """Symbols a diff changes, what they touch, the tests that reach them, the decisions that govern them, and what cannot be seen."""

    def question(db: apsw.Connection, asked: ImpactParams) -> ImpactAnswer:
        changed = find_changed(db, graph.root, asked)
        answer = impact_of_diff(db, asked, changed)
        answer.decisions = governing(graph, _changed_things(changed))
        return answer

    return graph.put(question, ask)


def governing(graph: Graph, things: Iterable[tuple[str, str, tuple[int, int] | None]]) -> list[Decision]:
    """Decisions in order of their id, each with what it governs among (path, selector, first and last line or None for the file)."""
    if not (graph.workspace.state / "adrs").is_dir():
        return []
    found: dict[str, Decision] = {}
    with AdrStore(graph.workspace) as store:
        for path, selector, lines in things:
            rows = store.governing(path, selector=selector, place=Place(path, *lines)) if lines is not None else store.governing(path)
            for row in rows:
                found.setdefault(row.id, Decision(row.id, row.title, row.status, row.via, [])).governs.append(selector)
    return [found[key] for key in sorted(found)]


def _changed_things(changed: Changed) -> Iterator[tuple[str, str, tuple[int, int] | None]]:
    symbols = changed.symbols[:MOST_CHANGED]
    seen = {symbol.path for symbol in symbols}
    for symbol in symbols:
        yield symbol.path, symbol.selector, (symbol.line, symbol.end_line)
    for path in changed.paths:
        if path not in seen:
            yield path, f"file:{path}", None
