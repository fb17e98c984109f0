"""Operations on the graph: each row names the params, the answer and the question that gives it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from orbit.graph import admin
from orbit.graph.outcome import SyncAnswer, Why
from orbit.graph.query import callees, deps, impact, implementors, overview, refs, search, show, trace
from orbit.graph.query.digest import DigestAnswer
from orbit.graph.setup import InitAnswer, InitParams, init
from orbit.operations import Operation, Session
from orbit.operations.context import CONTEXT


class SyncParams(msgspec.Struct, kw_only=True):
    full: Annotated[bool, Meta(description="Build everything again instead of only what changed.")] = False
    jobs: Annotated[int, Meta(ge=1, description="How many files to extract at once; without it one for each processor.")] | None = None


class Nothing(msgspec.Struct, kw_only=True):
    """Nothing to say."""


class WhyParams(msgspec.Struct, kw_only=True):
    path: Annotated[str, Meta(description="A file of the worktree.", extra={"cli": {"argument": True}})]


def _row(summary: str, params: type[msgspec.Struct], answer: type[msgspec.Struct], method: str, *examples: str) -> Operation:
    """A question: the method of `Graph` whose arguments are the params."""
    return Operation(summary, params, answer, lambda session, ask: getattr(session.graph, method)(**msgspec.structs.asdict(ask)), examples=examples)


def _sync(session: Session, ask: SyncParams) -> SyncAnswer:
    return session.graph.sync(full=ask.full, jobs=ask.jobs, progress=session.progress)


OPERATIONS = {
    "graph.sync": Operation(
        "Bring the graph up to date with the files.",
        SyncParams,
        SyncAnswer,
        _sync,
        read_only=False,
        examples=("orbit graph sync", "orbit graph sync --full --jobs 4"),
    ),
    "graph.search": _row(
        "Find symbols, strings and configuration keys by name or words.",
        search.SearchParams,
        search.SearchAnswer,
        "search",
        "orbit graph search Scheduler",
        'orbit graph search "retry limit" --kind config --limit 5',
    ),
    "graph.show": _row(
        "The source of a symbol or file.",
        show.ShowParams,
        show.ShowAnswer,
        "show",
        "orbit graph show Scheduler.run",
        "orbit graph show symbol:src/jobs.py#run:function --max-bytes 2000",
    ),
    "graph.refs": _row(
        "Who refers to a symbol, or imports a file.",
        refs.RefsParams,
        refs.RefsAnswer,
        "refs",
        "orbit graph refs Scheduler.run --kind call",
        "orbit graph refs file:src/jobs.py",
    ),
    "graph.callees": _row(
        "What a symbol calls, in the order of its source.",
        callees.CalleesParams,
        callees.CalleesAnswer,
        "callees",
        "orbit graph callees run_due --confidence same_module",
    ),
    "graph.overview": _row(
        "The shape of the tree or a part of it: languages, symbols, files, what was left out.",
        overview.OverviewParams,
        overview.OverviewAnswer,
        "overview",
        "orbit graph overview",
        "orbit graph overview dir:src --format full",
    ),
    "graph.implementors": _row(
        "What implements or extends a type.",
        implementors.ImplementorsParams,
        implementors.ImplementorsAnswer,
        "implementors",
        "orbit graph implementors Transport",
    ),
    "graph.deps": _row("What a file or folder imports.", deps.DepsParams, deps.DepsAnswer, "deps", "orbit graph deps file:src/jobs.py"),
    "graph.impact": _row(
        "What a change may touch: callers, heirs, and theirs.",
        impact.ImpactParams,
        impact.ImpactAnswer,
        "impact",
        "orbit graph impact Scheduler.run --depth 2",
        "orbit graph impact --diff HEAD~1",
        "orbit graph impact symbol:src/jobs.py#run:function --direction both --confidence exact",
    ),
    "graph.trace": _row(
        "The code behind a command of a command line (Click, Typer, clap), as a tree of calls.",
        trace.TraceParams,
        trace.TraceAnswer,
        "trace",
        "orbit graph trace 'jobs run'",
        "orbit graph trace run --depth 3",
    ),
    "graph.version": _row("Versions of the package, the extractor and the tables.", Nothing, admin.VersionAnswer, "version", "orbit graph version"),
    "graph.db-path": _row("Where the graph of what is checked out lies.", Nothing, admin.DbPathAnswer, "db_path", "orbit graph db-path"),
    "graph.clean": Operation(
        "Delete the graphs of all branches of this worktree.",
        Nothing,
        admin.CleanAnswer,
        lambda session, _: session.graph.clean(),
        read_only=False,
        examples=("orbit graph clean",),
    ),
    "graph.digest": _row("One value for the whole graph: equal graphs, equal digest.", Nothing, DigestAnswer, "digest", "orbit graph digest"),
    "graph.why": _row("Why a file is in the graph, or is not.", WhyParams, Why, "why", "orbit graph why build/gen.py"),
    "graph.init": Operation(
        "Prepare a worktree: the .orbit folder and an .orbitignore. Changes nothing that is there.",
        InitParams,
        InitAnswer,
        lambda session, _: init(session.workspace),
        read_only=False,
        examples=("orbit init",),
    ),
}
OPERATIONS.update(CONTEXT)
