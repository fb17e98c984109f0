"""Extraction in parallel: jobs of about equal size, done in forked processes, in threads, or by any executor; results in the order of the jobs.

A process that dies in a grammar (a crash, or an alarm after HANG_SECONDS in one file) takes its job with it. The job is then cut in halves
until the file that does it stands alone: that one is left out and named, the rest of the build goes on.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import tempfile
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
import xxhash

from orbit import git
from orbit.errors import RefusedError
from orbit.graph.index.extract import PARSE_BUDGET_SECONDS
from orbit.graph.index.pack import Batch, Packed, extract_batch
from orbit.graph.index.scan import BINARY, Scan, is_binary
from orbit_native import hashing

T = TypeVar("T")

UNREADABLE, CHANGING, CRASHED = "unreadable", "changing", "crashed_parser"
HANG_SECONDS = 60  # one file; parsing and matching have budgets of their own, a scanner that loops has none
LARGEST_JOB, SMALLEST_JOB = 1 << 20, 1 << 16  # bytes of source
FEW_BYTES = 1 << 19  # below this a second worker costs more than it brings


class Job(msgspec.Struct):
    """Files of one language to read, hash and extract. Self-contained: it may be done on another machine that has the tree."""

    root: bytes
    language: str
    positions: list[int]  # in the scan
    paths: list[str]
    modules: list[str]
    limit: int  # bytes; a file that grew beyond it since the scan is left for the next sync


class Done(msgspec.Struct):
    """What became of a job: of each file its hash or the reason why it was left out; sizes and facts of those that were read."""

    positions: list[int]
    outcome: list[bytes | str]
    sizes: list[int]
    packed: Packed


def make_jobs(root: bytes, found: Scan, modules: list[str], wanted: list[int], workers: int) -> list[Job]:
    """One language a job; the largest first, so that no worker ends late."""
    sizes = found.sizes
    room = min(LARGEST_JOB, max(SMALLEST_JOB, int(sizes[wanted].sum()) // (8 * workers))) if wanted else 0
    open_jobs: dict[str, tuple[list[int], int]] = {}
    made: list[tuple[int, list[int]]] = []
    for position in wanted:
        lang, size = found.languages[position], int(sizes[position])
        batch, used = open_jobs.get(lang, ([], 0))
        if batch and used + size > room:
            made.append((used, batch))
            batch, used = [], 0
        batch.append(position)
        open_jobs[lang] = (batch, used + size)
    made += [(used, batch) for batch, used in open_jobs.values()]
    made.sort(key=lambda job: (-job[0], job[1]))
    return [
        Job(
            root=root, language=found.languages[batch[0]], positions=batch, paths=[found.paths[at] for at in batch],
            modules=[modules[at] for at in batch], limit=int(sizes[batch].max()) + (1 << 20),
        )
        for _, batch in made
    ]  # fmt: skip


def do(job: Job) -> Done:
    """Read, hash and extract the files of a job. A file may have changed since the scan saw it."""
    contents, status = hashing.read_files(job.root, [git.encode(path) for path in job.paths], job.limit)
    batch = Batch(job.language, [], [], [], PARSE_BUDGET_SECONDS)
    outcome: list[bytes | str] = []
    for path, module, content, state in zip(job.paths, job.modules, contents, status.tolist(), strict=True):
        if content is None or state != hashing.READ:
            outcome.append(CHANGING if state == hashing.CHANGED else UNREADABLE)
        elif is_binary(content):
            outcome.append(BINARY)
        else:
            outcome.append(xxhash.xxh3_128_digest(content))
            batch.paths.append(path)
            batch.modules.append(module)
            batch.sources.append(content)
    try:
        packed = extract_batch(batch, lambda: _set_alarm(HANG_SECONDS))
    finally:
        _set_alarm(0)
    return Done(job.positions, outcome, [len(source) for source in batch.sources], packed)


def run(jobs: list[Job], workers: int, size: int, executor: Executor | None = None) -> Iterator[Done]:
    """Do all jobs; `size` is that of all their files. An executor of the caller's is used as it is."""
    if executor is not None:
        yield from _in_order(executor, deque(jobs), 2 * workers + 2)
    elif workers <= 1 or len(jobs) <= 1 or size < FEW_BYTES:
        yield from map(do, jobs)
    elif can_fork():
        yield from _in_processes(deque(jobs), min(workers, len(jobs)))
    else:
        with ThreadPoolExecutor(workers) as pool:
            yield from _in_order(pool, deque(jobs), 2 * workers + 2)


def can_fork() -> bool:
    """Is a copy of this process safe? Not beside other threads, whose locks it would inherit, and not where the system's own libraries object."""
    return sys.platform.startswith("linux") and threading.active_count() == 1


@contextmanager
def apart(work: Callable[[], Iterable[T]], room: Path, workers: int, size: int) -> Iterator[Iterator[T]]:
    """What `work` gives, made meanwhile by a copy of this process, in order; where there is no room for one, made here when asked for."""
    if workers <= 1 or size < FEW_BYTES or not can_fork():
        yield iter(work())
        return
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    with ours, theirs, tempfile.TemporaryFile(dir=room) as file:
        copy = context.Process(target=_give, args=(work, theirs, file, os.getpid()), daemon=True)
        _give_back_memory()
        _quietly(copy.start)
        theirs.close()
        del work  # and what it holds: the copy has it
        try:
            yield _take(ours, file)
        finally:
            copy.kill()
            copy.join()


def _give_back_memory() -> None:
    """What is free, but still held by the C library, would count twice after a fork."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)


def _give(work: Callable[[], Iterable[T]], pipe: Connection, file: BinaryIO, parent: int) -> None:
    """Items go through a file, so that nobody waits for the other; the pipe says how long each is, and that it was the last."""

    def give(item: Any, error: Exception | None = None) -> None:
        size = file.write(pickle.dumps((item, error), protocol=5))
        file.flush()
        pipe.send(size)

    _become_worker(parent)
    try:
        for item in work():
            give(item)
    except Exception as error:
        give(None, error)
    pipe.send(0)


def _take(pipe: Connection, file: BinaryIO) -> Iterator[Any]:
    offset = 0
    try:
        while size := pipe.recv():
            item, error = pickle.loads(os.pread(file.fileno(), size, offset))
            if error is not None:
                raise error
            yield item
            offset += size
    except EOFError:
        raise RefusedError("the process that resolved references was ended", hint="short of memory? `--jobs 1` takes less", code="killed") from None


def _in_order(pool: Executor, jobs: deque[Job], ahead: int) -> Iterator[Done]:
    """Results in the order of the jobs; only some are under way at a time, so that results do not pile up."""
    waiting: deque[Future[Done]] = deque()
    try:
        while jobs or waiting:
            while jobs and len(waiting) < ahead:
                waiting.append(pool.submit(do, jobs.popleft()))
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _in_processes(jobs: deque[Job], workers: int) -> Iterator[Done]:
    while jobs:
        with _fork_pool(workers) as pool:
            waiting: deque[tuple[Job, Future[Done]]] = deque()
            try:
                while jobs or waiting:
                    while jobs and len(waiting) < 2 * workers + 2:
                        job = jobs.popleft()
                        waiting.append((job, _quietly(pool.submit, do, job)))
                    result = waiting[0][1].result()
                    waiting.popleft()
                    yield result
            except BrokenProcessPool:
                suspects = [job for job, _ in waiting]
            finally:
                pool.shutdown(wait=not waiting, cancel_futures=True)
            if not waiting:
                return
        for job in suspects:
            yield from _alone(job)


def _alone(job: Job) -> Iterator[Done]:
    """Do a job in a process of its own, as far as it can be done."""
    with _fork_pool(1) as pool:
        try:
            result = _quietly(pool.submit, do, job).result()
        except BrokenProcessPool:
            result = None
    if result is not None:
        yield result
    elif len(job.paths) == 1:
        yield Done(job.positions, [CRASHED], [], extract_batch(Batch(job.language, [], [], [], PARSE_BUDGET_SECONDS)))
    else:
        half = len(job.paths) // 2
        for part in (slice(None, half), slice(half, None)):
            yield from _alone(msgspec.structs.replace(job, positions=job.positions[part], paths=job.paths[part], modules=job.modules[part]))


def _fork_pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=get_context("fork"), initializer=_become_worker, initargs=(os.getpid(),))


def _quietly(fork: Callable[..., T], *arguments: Any) -> T:
    """Newer Pythons warn when a library has threads of its own; numpy's have no part in what a worker does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return fork(*arguments)


_is_worker = False


def _become_worker(parent: int) -> None:
    """A worker ends with its parent, leaves Ctrl-C to it, and dies of a file that takes for ever."""
    import ctypes

    global _is_worker
    _is_worker = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    gc.disable()  # short-lived; what it makes has no cycles worth a search
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _set_alarm(seconds: int) -> None:
    if _is_worker:
        signal.alarm(seconds)
