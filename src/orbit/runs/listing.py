"""Which runs there are. Newest first; runs whose metadata cannot be read come last and are shown, not skipped."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from orbit.runs.reader import read_metadata, records, state_of
from orbit.runs.rundir import REMOVED, RunFolder


class ListParams(msgspec.Struct, kw_only=True):
    workflow: Annotated[str | None, Meta(description="Only runs of this workflow.")] = None
    state: Annotated[str | None, Meta(description="Only runs in this state: running, success, failed, timeout, cancelled, interrupted, unreadable.")] = None
    limit: Annotated[int, Meta(ge=0, description="At most this many runs; 0 for all.")] = 50


class RunRow(msgspec.Struct, kw_only=True):
    run_id: str
    workflow_id: str | None
    state: str
    started_at: str | None
    ended_at: str | None
    steps: int


class ListAnswer(msgspec.Struct, kw_only=True):
    runs: list[RunRow]
    total: int
    truncated: bool
    removed: int  # runs pruned from here, of which an index row is left


def list_runs(folder: RunFolder, params: ListParams) -> ListAnswer:
    rows = [row for run_id in folder.run_ids() if _matches(row := _row(folder, run_id), params)]
    rows.sort(key=lambda row: (row.started_at or "", row.run_id), reverse=True)
    removed = sum(1 for _ in records(folder.root / REMOVED))
    kept = rows[: params.limit] if params.limit else rows
    return ListAnswer(runs=kept, total=len(rows), truncated=len(kept) < len(rows), removed=removed)


def _row(folder: RunFolder, run_id: str) -> RunRow:
    paths = folder.run(run_id)
    metadata = read_metadata(paths)
    known = {name: getattr(metadata, name, None) for name in ("workflow_id", "started_at", "ended_at")}
    return RunRow(run_id=run_id, state=state_of(metadata), steps=len(paths.step_ids()), **known)


def _matches(row: RunRow, params: ListParams) -> bool:
    return (params.workflow is None or row.workflow_id == params.workflow) and (params.state is None or row.state == params.state)
