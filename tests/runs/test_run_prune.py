"""Retention: what is removed, what stays, and the row that is left."""

from __future__ import annotations

import msgspec
import pytest

from orbit import Run
from orbit.errors import UsageError
from orbit.runs.event import CliInvocationFinished
from orbit.runs.prune import PruneParams, prune_runs
from orbit.runs.reader import records
from orbit.runs.rundir import REMOVED, RunFolder
from orbit.runs.show import ListParams, list_runs
from orbit.runs.verify import VerifyParams, verify_run


def four_runs(folder: RunFolder) -> None:
    """Each with a blob of its own and one shared by all; the ages are 40, 30, 20 and 0 days."""
    for number, day in enumerate(("2026-01-01", "2026-01-11", "2026-01-21", "")):
        with Run.start(workflow_id="w", root=folder.workspace.root, run_id=f"r{number}", fsync="never") as run, run.step("s"):
            shared, own = run.journal.put_blob(b"shared"), run.journal.put_blob(str(number).encode())
            run.emit(CliInvocationFinished(provider="p", stdout_blob_ref=shared, stderr_blob_ref=own))
            if day:
                run.metadata.started_at = f"{day}T00:00:00.000000Z"


def blob_count(folder: RunFolder) -> int:
    return sum(1 for path in (folder.audit / "blobs").rglob("*") if path.is_file())


def test_old_runs_go_and_leave_an_index_row_each(folder: RunFolder) -> None:
    four_runs(folder)
    heads = {row.run_id: verify_run(folder, VerifyParams(run=row.run_id)).head for row in list_runs(folder, ListParams()).runs}
    tried = prune_runs(folder, PruneParams(older_than="1d", keep=2, dry_run=True))
    assert ([row.run_id for row in tried.removed], blob_count(folder)) == (["r0", "r1"], 5)
    answer = prune_runs(folder, PruneParams(older_than="1d", keep=2))
    assert msgspec.structs.replace(answer, dry_run=True) == tried and answer.kept == 2 and answer.bytes > 1000
    assert folder.run_ids() == ["r2", "r3"] and not folder.run("r0").envelope.exists()
    assert blob_count(folder) == 3, "the shared blob and those of the runs that stay"
    rows = [record for _, record in records(folder.root / REMOVED)]
    assert [(row["run_id"], row["workflow_id"], row["state"], row["steps"], row["head"]) for row in rows] == [
        ("r0", "w", "success", 1, heads["r0"]), ("r1", "w", "success", 1, heads["r1"])
    ]  # fmt: skip
    assert all(verify_run(folder, VerifyParams(run=run_id)).ok for run_id in ("r2", "r3"))
    assert list_runs(folder, ListParams()).removed == 2


def test_keep_alone_and_age_alone(folder: RunFolder) -> None:
    four_runs(folder)
    assert [row.run_id for row in prune_runs(folder, PruneParams(older_than="5200w", dry_run=True)).removed] == []
    assert [row.run_id for row in prune_runs(folder, PruneParams(older_than="0s", dry_run=True)).removed] == ["r0", "r1", "r2", "r3"]
    assert [row.run_id for row in prune_runs(folder, PruneParams(keep=1)).removed] == ["r0", "r1", "r2"]


def test_a_run_that_is_still_going_is_never_removed(folder: RunFolder) -> None:
    run = Run.start(workflow_id="w", root=folder.workspace.root, run_id="going")
    assert prune_runs(folder, PruneParams(keep=0)).removed == []
    run.finish()
    assert [row.run_id for row in prune_runs(folder, PruneParams(keep=0)).removed] == ["going"]


def test_pruning_without_a_rule_or_with_a_strange_one_is_refused(folder: RunFolder) -> None:
    for params in (PruneParams(), PruneParams(older_than="a month")):
        with pytest.raises(UsageError):
            prune_runs(folder, params)
