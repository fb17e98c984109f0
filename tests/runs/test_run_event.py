"""Every event type survives the way to disk and back; unknown ones are carried through."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orbit import Run
from orbit.runs import event as ev
from orbit.runs import transcript as tr
from orbit.runs.events import EventsParams, list_events
from orbit.runs.reader import records
from orbit.runs.rundir import RunFolder
from orbit.runs.stream import LINE, digest_of, is_untouched, parse, seal

SAMPLES: list[ev.Body] = [
    ev.RunStarted(job_name="nightly", retry_source_run_id="run-1"),
    ev.RunResumed(previous_head="0" * 64),
    ev.RunFinished(outcome="failed", error_message="no", streams={"events": {"count": 1, "head": "ab"}}, metadata_sha256="c", final_state_sha256="d"),
    ev.StepStarted(step_id="s", opcode="RUN_STEP"),
    ev.StepFinished(step_id="s", outcome="error", error_message="boom"),
    ev.StepSkipped(step_id="s", reason="not needed"),
    ev.StepRetry(step_id="s", attempt=1, next_backoff_ms=250),
    ev.StepRecoveryAttempted(step_id="s", recovery_activity="clean", recovery_succeeded=True),
    ev.StepDenied(step_id="s", reason="policy"),
    ev.StepJoin(step_id="s", mode="quorum", branch_outcomes=[ev.BranchOutcome("left", "success"), ev.BranchOutcome("right", "failed")]),
    ev.FanoutDispatched(step_id="s", worker_count=3),
    ev.WorkerState(step_id="s", worker_index=0, state="dispatched"),
    ev.FaninJoined(step_id="s", collected=2, failed=1),
    ev.LoopIterationStart(step_id="s", iteration=1),
    ev.LoopIterationEnd(step_id="s", iteration=1, broke=True),
    ev.LoopDidNotConverge(step_id="s", max_iterations=9),
    ev.ActivityStarted(activity_name="a", activity_type="agent_loop"),
    ev.ActivityFinished(activity_name="a", outcome="success"),
    ev.FsCallRequest(profile="p", op="read", path="src/x", allowed=True, matched_rule="src/**"),
    ev.FsCallResult(profile="p", op="read", path="src/x", allowed=True),
    ev.FsCallDenied(profile="p", op="write", path="/etc/x", matched_rule="deny /etc"),
    ev.ToolDenied(tool_name="shell", reason="not listed"),
    ev.ToolAllowlistDelegated(provider="p", tools=["read", "write"]),
    ev.CliInvocationStarted(provider="p", argv_redacted=["p", "-v"], model="m", wall_clock_timeout_ms=5, cwd="/x"),
    ev.CliInvocationProcess(provider="p", pid=42),
    ev.CliInvocationFinished(provider="p", exit_code=0, duration_ms=3, stdout_blob_ref="a" * 64, timed_out=True),
    ev.TelemetryPersistFailed(component="runs", error="full", step_id="s", failures=2),
]


def test_there_is_a_sample_of_every_type() -> None:
    assert {type(sample) for sample in SAMPLES} == set(ev.BODIES.values())


@pytest.mark.parametrize("body", SAMPLES, ids=lambda body: type(body).__name__)
def test_an_event_read_back_is_the_event_written(folder: RunFolder, body: ev.Body) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root) as run:
        event_id = run.emit(body)
    found = next(record for _, record in records(folder.run(run.run_id).envelope) if record["event_id"] == event_id)
    assert ev.body_of(found) == body
    assert found["body_kind"] == found["event_type"].replace(".", "_")
    expected = {
        "schemaVersion",
        "event_type",
        "event_id",
        "timestamp",
        "run_id",
        "agent_identity",
        "parent_event_id",
        "workspace_path",
        "seq",
        "prev_hash",
        "hash",
    }
    assert expected <= found.keys()


def test_optional_fields_of_the_cli_family_are_null_and_of_the_others_absent() -> None:
    finished = msgspec.to_builtins(ev.CliInvocationFinished(provider="p"))
    assert finished["stderr_blob_ref"] is None and finished["harness_version"] is None
    assert "error_message" not in msgspec.to_builtins(ev.StepFinished(step_id="s", outcome="success"))


@pytest.mark.parametrize("event", [
    tr.SessionSpawn(session_id="x", provider="p", model="m"), tr.SessionClose(session_id="x", reason="done"),
    tr.HttpRequest(session_id="x", iteration=1, provider="p", model="m", endpoint="/v1"),
    tr.HttpResponse(session_id="x", iteration=1, http_status=200, usage=tr.Usage(input_tokens=5)),
    tr.ToolCallRequested(session_id="x", iteration=1, tool_name="read", tool_use_id="t"),
    tr.ToolCallResult(session_id="x", iteration=1, tool_name="read", tool_use_id="t", outcome="success"),
    tr.IterationBoundary(session_id="x", iteration=1, continues=False), tr.PolicyDenial(session_id="x", tool_name="rm", reason="no"),
], ids=lambda event: type(event).__name__)  # fmt: skip
def test_a_low_level_event_read_back_is_the_event_written(folder: RunFolder, event: tr.LoopEvent) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root) as run:
        run.transcribe(event)
    [(_, record)] = records(folder.run(run.run_id).loop)
    assert msgspec.convert(record, tr.LOOP_EVENTS[record["event_kind"]]) == event


def test_unknown_types_and_fields_are_carried_through(folder: RunFolder) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root) as run:
        run.journal.envelope.append({"event_type": "future.thing", "event_id": "e9", "timestamp": "2099-01-01T00:00:00Z", "wings": {"n": 2}})
    event = list_events(folder, EventsParams(type="future.thing")).events[0]
    assert event["wings"] == {"n": 2}
    assert ev.body_of(event) == ev.Unknown("future.thing", {"wings": {"n": 2}})
    wrong = ev.body_of({"event_type": "step.retry", "step_id": "s", "attempt": "first"})
    assert isinstance(wrong, ev.Unknown) and "attempt" in (wrong.problem or "")


NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(st.none() | st.booleans() | NUMBERS | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(max_size=8).filter(lambda key: key not in ("seq", "prev_hash", "hash")), JSON, max_size=6))
def test_any_record_is_untouched_after_sealing_and_touched_after_any_change(record: dict[str, object]) -> None:
    line, digest = seal(record, 1, "0" * 64)
    back = parse(line)
    assert back is not None and digest == digest_of(back) and is_untouched(line[:-1], back)
    changed = back | {"added": 1} if "added" not in back else back | {"added": [back["added"]]}
    assert not is_untouched(LINE.encode(changed), changed)


def test_a_repeated_key_that_parsing_would_hide_is_a_change() -> None:
    line, _ = seal({"exit_code": 1}, 1, "0" * 64)
    forged = line[:-1].replace(b'{"exit_code":1', b'{"exit_code":0,"exit_code":1')
    record = parse(forged)
    assert record is not None and record["exit_code"] == 1 and not is_untouched(forged, record)
