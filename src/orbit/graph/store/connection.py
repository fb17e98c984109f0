"""Opening the graph database, with the settings that make it safe and quick. Nobody else opens it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path

import apsw

from orbit.errors import NoGraphError, OrbitError
from orbit.model import CONFIDENCES, REF_KINDS, RELATION_KINDS, SYMBOL_KINDS

SCHEMA_VERSION = 7
BUSY_MS = 10_000
MAPPED = 1 << 28  # bytes of a database that readers see without a copy; a writer would only fill memory with what it wrote
# Offsets of the code families in table `kind`.
KIND_CODES = ((0, "symbol", SYMBOL_KINDS), (1000, "ref", REF_KINDS), (2000, "relation", RELATION_KINDS), (3000, "confidence", CONFIDENCES))


class DamagedDatabaseError(OrbitError):
    """The file is no graph database of this version; a sync sets it aside and builds a new one."""

    code, exit_code = "damaged-database", 6


def open_reader(path: Path) -> apsw.Connection:
    """A read-only connection. Raises NoGraphError when there is no finished graph."""
    if not path.exists():
        raise NoGraphError
    try:
        db = _open_read_only(path)
        check(db)
        return db
    except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.CantOpenError) as error:
        raise DamagedDatabaseError(f"the graph database cannot be read: {error}", hint="run `orbit graph sync` to rebuild it") from None


def _open_read_only(path: Path) -> apsw.Connection:
    try:
        return _tried(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY))
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError):  # a disk on which nothing can be made beside the database: then nobody writes it, either
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return _tried(apsw.Connection(f"{path.resolve().as_uri()}?immutable=1", flags=flags))


def _tried(db: apsw.Connection) -> apsw.Connection:
    _tune(db)
    db.execute(f"PRAGMA mmap_size = {MAPPED}")
    is_empty(db)
    return db


@contextmanager
def open_history(path: Path) -> Iterator[apsw.Connection]:
    """A read-only connection to the history, seeing one state of it. Raises NoGraphError when there is none."""
    if not path.exists() or not path.stat().st_size:
        raise NoGraphError("no history is stored yet", hint="ask without --stored")
    try:
        with closing(_open_read_only(path)) as db:
            db.execute("BEGIN")
            yield db
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise DamagedDatabaseError(f"the stored history cannot be read: {error}", hint=f"delete {path.name} in .orbit/graph; it is built again") from None


def open_writer(path: Path, journal: str = "WAL") -> apsw.Connection:
    """A connection that may write; creates the file. The caller holds the writer lock. Journal OFF is for a file nobody knows yet."""
    db = apsw.Connection(str(path))
    _tune(db)
    db.execute(f"PRAGMA journal_mode = {journal}")
    return db


def use_wal(db: apsw.Connection) -> None:
    """From now on readers and a writer may work at the same time."""
    db.execute("PRAGMA journal_mode = WAL")


@contextmanager
def transaction(db: apsw.Connection) -> Iterator[None]:
    """All of it or, on any error, nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def drop_all(db: apsw.Connection) -> None:
    """Empty the database inside a transaction: readers keep seeing the old graph until it commits."""
    for kind in ("view", "index", "table"):
        for name, sql in list(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = ?", (kind,))):
            if sql and not name.startswith("sqlite_") and ("_fts_" not in name):
                db.execute(f'DROP {kind} IF EXISTS "{name}"')


def _tune(db: apsw.Connection) -> None:
    db.set_busy_timeout(BUSY_MS)
    db.execute("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384")


def is_empty(db: apsw.Connection) -> bool:
    return bool(db.execute("SELECT count(*) FROM sqlite_schema").get == 0)


def check(db: apsw.Connection) -> None:
    """Refuse a database without a finished graph, or of another schema."""
    if is_empty(db):
        raise NoGraphError
    found = db.execute("SELECT value FROM meta WHERE key = 'schema_version'").get
    if found is None:
        raise NoGraphError
    if found != str(SCHEMA_VERSION):
        raise DamagedDatabaseError(f"the graph database has schema {found}, expected {SCHEMA_VERSION}", hint="run `orbit graph sync` to rebuild it")


def create_tables(db: apsw.Connection) -> None:
    """All tables and views, no indexes yet."""
    db.execute(_sql("schema.sql"))
    db.executemany(
        "INSERT INTO kind (id, name, sort) VALUES (?, ?, ?)",
        [(offset + code, name, sort) for offset, sort, names in KIND_CODES for code, name in enumerate(names)],
    )


def create_indexes(db: apsw.Connection) -> None:
    """Indexes and full-text tables of what extraction finds."""
    db.execute(_sql("indexes.sql"))


def create_edge_indexes(db: apsw.Connection) -> None:
    """Indexes of what resolution finds."""
    db.execute(_sql("edge_indexes.sql"))


def _sql(name: str) -> str:
    return files("orbit.graph.store").joinpath(name).read_text(encoding="utf-8")
