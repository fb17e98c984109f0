"""Operations of the `run` room: what was recorded, and recording it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from orbit.operations import Operation, Session
from orbit.runs.events import EventsAnswer, EventsParams, LogsAnswer, LogsParams, TraceAnswer, TraceParams, list_events, read_logs, trace_run
from orbit.runs.execute import ExecAnswer, ExecParams, GraphDigest, execute
from orbit.runs.export import ExportAnswer, ExportParams, export_run
from orbit.runs.prune import PruneAnswer, PruneParams, prune_runs
from orbit.runs.rundir import RunFolder
from orbit.runs.show import ArtifactAnswer, ArtifactParams, ListAnswer, ListParams, ShowAnswer, ShowParams, list_runs, read_artifact, show_run
from orbit.runs.verify import VerifyAnswer, VerifyParams, verify_run


def graph_digest_of(session: Session) -> GraphDigest | None:
    """A function that tells the digest of the worktree's graph, or None where no graph was ever built."""
    if not any(path.is_file() for path in (session.workspace.state / "graph").rglob("*")):
        return None
    from orbit.graph import Graph

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


def _row(
    summary: str,
    params: type[msgspec.Struct],
    answer: type[msgspec.Struct],
    function: Callable[[RunFolder, Any], msgspec.Struct],
    *examples: str,
    read_only: bool = True,
) -> Operation:
    """An operation that needs nothing but the runs of the worktree."""
    return Operation(summary, params, answer, lambda session, asked: function(RunFolder(session.workspace), asked), read_only, examples)


OPERATIONS = {
    "run.list": _row("Recorded runs, newest first.", ListParams, ListAnswer, list_runs, "orbit run list --state failed"),
    "run.show": _row(
        "A run's metadata, its steps and the artifacts each of them left.", ShowParams, ShowAnswer, show_run, "orbit run show -s validate"
    ),
    "run.events": _row("A run's events in time order, each with its step.", EventsParams, EventsAnswer, list_events, "orbit run events --type step."),
    "run.trace": _row("A run's events as a tree; what hangs in the air is shown too.", TraceParams, TraceAnswer, trace_run, "orbit run trace"),
    "run.logs": _row("What recorded commands printed.", LogsParams, LogsAnswer, read_logs, "orbit run logs -s make"),
    "run.artifact": _row(
        "One artifact, found by step and role.", ArtifactParams, ArtifactAnswer, read_artifact, "orbit run artifact make workspace_diff"
    ),
    "run.verify": _row(
        "Whether a run is still what was recorded; exit 7 if not, with the place.",
        VerifyParams,
        VerifyAnswer,
        verify_run,
        "orbit run verify --anchor HASH",
    ),
    "run.exec": Operation(
        "Run a command as a recorded step; its exit code is passed on.",
        ExecParams,
        ExecAnswer,
        _run_command,
        read_only=False,
        examples=("orbit run exec -- make test", "orbit run exec --run RUN --step lint --timeout 60 -- make lint"),
    ),
    "run.export": _row(
        "A run as OTLP traces or OpenLineage events.", ExportParams, ExportAnswer, export_run, "orbit run export --format otlp --output run.jsonl"
    ),
    "run.prune": _row(
        "Remove old runs; an index row of each is left.",
        PruneParams,
        PruneAnswer,
        prune_runs,
        "orbit run prune --older-than 30d --keep 20 --dry-run",
        read_only=False,
    ),
}
