"""The database of the history: which commits touched which symbols. One for a worktree, beside the graphs of its branches; derived, like them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw
import msgspec

from orbit.graph.store.connection import open_writer, transaction

SCHEMA_VERSION = 1
# The name no branch gives its database: `@` is not plain, see `place.sanitise`.
STEM = "@history"

_SCHEMA = """
CREATE TABLE "commit" (id INTEGER PRIMARY KEY, sha TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, date TEXT NOT NULL, message TEXT NOT NULL,
    parents TEXT NOT NULL) STRICT;
CREATE TABLE path (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE name (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE) STRICT;
-- A commit touched a symbol (name within the file, kind) of a file; the file itself has the empty name and kind -1.
CREATE TABLE touch (path INTEGER NOT NULL, name INTEGER NOT NULL, kind INTEGER NOT NULL, "commit" INTEGER NOT NULL,
    PRIMARY KEY (path, name, kind, "commit")) STRICT, WITHOUT ROWID;
CREATE TABLE task (value TEXT NOT NULL, "commit" INTEGER NOT NULL, PRIMARY KEY (value, "commit")) STRICT, WITHOUT ROWID;
CREATE INDEX commit_by_time ON "commit" (at);
CREATE INDEX touch_by_commit ON touch ("commit");
CREATE INDEX task_by_commit ON task ("commit");
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""

FILE_KIND = -1

Touch = tuple[str, str, int]  # path, name within the file, kind


class CommitRow(msgspec.Struct, frozen=True):
    """One commit; `at` is the committer's clock, in seconds."""

    sha: str
    at: int
    date: str
    message: str
    parents: tuple[str, ...] = ()


def read_meta(db: apsw.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT key, value FROM meta"))


class HistoryStore:
    """Reads and writes the history. The writer holds a lock of its own; readers see whole transactions."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.db = open_writer(path)
        try:
            self._prepare()
        except (apsw.NotADBError, apsw.CorruptError):
            self.db.close()
            for suffix in ("", "-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            self.db = open_writer(path)
            self._prepare()
        self._paths: dict[str, int] = {}
        self._names: dict[str, int] = {}

    def _prepare(self) -> None:
        if self.db.execute("SELECT count(*) FROM sqlite_schema").get == 0:
            with transaction(self.db):
                self.db.execute(_SCHEMA)

    def close(self) -> None:
        self.db.close()

    def __enter__(self) -> HistoryStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- writing

    def meta(self) -> dict[str, str]:
        return read_meta(self.db)

    def set_meta(self, **values: str) -> None:
        self.db.executemany("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", values.items())

    def known(self) -> set[str]:
        """All commits that were walked."""
        return {row[0] for row in self.db.execute('SELECT sha FROM "commit"')}

    def drop(self, shas: Iterable[str]) -> None:
        for sha in shas:
            found = self.db.execute('SELECT id FROM "commit" WHERE sha = ?', (sha,)).get
            if found is not None:
                for table, column in (("touch", '"commit"'), ("task", '"commit"'), ('"commit"', "id")):
                    self.db.execute(f"DELETE FROM {table} WHERE {column} = ?", (found,))

    def add(self, walked: Sequence[tuple[CommitRow, Iterable[Touch], Iterable[str]]]) -> None:
        """Commits with what they touched and the tasks they name."""
        touches: list[tuple[int, int, int, int]] = []
        tasks: list[tuple[str, int]] = []
        for commit, touched, named in walked:
            row = (commit.sha, commit.at, commit.date, commit.message, " ".join(commit.parents))
            number: int = self.db.execute('INSERT INTO "commit" (sha, at, date, message, parents) VALUES (?, ?, ?, ?, ?) RETURNING id', row).get
            touches += [(self._path(path), self._name(name), kind, number) for path, name, kind in touched]
            tasks += [(task, number) for task in named]
        self.db.executemany("INSERT OR IGNORE INTO touch VALUES (?, ?, ?, ?)", sorted(touches))
        self.db.executemany("INSERT OR IGNORE INTO task VALUES (?, ?)", tasks)

    def _path(self, value: str) -> int:
        if value not in self._paths:
            self._paths[value] = self._intern("path", value)
        return self._paths[value]

    def _name(self, value: str) -> int:
        if value not in self._names:
            self._names[value] = self._intern("name", value)
        return self._names[value]

    def _intern(self, table: str, value: str) -> int:
        found: int | None = self.db.execute(f"SELECT id FROM {table} WHERE value = ?", (value,)).get
        if found is None:
            found = self.db.execute(f"INSERT INTO {table} (value) VALUES (?) RETURNING id", (value,)).get
        assert found is not None
        return found

    def messages(self) -> list[tuple[int, str]]:
        return list(self.db.execute('SELECT id, message FROM "commit"'))

    def replace_tasks(self, rows: Iterable[tuple[str, int]]) -> None:
        self.db.execute("DELETE FROM task")
        self.db.executemany("INSERT OR IGNORE INTO task VALUES (?, ?)", rows)

    # --- reading

    def rows(self) -> list[tuple[str, str, str, int]]:
        """(commit, path, name, kind) of everything, in order: what two histories are compared by."""
        found = self.db.execute(
            'SELECT c.sha, p.value, n.value, t.kind FROM touch t JOIN "commit" c ON c.id = t."commit" JOIN path p ON p.id = t.path JOIN name n ON n.id = t.name'
        )
        return sorted(found)

    def task_rows(self) -> list[tuple[str, str]]:
        return sorted(self.db.execute('SELECT t.value, c.sha FROM task t JOIN "commit" c ON c.id = t."commit"'))
