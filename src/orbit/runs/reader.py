"""Reads the files of a run as they are: streaming, past torn lines and unknown fields, and says what it could not read."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from orbit.errors import IntegrityError, NotFoundError
from orbit.model import ARGUMENT
from orbit.runs.rundir import Manifest, Metadata, RunFolder, RunPaths
from orbit.runs.stream import parse

_STATES = {"completed": "success", "failed": "failed", "error": "failed", "timed_out": "timeout", "cancelled": "cancelled"}


class RunParams(msgspec.Struct, kw_only=True):
    run: Annotated[str | None, Meta(description="Run id, or the beginning of one; default: the run that started last.", extra=ARGUMENT)] = None


class StepParams(RunParams, kw_only=True):
    step: Annotated[str | None, Meta(description="Only this step: its id, or its number from 0.", extra={"cli": {"short": "-s"}})] = None


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
    """Number (from 1), offset and bytes of each line; no lines if there is no file."""
    try:
        file = path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        return
    with file:
        offset = 0
        for number, line in enumerate(file, 1):
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
        elif unreadable is not None and line != b"\n":
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


class Ancestry:
    """The step of any event: its own `step_id`, else that of its nearest ancestor that has one. Holds only events that are parents."""

    def __init__(self, path: Path) -> None:
        parents = {link.parent_event_id for _, link in links(path)}
        self._step: dict[str | None, str | None] = {}  # of parents whose step is known
        self._parent: dict[str, str | None] = {}  # of the others: where to ask next
        for _, link in links(path):
            name = link.event_id
            if name is not None and name in parents and name not in self._step and name not in self._parent:
                if link.step_id is not None:
                    self._step[name] = link.step_id
                else:
                    self._parent[name] = link.parent_event_id

    def step_of(self, record: dict[str, Any]) -> str | None:
        own, here = record.get("step_id"), record.get("parent_event_id")
        if isinstance(own, str) or not isinstance(here, str):
            return own if isinstance(own, str) else None
        trail = []
        while here in self._parent:  # what was asked is forgotten here, so a cycle ends
            trail.append(here)
            here = self._parent.pop(here)
        step_id = self._step.get(here)
        self._step.update(dict.fromkeys(trail, step_id))
        return step_id


def timestamp_of(record: dict[str, Any]) -> str:
    return str(record.get("timestamp") or record.get("ts") or "")


def read_metadata(paths: RunPaths) -> Metadata | None:
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(paths.metadata.read_bytes(), type=Metadata)
    return None


def known_metadata(paths: RunPaths, hint: str) -> Metadata:
    if metadata := read_metadata(paths):
        return metadata
    raise IntegrityError(f"{paths.run_id}/metadata.json cannot be read", hint=hint)


def read_manifest(paths: RunPaths, step_id: str) -> Manifest | None:
    """The manifest of a step, or None if the step has not ended or the file cannot be read."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(paths.manifest(step_id).read_bytes(), type=Manifest)
    return None


def named_blobs(paths: RunPaths) -> dict[str, int | None]:
    """Every blob a run names, with the last line of its events that does; None if only a manifest does."""
    found: dict[Any, int | None] = {}
    for stream, suffix in ((paths.envelope, "_blob_ref"), (paths.loop, "_sha256")):
        for number, record in records(stream):
            found |= {value: number for key, value in record.items() if key.endswith(suffix) and isinstance(value, str)}
    for step_id in paths.step_ids():
        manifest = read_manifest(paths, step_id)
        for artifact in manifest.artifacts if manifest else ():
            if artifact.blob:
                found.setdefault(artifact.blob, None)
    return found


def state_of(metadata: Metadata | None) -> str:
    """success, failed, timeout, cancelled, running; interrupted when its process is gone; unreadable without metadata."""
    if metadata is None:
        return "unreadable"
    if metadata.termination is not None:
        return _STATES.get(metadata.termination, metadata.termination)
    if metadata.host == socket.gethostname() and sys.platform != "win32" and metadata.pid > 0:  # else it cannot be asked, or not without harm
        try:
            os.kill(metadata.pid, 0)
        except ProcessLookupError:
            return "interrupted"
        except OSError:
            pass
    return "running"


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


def select_step(paths: RunPaths, step: str | None) -> str | None:
    """A step id, or the step with that number from 0; None means all steps."""
    known = list(steps_begun(paths)) if step is not None else []
    if step is None or step in known:
        return step
    if step.isdigit() and int(step) < len(known):
        return known[int(step)]
    raise NotFoundError(f"run {paths.run_id} has no step {step!r}", hint="see `orbit run show`", candidates=known[:20])
