"""The impact of a diff with what governs it: where the graph and the decisions meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from orbit.adr import AdrStore, Place
from orbit.graph.query.answer import cut_to_budget
from orbit.graph.query.diff import MOST_CHANGED, Changed, find_changed, impact_of_diff
from orbit.graph.query.impact import Decision, ImpactAnswer, ImpactParams

if TYPE_CHECKING:
    from orbit.graph import Graph


def impact_of_change(graph: Graph, ask: ImpactParams) -> ImpactAnswer:
    """Symbols a diff changes, what they touch, the tests that reach them, the decisions that govern them, and what cannot be seen."""
    changed: list[Changed] = []

    def question(db: apsw.Connection, asked: ImpactParams) -> ImpactAnswer:
        changed.append(find_changed(db, graph.root, asked))
        return impact_of_diff(db, asked, changed[0])

    answer = graph.put(question, ask)
    answer.decisions = _decisions(graph, changed[0])
    if ask.limit is None:
        cut_to_budget(answer, "unseen", "untested", "decisions", "changed", "tests", "touched")
    return answer


def _decisions(graph: Graph, changed: Changed) -> list[Decision]:
    """Decisions in order of their id, each with what it governs among the changed things."""
    if not (graph.workspace.state / "adrs").is_dir():
        return []
    found: dict[str, Decision] = {}
    with AdrStore(graph.workspace) as store:
        asked = [(symbol.path, symbol.selector, Place(symbol.path, symbol.line, symbol.end_line)) for symbol in changed.symbols[:MOST_CHANGED]]
        seen = {path for path, _, _ in asked}
        for path, selector, place in asked:
            for row in store.governing(path, selector=selector, place=place):
                found.setdefault(row.id, Decision(row.id, row.title, row.status, row.via, [])).governs.append(selector)
        for path in changed.paths:
            if path not in seen:
                for row in store.governing(path):
                    found.setdefault(row.id, Decision(row.id, row.title, row.status, row.via, [])).governs.append(f"file:{path}")
    return [found[key] for key in sorted(found)]
