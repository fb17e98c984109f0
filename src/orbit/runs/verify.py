"""Whether a run is what was recorded: its streams, metadata, final state, manifests, artifacts and blobs. Tamper-evident, no more:
whoever can rewrite every file can rewrite the anchor too, unless the head was kept elsewhere and is given here.

First one pass that holds nothing: is every line untouched and does it follow the one before? Only if not, the file is looked at as a whole: from the
anchored head (else the last line) back along `prev_hash`. What lies on that way is the history; gaps in it were deleted, lines beside it were inserted or fork.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from orbit.errors import UsageError
from orbit.files import sha256_of
from orbit.runs.blobs import BlobStore
from orbit.runs.reader import RunParams, lines, named_blobs, read_manifest, read_metadata, records, select_run, state_of
from orbit.runs.rundir import Metadata, RunFolder, RunPaths, StreamAnchor
from orbit.runs.stream import GENESIS, digest_of, is_untouched, parse

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """`kind` is one of edited, deleted, inserted, reordered, truncated, forked, unreadable, unanchored, changed, missing."""

    kind: str
    file: str
    line: int | None = None
    message: str


class StreamEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What a pass over a stream found: its length, its last hash, and whether it is one unbroken chain."""

    count: int
    head: str
    is_whole: bool
    holds_anchor: bool


class Entry(msgspec.Struct):
    """One line. The links are as written, true or not; `untouched` says whether its own hash holds."""

    line: int
    seq: int
    prev: str
    hash: str
    untouched: bool


def scan(path: Path, anchor: str | None) -> StreamEnd:
    """Follow the chain once, holding one hash."""
    count, head, is_whole, holds_anchor = 0, GENESIS, True, anchor is None
    for _, _, line in lines(path):
        record = parse(line)
        if record is None or not line.endswith(b"\n") or not is_untouched(line[:-1], record):
            is_whole = False
            continue
        is_whole = is_whole and record.get("seq") == count + 1 and record.get("prev_hash") == head
        count, head = count + 1, str(record["hash"])
        holds_anchor = holds_anchor or head == anchor
    return StreamEnd(count=count, head=head, is_whole=is_whole, holds_anchor=holds_anchor)


def find_problems(path: Path, anchor: StreamAnchor | None, *, pinned: str | None = None) -> tuple[StreamEnd, list[Problem]]:
    """Everything wrong with the stream at `path`. `anchor` is where the run says it ended, `pinned` a hash kept elsewhere."""
    end = scan(path, pinned)
    misses_anchor = anchor is not None and (end.count, end.head) != (anchor.count, anchor.head)
    inspection = Inspection(path.name)
    if misses_anchor or not end.is_whole:
        inspection.read(path)
    if not end.is_whole:
        inspection.follow(anchor.head if anchor else "")
    if anchor is not None and misses_anchor:
        inspection.compare(end, anchor)
    if not end.holds_anchor:
        inspection.add("forked", None, f"the anchor {pinned} is nowhere in this history: it was replaced, or cut off before it")
    return end, sorted(inspection.problems, key=lambda problem: (problem.line or 1 << 60, problem.kind))


class Inspection:
    """All lines of a stream at once, and what was found wrong with them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        self._first: dict[str, Entry] = {}  # by hash; later ones are copies
        self._on_way: set[int] = set()  # lines of the history

    def add(self, kind: str, line: int | None, message: str) -> None:
        self.problems.append(Problem(kind=kind, file=self.file, line=line, message=message))

    def read(self, path: Path) -> None:
        for number, _, line in lines(path):
            record = parse(line)
            if record is None or not isinstance(record.get("seq"), int):
                self.add("unreadable", number, f"line {number} is " + ("not an event" if line.endswith(b"\n") else "torn: the line has no end"))
                continue
            untouched = is_untouched(line.removesuffix(b"\n"), record)
            entry = Entry(number, record["seq"], str(record.get("prev_hash")), str(record.get("hash")), untouched)
            self.entries.append(entry)
            self._first.setdefault(entry.hash, entry)
            if not untouched:
                self.add("edited", number, f"line {number} (event {entry.seq}) is not what its hash was made of")
            elif not line.endswith(b"\n"):
                self.add("unreadable", number, f"line {number} has lost its end")

    def compare(self, end: StreamEnd, anchor: StreamAnchor) -> None:
        """The end of the file against the anchored one."""
        last = self.entries[-1].line if self.entries else 0
        if anchored := self._first.get(anchor.head):
            added = [entry.line for entry in self.entries if entry.line > anchored.line]
            if added:
                self.add("inserted", added[0], f"{len(added)} lines were added after the anchored end, line {anchored.line}")
        elif end.count < anchor.count and not self.problems:
            self.add("truncated", last, f"truncated after line {last}: {anchor.count - end.count} of {anchor.count} events are gone")
        elif self.entries and max(entry.seq for entry in self.entries) < anchor.count:
            self.add("truncated", last, f"truncated: the anchored end, event {anchor.count}, is gone")
        elif end.is_whole:
            self.add("forked", last, "an unbroken history, but not the anchored one: it was written anew")

    def follow(self, anchored: str) -> None:
        """Walk the history back from its end, then look at what it did not go through."""
        tip = self._first.get(anchored) or max(self.entries, key=lambda entry: (entry.seq, entry.line), default=None)
        way: list[Entry] = []
        here = tip
        while here is not None and here.line not in self._on_way:
            way.append(here)
            self._on_way.add(here.line)
            here = self._predecessor(here)
        lowest = 0
        for entry in reversed(way):
            if entry.line < lowest:
                self.add("reordered", entry.line, f"line {entry.line} (event {entry.seq}) stands before event {entry.seq - 1}, which it followed")
            lowest = max(lowest, entry.line)
        seen = self._on_way | {problem.line for problem in self.problems if problem.kind == "edited"}
        for entry in self.entries:
            if entry.line not in seen:
                self._say_beside(entry, tip)

    def _predecessor(self, here: Entry) -> Entry | None:
        """The line `here` says it follows; if that is gone, the nearest before it, and what is missing between is a problem."""
        linked = self._first.get(here.prev)
        if linked is not None and linked.line not in self._on_way:
            return linked
        if here.prev == GENESIS and here.seq == 1:
            return None
        older = [entry for entry in self.entries if entry.seq < here.seq and entry.line not in self._on_way]
        nearest = max(older, key=lambda entry: (entry.seq, not entry.untouched, entry.line), default=None)
        known = nearest.seq if nearest else 0
        if here.seq - known > 1:
            gone = f"event {known + 1}" if here.seq - known == 2 else f"events {known + 1} to {here.seq - 1}"
            self.add("deleted", here.line, f"{gone} gone before line {here.line}")
        elif here.untouched and nearest is None:
            self.add("edited", here.line, f"line {here.line} follows no line of this file")
        elif here.untouched and nearest is not None and nearest.untouched:  # else it is already named as edited
            self.add("edited", nearest.line, f"line {nearest.line} (event {nearest.seq}) is not the event that line {here.line} followed: it was replaced")
        return nearest

    def _say_beside(self, entry: Entry, tip: Entry | None) -> None:
        """A line the history does not go through."""
        original, follows = self._first[entry.hash], self._first.get(entry.prev)
        if original.line != entry.line:
            self.add("inserted", entry.line, f"line {entry.line} is a copy of line {original.line}")
        elif tip is not None and entry.seq >= tip.seq:
            self.add("forked", entry.line, f"line {entry.line} (event {entry.seq}) belongs to another branch than line {tip.line}")
        else:
            said = f"line {entry.line} (event {entry.seq}) was inserted" + (f" after line {follows.line}" if follows else "")
            self.add("inserted", entry.line, f"{said}: nothing in the history follows it")


class VerifyParams(RunParams, kw_only=True):
    anchor: Annotated[Hash | None, Meta(description="A head of this run kept elsewhere; it must be part of the history.")] = None


class VerifyAnswer(msgspec.Struct, kw_only=True):
    run_id: str
    ok: bool
    state: str
    events: int
    head: str
    anchored: bool
    artifacts: int  # files compared with their digest
    blobs: int
    problems: list[Problem]


def verify_run(folder: RunFolder, params: VerifyParams) -> VerifyAnswer:
    paths = select_run(folder, params.run)
    metadata = read_metadata(paths)
    check = _Check(paths, metadata, params.anchor)
    problems = [*check.streams(), *check.documents(), *check.steps(), *check.blobs()]
    counts = {"events": check.end.count, "artifacts": check.artifacts, "blobs": len(check.refs)}
    anchored = bool(metadata and metadata.anchor)
    return VerifyAnswer(run_id=paths.run_id, ok=not problems, state=state_of(metadata), head=check.end.head, anchored=anchored, problems=problems, **counts)


class _Check:
    def __init__(self, paths: RunPaths, metadata: Metadata | None, pinned: str | None) -> None:
        self.paths, self.metadata, self.pinned = paths, metadata, pinned
        self.artifacts = 0
        self.refs = named_blobs(paths)
        self.closing: dict[str, Any] = {}

    def streams(self) -> Iterator[Problem]:
        paths = self.paths
        anchor = self.metadata.anchor if self.metadata else None
        self.end, found = find_problems(paths.envelope, StreamAnchor(anchor.events, anchor.head) if anchor else None, pinned=self.pinned)
        yield from found
        last: dict[str, Any] = {}
        for _, record in records(paths.envelope):
            last = record
            self.closing = record if record.get("event_type") == "run.finished" else self.closing
        if anchor is None:
            line = self.end.count or None
            said = "the run is still going, or was cut short" if last.get("event_type") != "run.finished" else "metadata.json has lost it, or events were lost"
            yield Problem(kind="truncated", file=paths.envelope.name, line=line, message=f"no anchor says that line {self.end.count} is the end: {said}")
        sealed = self.closing.get("streams", {})
        for name, path in (("events", paths.events), ("loop", paths.loop)):
            if isinstance(sealed.get(name), dict) or path.exists():
                known = sealed.get(name) if anchor is not None else None
                yield from find_problems(path, msgspec.convert(known, StreamAnchor) if known else None)[1]

    def documents(self) -> Iterator[Problem]:
        """metadata.json and final-state.txt against the digests in the closing event."""
        expected, document = self.closing.get("metadata_sha256"), None
        with suppress(OSError):
            document = parse(self.paths.metadata.read_bytes())
        if document is None:
            yield Problem(kind="missing", file="metadata.json", message="metadata.json is gone or cannot be read")
        elif expected and document.get("termination") and digest_of(document, without="anchor") != expected:
            yield Problem(kind="changed", file="metadata.json", message="metadata.json is not what the run ended with")
        yield from self._file(self.paths.final_state, self.closing.get("final_state_sha256"), "final-state.txt")

    def steps(self) -> Iterator[Problem]:
        for number, record in records(self.paths.events):
            step_id = str(record.get("step_id"))
            if record.get("event_type") in ("step_completed", "step_failed"):
                yield from self._file(self.paths.manifest(step_id), record.get("manifest_sha256"), f"artifacts/{step_id}/manifest.json", number)
                manifest = read_manifest(self.paths, step_id)
                for artifact in manifest.artifacts if manifest else ():
                    if not artifact.missing:
                        self.artifacts += 1
                        yield from self._file(self.paths.path / artifact.path, artifact.sha256, artifact.path)

    def _file(self, path: Path, digest: Any, name: str, line: int | None = None) -> Iterator[Problem]:
        if not isinstance(digest, str):
            return
        said = f" (recorded in line {line} of events.ndjson)" if line else ""
        try:
            if sha256_of(path) != digest:
                yield Problem(kind="changed", file=name, line=line, message=f"{name} is not what was recorded{said}")
        except OSError:
            yield Problem(kind="missing", file=name, line=line, message=f"{name} is gone{said}")

    def blobs(self) -> Iterator[Problem]:
        store = BlobStore(self.paths.blobs)
        for ref, line in sorted(self.refs.items()):
            where = f" (named in line {line})" if line else ""
            try:
                if sha256_of(store.path(ref)) != ref:
                    yield Problem(kind="changed", file=f"blobs/{ref[:2]}/{ref}", line=line, message=f"blob {ref} does not hold what its name says{where}")
            except (OSError, UsageError):
                yield Problem(kind="missing", file=f"blobs/{ref[:2]}/{ref}", line=line, message=f"blob {ref} is gone{where}")
