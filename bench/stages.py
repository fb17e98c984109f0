"""Where the CPU of a build goes, stage by stage: the functions of a stage's modules are wrapped and their own time is added up.

A stage calls another; what the other takes is not counted to the caller. Time in no stage is the `rest`: scanning, units, the loop itself.

    python bench/stages.py STAGE graph sync ...      orbit, made 30% slower in one stage: what the gate must notice
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

import orbit.graph

# A stage is the modules below these names. A module that moves is named here.
STAGES: dict[str, tuple[str, ...]] = {
    "extraction": ("orbit.graph.index.extract", "orbit.graph.index.pack", "orbit.graph.languages"),
    "resolution": ("orbit.graph.index.resolution", "orbit.graph.index.rules"),
    "write": ("orbit.graph.store", "orbit.graph.index.rows"),
    "query": ("orbit.graph.query", "orbit.graph.readers", "orbit.graph.selector"),
}
PLANTED = 0.3
_MANAGED = contextlib.contextmanager(iter).__code__  # that of every function made into a context manager


class InLine(Executor):
    """Does all work at once, in the calling thread: one process to look at."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Clock:
    """CPU seconds by stage. With `slower`, each stretch of a stage takes that much longer: the planted slow-down."""

    def __init__(self, stages: dict[str, tuple[str, ...]], slower: float = 0.0) -> None:
        self.stretches: dict[str, list[float]] = {stage: [] for stage in stages}
        self._slower, self._local = slower, threading.local()
        self._owed, self._entry_cost, self._pass_cost = 0.0, 0.0, 0.0
        self._replaced: list[tuple[Any, str, Any]] = []
        modules = {stage: _modules(names) for stage, names in stages.items()}  # all are there before the first is wrapped
        for stage, found in modules.items():
            for module in found:
                self._wrap_module(stage, module)
        if slower:
            self._weigh(next(iter(stages)))

    def _weigh(self, stage: str) -> None:
        """What wrapping itself costs: it is part of the planted slow-down, not on top of it."""
        nothing, count = self._wrapped(stage, lambda: None), 20_000
        slower, self._slower = self._slower, 0.0
        first = time.thread_time()
        for _ in range(count):
            nothing()
        second = time.thread_time()
        self._enter(stage)
        for _ in range(count):
            nothing()
        self._leave()
        self._entry_cost, self._pass_cost = (second - first) / count, (time.thread_time() - second) / count
        self._slower = slower

    def remove(self) -> None:
        for holder, name, original in reversed(self._replaced):
            setattr(holder, name, original)

    def _wrap_module(self, stage: str, module: Any) -> None:
        for held in list(vars(module).values()):
            if getattr(held, "__module__", None) != module.__name__:
                continue
            if inspect.isclass(held):
                for attribute, function in list(vars(held).items()):
                    if inspect.isfunction(function) and (not attribute.startswith("__") or attribute == "__init__"):
                        self._replace(held, attribute, function, self._wrapped(stage, function))
            elif inspect.isfunction(held):
                wrapped = self._wrapped(stage, held)
                for other in list(sys.modules.values()):
                    for alias in [alias for alias, value in list(vars(other).items()) if value is held] if other is not None else ():
                        self._replace(other, alias, held, wrapped)

    def _replace(self, holder: Any, name: str, original: Any, wrapped: Any) -> None:
        with contextlib.suppress(AttributeError, TypeError):  # a struct's own methods stay
            setattr(holder, name, wrapped)
            self._replaced.append((holder, name, original))

    def _wrapped(self, stage: str, function: Any) -> Any:
        if function.__code__ is _MANAGED:  # its two halves are the work
            inner = function.__wrapped__
            made = contextlib.contextmanager(lambda *args, **kwargs: _Steps(self, stage, inner(*args, **kwargs)))
            made.__module__ = function.__module__  # a clock over this one, which measures what was planted, must find it
            return made
        if inspect.isgeneratorfunction(function):
            return function  # counts to whoever takes from it: a clock at each row would be most of what it measures

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if self._in(stage):
                return function(*args, **kwargs)
            self._enter(stage)
            try:
                return function(*args, **kwargs)
            finally:
                self._leave()

        return called

    def _in(self, stage: str) -> bool:
        """Within a stretch of this stage already? Then no clock is read."""
        stack = self._local.__dict__.get("stack")
        if not stack or stack[-1][0] != stage:
            return False
        stack[-1][3] += 1
        return True

    def _enter(self, stage: str) -> None:
        stack: list[Any] = self._local.__dict__.setdefault("stack", [])
        now = time.thread_time()
        if stack:
            stack[-1][1] += now - stack[-1][2]
        stack.append([stage, 0.0, time.thread_time(), 0])

    def _leave(self) -> None:
        stack = self._local.stack
        stage, held, since, passed = stack.pop()
        held += time.thread_time() - since
        if self._slower:
            wrapping = passed * self._pass_cost
            self._owed += (held - wrapping) * self._slower - wrapping - self._entry_cost
            until = time.thread_time() + self._owed
            while (now := time.thread_time()) < until:
                pass
            self._owed = until - now
        self.stretches[stage].append(held)
        if stack:
            stack[-1][2] = time.thread_time()


class _Steps:
    """A generator whose steps count to a stage: what `contextmanager` drives."""

    def __init__(self, clock: Clock, stage: str, steps: Any) -> None:
        self._clock, self._stage, self._steps = clock, stage, steps

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._step(self._steps.__next__)

    def throw(self, *error: Any) -> Any:
        return self._step(self._steps.throw, *error)

    def close(self) -> None:
        self._steps.close()

    def _step(self, step: Callable[..., Any], *args: Any) -> Any:
        if self._clock._in(self._stage):
            return step(*args)
        self._clock._enter(self._stage)
        try:
            return step(*args)
        finally:
            self._clock._leave()


def plant(stage: str) -> Clock:
    """From now on, everything a stage does in this process takes 30% more CPU."""
    return Clock({stage: STAGES[stage]}, PLANTED)


def _modules(names: tuple[str, ...]) -> list[Any]:
    found = []
    for name in names:
        if importlib.util.find_spec(name) is None:
            continue
        module = importlib.import_module(name)
        found.append(module)
        found += [importlib.import_module(inside.name) for inside in pkgutil.walk_packages(getattr(module, "__path__", []), name + ".")]
    return found


def stage_stretches(graph: orbit.graph.Graph) -> dict[str, list[float]]:
    """CPU seconds of each stretch of each stage in a full build in this process, and of the rest."""
    import orbit.graph.index.sync  # noqa: F401  what it binds is wrapped too

    clock = Clock({stage: names for stage, names in STAGES.items() if stage != "query"})
    try:
        started = time.process_time()
        graph.sync(full=True, executor=InLine())
        whole = time.process_time() - started
    finally:
        clock.remove()
    for stage in STAGES.keys() - {"query"}:
        if (seconds := sum(clock.stretches[stage])) < 0.01 * whole:
            raise SystemExit(f"{stage} took {seconds:.3f} s of {whole:.1f} s: does bench/stages.py name its modules?")
    return {**clock.stretches, "rest": [whole - sum(map(sum, clock.stretches.values()))]}


def main() -> None:
    plant(sys.argv.pop(1))
    from orbit.cli import main as orbit_main

    orbit_main()


if __name__ == "__main__":
    main()
