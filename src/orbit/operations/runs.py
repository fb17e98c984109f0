"""Operations of the `run` room: what was recorded, and recording it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from orbit.operations import Operation, Session, operation
from orbit.runs.events import list_events, read_logs, trace_run
from orbit.runs.execute import ExecAnswer, ExecParams, GraphDigest, execute
from orbit.runs.export import export_run
from orbit.runs.prune import prune_runs
from orbit.runs.rundir import RunFolder
from orbit.runs.show import list_runs, read_artifact, show_run
from orbit.runs.verify import verify_run


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


def _row(summary: str, function: Callable[[RunFolder, Any], Any], *examples: str, writes: bool = False) -> Operation:
    """An operation that needs nothing but the runs of the worktree."""
    return operation(summary, function, lambda session, asked: function(RunFolder(session.workspace), asked), *examples, writes=writes)


_EXEC = ("orbit run exec -- make test", "orbit run exec --run RUN --step lint --timeout 60 -- make lint")
_PRUNE = "orbit run prune --older-than 30d --keep 20 --dry-run"

OPERATIONS = {
    "run.list": _row("Recorded runs, newest first.", list_runs, "orbit run list --state failed"),
    "run.show": _row("A run's metadata, its steps and the artifacts each of them left.", show_run, "orbit run show -s validate"),
    "run.events": _row("A run's events in time order, each with its step.", list_events, "orbit run events --type step."),
    "run.trace": _row("A run's events as a tree; what hangs in the air is shown too.", trace_run, "orbit run trace"),
    "run.logs": _row("What recorded commands printed.", read_logs, "orbit run logs -s make"),
    "run.artifact": _row("One artifact, found by step and role.", read_artifact, "orbit run artifact make workspace_diff"),
    "run.verify": _row("Whether a run is still what was recorded; exit 7 if not, with the place.", verify_run, "orbit run verify --anchor HASH"),
    "run.exec": operation("Run a command as a recorded step; its exit code is passed on.", _run_command, _run_command, *_EXEC, writes=True),
    "run.export": _row("A run as OTLP traces or OpenLineage events.", export_run, "orbit run export --format otlp --output run.jsonl"),
    "run.prune": _row("Remove old runs; an index row of each is left.", prune_runs, _PRUNE, writes=True),
}
