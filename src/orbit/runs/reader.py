"""Reads the files of a run as they are: streaming, past torn lines and unknown fields, and says what it could not read."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from orbit.errors import NotFoundError
from orbit.runs.chain import parse
from orbit.runs.manifest import Manifest, Metadata
from orbit.runs.rundir import RunFolder, RunPaths

BUDGET = 20_000  # bytes of JSON an answer may have unless more was asked for
_STATES = {"completed": "success", "failed": "failed", "error": "failed", "timed_out": "timeout", "cancelled": "cancelled"}


class UnreadableLine(msgspec.Struct, frozen=True):
    """A line that is no event: torn by a crash, or changed."""

    file: str
    line: int
    reason: str


class Link(msgspec.Struct, frozen=True, gc=False):
    """The part of an event that places it in the tree; decoding only this is several times cheaper than the whole."""

    event_id: str | None = None
    parent_event_id: str | None = None
    step_id: str | None = None


_LINK = msgspec.json.Decoder(Link)


def lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Number (from 1), offset and bytes of each line that is not blank; no lines if there is no file."""
    try:
        file = path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        return
    with file:
        offset = 0
        for number, line in enumerate(file, 1):
            if line != b"\n":
                yield number, offset, line
            offset += len(line)


def records(path: Path, unreadable: list[UnreadableLine] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and record of each line that can be read, in file order. The others are added to `unreadable`."""
    if unreadable is not None and not path.exists():
        unreadable.append(UnreadableLine(path.name, 0, "the file is missing"))
    for number, _, line in lines(path):
        record = parse(line)
        if record is not None:
            yield number, record
        elif unreadable is not None:
            reason = "not a JSON object" if line.endswith(b"\n") else "torn: the line has no end"
            unreadable.append(UnreadableLine(path.name, number, reason))


def links(path: Path) -> Iterator[tuple[int, Link]]:
    """Offset and place of each readable event."""
    for _, offset, line in lines(path):
        try:
            yield offset, _LINK.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            record = parse(line)  # readable, but with a field of an unexpected type
            if record is not None:
                known = {key: record[key] for key in Link.__struct_fields__ if isinstance(record.get(key), str)}
                yield offset, Link(**known)


def first_record(path: Path) -> dict[str, Any] | None:
    return next((record for _, record in records(path)), None)


class Ancestry:
    """The step of any event: its own `step_id`, else that of its nearest ancestor that has one. Holds only events that are parents.

    Events are to be passed in file order, where parents nearly always come first; if one does not, the file is read once more for it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parents = {link.parent_event_id for _, link in links(path)}
        self._above: dict[str, Link] = {}
        self._is_complete = False
        self._known: dict[str, str | None] = {}

    def step_of(self, record: dict[str, Any]) -> str | None:
        own, parent, event_id = record.get("step_id"), record.get("parent_event_id"), record.get("event_id")
        own = own if isinstance(own, str) else None
        parent = parent if isinstance(parent, str) else None
        if isinstance(event_id, str) and event_id in self._parents:
            self._above.setdefault(event_id, Link(event_id, parent, own))
        if own is not None or parent is None:
            return own
        return self._climb(parent)

    def _link(self, event_id: str) -> Link | None:
        if event_id not in self._above and not self._is_complete:
            self._is_complete = True
            for _, link in links(self._path):
                if link.event_id in self._parents and link.event_id is not None:
                    self._above.setdefault(link.event_id, link)
        return self._above.get(event_id)

    def _climb(self, event_id: str) -> str | None:
        trail: dict[str, None] = {}
        here: str | None = event_id
        step_id = None
        while here is not None and here not in trail:
            if here in self._known:
                step_id = self._known[here]
                break
            trail[here] = None
            link = self._link(here)
            if link is None or link.step_id is not None:
                step_id = link.step_id if link else None
                break
            here = link.parent_event_id
        self._known.update(dict.fromkeys(trail, step_id))
        return step_id


def timestamp_of(record: dict[str, Any]) -> str:
    return str(record.get("timestamp") or record.get("ts") or "")


def read_metadata(paths: RunPaths) -> Metadata | None:
    try:
        return msgspec.json.decode(paths.metadata.read_bytes(), type=Metadata)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def read_manifest(paths: RunPaths, step_id: str) -> Manifest | None:
    """The manifest of a step, or None if the step has not ended or the file cannot be read."""
    try:
        return msgspec.json.decode(paths.manifest(step_id).read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def state_of(metadata: Metadata | None) -> str:
    """success, failed, timeout, cancelled, running; interrupted when its process is gone; unreadable without metadata."""
    if metadata is None:
        return "unreadable"
    if metadata.termination is not None:
        return _STATES.get(metadata.termination, metadata.termination)
    return "running" if _may_be_alive(metadata) else "interrupted"


def _may_be_alive(metadata: Metadata) -> bool:
    if metadata.host != socket.gethostname() or sys.platform == "win32" or metadata.pid <= 0:
        return True  # another machine's process, or one that cannot be asked without harm
    try:
        os.kill(metadata.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def select_run(folder: RunFolder, run: str | None) -> RunPaths:
    """The run named, or the one that started last."""
    if run is not None:
        return folder.existing(run)
    started = [(metadata.started_at, run_id) for run_id in folder.run_ids() if (metadata := read_metadata(folder.run(run_id)))]
    if not started:
        raise NotFoundError("no runs recorded here yet", hint="record one: `orbit run exec -- COMMAND`")
    return folder.run(max(started)[1])


def steps_begun(paths: RunPaths) -> dict[str, dict[str, Any]]:
    """Steps in the order they began, with their opening record; a step known only by its folder comes last."""
    begun: dict[str, dict[str, Any]] = {}
    for _, record in records(paths.events):
        if record.get("event_type") == "step_started" and isinstance(record.get("step_id"), str):
            begun.setdefault(record["step_id"], record)
    return begun | {step_id: {} for step_id in paths.step_ids() if step_id not in begun}


def select_step(paths: RunPaths, step: str) -> str:
    """A step id, or a step's number from 0."""
    known = list(steps_begun(paths))
    if step in known:
        return step
    if step.isdigit() and int(step) < len(known):
        return known[int(step)]
    raise NotFoundError(f"run {paths.run_id} has no step {step!r}", hint="see `orbit run show`", candidates=known[:20])
