"""A run being recorded: starts, takes steps and events, and ends with an anchor. A failing disk never fails it."""

from __future__ import annotations

import hashlib
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain
from os import getpid
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import msgspec

from orbit.audit import now
from orbit.config import Workspace, actor
from orbit.errors import RefusedError
from orbit.runs import event as ev
from orbit.runs.journal import CURRENT, Bound, BoundExecutor, Fsync, Journal, opened, parent_of
from orbit.runs.reader import read_metadata, records
from orbit.runs.rundir import Anchor, Metadata, RunFolder, StreamAnchor, document
from orbit.runs.step import TERMINATIONS, Step, termination_of
from orbit.runs.stream import LOG, digest_of
from orbit.runs.transcript import LoopEvent

if TYPE_CHECKING:
    from typing_extensions import Self

P = ParamSpec("P")
T = TypeVar("T")
_ATTACHED: dict[tuple[str, str, int], Journal] = {}  # one journal per run in each worker process, however many tasks it gets


def steps_of(journal: Journal) -> dict[str, str | None]:
    """Steps in the order they began, each with how it ended, or None; also those a failing disk has not taken yet."""
    steps: dict[str, str | None] = {}
    for record in chain((record for _, record in records(journal.paths.events)), journal.events.unwritten):
        step_id, event_type = str(record.get("step_id")), record.get("event_type")
        if event_type == "step_started":
            steps[step_id] = None
        elif event_type in ("step_completed", "step_failed"):
            steps[step_id] = str(record.get("termination"))
    return steps


def final_state(metadata: Metadata, steps: dict[str, str | None], journal: Journal) -> bytes:
    """The terminal state for people and simple scripts: `key: value` lines, the first one `state:`."""
    lines = [f"state: {metadata.termination}", f"run: {metadata.run_id}", f"workflow: {metadata.workflow_id}", f"ended: {metadata.ended_at}"]
    lines.append(f"steps: {len(steps)}")
    lines += [f"failed step: {step_id} ({termination})" for step_id, termination in steps.items() if termination not in (None, "completed")]
    lines += [f"unfinished step: {step_id}" for step_id, termination in steps.items() if termination is None]
    lines += [f"error: {metadata.error}"] if metadata.error else []
    degraded = f"degraded, {journal.unwritten} events lost, {journal.failures} writes failed ({journal.first_error})"
    lines.append(f"audit: {degraded if journal.failures else 'complete'}")
    return ("\n".join(lines) + "\n").encode()


class Tally:
    """What came back from a fan-out; the code that collects it counts here."""

    collected = 0
    failed = 0


class Run:
    """Use `Run.start(...)` as a context manager. Picklable: in another process it appends to the same run (see `here`, `bind`, `executor`)."""

    def __init__(self, journal: Journal, metadata: Metadata, base: str | None, *, is_owner: bool) -> None:
        self.journal, self.paths, self.metadata = journal, journal.paths, metadata
        self.run_id = metadata.run_id
        self.head: str | None = None  # the anchor, once the run has ended
        self._base = base  # parent of what is emitted outside any open event: the root, or the place this handle was taken at
        self._is_owner = is_owner
        self._error: str | None = None
        self._termination: str | None = None
        self._exit: Any = None

    @classmethod
    def start(
        cls, *, workflow_id: str, root: str | Path | None = None, workflow_version: str = "1", entry_step: str | None = None, run_id: str | None = None,
        artifacts_root: str | Path | None = None, fsync: Fsync = "step", retry_source_run_id: str | None = None,
    ) -> Run:  # fmt: skip
        """Begin a run in the worktree that holds `root`; its files are complete documents from the first moment."""
        folder = _folder(root, artifacts_root)
        paths = folder.run(run_id or time.strftime("run-%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(3))
        journal = Journal(paths, fsync, is_starter=True)
        with journal.guarded("run folder"):
            folder.workspace.prepare()
            paths.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                paths.path.mkdir()
            except FileExistsError:
                raise RefusedError(f"run {paths.run_id} exists already", hint="choose another run id, or add steps to it with Run.resume") from None
            paths.artifacts.mkdir()
        clean = journal.redactor.text
        metadata = Metadata(
            run_id=paths.run_id, workflow_id=clean(workflow_id), workflow_version=workflow_version, started_at=now(), entry_step=entry_step, actor=actor(),
            artifacts_root=clean(folder.label), host=socket.gethostname(), pid=getpid(), retry_source_run_id=retry_source_run_id,
        )  # fmt: skip
        journal.write_document(paths.metadata, document(metadata))
        journal.write_document(paths.final_state, f"state: running\nrun: {paths.run_id}\n".encode())
        root_event = journal.emit(ev.RunStarted(job_name=workflow_id, retry_source_run_id=retry_source_run_id), None)
        return cls(journal, metadata, root_event, is_owner=True)

    @classmethod
    def resume(cls, run_id: str, *, root: str | Path | None = None, artifacts_root: str | Path | None = None, fsync: Fsync = "step") -> Run:
        """Add steps to a run that exists, whether it ended or was cut short. It is anchored anew at the end."""
        paths = _folder(root, artifacts_root).existing(run_id)
        metadata = read_metadata(paths)
        if metadata is None:
            raise RefusedError(f"run {paths.run_id} has no readable metadata.json", hint="start a new run")
        journal = Journal(paths, fsync, is_starter=False)
        metadata.pid, metadata.host, metadata.ended_at, metadata.termination = getpid(), socket.gethostname(), None, None
        _, first = next(records(paths.envelope), (0, {}))
        run = cls(journal, metadata, first.get("event_id"), is_owner=True)
        run.emit(ev.RunResumed(previous_head=metadata.anchor.head if metadata.anchor else ""))
        return run

    @staticmethod
    def current() -> Run | None:
        """The run this code is being recorded in, if any."""
        return CURRENT.get()

    def emit(self, body: ev.Body) -> str:
        """Write any event of the envelope under the innermost open one; returns its id."""
        return self.journal.emit(body, self._place())

    def _place(self) -> str | None:
        return parent_of(self.journal.token) or self._base

    def transcribe(self, event: LoopEvent) -> None:
        """Write a low-level event of an agent loop beside the envelope."""
        self.journal.transcribe(event, self._place())

    def step(self, step_id: str, *, opcode: str = "RUN_STEP", requires: tuple[str, ...] = ()) -> Step:
        """A step, used as a context manager; artifacts of the roles in `requires` are recorded as missing if they do not come."""
        return Step(self, step_id, opcode, requires)

    @contextmanager
    def scope(self, started: ev.Body, finished: Callable[[ev.Outcome, str | None], ev.Body]) -> Iterator[str]:
        """Everything emitted inside hangs under `started`, the closing event too."""
        event_id = self.emit(started)
        with opened(self.journal.token, event_id):
            try:
                yield event_id
            except BaseException as error:
                self.emit(finished("error", f"{type(error).__name__}: {error}"))
                raise
            self.emit(finished("success", None))

    def activity(self, name: str, activity_type: str = "deterministic") -> AbstractContextManager[str]:
        started = ev.ActivityStarted(activity_name=name, activity_type=activity_type)
        return self.scope(started, lambda outcome, error: ev.ActivityFinished(activity_name=name, outcome=outcome, error_message=error))

    def iteration(self, step_id: str, number: int) -> AbstractContextManager[str]:
        """One turn of a loop, counted from 1. Leaving it by an exception counts as breaking out."""
        started = ev.LoopIterationStart(step_id=step_id, iteration=number)
        return self.scope(started, lambda outcome, _: ev.LoopIterationEnd(step_id=step_id, iteration=number, broke=outcome != "success"))

    def worker(self, step_id: str, index: int) -> AbstractContextManager[str]:
        """One worker of a fan-out, counted from 0; enter it in the worker itself."""
        state = partial(ev.WorkerState, step_id=step_id, worker_index=index)
        return self.scope(state(state="dispatched"), lambda outcome, _: state(state="finished" if outcome == "success" else "failed"))

    @contextmanager
    def fan_out(self, step_id: str, worker_count: int) -> Iterator[Tally]:
        tally = Tally()
        started = ev.FanoutDispatched(step_id=step_id, worker_count=worker_count)
        with self.scope(started, lambda *_: ev.FaninJoined(step_id=step_id, collected=tally.collected, failed=tally.failed)):
            yield tally

    def here(self) -> Run:
        """A handle that stays at this place of the tree wherever it is taken: hand it to a process yourself, or let `bind` do so."""
        return Run(self.journal, self.metadata, self._place(), is_owner=False)

    def bind(self, call: Callable[P, T]) -> Bound[P, T]:
        """`call`, to be run elsewhere (thread, process pool) but recorded here."""
        return Bound(self, call)

    def executor(self, inner: Executor) -> BoundExecutor:
        """`inner` with every task bound to the place where it is submitted."""
        return BoundExecutor(self, inner)

    def flush(self) -> None:
        self.journal.flush()

    def fail(self, reason: str, termination: str = "failed") -> None:
        """End as failed without raising."""
        self._error, self._termination = reason, termination

    def note_entry(self, step_id: str) -> None:
        """The first step of a run is its entry unless the caller said otherwise."""
        if self._is_owner and self.metadata.entry_step is None:
            self.metadata.entry_step = step_id
            self.journal.write_document(self.paths.metadata, document(self.metadata))

    def __enter__(self) -> Self:
        self._exit = CURRENT.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        CURRENT.reset(self._exit)
        if not self._may_finish():
            self.flush()
            return
        if error is not None:
            self.fail(f"{type(error).__name__}: {error}", termination_of(error))
        self.finish()

    def _may_finish(self) -> bool:
        """A handle taken elsewhere, or a forked child that leaves the block, must not end the run of its parent."""
        return self._is_owner and getpid() == self.metadata.pid

    def finish(self) -> None:
        """End the run: final state, closing event, anchor. What could not be written is said in all places that still can be."""
        if not self._may_finish():
            raise RefusedError("only the process that started a run ends it")
        journal = self.journal
        journal.flush()
        with journal.envelope.held():
            steps = steps_of(journal)
            metadata = self._close_metadata(steps)
            if journal.failures:
                self.emit(ev.TelemetryPersistFailed(component="runs", error=journal.first_error or "", failures=journal.failures))
            text = final_state(metadata, steps, journal)
            journal.write_document(self.paths.final_state, text)
            journal.emit(self._closing(metadata, hashlib.sha256(text).hexdigest()), self._base)
            metadata.events_lost = journal.unwritten
            if not journal.unwritten:
                self.head = journal.envelope.head
                metadata.anchor = Anchor(head=self.head, events=journal.envelope.count, streams=self._stream_ends())
            journal.write_document(self.paths.metadata, document(metadata))
        journal.flush(fsync=journal.fsync != "never")
        self._report(steps)
        journal.close()

    def _close_metadata(self, steps: dict[str, str | None]) -> Metadata:
        metadata = self.metadata
        metadata.anchor = None
        metadata.ended_at = now()
        metadata.termination = self._termination or ("completed" if {*steps.values()} <= {None, "completed"} else "failed")
        metadata.error = self.journal.redactor.value(self._error)
        metadata.entry_step = metadata.entry_step or next(iter(steps), None)
        metadata.last_step_id = next(reversed(steps), None)
        metadata.events_lost = self.journal.unwritten
        return metadata

    def _closing(self, metadata: Metadata, final_state_sha256: str) -> ev.RunFinished:
        for stream in (self.journal.events, self.journal.loop):
            stream.refresh()
        others = {name: msgspec.to_builtins(end) for name, end in self._stream_ends().items() if name != "envelope"}
        digest = digest_of(msgspec.to_builtins(metadata), without="anchor")
        outcome = TERMINATIONS.get(metadata.termination or "", "error")
        return ev.RunFinished(outcome=outcome, error_message=metadata.error, streams=others, metadata_sha256=digest, final_state_sha256=final_state_sha256)

    def _stream_ends(self) -> dict[str, StreamAnchor]:
        return {name: StreamAnchor(stream.count, stream.head) for name, stream in self.journal.streams.items() if stream.count}

    def _report(self, steps: dict[str, str | None]) -> None:
        journal = self.journal
        if journal.failures:
            LOG.warning("run %s: %d audit events lost, %d writes failed: %s", self.run_id, journal.unwritten, journal.failures, journal.first_error)
            text = final_state(self.metadata, steps, journal)
            with journal.guarded("final-state.txt"), self.paths.final_state.open("r+b") as file:
                if file.read() != text:
                    file.seek(0)
                    file.write(text)  # in place: the blocks are there even on a full disk
                    file.truncate()
        else:
            LOG.info("run %s: %s, head %s", self.run_id, self.metadata.termination, self.head)

    def __reduce__(self) -> tuple[Any, ...]:
        folder = self.paths.folder
        return _attach, (str(folder.workspace.root), str(folder.root), self.metadata, self._place(), self.journal.fsync)


def _folder(root: str | Path | None, artifacts_root: str | Path | None) -> RunFolder:
    return RunFolder(Workspace.find(Path(root) if root else None), Path(artifacts_root) if artifacts_root else None)


def _attach(root: str, artifacts_root: str, metadata: Metadata, base: str | None, fsync: Fsync) -> Run:
    key = (artifacts_root, metadata.run_id, getpid())
    if key not in _ATTACHED:
        paths = RunFolder(Workspace(Path(root)), Path(artifacts_root)).run(metadata.run_id)
        _ATTACHED[key] = Journal(paths, fsync, is_starter=False)
    return Run(_ATTACHED[key], metadata, base, is_owner=False)
