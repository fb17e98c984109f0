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
    builder = _Builder(forest, params.limit or forest.total)
    if forest.total:
        with paths.envelope.open("rb") as file:
            builder.build(file)
    answered = (params.limit or forest.total) - builder.left
    return TraceAnswer(
        run_id=paths.run_id, roots=builder.roots, orphans=builder.orphans, total=forest.total, truncated=answered < forest.total, unreadable=unreadable
    )


class _Builder:
    def __init__(self, forest: Forest, limit: int) -> None:
        self.forest, self.left = forest, limit
        self.roots: list[TraceNode] = []
        self.orphans: list[TraceNode] = []
        self._deep: list[int] = []

    def build(self, file: BinaryIO) -> None:
        self._file = file
        self.roots = [node for offset in self.forest.roots if (node := self._node(offset, 0))]
        waiting = list(self.forest.orphans)
        while waiting or self._deep:
            offset, reason = waiting.pop(0) if waiting else (self._deep.pop(0), "depth")
            node = self._node(offset, 0)
            if node is not None:
                node.reason = reason
                self.orphans.append(node)

    def _node(self, offset: int, depth: int) -> TraceNode | None:
        if self.left <= 0:
            return None
        if depth > MAX_DEPTH:
            self._deep.append(offset)
            return None
        self.left -= 1
        self._file.seek(offset)
        node = TraceNode(event=parse(self._file.readline()) or {}, children=[])
        node.children = [child for below in self.forest.children(offset) if (child := self._node(below, depth + 1))]
        return node
