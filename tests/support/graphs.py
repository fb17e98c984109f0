"""What two graphs do not have in common."""

from __future__ import annotations

from collections import Counter

import apsw

from orbit.graph.query.digest import views


def differences(one: apsw.Connection, other: apsw.Connection, limit: int = 40) -> list[str]:
    """Rows that only one of two graphs has, `-` in front of the first's and `+` in front of the other's; empty when the digests are equal."""
    found = []
    for (view, mine), (_, theirs) in zip(views(one), views(other), strict=True):
        here, there = Counter(mine), Counter(theirs)
        rows = [("-", row) for row in (here - there).elements()] + [("+", row) for row in (there - here).elements()]
        found += [f"{sign} {view} {row}" for sign, row in sorted(rows, key=lambda item: (repr(item[1]), item[0]))]
    return found if len(found) <= limit else [*found[:limit], f"... {len(found) - limit} more"]
