"""The readers: what they choose, how they survive broken files, and that they do not hold what they do not answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orbit import Run
from orbit.errors import IntegrityError, NotFoundError
from orbit.runs.blobs import BlobStore
from orbit.runs.event import ActivityStarted, CliInvocationFinished, FsCallDenied, StepSkipped
from orbit.runs.events import EventsParams, LogsParams, list_events, read_logs
from orbit.runs.rundir import RunFolder
from orbit.runs.show import ArtifactParams, ListParams, ShowParams, list_runs, read_artifact, show_run


def three_runs(folder: RunFolder) -> None:
    for run_id, workflow in (("a", "x"), ("c", "y"), ("b", "x")):
        with Run.start(workflow_id=workflow, root=folder.workspace.root, run_id=run_id, fsync="never") as run:
            for step in ("first", "second"):
                with run.step(step), run.activity("work"):
                    run.emit(FsCallDenied(profile="p", op="write", path=f"/{step}"))


def test_runs_are_listed_newest_first_and_the_latest_is_the_default(folder: RunFolder) -> None:
    three_runs(folder)
    answer = list_runs(folder, ListParams())
    assert [(row.run_id, row.workflow_id, row.state, row.steps) for row in answer.runs] == [
        ("b", "x", "success", 2),
        ("c", "y", "success", 2),
        ("a", "x", "success", 2),
    ]
    assert show_run(folder, ShowParams()).run_id == "b"
    limited = list_runs(folder, ListParams(workflow="x", limit=1))
    assert ([row.run_id for row in limited.runs], limited.total, limited.truncated) == (["b"], 2, True)


def test_an_unreadable_run_is_listed_not_skipped(folder: RunFolder) -> None:
    three_runs(folder)
    folder.run("c").metadata.write_bytes(b'{"run_id": "c", "work')
    folder.run("a").metadata.unlink()
    assert [(row.run_id, row.state) for row in list_runs(folder, ListParams()).runs] == [("b", "success"), ("c", "unreadable"), ("a", "unreadable")]
    with pytest.raises(IntegrityError, match=r"metadata\.json cannot be read"):
        show_run(folder, ShowParams(run="c"))
    assert list_events(folder, EventsParams(run="c")).total > 0


def test_events_carry_the_step_they_belong_to_and_can_be_chosen_by_it(folder: RunFolder) -> None:
    three_runs(folder)
    denied = list_events(folder, EventsParams(run="a", type="fs.call.denied"))
    assert [(event["step_id"], event["path"]) for event in denied.events] == [("first", "/first"), ("second", "/second")]
    by_name = list_events(folder, EventsParams(run="a", step="second"))
    assert [event["event_type"] for event in by_name.events] == ["step.started", "activity.started", "fs.call.denied", "activity.finished", "step.finished"]
    assert list_events(folder, EventsParams(run="a", step="1")) == by_name
    assert list_events(folder, EventsParams(run="a", type="step.")).total == 4
    with pytest.raises(NotFoundError) as caught:
        list_events(folder, EventsParams(run="a", step="third"))
    assert caught.value.candidates == ["first", "second"]


def test_events_come_in_time_order_even_if_the_file_is_not(folder: RunFolder) -> None:
    three_runs(folder)
    path = folder.run("a").envelope
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(reversed(lines)))
    assert [event["seq"] for event in list_events(folder, EventsParams(run="a", limit=4)).events] == [1, 2, 3, 4]


def test_an_answer_stays_within_its_budget_unless_more_is_asked_for(folder: RunFolder) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root, fsync="never") as run:
        for number in range(500):
            run.emit(StepSkipped(step_id="s", reason=str(number)))
    short = list_events(folder, EventsParams())
    assert len(msgspec.json.encode(short)) < 20_000 and short.truncated and short.total == 502 and len(short.events) > 20
    assert len(list_events(folder, EventsParams(limit=0)).events) == 502


def test_torn_lines_foreign_lines_and_odd_fields_are_survived_and_reported(folder: RunFolder) -> None:
    three_runs(folder)
    path = folder.run("a").envelope
    lines = path.read_bytes().splitlines(keepends=True)
    odd = b'{"event_id": 7, "parent_event_id": [1], "step_id": {"x": 1}, "event_type": null, "ts": "2026"}\n'
    path.write_bytes(b"".join([*lines[:3], b"\xff\xfe nonsense\n", b"[1,2]\n", b"\n", odd, *lines[3:-1], lines[-1][:50]]))
    answer = list_events(folder, EventsParams(run="a", limit=0))
    assert [(line.line, line.reason) for line in answer.unreadable] == [(4, "not a JSON object"), (5, "not a JSON object"), (16, "torn: the line has no end")]
    assert answer.total == len(lines)


def test_logs_tell_a_lost_and_a_changed_blob_in_place(folder: RunFolder) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root) as run, run.step("s"):
        out, err = run.journal.put_blob(b"hello\n"), run.journal.put_blob(b"oh\n")
        run.emit(CliInvocationFinished(provider="p", exit_code=2, stdout_blob_ref=out, stderr_blob_ref=err))
    [record] = read_logs(folder, LogsParams()).records
    assert (record.step_id, record.stdout, record.stderr, record.exit_code, record.problems) == ("s", "hello\n", "oh\n", 2, [])
    blobs = BlobStore(folder.run(run.run_id).blobs)
    assert out and err
    blobs.path(out).unlink()
    blobs.path(err).write_bytes(b"ha\n")
    [record] = read_logs(folder, LogsParams()).records
    assert (record.stdout, record.stderr) == (None, None)
    assert [problem.split(":")[0] for problem in record.problems] == ["stdout", "stderr"] and "does not hold" in record.problems[1]


def test_logs_of_steps_written_through_the_api_come_from_the_reserved_roles(folder: RunFolder) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root) as run, run.step("s") as step:
        step.artifact(role="validation_stdout", content="a" * 10 + "b" * 10)
        step.summarize(exit_code=0)
    [record] = read_logs(folder, LogsParams(max_bytes=10)).records
    assert (record.stdout, record.truncated, record.exit_code) == ("b" * 10, True, 0)


def test_a_changed_artifact_is_not_handed_out(folder: RunFolder) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root) as run, run.step("s") as step:
        step.artifact(role="notes", content="true")
    assert read_artifact(folder, ArtifactParams(step="s", role="notes")).content == "true"
    (run.paths.artifacts / "s" / "notes.txt").write_text("false")
    with pytest.raises(IntegrityError, match="not what was recorded"):
        read_artifact(folder, ArtifactParams(step="s", role="notes"))
    manifest = run.paths.manifest("s")
    manifest.write_text(manifest.read_text().replace("artifacts/s/notes.txt", "../../../secret"))
    with pytest.raises(IntegrityError, match="outside the run"):
        read_artifact(folder, ArtifactParams(step="s", role="notes"))


def test_blobs_are_written_once_and_checked_on_read(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    ref = store.put(b"content")
    inode = store.path(ref).stat().st_ino
    assert store.put(b"content") == ref and store.path(ref).stat().st_ino == inode
    assert store.path(ref) == tmp_path / ref[:2] / ref and store.get(ref) == b"content"
    store.path(ref).write_bytes(b"other")
    with pytest.raises(IntegrityError):
        store.get(ref)


COUNT = """
import json, resource, sys, time
from pathlib import Path
from orbit.config import Workspace
from orbit.runs.events import EventsParams, list_events
from orbit.runs.rundir import RunFolder
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
answer = list_events(RunFolder(Workspace(Path(sys.argv[1]))), EventsParams(run="r", limit=10))
print(json.dumps([answer.total, answer.events[5]["step_id"], (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024]))
"""


def test_a_million_events_are_streamed_not_loaded(folder: RunFolder) -> None:
    count = 1_000_000
    size = _write_many(folder, count)
    done = subprocess.run([sys.executable, "-c", COUNT, str(folder.workspace.root)], capture_output=True, text=True, timeout=300, check=True)
    total, step, grown = json.loads(done.stdout)
    assert (total, step) == (count + 2, "s5000"), "steps have the earlier time"
    assert grown < 40 and size > count * 300, f"{grown:.0f} MB more memory for a file of {size / 1e6:.0f} MB"


def _write_many(folder: RunFolder, count: int) -> int:
    """A run with many events under few parents, its lines written without the cost of a real one each."""
    run = Run.start(workflow_id="w", root=folder.workspace.root, run_id="r", fsync="never")
    parent = run.emit(ActivityStarted(activity_name="a", activity_type="shell"))
    with run.paths.envelope.open("ab") as file:
        for start in range(0, count, 1000):
            step = {
                "event_type": "step.started",
                "event_id": f"s{start}",
                "parent_event_id": parent,
                "timestamp": "2026-01-01T00:00:00.000000Z",
                "step_id": f"s{start}",
            }
            leaf: dict[str, Any] = {"event_type": "fs.call.request", "parent_event_id": f"s{start}", "profile": "p" * 200, "workspace_path": "/x" * 30}
            lines = [msgspec.json.encode(step)]
            lines += [
                msgspec.json.encode(leaf | {"event_id": f"e{start + n}", "timestamp": "2026-01-01T00:00:01.000000Z"})
                for n in range(1, min(1000, count - start))
            ]
            file.write(b"\n".join(lines) + b"\n")
    run.journal.close()
    return run.paths.envelope.stat().st_size
