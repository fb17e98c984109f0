"""Bring the graph up to date with the files: scan, extract what changed, resolve what that may have changed, in one transaction.

The law: after any history of syncs the graph equals that of a fresh build. It holds because extraction is a function of a file's
bytes alone, and because a file is resolved again whenever a name it looked up may mean something else.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import apsw
from filelock import FileLock, Timeout

from orbit.config import Workspace
from orbit.errors import RefusedError
from orbit.graph.index.build import build
from orbit.graph.index.place import EXTRACTOR_VERSION, delete, find_place, find_stale
from orbit.graph.index.refresh import refresh
from orbit.graph.index.scan import SETTINGS, unknown_settings
from orbit.graph.index.work import Memory, MovedError, Progress, Sync
from orbit.graph.outcome import SyncAnswer
from orbit.graph.store.connection import SCHEMA_VERSION, drop_all, is_empty, open_writer, transaction, use_wal
from orbit.graph.store.writer import Writer

LOCK_SECONDS = 600.0
DAMAGE = (apsw.NotADBError, apsw.CorruptError, apsw.SQLError)


def sync(
    workspace: Workspace, *, full: bool = False, jobs: int | None = None, progress: Progress | None = None, executor: Executor | None = None,
    memory: Memory | None = None,
) -> SyncAnswer:  # fmt: skip
    """Sync the graph of a worktree. One writer at a time: others wait for it, then find little left to do."""
    started = time.perf_counter()
    place = find_place(workspace.root)
    try:
        workspace.prepare()
        place.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(place.lock, timeout=LOCK_SECONDS), _no_collector():
            answer = _sync(partial(Sync, workspace, place, progress, jobs, executor, memory or Memory()), full)
            delete(find_stale(place))
        if unknown := unknown_settings(workspace):
            odd = f"[graph] of .orbit/config.toml has no setting {', '.join(unknown)}; there is {', '.join(sorted(SETTINGS))}"
            answer.message = f"{answer.message}; {odd}" if answer.message else odd
    except Timeout:
        raise RefusedError("another sync of this worktree is still running", hint="wait for it, or end it", code="locked") from None
    except (apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.CantOpenError, OSError) as error:
        raise RefusedError(f"the graph cannot be written: {error}", hint=f"check space and permissions of {place.folder}", code="not-writable") from None
    answer.duration_ms = round((time.perf_counter() - started) * 1000)
    return answer


@contextmanager
def _no_collector() -> Iterator[None]:
    """A sync makes millions of small objects and no cycles: searching them for some is a tenth of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _sync(make: Callable[..., Sync], full: bool) -> SyncAnswer:
    try:
        with closing(make()) as work:
            return _run(work, full)
    except MovedError as moved:  # rolled back
        with closing(make(moved.listing)) as again:
            again.message = work.message
            return _run(again, full)


def _run(work: Sync, full: bool) -> SyncAnswer:
    database = work.place.database
    if database.exists():
        try:
            with closing(open_writer(database)) as db:
                if _is_usable(db):
                    with transaction(db):
                        if full:
                            drop_all(db)
                            return build(work, Writer(db, empty=True))
                        return refresh(work, Writer(db))
        except DAMAGE:  # perhaps seen only when the ruined page was read
            pass
        work.message = f"the old database could not be used and was set aside as {_set_aside(database).name}"
    return _build_beside(work, database)


def _build_beside(work: Sync, database: Path) -> SyncAnswer:
    """A new database, beside its place until it is whole."""
    scratch = database.with_name(database.name + ".tmp")
    _remove(scratch)
    try:
        with closing(open_writer(scratch, journal="OFF")) as db:
            with transaction(db):
                answer = build(work, Writer(db, empty=True))
            use_wal(db)
    except BaseException:  # of a full disk, above all
        _remove(scratch)
        raise
    for part in ("-wal", "-shm"):  # left by a sync that died while it set a damaged database aside: SQLite would replay them into the new one
        database.with_name(database.name + part).unlink(missing_ok=True)
    os.replace(scratch, database)
    return answer


def _remove(database: Path) -> None:
    for part in ("", "-journal", "-wal", "-shm"):
        database.with_name(database.name + part).unlink(missing_ok=True)


def _is_usable(db: apsw.Connection) -> bool:
    """Is there a graph of this schema and this extractor, or only something that looks like one?"""
    if is_empty(db):
        return False
    meta = Writer(db).meta()
    return meta.get("schema_version") == str(SCHEMA_VERSION) and meta.get("extractor_version") == str(EXTRACTOR_VERSION)


def _set_aside(database: Path) -> Path:
    aside = database.with_name(f"{database.name}.damaged")
    os.replace(database, aside)
    for part in ("-wal", "-shm"):
        database.with_name(database.name + part).unlink(missing_ok=True)
    return aside
