"""The events of the audit envelope: one struct each. A type this version does not know is carried through as `Unknown`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

SCHEMA_VERSION = 1
Outcome = Literal["success", "failed", "error"]


class Body(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="event_type"):
    """What an event says besides who, when and where. Fields lie flat beside the envelope's own."""


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


class StepStarted(Body, tag="step.started"):
    step_id: str
    opcode: str | None = None


class StepFinished(Body, tag="step.finished"):
    step_id: str
    outcome: Outcome
    error_message: str | None = None


class StepSkipped(Body, tag="step.skipped"):
    step_id: str
    reason: str


class StepRetry(Body, tag="step.retry"):
    step_id: str
    attempt: int  # the attempt that failed, from 1
    next_backoff_ms: int


class StepRecoveryAttempted(Body, tag="step.recovery_attempted"):
    step_id: str
    recovery_activity: str
    recovery_succeeded: bool


class StepDenied(Body, tag="step.denied"):
    step_id: str
    reason: str


class BranchOutcome(msgspec.Struct, frozen=True):
    branch_id: str
    outcome: Outcome


class StepJoin(Body, tag="step.join"):
    step_id: str
    mode: Literal["all", "any", "quorum"]
    branch_outcomes: list[BranchOutcome]


class FanoutDispatched(Body, tag="fanout.dispatched"):
    step_id: str
    worker_count: int


class WorkerState(Body, tag="worker.state"):
    step_id: str
    worker_index: int  # from 0
    state: Literal["dispatched", "finished", "failed"]


class FaninJoined(Body, tag="fanin.joined"):
    step_id: str
    collected: int
    failed: int


class LoopIterationStart(Body, tag="loop.iteration.start"):
    step_id: str
    iteration: int  # from 1


class LoopIterationEnd(Body, tag="loop.iteration.end"):
    step_id: str
    iteration: int
    broke: bool


class LoopDidNotConverge(Body, tag="loop.did_not_converge"):
    step_id: str
    max_iterations: int


class ActivityStarted(Body, tag="activity.started"):
    activity_name: str
    activity_type: str  # agent_loop, groundhog, deterministic, shell


class ActivityFinished(Body, tag="activity.finished"):
    activity_name: str
    outcome: Outcome
    error_message: str | None = None


class FsCallRequest(Body, tag="fs.call.request", omit_defaults=False):
    profile: str
    op: str
    path: str
    allowed: bool | None = None
    matched_rule: str | None = None


class FsCallResult(Body, tag="fs.call.result", omit_defaults=False):
    profile: str
    op: str
    path: str
    allowed: bool | None = None
    matched_rule: str | None = None


class FsCallDenied(Body, tag="fs.call.denied", omit_defaults=False):
    profile: str
    op: str
    path: str
    allowed: bool | None = False
    matched_rule: str | None = None


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


BODIES: dict[str, type[Body]] = {str(kind.__struct_config__.tag): kind for kind in Body.__subclasses__()}
DENIALS = frozenset({"fs.call.denied", "tool.denied", "step.denied"})
ENVELOPE_FIELDS = frozenset(
    {
        "schemaVersion",
        "event_type",
        "event_id",
        "timestamp",
        "run_id",
        "agent_identity",
        "parent_event_id",
        "workspace_path",
        "body_kind",
        "seq",
        "prev_hash",
        "hash",
    }
)


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
    return Unknown(event_type, {key: value for key, value in record.items() if key not in ENVELOPE_FIELDS}, problem)
