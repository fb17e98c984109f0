"""Follow a worktree: file events in, coalesced syncs out, both in threads of their own. Asks no questions and never makes one wait.

One thread listens, one syncs. Whoever needs to know that the graph has caught up takes part in the next sync with `barrier`. Where events cannot be had,
or stop coming, syncs go by the clock instead, and `notice` says so.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from orbit.config import Workspace
from orbit.errors import OrbitError, RefusedError
from orbit.graph.index.sync import sync
from orbit.graph.index.work import Memory
from orbit.graph.outcome import SyncAnswer

Progress = Callable[[str, int, int], None]  # (stage, done, of)
Events = Callable[[Path, threading.Event], Iterator[None]]  # yields when watching has begun, begun again, or seen a change
Outcome = SyncAnswer | OrbitError

SCHEDULE_SECONDS = 2.0  # between syncs without events; longer where a sync takes long
LONGEST = 8  # changes that never pause are synced after so many debounce times
SHARE = 3  # background syncs take at most one part in so many of the time
_TICK_SECONDS = 0.2


class _ClosedError(Exception):
    """Ends a sync from inside its progress report."""


class Watch:
    """Syncs once when made, then whenever files have changed and been quiet for a moment. Thread-safe; close it to stop."""

    def __init__(self, workspace: Workspace, debounce_ms: int = 250, *, events: Events | None = None) -> None:
        if events is None:
            if find_spec("watchfiles") is None:
                hint = "pip install 'orbit-native[watch]', or use SyncPolicy.ON_READ"
                raise RefusedError("watching needs the `watch` extra, which is not installed", hint=hint, code="no-watch")
            from orbit.graph.index.events import file_events

            events = file_events
        self.workspace = workspace
        self.notice: str | None = None  # why there are no file events, once that is so
        self.progress = ("scan", 0, 0)  # of the sync that is running
        self._events, self._debounce = events, debounce_ms / 1000
        self._memory = Memory()
        self._stop = threading.Event()
        self._turn = threading.Condition()
        self._asked = self._urgent = 1  # number of the last request for a sync, and of the last one somebody waits for
        self._done = 0  # the last request that began before a finished sync did
        self._full, self._jobs = False, None  # type: bool, int | None
        self._outcome: Outcome | None = None
        self._rest_until = self._quiet_at = self._since = 0.0  # monotonic: end of a rest, end of a burst of changes, its beginning
        self._listeners: list[queue.SimpleQueue[Outcome | None]] = []
        self._threads = [threading.Thread(target=work, name=f"orbit-{work.__name__.strip('_')}", daemon=True) for work in (self._listen, self._keep_syncing)]
        for thread in self._threads:
            thread.start()

    @property
    def is_busy(self) -> bool:
        """Is a sync running or about to?"""
        return self._asked > self._done

    def nudge(self) -> None:
        """Something changed: sync once it has been quiet for a moment."""
        now = time.monotonic()
        with self._turn:
            if self._asked == self._done:
                self._since = now
            self._quiet_at = min(now + self._debounce, self._since + LONGEST * self._debounce)
            self._asked += 1
            self._turn.notify_all()

    def barrier(self, *, full: bool = False, jobs: int | None = None, progress: Progress | None = None) -> SyncAnswer:
        """The outcome of a sync that began after this call. `progress` is called now and then; what it raises ends the waiting, not the sync."""
        with self._turn:
            self._asked += 1
            mine = self._urgent = self._asked
            self._full, self._jobs = self._full or full, jobs or self._jobs
            self._turn.notify_all()
        while True:
            with self._turn:
                if self._turn.wait_for(lambda: self._done >= mine or self._stop.is_set(), _TICK_SECONDS):
                    break
            if progress is not None:
                progress(*self.progress)
        if self._done < mine:
            raise RefusedError("the handle was closed before the sync had ended", hint="open the graph again", code="closed")
        if isinstance(self._outcome, OrbitError):
            raise self._outcome
        assert self._outcome is not None
        return self._outcome

    def not_ready(self) -> OrbitError:
        """Why there is no graph to ask yet."""
        if isinstance(self._outcome, OrbitError) and not self.is_busy:
            return self._outcome
        self.nudge()
        stage, done, of = self.progress
        far = f" ({stage} {done} of {of} files)" if of else ""
        hint = "call again in some seconds; `orbit graph sync` waits until it is there and reports progress"
        return RefusedError(f"the graph of what is checked out is still being built{far}", hint=hint, code="indexing")

    def outcomes(self) -> Iterator[Outcome]:
        """What each sync from now on gave, until closed."""
        listener: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
        self._listeners.append(listener)
        if self._outcome is not None:
            yield self._outcome
        while not self._stop.is_set():
            try:
                outcome = listener.get(timeout=_TICK_SECONDS)  # short, so that a signal is not kept waiting
            except queue.Empty:
                continue
            if outcome is None:
                return
            yield outcome

    def close(self) -> None:
        """Stop both threads; a sync that is running ends without a trace."""
        self._stop.set()
        with self._turn:
            self._turn.notify_all()
        for listener in self._listeners:
            listener.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=5)

    # --- the two threads

    def _listen(self) -> None:
        try:
            for _ in self._events(self.workspace.root, self._stop):
                self.nudge()
            reason = "the watcher ended"
        except Exception as error:  # whatever the operating system or the library says, syncs must go on
            reason = str(error) or type(error).__name__
        if not self._stop.is_set():
            self.notice = f"no file events ({reason}): syncing every few seconds instead"
            self.nudge()

    def _keep_syncing(self) -> None:
        while True:
            request = self._next_request()
            if request is None:
                return
            serving, full, jobs = request
            started = time.monotonic()
            try:
                outcome: Outcome = sync(self.workspace, full=full, jobs=jobs, progress=self._note, memory=self._memory)
                if self.notice is not None and isinstance(outcome, SyncAnswer):
                    outcome.message = f"{outcome.message}; {self.notice}" if outcome.message else self.notice
            except _ClosedError:
                return
            except OrbitError as error:
                outcome = error
            except Exception as error:  # a bug in one sync must not end all later ones
                outcome = OrbitError(f"the sync failed: {type(error).__name__}: {error}", hint="call again, or run `orbit graph sync --full`")
            ended = time.monotonic()
            with self._turn:
                self._done, self._outcome = serving, outcome
                self._rest_until = ended + (SHARE - 1) * (ended - started)
                self._turn.notify_all()
            for listener in self._listeners:
                listener.put(outcome)

    def _next_request(self) -> tuple[int, bool, int | None] | None:
        """Waits for work. Requests that came in meanwhile are served by one sync."""
        with self._turn:
            while not self._stop.is_set():
                now, later = time.monotonic(), max(self._rest_until, self._quiet_at)
                is_asked = self._asked > self._done
                is_scheduled = self.notice is not None and now >= self._rest_until + SCHEDULE_SECONDS
                if is_asked and (self._urgent > self._done or now >= later) or is_scheduled:
                    full, jobs = self._full, self._jobs
                    self._full, self._jobs = False, None
                    return self._asked, full, jobs
                self._turn.wait(later - now if is_asked else SCHEDULE_SECONDS if self.notice is not None else None)
            return None

    def _note(self, stage: str, done: int, of: int) -> None:
        if self._stop.is_set():
            raise _ClosedError
        self.progress = (stage, done, of)
