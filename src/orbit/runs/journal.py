"""What one process writes of one run: its streams and blobs, the names of its events, the count of what failed, and which event is the parent of the next.

The stack of open events follows asyncio tasks by itself, and threads and processes through `Bound`.
"""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from contextvars import ContextVar
from logging import DEBUG, WARNING
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar

import msgspec

from orbit.audit import now
from orbit.config import actor
from orbit.files import write_whole
from orbit.runs.blobs import BlobStore
from orbit.runs.event import SCHEMA_VERSION, Body
from orbit.runs.redact import Redactor
from orbit.runs.rundir import RunPaths
from orbit.runs.stream import LOG, Stream
from orbit.runs.transcript import LoopEvent

if TYPE_CHECKING:
    from orbit.runs.run import Run

Fsync = Literal["never", "step", "event"]
P = ParamSpec("P")
T = TypeVar("T")
# (journal, event id) pairs, outermost first. Pairs of several runs may mix when one run drives another. The journal tells processes apart, too:
# a pool worker forked inside some step inherits that step's pairs, and must not take them for its own.
_OPEN: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("orbit_open_events", default=())
CURRENT: ContextVar[Run | None] = ContextVar("orbit_current_run", default=None)


class Journal:
    """The starter of a run numbers its events plainly; every other writer puts a random name before its numbers."""

    def __init__(self, paths: RunPaths, fsync: Fsync, *, is_starter: bool) -> None:
        self.paths, self.fsync = paths, fsync
        self.redactor = Redactor()
        self.blobs = BlobStore(paths.blobs)
        self.envelope, self.events, self.loop = (Stream(path, fsync_each=fsync == "event") for path in (paths.envelope, paths.events, paths.loop))
        self.streams = {"envelope": self.envelope, "events": self.events, "loop": self.loop}
        self.file_failures: list[str] = []  # other files of the run that could not be written
        self.token = secrets.token_hex(8)  # names this journal among those of all processes
        self._actor = actor()
        self._workspace = self.redactor.text(paths.folder.workspace.root.as_posix())
        self._name_events("" if is_starter else secrets.token_hex(4))

    def _name_events(self, writer: str) -> None:
        self._pid = os.getpid()
        self._prefix = f"v2evt-{self.paths.run_id}-{writer}"
        self._counter = itertools.count(1)

    def emit(self, body: Body, parent: str | None) -> str:
        """Write one envelope event; returns its id, whether or not the disk took it."""
        if os.getpid() != self._pid:
            self._name_events(secrets.token_hex(4))
        fields = msgspec.to_builtins(body)
        event_type = fields.pop("event_type")
        event_id = f"{self._prefix}{next(self._counter):08x}"
        record = {"schemaVersion": SCHEMA_VERSION, "event_type": event_type, "event_id": event_id, "timestamp": now(), "run_id": self.paths.run_id}
        record |= {"agent_identity": self._actor} | ({} if parent is None else {"parent_event_id": parent})
        record |= {"workspace_path": self._workspace, "body_kind": event_type.replace(".", "_")}
        self.envelope.append(record | self._clean(fields))
        return event_id

    def note(self, step_id: str | None, event_type: str, fields: dict[str, Any]) -> None:
        """Write one thin event to the run directory's own stream."""
        record = {"timestamp": now(), "run_id": self.paths.run_id, "step_id": step_id, "event_type": event_type}
        self.events.append(record | self._clean(msgspec.to_builtins(fields)))

    def transcribe(self, event: LoopEvent, parent: str | None) -> None:
        """Write one low-level event to the sink beside the envelope."""
        fields = msgspec.to_builtins(event)
        record = {"event_kind": fields.pop("event_kind"), "timestamp": now(), "run_id": self.paths.run_id, "parent_event_id": parent}
        self.loop.append(record | self._clean(fields))

    def _clean(self, fields: dict[str, Any]) -> dict[str, Any]:
        known = {} if fields.get("step_id") is None else {"step_id": fields["step_id"]}  # an id is checked, never secret, and must stay findable
        return {**self.redactor.value(fields), **known}

    @contextmanager
    def guarded(self, what: str) -> Iterator[None]:
        """Count an operating system error instead of failing the program that is being recorded."""
        try:
            yield
        except OSError as error:
            LOG.log(DEBUG if self.file_failures else WARNING, "run %s: %s cannot be written: %s", self.paths.run_id, what, error)
            self.file_failures.append(f"{what}: {error.strerror or error}")

    def write_document(self, path: Path, content: bytes) -> None:
        with self.guarded(path.name):
            write_whole(path, content, fsync=self.fsync != "never")

    def put_blob(self, content: bytes) -> str | None:
        with self.guarded("blob"):
            return self.blobs.put(self.redactor.bytes(content))
        return None

    @property
    def failures(self) -> int:
        return sum(stream.failures for stream in self.streams.values()) + len(self.file_failures)

    @property
    def unwritten(self) -> int:
        return sum(len(stream.unwritten) for stream in self.streams.values())

    @property
    def first_error(self) -> str | None:
        """The first of each kind tells the cause; later ones tend to be its consequences."""
        found = [stream.first_error for stream in self.streams.values() if stream.first_error] + self.file_failures
        return found[0] if found else None

    def flush(self, *, fsync: bool = False) -> None:
        for stream in self.streams.values():
            stream.flush(fsync=fsync)

    def close(self) -> None:
        for stream in self.streams.values():
            stream.close()


def parent_of(journal: str) -> str | None:
    """The innermost event this journal has open in this context."""
    return next((event_id for owner, event_id in reversed(_OPEN.get()) if owner == journal), None)


@contextmanager
def opened(journal: str, event_id: str) -> Iterator[None]:
    """Make `event_id` the parent of what is emitted inside."""
    before = _OPEN.get()
    _OPEN.set((*before, (journal, event_id)))
    try:
        yield
    finally:
        _OPEN.set(before)


class Bound(Generic[P, T]):
    """A callable that takes its caller's place in the tree along, to another thread or (pickled) another process."""

    def __init__(self, run: Run, call: Callable[P, T]) -> None:
        self.run, self.call, self.open = run.here(), call, _OPEN.get()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        before, current = _OPEN.get(), CURRENT.get()
        _OPEN.set(self.open)
        CURRENT.set(self.run)
        try:
            return self.call(*args, **kwargs)
        finally:
            _OPEN.set(before)
            CURRENT.set(current)
            self.run.flush()


class BoundExecutor(Executor):
    """Any executor, with each task bound to the place where it was submitted. Shutting it down shuts the inner one down."""

    def __init__(self, run: Run, inner: Executor) -> None:
        self._run, self._inner = run, inner

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self._inner.submit(Bound(self._run, fn), *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._inner.shutdown(wait, cancel_futures=cancel_futures)

    def map(self, fn: Callable[..., T], *iterables: Any, timeout: float | None = None, chunksize: int = 1) -> Iterator[T]:
        return self._inner.map(Bound(self._run, fn), *iterables, timeout=timeout, chunksize=chunksize)
