"""Events of a run: in time order, as a tree, and what they tell of recorded commands. Reads the file in passes and holds only what it answers."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
from msgspec import Meta

from orbit.errors import OrbitError
from orbit.runs import roles
from orbit.runs.blobs import BlobStore
from orbit.runs.reader import Ancestry, RunParams, StepParams, UnreadableLine, links, read_manifest, records, select_run, select_step, steps_begun, timestamp_of
from orbit.runs.rundir import RunFolder, RunPaths
from orbit.runs.stream import parse

BUDGET = 20_000  # bytes of JSON an answer may have unless more was asked for
MAX_DEPTH = 150  # deeper than this JSON readers give up; the rest of such a branch goes on among the orphans
_ROLES = {"stdout": roles.VALIDATION_STDOUT, "stderr": roles.VALIDATION_STDERR}


class EventsParams(StepParams, kw_only=True):
    type: Annotated[str | None, Meta(description="Only this event type; a family ends in a dot, as in `step.`.")] = None
    limit: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="At most this many events, 0 for all; default: as many as fit in 20 kB.")] = None


class EventsAnswer(msgspec.Struct, kw_only=True):
    run_id: str
    events: list[dict[str, Any]]
    total: int
    truncated: bool
    unreadable: list[UnreadableLine]


def list_events(folder: RunFolder, params: EventsParams) -> EventsAnswer:
    paths = select_run(folder, params.run)
    step = select_step(paths, params.step)
    unreadable: list[UnreadableLine] = []
    total = 0

    def matching() -> Iterator[tuple[str, int, dict[str, Any]]]:
        nonlocal total
        for number, event in stream_events(paths, step=step, event_type=params.type, unreadable=unreadable):
            total += 1
            yield timestamp_of(event), number, event

    # file order is nearly time order: events that waited in memory for a failing disk come late
    place = itemgetter(0, 1)
    keyed = heapq.nsmallest(params.limit or 1000, matching(), key=place) if params.limit != 0 else sorted(matching(), key=place)
    events = [event for _, _, event in keyed]
    if params.limit is None:
        sizes = accumulate(len(msgspec.json.encode(event)) + 1 for event in events)
        events = events[: max(1, sum(size <= BUDGET - 500 for size in sizes))]
    return EventsAnswer(run_id=paths.run_id, events=events, total=total, truncated=len(events) < total, unreadable=unreadable)


def stream_events(
    paths: RunPaths, *, step: str | None = None, event_type: str | None = None, unreadable: list[UnreadableLine] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and event, in file order, `step_id` added where it follows from an ancestor."""
    ancestry = Ancestry(paths.envelope)
    for number, record in records(paths.envelope, unreadable):
        kind = str(record.get("event_type"))
        if event_type is None or kind == event_type or (event_type.endswith(".") and kind.startswith(event_type)):
            step_id = ancestry.step_of(record)
            if step in (None, step_id):
                yield number, record if step_id is None else record | {"step_id": step_id}


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
        self.total = 0
        self._children: dict[str | None, array[int]] = {}
        self._places: dict[str | None, tuple[int, str | None]] = {}  # of parents: offset, and the parent of each
        for offset, link in links(path):
            self.total += 1
            self._children.setdefault(link.parent_event_id, array("Q")).append(offset)
            if link.event_id in parents:
                self._places.setdefault(link.event_id, (offset, link.parent_event_id))  # a repeated id is a leaf; children go to the first
        self.roots = self._children.pop(None, array("Q"))
        self._name_at = {offset: name for name, (offset, _) in self._places.items()}
        lost = [(offset, "missing_parent") for parent, offsets in self._children.items() if parent not in self._places for offset in offsets]
        self.orphans = sorted([*self._cut_cycles(), *lost])

    def children(self, offset: int) -> array[int]:
        return self._children.get(self._name_at.get(offset), array("Q"))

    def _cut_cycles(self) -> list[tuple[int, str]]:
        """Open each cycle at its first event in the file."""
        settled: set[str | None] = set()
        cut = []
        for here in self._places:
            trail: dict[str | None, int] = {}
            while here in self._places and here not in settled and here not in trail:
                trail[here] = len(trail)
                here = self._places[here][1]
            if here in trail:
                offset, parent = min(self._places[name] for name, place in trail.items() if place >= trail[here])
                self._children[parent].remove(offset)
                cut.append((offset, "cycle"))
            settled.update(trail)
        return cut


def trace_run(folder: RunFolder, params: TraceParams) -> TraceAnswer:
    """The tree of a run's events. Nothing is dropped: what has no way to a root is an orphan, with the reason why."""
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


class LogsParams(StepParams, kw_only=True):
    max_bytes: Annotated[int, Meta(ge=0, description="Of each stream only the last bytes, this many; 0 for all.")] = 8000


class LogRecord(msgspec.Struct, kw_only=True):
    step_id: str | None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    provider: str | None = None
    stdout_blob_ref: str | None = None
    stderr_blob_ref: str | None = None
    truncated: bool = False
    problems: list[str] = []


class LogsAnswer(msgspec.Struct, kw_only=True):
    run_id: str
    records: list[LogRecord]
    total: int
    truncated: bool


def read_logs(folder: RunFolder, params: LogsParams) -> LogsAnswer:
    """What recorded commands printed, step by step. A blob that is gone or changed is said so in its place."""
    paths = select_run(folder, params.run)
    wanted = select_step(paths, params.step)
    found = [_from_event(paths, event, params.max_bytes) for _, event in stream_events(paths, step=wanted, event_type="cli.invocation.finished")]
    told = {record.step_id for record in found}
    for step_id in steps_begun(paths):
        if wanted in (None, step_id) and step_id not in told and (record := _from_manifest(paths, step_id, params.max_bytes)):
            found.append(record)
    return LogsAnswer(run_id=paths.run_id, records=found, total=len(found), truncated=any(record.truncated for record in found))


def _from_event(paths: RunPaths, event: dict[str, Any], max_bytes: int) -> LogRecord:
    record = LogRecord(step_id=event.get("step_id"), exit_code=event.get("exit_code"), provider=event.get("provider"))
    for stream in _ROLES:
        if isinstance(ref := event.get(f"{stream}_blob_ref"), str):
            setattr(record, f"{stream}_blob_ref", ref)
            _fill(record, stream, partial(BlobStore(paths.blobs).get, ref), max_bytes)
    return record


def _from_manifest(paths: RunPaths, step_id: str, max_bytes: int) -> LogRecord | None:
    """Steps recorded through the Python API keep their output as artifacts of the reserved roles."""
    manifest = read_manifest(paths, step_id)
    held = {artifact.role: artifact.path for artifact in manifest.artifacts if not artifact.missing} if manifest else {}
    files = {stream: paths.path / held[role] for stream, role in _ROLES.items() if role in held}
    if manifest is None or not files:
        return None
    record = LogRecord(step_id=step_id, exit_code=manifest.evidence_summary.get("exit_code"))
    for stream, file in files.items():
        _fill(record, stream, file.read_bytes, max_bytes)
    return record


def _fill(record: LogRecord, stream: str, read: Callable[[], bytes], max_bytes: int) -> None:
    try:
        content = read()
    except (OrbitError, OSError) as error:
        record.problems.append(f"{stream}: {error.message if isinstance(error, OrbitError) else error.strerror}")
        return
    if max_bytes and len(content) > max_bytes:
        content, record.truncated = content[-max_bytes:], True
    setattr(record, stream, content.decode("utf-8", "replace"))
