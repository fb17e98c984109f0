"""Extraction in other processes: one that dies takes no more with it than the file that did it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from orbit.config import Workspace
from orbit.errors import RefusedError
from orbit.graph import Graph, languages
from orbit.graph.facts import FileFacts
from orbit.graph.index import pool
from orbit.graph.index.sync import sync
from orbit.graph.languages import Language, tables
from orbit.graph.store.connection import open_reader

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux only")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty tables; a job holds many of them."""
    for number in range(40):
        (tmp_path / f"table{number:02}.csv").write_text(f"column{number}\n1\n")
    (tmp_path / "code.py").write_text("def f():\n    return f()\n")
    monkeypatch.setattr(pool, "FEW_BYTES", 0)
    monkeypatch.setattr(pool, "SMALLEST_JOB", 200)
    monkeypatch.setattr(pool, "LARGEST_JOB", 200)
    return tmp_path


def plant(monkeypatch: pytest.MonkeyPatch, deed: Callable[[], object]) -> None:
    """Make the reader of .csv do this to a worker that meets table17 or table31."""
    real: Language = tables.LANGUAGES["csv"]
    here = os.getpid()

    def reader(facts: FileFacts) -> None:
        if facts.source.startswith((b"column17", b"column31")) and os.getpid() != here:
            deed()
        assert real.reader is not None
        real.reader(facts)

    monkeypatch.setitem(tables.LANGUAGES, "csv", msgspec.structs.replace(real, reader=reader))
    languages.language.cache_clear()


@pytest.fixture(autouse=True)
def forget_planted_tables() -> Iterator[None]:
    yield
    languages.language.cache_clear()


def left_out(answer_db: str) -> dict[str, str]:
    db = open_reader(Path(answer_db))
    try:
        return dict(db.execute("SELECT path, reason FROM skipped WHERE path NOT LIKE '.orbit%'"))
    finally:
        db.close()


def test_files_that_kill_a_worker_are_left_out_and_named(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGKILL))
    answer = sync(Workspace(tree), jobs=2)
    assert left_out(answer.db) == {"table17.csv": pool.CRASHED, "table31.csv": pool.CRASHED}
    assert answer.files_indexed == 39
    assert answer.files_skipped[pool.CRASHED] == 2


def test_a_file_that_never_ends_is_left_out_and_named(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "HANG_SECONDS", 1)
    plant(monkeypatch, threading.Event().wait)
    answer = sync(Workspace(tree), jobs=2)
    assert left_out(answer.db) == {"table17.csv": pool.CRASHED, "table31.csv": pool.CRASHED}


def test_any_executor_gives_the_same_graph(tree: Path) -> None:
    with Graph.open(tree) as graph:
        graph.sync(jobs=1)
        alone = graph.digest().digest
        with ThreadPoolExecutor(3) as executor:
            graph.sync(full=True, executor=executor)
        assert graph.digest().digest == alone
        graph.sync(full=True, jobs=3)
        assert graph.digest().digest == alone


def test_beside_other_threads_nothing_is_forked(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("forked")

    monkeypatch.setattr(pool, "_in_processes", fail)
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    try:
        assert sync(Workspace(tree), jobs=2).files_indexed == 41
    finally:
        over.set()
        other.join()


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = """
import os, sys, threading
from orbit.graph.index import pool
workers = pool._fork_pool(2)
futures = [workers.submit(os.getpid), workers.submit(os.getpid)]
print(*{future.result() for future in futures}, flush=True)
threading.Event().wait()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().split()
        parent.kill()
        assert parent.communicate(timeout=60)[0] == ""  # the pipe ends when the last process that holds it does


def test_a_copy_of_the_process_gives_items_in_order_while_this_one_works(tmp_path: Path) -> None:
    with pool.apart(lambda: ((os.getpid(), bytes(number)) for number in range(2000)), tmp_path, 2, 1 << 30) as items:
        found = list(items)
    assert [len(content) for _, content in found] == list(range(2000))
    assert {pid for pid, _ in found} != {os.getpid()}
    assert len({pid for pid, _ in found}) == 1


@pytest.mark.parametrize(("workers", "size"), [(1, 1 << 30), (2, 10)])
def test_small_work_is_done_here_and_only_when_asked_for(tmp_path: Path, workers: int, size: int) -> None:
    begun = []
    with pool.apart(lambda: (begun.append(number) or os.getpid() for number in range(3)), tmp_path, workers, size) as items:
        assert begun == []
        assert set(items) == {os.getpid()}
    assert begun == [0, 1, 2]


def test_an_error_in_the_copy_is_raised_here_after_the_items_before_it(tmp_path: Path) -> None:
    def work() -> Iterator[int]:
        yield 1
        raise OSError(28, "No space left on device")

    with pool.apart(work, tmp_path, 2, 1 << 30) as items:
        assert next(items) == 1
        with pytest.raises(OSError, match="No space"):
            next(items)


def test_a_copy_that_is_killed_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    here = os.getpid()

    def work() -> Iterator[int]:
        yield 1
        assert os.getpid() != here
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RefusedError, match="was ended") as caught, pool.apart(work, tmp_path, 2, 1 << 30) as items:
        list(items)
    assert "--jobs 1" in str(caught.value.hint)


def test_a_copy_does_not_outlive_the_sync_that_gave_up_on_it(tmp_path: Path) -> None:
    here = os.getpid()

    def work() -> Iterator[int]:
        assert os.getpid() != here
        yield os.getpid()
        signal.pause()

    with pool.apart(work, tmp_path, 2, 1 << 30) as items:
        copy = next(items)
    with pytest.raises(ProcessLookupError):
        os.kill(copy, 0)
