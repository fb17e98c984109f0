"""How time and memory are taken: of this process, of a command with all its children, and of the parser alone."""

from __future__ import annotations

import compileall
import multiprocessing
import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from typing import Any

from corpus import files

import orbit
from orbit.graph.index.extract import kernel
from orbit.graph.languages import language as find_language

Sources = dict[str, list[bytes]]


def sources(folder: Path, wanted: list[str] | None = None) -> Sources:
    """The contents of a corpus by language, of those languages that parse."""
    found: Sources = {}
    for name, path in files(folder):
        if find_language(name).reader is None and (not wanted or name in wanted):
            found.setdefault(name, []).append(path.read_bytes())
    return found


def environment() -> dict[str, str]:
    """That of an installed package: its bytecode is compiled, and hashes are the same in every run."""
    compileall.compile_dir(Path(orbit.__file__).parent, quiet=1)
    return {**{key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}, "PYTHONHASHSEED": "0"}


def cpu_now() -> float:
    """CPU seconds of this process, its threads, and the children it waited for."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def taken(work: Callable[[], Any]) -> tuple[float, float]:
    """(wall seconds, CPU seconds) of some work in this process."""
    before, started = cpu_now(), time.perf_counter()
    work()
    return time.perf_counter() - started, cpu_now() - before


def least(rounds: list[list[float]]) -> float:
    """The sum of the best of each stretch over the rounds: another program's slice of time rarely hits the same stretch twice."""
    if len({len(stretches) for stretches in rounds}) > 1:
        return min(map(sum, rounds))
    return sum(map(min, zip(*rounds, strict=True)))


def p95(times: list[float]) -> float:
    return quantiles(times, n=20)[-1]


def run_command(command: list[str], root: Path, env: dict[str, str], *, watch: float = 0.0, out: Path | None = None) -> tuple[float, float, int]:
    """(wall seconds, CPU seconds, peak PSS in bytes) of a command and all its children; PSS is looked at every `watch` seconds, if that is given."""
    with open(out or os.devnull, "wb") as printed:
        started = time.perf_counter()
        child = subprocess.Popen(command, cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT)
        peak, done = [0], threading.Event()
        watcher = threading.Thread(target=_watch_memory, args=(child.pid, peak, done, watch))
        if watch:
            watcher.start()
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    done.set()
    if watch:
        watcher.join()
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} left with {child.returncode}")
    return wall, used.ru_utime + used.ru_stime, peak[0]


def _watch_memory(pid: int, peak: list[int], done: threading.Event, seconds: float) -> None:
    while not done.wait(seconds):
        peak[0] = max(peak[0], sum(map(_pss, _tree(pid))))


def _tree(pid: int) -> list[int]:
    try:
        children = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        children = []
    return [pid, *(below for child in children for below in _tree(child))]


def _pss(pid: int) -> int:
    try:
        return next(int(line.split()[1]) * 1024 for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def parse_all(name: str, contents: list[bytes]) -> None:
    query, _ = kernel(name)
    for source in contents:
        query.parse(source)


def parse_floor(contents: Sources, processes: int) -> tuple[float, float]:
    """(wall, CPU) seconds of parsing all sources in so many processes, shares balanced by bytes. Grammars are loaded and sources are read before."""
    for name in contents:
        kernel(name)
    shares: list[list[tuple[str, bytes]]] = [[] for _ in range(processes)]
    sizes = [0] * processes
    for size, name, source in sorted(((len(source), name, source) for name, held in contents.items() for source in held), reverse=True):
        least = sizes.index(min(sizes))
        shares[least].append((name, source))
        sizes[least] += size
    context = multiprocessing.get_context("fork")
    ready, results = context.Barrier(processes), context.SimpleQueue()
    workers = [context.Process(target=_parse_share, args=(share, ready, results)) for share in shares]
    for worker in workers:
        worker.start()
    found = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    return max(end for _, end, _ in found) - min(start for start, _, _ in found), sum(used for _, _, used in found)


def _parse_share(share: list[tuple[str, bytes]], ready: Any, results: Any) -> None:
    queries = {name: kernel(name)[0] for name, _ in share}
    ready.wait()
    start, before = time.perf_counter(), time.process_time()
    for name, source in share:
        queries[name].parse(source)
    results.put((start, time.perf_counter(), time.process_time() - before))
