"""Removes old runs with their events and the blobs nobody else names, and leaves an index row of each. Never a run that is still going."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from orbit.audit import now
from orbit.errors import UsageError
from orbit.runs.listing import ListParams, RunRow, list_runs
from orbit.runs.reader import read_manifest, read_metadata, records
from orbit.runs.rundir import REMOVED, RunFolder, RunPaths
from orbit.runs.stream import Stream

_AGE = re.compile(r"(\d+)([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


class PruneParams(msgspec.Struct, kw_only=True):
    older_than: Annotated[str | None, Meta(description="Only runs that started longer ago than this: 90s, 15m, 12h, 30d, 8w.")] = None
    keep: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="Keep this many of the newest runs, whatever their age.")] = None
    dry_run: Annotated[bool, Meta(description="Only say what would be removed.")] = False


class RemovedRun(msgspec.Struct, kw_only=True):
    """What is left of a pruned run."""

    run_id: str
    workflow_id: str | None
    state: str
    started_at: str | None
    ended_at: str | None
    steps: int
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
    doomed = [
        row
        for place, row in enumerate(rows)
        if row.state != "running"
        and (params.keep is None or place >= params.keep)
        and (before is None or (row.started_at is not None and row.started_at < before))
    ]
    removed = [_describe(folder, row) for row in reversed(doomed)]
    if not params.dry_run and removed:
        _remove(folder, removed)
    size = sum(row.bytes for row in removed)
    return PruneAnswer(removed=removed, kept=len(rows) - len(removed), bytes=size, dry_run=params.dry_run, index=f"{folder.label}/{REMOVED}")


def _moment(age: str) -> str:
    """The time that long ago, as runs write it."""
    found = _AGE.fullmatch(age)
    if not found:
        raise UsageError(f"not an age: {age!r}", hint="a number and s, m, h, d or w, such as 30d")
    seconds, fraction = divmod(time.time(), 1)
    return time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(max(0, int(seconds) - int(found[1]) * _SECONDS[found[2]]))) + f"{int(fraction * 1e6):06d}Z"


def _describe(folder: RunFolder, row: RunRow) -> RemovedRun:
    paths = folder.run(row.run_id)
    metadata = read_metadata(paths)
    anchor = metadata.anchor if metadata else None
    size = sum(file.stat().st_size for file in [*paths.path.rglob("*"), paths.envelope, paths.loop] if file.is_file())
    return RemovedRun(**msgspec.structs.asdict(row), events=anchor.events if anchor else None, head=anchor.head if anchor else None, bytes=size)


def _remove(folder: RunFolder, removed: list[RemovedRun]) -> None:
    """Index row first: a crash may leave a run that is listed as removed, never one that is gone without a trace."""
    index = Stream(folder.root / REMOVED, fsync_each=True)
    freed: set[str] = set()
    for row in removed:
        if not index.append({"removed_at": now(), **msgspec.to_builtins(row)}):
            raise OSError(f"{index.path}: {index.first_error}; nothing more was removed")
        paths = folder.run(row.run_id)
        freed |= blob_refs(paths)
        paths.envelope.unlink(missing_ok=True)
        paths.loop.unlink(missing_ok=True)
        aside = paths.path.with_name(f".{row.run_id}.removed.tmp")
        paths.path.rename(aside)
        shutil.rmtree(aside)
    index.close()
    _sweep(folder, freed)


def _sweep(folder: RunFolder, freed: set[str]) -> None:
    """Blobs of removed runs that no remaining run names."""
    for run_id in folder.run_ids():
        freed -= blob_refs(folder.run(run_id))
    for ref in freed:
        if re.fullmatch(r"[0-9a-f]{64}", ref):
            Path(folder.audit / "blobs" / ref[:2] / ref).unlink(missing_ok=True)


def blob_refs(paths: RunPaths) -> set[str]:
    """Every blob a run names."""
    found: set[Any] = set()
    for _, record in records(paths.envelope):
        found |= {value for key, value in record.items() if key.endswith("_blob_ref")}
    for _, record in records(paths.loop):
        found |= {value for key, value in record.items() if key.endswith("_sha256")}
    for step_id in paths.step_ids():
        manifest = read_manifest(paths, step_id)
        found |= {artifact.blob for artifact in manifest.artifacts} if manifest else set()
    return {ref for ref in found if isinstance(ref, str)}
