"""The events of the audit envelope: one struct each. A type this version does not know is carried through as `Unknown`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

SCHEMA_VERSION = 1
Outcome = Literal["success", "failed", "error"]


class Body(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="event_type"):
    """What an event says besides who, when and where. Fields lie flat beside the envelope's own."""


class StepBody(Body):
    step_id: str


class RunStarted(Body, tag="run.started"):
    job_name: str
    retry_source_run_id: str | None = None


class RunResumed(Body, tag="run.resumed"):
    """A later process adds steps to a run that had ended, or was cut short."""

    previous_head: str


class RunFinished(Body, tag="run.finished"):
    """Closes the chain: it commits to the other streams, to the metadata and to the final state."""

    outcome: Outcome
    error_message: str | None = None
    streams: dict[str, dict[str, Any]] = {}
    metadata_sha256: str | None = None
    final_state_sha256: str | None = None


class StepStarted(StepBody, tag="step.started"):
    opcode: str | None = None


class StepFinished(StepBody, tag="step.finished"):
    outcome: Outcome
    error_message: str | None = None


class StepSkipped(StepBody, tag="step.skipped"):
    reason: str


class StepRetry(StepBody, tag="step.retry"):
    attempt: int  # the attempt that failed, from 1
    next_backoff_ms: int


class StepRecoveryAttempted(StepBody, tag="step.recovery_attempted"):
    recovery_activity: str
    recovery_succeeded: bool


class StepDenied(StepBody, tag="step.denied"):
    reason: str


class BranchOutcome(msgspec.Struct, frozen=True):
    branch_id: str
    outcome: Outcome


class StepJoin(StepBody, tag="step.join"):
    mode: Literal["all", "any", "quorum"]
    branch_outcomes: list[BranchOutcome]


class FanoutDispatched(StepBody, tag="fanout.dispatched"):
    worker_count: int


class WorkerState(StepBody, tag="worker.state"):
    worker_index: int  # from 0
    state: Literal["dispatched", "finished", "failed"]


class FaninJoined(StepBody, tag="fanin.joined"):
    collected: int
    failed: int


class LoopIterationStart(StepBody, tag="loop.iteration.start"):
    iteration: int  # from 1


class LoopIterationEnd(StepBody, tag="loop.iteration.end"):
    iteration: int
    broke: bool


class LoopDidNotConverge(StepBody, tag="loop.did_not_converge"):
    max_iterations: int


class ActivityStarted(Body, tag="activity.started"):
    activity_name: str
    activity_type: str  # agent_loop, groundhog, deterministic, shell


class ActivityFinished(Body, tag="activity.finished"):
    activity_name: str
    outcome: Outcome
    error_message: str | None = None


class FsCall(Body, omit_defaults=False):
    profile: str
    op: str
    path: str
    allowed: bool | None = None
    matched_rule: str | None = None


class FsCallRequest(FsCall, tag="fs.call.request"): ...


class FsCallResult(FsCall, tag="fs.call.result"): ...


class FsCallDenied(FsCall, tag="fs.call.denied"):
    allowed: bool | None = False


class ToolDenied(Body, tag="tool.denied"):
    tool_name: str
    reason: str


class ToolAllowlistDelegated(Body, tag="tool_allowlist.harness_delegated"):
    provider: str
    tools: list[str]


class CliInvocationStarted(Body, tag="cli.invocation.started", omit_defaults=False):
    """Optional fields of the cli family are written as null, never left out."""

    provider: str
    argv_redacted: list[str]
    stdin_blob_ref: str | None = None
    model: str | None = None
    wall_clock_timeout_ms: int | None = None
    cwd: str | None = None


class CliInvocationProcess(Body, tag="cli.invocation.process", omit_defaults=False):
    provider: str
    pid: int
    pid_start_time: str | None = None


class CliInvocationFinished(Body, tag="cli.invocation.finished", omit_defaults=False):
    provider: str
    exit_code: int | None = None
    duration_ms: int = 0
    stdout_blob_ref: str | None = None
    stderr_blob_ref: str | None = None
    harness_version: str | None = None
    timed_out: bool = False


class TelemetryPersistFailed(Body, tag="telemetry.persist_failed"):
    component: str
    error: str
    step_id: str | None = None
    failures: int = 1


class Unknown(msgspec.Struct, frozen=True):
    """An event of a type, or with fields, this version cannot read. Nothing of it is lost."""

    event_type: str
    fields: dict[str, Any]
    problem: str | None = None


_KINDS = (*Body.__subclasses__(), *StepBody.__subclasses__(), *FsCall.__subclasses__())
BODIES: dict[str, type[Body]] = {str(kind.__struct_config__.tag): kind for kind in _KINDS if kind not in (StepBody, FsCall)}
ENVELOPE_FIELDS = frozenset({
    "schemaVersion", "event_type", "event_id", "timestamp", "run_id", "agent_identity", "parent_event_id", "workspace_path", "body_kind",
    "seq", "prev_hash", "hash",
})  # fmt: skip


def body_of(record: dict[str, Any]) -> Body | Unknown:
    """The typed body of a flat event record."""
    event_type = str(record.get("event_type", ""))
    kind = BODIES.get(event_type)
    problem = None
    if kind is not None:
        try:
            return msgspec.convert(record, kind)
        except msgspec.ValidationError as error:
            problem = str(error)
    return Unknown(event_type, own_fields(record), problem)


def own_fields(record: dict[str, Any]) -> dict[str, Any]:
    """What an event says besides the envelope."""
    return {key: value for key, value in record.items() if key not in ENVELOPE_FIELDS}
