"""Open connections of a handle: one for each thread, opened again when the database at that path is another one."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from orbit.graph.store.connection import DamagedDatabaseError, open_reader

_Identity = tuple[Path, int, int]


class Readers:
    """Thread-safe. A branch switch changes the path asked for; a rebuild puts a new file at the same path."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._all: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._lock = threading.Lock()

    @contextmanager
    def snapshot(self, database: Path) -> Iterator[apsw.Connection]:
        """A connection that sees one state of the graph, whatever is written meanwhile."""
        db = self._open(database)
        try:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
        except (apsw.NotADBError, apsw.CorruptError) as error:
            raise DamagedDatabaseError(f"the graph database cannot be read: {error}", hint="run `orbit graph sync` to rebuild it") from None

    def _open(self, database: Path) -> apsw.Connection:
        try:
            entry = os.stat(database)
            identity: _Identity | None = (database, entry.st_dev, entry.st_ino)
        except OSError:
            identity = None
        held: tuple[_Identity | None, apsw.Connection] | None = getattr(self._mine, "held", None)
        if held is not None and identity is not None and held[0] == identity:
            return held[1]
        if held is not None:
            self._mine.held = None
            held[1].close()
        db = open_reader(database)
        self._mine.held = (identity, db)
        with self._lock:
            self._all.add(db)
        return db

    def close(self) -> None:
        """Close the connections of all threads; the next question opens a new one."""
        with self._lock:
            for db in list(self._all):
                db.close()
            self._all = weakref.WeakSet()
            self._mine = threading.local()
