"""Operations of the `run` room: what was recorded, and recording it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from orbit.operations import Operation, Session
from orbit.runs.artifact import ArtifactAnswer, ArtifactParams, read_artifact
from orbit.runs.events import EventsAnswer, EventsParams, list_events
from orbit.runs.execute import ExecAnswer, ExecParams, GraphDigest, execute
from orbit.runs.export import ExportAnswer, ExportParams, export_run
from orbit.runs.listing import ListAnswer, ListParams, list_runs
from orbit.runs.logs import LogsAnswer, LogsParams, read_logs
from orbit.runs.prune import PruneAnswer, PruneParams, prune_runs
from orbit.runs.rundir import RunFolder
from orbit.runs.show import ShowAnswer, ShowParams, show_run
from orbit.runs.trace import TraceAnswer, TraceParams, trace_run
from orbit.runs.verify import VerifyAnswer, VerifyParams, verify_run


def graph_digest_of(session: Session) -> GraphDigest | None:
    """A function that tells the digest of the worktree's graph, or None where no graph was ever built."""
    if not any(path.is_file() for path in (session.workspace.state / "graph").rglob("*")):
        return None
    try:
        from orbit.graph import Graph
    except ImportError:
        return None

    def digest() -> str | None:
        # a graph that cannot be read is no reason not to record the command
        with suppress(Exception), Graph.open(session.workspace.root) as graph:
            return str(graph.digest().digest)
        return None

    return digest


def _run_command(session: Session, params: ExecParams) -> ExecAnswer:
    here = Path.cwd()
    cwd = here if here.resolve().is_relative_to(session.workspace.root) else session.workspace.root
    return execute(RunFolder(session.workspace), params, shown=session.terminal, graph_digest=graph_digest_of(session), cwd=cwd)


OPERATIONS = {
    "run.list": Operation(
        "Recorded runs, newest first.",
        ListParams,
        ListAnswer,
        lambda session, params: list_runs(RunFolder(session.workspace), params),
        examples=("orbit run list --state failed",),
    ),
    "run.show": Operation(
        "A run's metadata, its steps and the artifacts each of them left.",
        ShowParams,
        ShowAnswer,
        lambda session, params: show_run(RunFolder(session.workspace), params),
        examples=("orbit run show -s validate",),
    ),
    "run.events": Operation(
        "A run's events in time order, each with its step.",
        EventsParams,
        EventsAnswer,
        lambda session, params: list_events(RunFolder(session.workspace), params),
        examples=("orbit run events --type step.",),
    ),
    "run.trace": Operation(
        "A run's events as a tree; what hangs in the air is shown too.",
        TraceParams,
        TraceAnswer,
        lambda session, params: trace_run(RunFolder(session.workspace), params),
        examples=("orbit run trace",),
    ),
    "run.logs": Operation(
        "What recorded commands printed.",
        LogsParams,
        LogsAnswer,
        lambda session, params: read_logs(RunFolder(session.workspace), params),
        examples=("orbit run logs -s make",),
    ),
    "run.artifact": Operation(
        "One artifact, found by step and role.",
        ArtifactParams,
        ArtifactAnswer,
        lambda session, params: read_artifact(RunFolder(session.workspace), params),
        examples=("orbit run artifact make workspace_diff",),
    ),
    "run.verify": Operation(
        "Whether a run is still what was recorded; exit 7 if not, with the place.",
        VerifyParams,
        VerifyAnswer,
        lambda session, params: verify_run(RunFolder(session.workspace), params),
        examples=("orbit run verify --anchor HASH",),
    ),
    "run.exec": Operation(
        "Run a command as a recorded step; its exit code is passed on.",
        ExecParams,
        ExecAnswer,
        _run_command,
        read_only=False,
        examples=("orbit run exec -- make test", "orbit run exec --run RUN --step lint --timeout 60 -- make lint"),
    ),
    "run.export": Operation(
        "A run as OTLP traces or OpenLineage events.",
        ExportParams,
        ExportAnswer,
        lambda session, params: export_run(RunFolder(session.workspace), params),
        examples=("orbit run export --format otlp --output run.jsonl",),
    ),
    "run.prune": Operation(
        "Remove old runs; an index row of each is left.",
        PruneParams,
        PruneAnswer,
        lambda session, params: prune_runs(RunFolder(session.workspace), params),
        read_only=False,
        examples=("orbit run prune --older-than 30d --keep 20 --dry-run",),
    ),
}
