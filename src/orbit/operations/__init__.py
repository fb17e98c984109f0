"""The one door: every question and every change, by name. Validates, runs, records.

A room (`graph`, `adr`, `run`) is a module with a table `OPERATIONS`; it is imported only when one of its operations is asked for.
The command line, the MCP server and the tests all come through here.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from orbit.config import Workspace
from orbit.errors import OrbitError, UsageError

if TYPE_CHECKING:
    from orbit.graph import Graph

ROOMS = {"graph": "orbit.operations.graph", "adr": "orbit.operations.adr", "run": "orbit.operations.runs"}


class Operation(msgspec.Struct, frozen=True):
    """One question or change: what it is for, what goes in, what comes out, what does it."""

    summary: str
    params: type[msgspec.Struct]
    answer: type[msgspec.Struct]
    run: Callable[[Session, Any], Any]
    read_only: bool = True
    examples: tuple[str, ...] = ()


class Nothing(msgspec.Struct, kw_only=True):
    """Params of an operation that needs none."""


def operation(summary: str, function: Callable[..., Any], run: Callable[[Session, Any], Any], *examples: str, writes: bool = False) -> Operation:
    """The row of a function of a room; params and answer are what its second argument and its return value are annotated with."""
    names, scope = list(function.__annotations__.values()), vars(sys.modules[function.__module__])  # also of a function that is wrapped
    return Operation(summary, scope[names[1]], scope[names[-1]], run, not writes, examples)


class Session:
    """What operations act on: one worktree, and the handles opened for it so far."""

    def __init__(self, root: Path | None = None, watch_ms: int | None = None) -> None:
        self.workspace = Workspace.find(root)
        self.watch_ms = watch_ms  # how long files must be quiet before a sync in the background; None: no such syncs
        self.progress: Callable[[str, int, int], None] | None = None  # told how far long work has come: (stage, done, of)
        self.terminal: tuple[BinaryIO, BinaryIO] | None = None  # where a recorded command's output is shown live, if anywhere

    @cached_property
    def graph(self) -> Graph:
        from orbit.graph import Graph, SyncPolicy

        policy = SyncPolicy.MANUAL if self.watch_ms is None else SyncPolicy.watch(self.watch_ms)
        return Graph(self.workspace, policy)

    def close(self) -> None:
        if "graph" in self.__dict__:
            self.graph.close()


def room(name: str) -> Mapping[str, Operation]:
    """All operations of one room, by full name."""
    table: Mapping[str, Operation] = import_module(ROOMS[name]).OPERATIONS
    return table


def find(name: str) -> Operation:
    """The operation called `name`, such as `graph.refs`."""
    prefix = name.partition(".")[0]
    if prefix not in ROOMS or name not in room(prefix):
        raise UsageError(f"no operation {name!r}")
    return room(prefix)[name]


def perform(session: Session, name: str, given: Mapping[str, Any]) -> Any:
    """Check `given` against the operation's params, run it, and leave an audit row if it may write."""
    operation = find(name)
    try:
        params = msgspec.convert(given, operation.params)
    except msgspec.ValidationError as error:
        said, _, where = str(error).partition(" - at `$.")
        raise UsageError(f"{where.rstrip('`') or name}: {said[:1].lower()}{said[1:]}", hint=f"see `orbit {name.replace('.', ' ')} --help`") from None
    if operation.read_only:
        return operation.run(session, params)
    started = time.perf_counter()
    try:
        answer = operation.run(session, params)
    except OrbitError as error:
        _record(session, name, params, started, error)
        raise
    _record(session, name, params, started, None)
    return answer


def _record(session: Session, name: str, params: msgspec.Struct, started: float, error: OrbitError | None) -> None:
    from orbit.audit import CommandLog, CommandRow
    from orbit.runs.redact import Redactor

    clean = Redactor().value
    row = CommandRow(
        command=name,
        status="failure" if error else "success",
        exit_code=error.exit_code if error else 0,
        duration_ms=round((time.perf_counter() - started) * 1000),
        arguments=clean(msgspec.to_builtins(params)),
        error=clean(error.message) if error else None,
    )
    try:
        CommandLog(session.workspace).append(row)
    except Exception as failure:  # the command itself has run; an unwritable log must not turn its answer into an error
        logging.getLogger("orbit.audit").warning("%s left no audit row: %s", name, failure)
