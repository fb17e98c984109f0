"""The tree of a run's events. Nothing is dropped: what has no way to a root is an orphan, with the reason why."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
from msgspec import Meta

from orbit.runs.chain import parse
from orbit.runs.params import RunParams
from orbit.runs.reader import UnreadableLine, links, records, select_run
from orbit.runs.rundir import RunFolder

MAX_DEPTH = 150  # deeper than this JSON readers give up; the rest of such a branch goes on among the orphans


class TraceParams(RunParams, kw_only=True):
    limit: Annotated[int, Meta(ge=0, description="At most this many events, parents before children; 0 for all.")] = 0


class TraceNode(msgspec.Struct, kw_only=True, omit_defaults=True):
    event: dict[str, Any]
    children: list[TraceNode]
    reason: str | None = None  # of an orphan: missing_parent, cycle, depth


class TraceAnswer(msgspec.Struct, kw_only=True):
    run_id: str
    roots: list[TraceNode]
    orphans: list[TraceNode]
    total: int
    truncated: bool
    unreadable: list[UnreadableLine]


class Forest:
    """Offsets of events by parent. Only events that are parents are kept by name, so leaves cost eight bytes each."""

    def __init__(self, path: Path) -> None:
        parents = {link.parent_event_id for _, link in links(path)} - {None}
        self.roots: list[int] = []
        self.total = 0
        self._children: dict[str, array[int]] = {}
        self._name_at: dict[int, str] = {}
        self._parent: dict[str, str | None] = {}
        for offset, link in links(path):
            self.total += 1
            name = link.event_id
            if name is not None and name in parents and name not in self._parent:  # a repeated id is a leaf; children go to the first
                self._parent[name] = link.parent_event_id
                self._name_at[offset] = name
            if link.parent_event_id is None:
                self.roots.append(offset)
            else:
                self._children.setdefault(link.parent_event_id, array("Q")).append(offset)
        self.orphans = self._cut_cycles()
        self.orphans += [(offset, "missing_parent") for parent, offsets in self._children.items() if parent not in self._parent for offset in offsets]
        self.orphans.sort()

    def children(self, offset: int) -> array[int]:
        name = self._name_at.get(offset)
        return self._children.get(name, array("Q")) if name is not None else array("Q")

    def _cut_cycles(self) -> list[tuple[int, str]]:
        """Open each cycle at its first event in the file."""
        at = {name: offset for offset, name in self._name_at.items()}
        settled: set[str] = set()
        cut = []
        for start in self._parent:
            trail: dict[str, int] = {}
            here: str | None = start
            while here is not None and here in self._parent and here not in settled and here not in trail:
                trail[here] = len(trail)
                here = self._parent[here]
            if here is not None and here in trail:
                first = min((name for name, place in trail.items() if place >= trail[here]), key=lambda name: at[name])
                parent = self._parent[first]
                assert parent is not None
                self._children[parent].remove(at[first])
                cut.append((at[first], "cycle"))
            settled.update(trail)
        return cut


def trace_run(folder: RunFolder, params: TraceParams) -> TraceAnswer:
    paths = select_run(folder, params.run)
    unreadable: list[UnreadableLine] = []
    for _ in records(paths.envelope, unreadable):
        pass
    forest = Forest(paths.envelope)
    answer = TraceAnswer(run_id=paths.run_id, roots=[], orphans=[], total=forest.total, truncated=False, unreadable=unreadable)
    if forest.total:
        with paths.envelope.open("rb") as file:
            _build(forest, file, answer, params.limit or forest.total)
    return answer


def _build(forest: Forest, file: BinaryIO, answer: TraceAnswer, limit: int) -> None:
    """Fill in roots, then orphans, as far as `limit` events go."""
    left = limit
    deep: list[tuple[int, str]] = []

    def node(offset: int, depth: int = 0) -> TraceNode | None:
        nonlocal left
        if left <= 0:
            return None
        if depth > MAX_DEPTH:
            deep.append((offset, "depth"))
            return None
        left -= 1
        file.seek(offset)
        made = TraceNode(event=parse(file.readline()) or {}, children=[])
        made.children = [child for below in forest.children(offset) if (child := node(below, depth + 1))]
        return made

    answer.roots = [root for offset in forest.roots if (root := node(offset))]
    for waiting in (forest.orphans, deep):  # `deep` grows while it is gone through
        for offset, reason in waiting:
            if orphan := node(offset):
                orphan.reason = reason
                answer.orphans.append(orphan)
    answer.truncated = limit - left < forest.total
