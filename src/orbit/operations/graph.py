"""Operations on the graph: each row names the question that gives the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from orbit.graph import walk_history
from orbit.graph.outcome import CleanAnswer, DbPathAnswer, InitAnswer, SyncAnswer, VersionAnswer, Why
from orbit.graph.query import callees, deps, history, impact, implementors, overview, pack, picture, refs, search, show, trace
from orbit.graph.query.digest import DigestAnswer
from orbit.model import ARGUMENT
from orbit.operations import Nothing, Operation, Session, operation


class SyncParams(msgspec.Struct, kw_only=True):
    full: Annotated[bool, Meta(description="Build everything again instead of only what changed.")] = False
    jobs: Annotated[int, Meta(ge=1, description="How many files to extract at once; without it one for each processor.")] | None = None


class WhyParams(msgspec.Struct, kw_only=True):
    path: Annotated[str, Meta(description="A file of the worktree.", extra=ARGUMENT)]


def _put(method: str) -> Callable[[Session, Any], Any]:
    """Calls the method of `Graph` whose arguments are the params."""
    return lambda session, ask: getattr(session.graph, method)(**msgspec.structs.asdict(ask))


def _sync(session: Session, ask: SyncParams) -> SyncAnswer:
    return session.graph.sync(full=ask.full, jobs=ask.jobs, progress=session.progress)


def _row(summary: str, question: Callable[..., Any], *examples: str) -> Operation:
    """A question of `graph.query`; the method has its name."""
    return operation(summary, question, _put(question.__name__), *examples)


def _plain(summary: str, answer: type[msgspec.Struct], method: str, params: type[msgspec.Struct] = Nothing, *, example: str, writes: bool = False) -> Operation:
    return Operation(summary, params, answer, _put(method), not writes, (example,))


_SYNC = ("orbit graph sync", "orbit graph sync --full --jobs 4")
_SEARCH = ("orbit graph search Scheduler", 'orbit graph search "retry limit" --kind config --limit 5')
_SHOW = ("orbit graph show Scheduler.run", "orbit graph show symbol:src/jobs.py#run:function --max-bytes 2000")
_REFS = ("orbit graph refs Scheduler.run --kind call", "orbit graph refs file:src/jobs.py")
_CALLEES = "orbit graph callees run_due --confidence same_module"
_OVERVIEW = ("orbit graph overview", "orbit graph overview dir:src --format full")
_DIFF = "orbit graph impact --diff HEAD~1"
_IMPACT = ("orbit graph impact Scheduler.run --depth 2", _DIFF, "orbit graph impact symbol:src/jobs.py#run:function --direction both --confidence exact")
_TRACE = ("orbit graph trace 'jobs run'", "orbit graph trace run --depth 3")
_PACK = ("orbit graph pack Scheduler.run file:src/jobs.py --max-tokens 6000", "orbit graph pack dir:src/jobs command:serve --refresh")
_HISTORY = ("orbit graph history Scheduler.run", r"orbit graph history file:src/jobs.py --task-id-pattern '#\d+'")
_PICTURE = ("orbit graph overview --format full --html > overview.html", "orbit graph impact Scheduler.run --dot | dot -Tsvg > impact.svg")
_INIT = "Prepare a worktree: the .orbit folder and an .orbitignore. Changes nothing that is there."
_SHAPE = "The shape of the tree or a part of it: languages, symbols, files, what was left out."
_TREE = "The code behind a command of a command line (Click, Typer, clap), as a tree of calls."
_CONTEXT = "Sources and summaries of selected things within a token budget, ready to paste."
_TASKS = "Which tasks and commits touched a symbol, file or folder."
_BOXES = "Boxes and arrows of an overview or an impact, as many as a page holds."

OPERATIONS = {
    "graph.sync": operation("Bring the graph up to date with the files.", _sync, _sync, *_SYNC, writes=True),
    "graph.search": _row("Find symbols, strings and configuration keys by name or words.", search.search, *_SEARCH),
    "graph.show": _row("The source of a symbol or file.", show.show, *_SHOW),
    "graph.refs": _row("Who refers to a symbol, or imports a file.", refs.refs, *_REFS),
    "graph.callees": _row("What a symbol calls, in the order of its source.", callees.callees, _CALLEES),
    "graph.impact": _row("What a change may touch: callers, heirs, and theirs.", impact.impact, *_IMPACT),
    "graph.trace": _row(_TREE, trace.trace, *_TRACE),
    "graph.overview": _row(_SHAPE, overview.overview, *_OVERVIEW),
    "graph.implementors": _row("What implements or extends a type.", implementors.implementors, "orbit graph implementors Transport"),
    "graph.deps": _row("What a file or folder imports.", deps.deps, "orbit graph deps file:src/jobs.py"),
    "graph.version": _plain("Versions of the package, the extractor and the tables.", VersionAnswer, "version", example="orbit graph version"),
    "graph.db-path": _plain("Where the graph of what is checked out lies.", DbPathAnswer, "db_path", example="orbit graph db-path"),
    "graph.clean": _plain("Delete the graphs of all branches of this worktree.", CleanAnswer, "clean", example="orbit graph clean", writes=True),
    "graph.digest": _plain("One value for the whole graph: equal graphs, equal digest.", DigestAnswer, "digest", example="orbit graph digest"),
    "graph.why": _plain("Why a file is in the graph, or is not.", Why, "why", WhyParams, example="orbit graph why build/gen.py"),
    "graph.init": _plain(_INIT, InitAnswer, "init", example="orbit init", writes=True),
    "graph.pack": _row(_CONTEXT, pack.pack, *_PACK),
    "graph.history": operation(_TASKS, history.history, lambda session, ask: walk_history(session.graph, ask, session.progress), *_HISTORY),
    "graph.picture": _row(_BOXES, picture.picture, *_PICTURE),
}
