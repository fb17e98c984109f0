"""Removes old runs with their events and the blobs nobody else names, and leaves an index row of each. Never a run that is still going."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec import Meta

from orbit.audit import now
from orbit.errors import UsageError
from orbit.runs.blobs import BlobStore
from orbit.runs.reader import named_blobs, read_metadata
from orbit.runs.rundir import REMOVED, RunFolder
from orbit.runs.show import ListParams, RunRow, list_runs
from orbit.runs.stream import Stream

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class PruneParams(msgspec.Struct, kw_only=True):
    older_than: Annotated[str | None, Meta(description="Only runs that started longer ago than this: 90s, 15m, 12h, 30d, 8w.")] = None
    keep: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="Keep this many of the newest runs, whatever their age.")] = None
    dry_run: Annotated[bool, Meta(description="Only say what would be removed.")] = False


class RemovedRun(RunRow, kw_only=True):
    """What is left of a pruned run."""

    events: int | None
    head: str | None
    bytes: int


class PruneAnswer(msgspec.Struct, kw_only=True):
    removed: list[RemovedRun]
    kept: int
    bytes: int
    dry_run: bool
    index: str


def prune_runs(folder: RunFolder, params: PruneParams) -> PruneAnswer:
    if params.older_than is None and params.keep is None:
        raise UsageError("nothing says which runs to remove", hint="give --older-than, --keep, or both")
    before = _moment(params.older_than) if params.older_than else None
    rows = list_runs(folder, ListParams(limit=0)).runs
    doomed = [row for row in rows[params.keep or 0 :] if row.state != "running" and (before is None or (row.started_at or before) < before)]
    removed = []
    for row in reversed(doomed):
        paths = folder.run(row.run_id)
        metadata = read_metadata(paths)
        anchored = {"events": metadata.anchor.events, "head": metadata.anchor.head} if metadata and metadata.anchor else {"events": None, "head": None}
        size = sum(file.stat().st_size for file in [*paths.path.rglob("*"), paths.envelope, paths.loop] if file.is_file())
        removed.append(RemovedRun(**msgspec.structs.asdict(row), **anchored, bytes=size))
    if not params.dry_run and removed:
        _remove(folder, removed)
    size = sum(row.bytes for row in removed)
    return PruneAnswer(removed=removed, kept=len(rows) - len(removed), bytes=size, dry_run=params.dry_run, index=f"{folder.label}/{REMOVED}")


def _moment(age: str) -> str:
    """The time that long ago, as runs write it."""
    if found := re.fullmatch(r"(\d+)([smhdw])", age):
        return now(int(found[1]) * _SECONDS[found[2]])
    raise UsageError(f"not an age: {age!r}", hint="a number and s, m, h, d or w, such as 30d")


def _remove(folder: RunFolder, removed: list[RemovedRun]) -> None:
    """Index row first: a crash may leave a run that is listed as removed, never one that is gone without a trace."""
    index = Stream(folder.root / REMOVED, fsync_each=True)
    freed: set[str] = set()
    for row in removed:
        if not index.append({"removed_at": now(), **msgspec.to_builtins(row)}):
            raise OSError(f"{index.path}: {index.first_error}; nothing more was removed")
        paths = folder.run(row.run_id)
        freed |= named_blobs(paths).keys()
        paths.envelope.unlink(missing_ok=True)
        paths.loop.unlink(missing_ok=True)
        aside = paths.path.with_name(f".{row.run_id}.removed.tmp")
        paths.path.rename(aside)
        shutil.rmtree(aside)
    index.close()
    for run_id in folder.run_ids():  # what a remaining run names as well stays
        freed -= named_blobs(folder.run(run_id)).keys()
    for ref in freed:
        with suppress(UsageError):  # whatever stands in the event is no reference
            BlobStore(folder.blobs).path(ref).unlink(missing_ok=True)
