"""Which event is the parent of the next one. The stack follows asyncio tasks by itself and threads and processes through `Bound`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from orbit.runs.run import Run

P = ParamSpec("P")
T = TypeVar("T")

# (journal, event id) pairs, outermost first. Pairs of several runs may mix when one run drives another. The journal tells processes apart, too:
# a pool worker forked inside some step inherits that step's pairs, and must not take them for its own.
_OPEN: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("orbit_open_events", default=())
CURRENT: ContextVar[Run | None] = ContextVar("orbit_current_run", default=None)


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
