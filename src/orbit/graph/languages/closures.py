"""Locals that end before the definition around them does: those of function literals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from orbit.graph.facts import NONE

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts

Row = tuple[int, ...]  # a binding, in BIND_COLUMNS order


def end_locals(facts: FileFacts, spans: Sequence[tuple[int, int]]) -> None:
    """Behind each span, a name that is bound in it means again what it meant before: the earlier binding is repeated there."""
    if not spans:
        return
    rows: list[Row] = [tuple(row) for row in facts.binds.tolist()]
    unknown, after, now = facts.id("?"), list[Row](), dict[tuple[int, int], Row]()
    within: list[tuple[int, dict[tuple[int, int], Row]]] = []  # spans open here: where they end, what names meant before
    for at, row in sorted([(row[5], row) for row in rows] + [(start, (end,)) for start, end in spans] + [(len(facts.source), (0,))]):
        while within and within[-1][0] <= at:
            end, before = within.pop()
            after += [(*meant[:5], end) for meant in before.values()]
            now.update(before)
        if len(row) == 1:
            within.append((row[0], {}))
            continue
        key = row[4], row[1]
        if within:
            within[-1][1].setdefault(key, now.get(key, (0, row[1], NONE, unknown, row[4], 0)))
        now[key] = row
    facts.binds = np.array(sorted(rows + after, key=lambda row: row[5]), dtype=np.int32)
