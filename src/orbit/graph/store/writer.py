"""The only writer of the graph database: rows of files in and out, inside the one transaction of a sync."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw
import msgspec
import numpy as np

SYMBOL_SHIFT, REF_SHIFT = 20, 24
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
# Tables whose ids are file << shift | n.
SHIFTS = {"symbol": 20, "relation": 20, "import": 20, "command": 20, "string": 24, "config": 24, "ref": 24}
WIDTHS = {"symbol": 17, "relation": 12, "import": 11, "command": 13, "string": 4, "config": 4, "ref": 10}
MARKS = {table: ", ".join("?" * width) for table, width in WIDTHS.items()}
FTS = {"symbol": "symbols_fts", "string": "strings_fts", "config": "configs_fts"}
COUNTED = ("symbol", "ref")
LAST, CHUNK = 1 << 62, 1 << 16
NO_NAMES = np.empty(0, dtype=np.int32)


Skipped = list[Any]  # reason, size, mtime_ns
Uses = tuple[Any, Any]  # names that a file's resolution looked up, and fingerprints of (container, name): sorted int32 arrays


class KnownFile(msgspec.Struct, gc=False):
    """A stored file, as far as telling whether it changed takes."""

    id: int
    path: str
    lang: str
    module: int
    size: int
    mtime_ns: int


def name_parts(name: str) -> str:
    """The words inside a camelCase or snake_case name, lower case: what search matches besides the whole name."""
    parts = _PARTS.findall(name)
    return " ".join(parts).lower() if len(parts) > 1 else ""


def _bytes(numbers: Any) -> bytes:
    found: bytes = numbers.astype("<i4").tobytes()
    return found


class Writer:
    """Rows of one database; the caller holds the transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self.gained = dict.fromkeys(COUNTED, 0)  # rows more than before
        db.execute("CREATE TEMP TABLE IF NOT EXISTS parts (name INTEGER PRIMARY KEY, value TEXT NOT NULL)")

    # --- meta

    def set_meta(self, values: dict[str, str]) -> None:
        self.db.executemany("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", values.items())

    def meta(self) -> dict[str, str]:
        return dict(self.db.execute("SELECT key, value FROM meta"))

    # --- texts

    def add_texts(self, rows: Iterable[tuple[int, str]]) -> None:
        self.db.executemany("INSERT INTO text (id, value) VALUES (?, ?)", rows)

    def text_id(self, value: str) -> int | None:
        found: int | None = self.db.execute("SELECT id FROM text WHERE value = ?", (value,)).get
        return found

    def text_value(self, text_id: int) -> str | None:
        found: str | None = self.db.execute("SELECT value FROM text WHERE id = ?", (text_id,)).get
        return found

    def last_text_id(self) -> int:
        found: int = self.db.execute("SELECT coalesce(max(id), -1) FROM text").get
        return found

    # --- files

    def files(self) -> dict[str, KnownFile]:
        """All files, by path."""
        columns = ", ".join(KnownFile.__struct_fields__)
        return {row[1]: KnownFile(*row) for row in self.db.execute(f"SELECT {columns} FROM file")}

    def known_file(self, file: int) -> KnownFile | None:
        columns = ", ".join(KnownFile.__struct_fields__)
        row = self.db.execute(f"SELECT {columns} FROM file WHERE id = ?", (file,)).fetchone()
        return None if row is None else KnownFile(*row)

    def last_file_id(self) -> int:
        found: int = self.db.execute("SELECT coalesce(max(id), 0) FROM file").get
        return found

    def file_hash(self, file: int) -> bytes:
        found: bytes = self.db.execute("SELECT hash FROM file WHERE id = ?", (file,)).get
        return found

    def put_files(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of table `file` in column order."""
        self.db.executemany("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def touch_file(self, file: int, size: int, mtime_ns: int) -> None:
        """Same bytes, another stat."""
        self.db.execute("UPDATE file SET size = ?, mtime_ns = ? WHERE id = ?", (size, mtime_ns, file))

    def drop_file(self, file: int) -> None:
        """Remove a file and all its rows."""
        self.drop_rows(file)
        self.replace_uses(file, (NO_NAMES, NO_NAMES))
        self.db.execute("DELETE FROM used WHERE file = ?", (file,))
        self.db.execute("DELETE FROM file WHERE id = ?", (file,))

    def drop_rows(self, file: int) -> None:
        """Remove what was extracted from a file. What it looked up stays until it is resolved again."""
        for table, shift in SHIFTS.items():
            bounds = (file << shift, (file + 1) << shift)
            if table in FTS:
                self.db.execute(f"DELETE FROM {FTS[table]} WHERE rowid IN (SELECT id FROM {table} WHERE id >= ? AND id < ?)", bounds)
            self._drop(table, bounds)
        self.db.execute("DELETE FROM facts WHERE file = ?", (file,))

    # --- rows of files

    def add_rows(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Rows in column order of the schema, id first."""
        before = self.db.total_changes()
        self.db.executemany(f"INSERT INTO {table} VALUES ({MARKS[table]})", rows)
        if table in COUNTED:
            self.gained[table] += self.db.total_changes() - before

    def _drop(self, table: str, bounds: tuple[int, int]) -> None:
        self.db.execute(f"DELETE FROM {table} WHERE id >= ? AND id < ?", bounds)
        if table in COUNTED:
            self.gained[table] -= self.db.changes()

    def add_words(self, file: int | None = None) -> None:
        """Rows of a file, or of all, into the full-text tables; their texts are stored already."""
        bounds = (file << SYMBOL_SHIFT, (file + 1) << SYMBOL_SHIFT) if file is not None else (0, LAST)
        self.db.execute("DELETE FROM temp.parts")
        names = self.db.execute("SELECT DISTINCT name, t.value FROM symbol JOIN text t ON t.id = name WHERE symbol.id >= ? AND symbol.id < ?", bounds)
        self.db.executemany("INSERT INTO temp.parts VALUES (?, ?)", ((name, parts) for name, value in names if (parts := name_parts(value))))
        self.db.execute(
            "INSERT INTO symbols_fts (rowid, name, parts, qualified) SELECT s.id, n.value, coalesce(p.value, ''), q.value FROM symbol s"
            " JOIN text n ON n.id = s.name JOIN text q ON q.id = s.qualified LEFT JOIN temp.parts p ON p.name = s.name WHERE s.id >= ? AND s.id < ?",
            bounds,
        )
        bounds = (file << REF_SHIFT, (file + 1) << REF_SHIFT) if file is not None else (0, LAST)
        for table, column in (("string", "value"), ("config", "key")):
            self.db.execute(
                f"INSERT INTO {FTS[table]} (rowid, {column}) SELECT r.id, t.value FROM {table} r JOIN text t ON t.id = r.{column} WHERE r.id >= ? AND r.id < ?",
                bounds,
            )

    def add_facts(self, rows: Iterable[tuple[int, Any, Any, Any]]) -> None:
        """(file, refs, binds, exports) of files: int32 arrays."""
        blobs = ((file, *(np.ascontiguousarray(table, dtype="<i4").tobytes() for table in tables)) for file, *tables in rows)
        self.db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", blobs)

    def facts(self, file: int) -> tuple[Any, Any, Any]:
        """(refs, binds, exports) as stored by add_facts."""
        found = self.db.execute("SELECT refs, binds, exports FROM facts WHERE file = ?", (file,)).fetchone() or (b"", b"", b"")
        return tuple(np.frombuffer(blob, dtype="<i4").reshape(-1, width) for blob, width in zip(found, (9, 6, 2), strict=True))  # type: ignore[return-value]

    # --- resolution

    def replace_rows(self, table: str, file: int, rows: Iterable[Sequence[Any]]) -> None:
        """The rows of one file anew."""
        shift = SHIFTS[table]
        self._drop(table, (file << shift, (file + 1) << shift))
        self.add_rows(table, rows)

    def replace_uses(self, file: int, uses: Uses) -> None:
        """What a file's resolution looked up; of the names only the difference is written."""
        names, members = uses
        blob = self.db.execute("SELECT names FROM used WHERE file = ?", (file,)).get
        before = np.frombuffer(blob, dtype="<i4") if blob is not None else NO_NAMES
        gone, new = np.setdiff1d(before, names, assume_unique=True), np.setdiff1d(names, before, assume_unique=True)
        self.db.executemany("DELETE FROM uses WHERE name = ? AND file = ?", [(name, file) for name in gone.tolist()])
        self.db.executemany("INSERT INTO uses (name, file) VALUES (?, ?)", [(name, file) for name in new.tolist()])
        self.db.execute("INSERT OR REPLACE INTO used VALUES (?, ?, ?)", (file, _bytes(names), _bytes(members)))

    def add_uses(self, found: list[tuple[int, Uses]]) -> None:
        """What all files looked up, at once, into empty tables: in the order of the tables."""
        self.db.executemany("INSERT INTO used VALUES (?, ?, ?)", ((file, _bytes(names), _bytes(members)) for file, (names, members) in found))
        if found:
            names = np.concatenate([names for _, (names, _) in found])
            files = np.repeat(np.array([file for file, _ in found], dtype=np.int32), [len(names) for _, (names, _) in found])
            order = np.lexsort((files, names))
            for start in range(0, len(order), CHUNK):
                part = order[start : start + CHUNK]
                self.db.executemany("INSERT INTO uses (name, file) VALUES (?, ?)", zip(names[part].tolist(), files[part].tolist(), strict=True))

    def has_looked_up(self, file: int, members: Any) -> bool:
        """Did a file's resolution look up one of these fingerprints?"""
        held = np.frombuffer(self.db.execute("SELECT members FROM used WHERE file = ?", (file,)).get or b"", dtype="<i4")
        at = np.minimum(np.searchsorted(held, members), len(held) - 1)
        return len(held) > 0 and bool((held[at] == members).any())

    def users_of(self, names: Iterable[int]) -> set[int]:
        """Files whose resolution looked up one of these names."""
        found: set[int] = set()
        for name in names:
            found.update(row[0] for row in self.db.execute("SELECT file FROM uses WHERE name = ?", (name,)))
        return found

    # --- reading back what resolving needs

    def rows(self, table: str, file: int, columns: str) -> Any:
        """Columns of one file's rows of a table, in order, as an int32 array."""
        shift = SHIFTS[table]
        found = list(self.db.execute(f"SELECT {columns} FROM {table} WHERE id >= ? AND id < ? ORDER BY id", (file << shift, (file + 1) << shift)))
        width = len(found[0]) if found else len(re.sub(r"\([^)]*\)", "", columns).split(","))  # a comma inside brackets parts no columns
        return np.array(found, dtype=np.int32).reshape(-1, width)

    def members(self, container: int, name: int, columns: str) -> Iterator[tuple[Any, ...]]:
        """(id, language, *columns) of the symbols of that name in a container, in order of path and position."""
        if self.db.execute("SELECT 1 FROM symbol WHERE container = ? AND name = ?", (container, name)).get is None:
            return  # as most often; the join costs thrice as much
        yield from self.db.execute(
            f"SELECT s.id, file.lang, {columns} FROM symbol s JOIN file ON file.id = s.id >> 20 WHERE s.container = ? AND s.name = ? ORDER BY file.path, s.id",
            (container, name),
        )

    def owned(self, name: int, columns: str) -> Iterator[tuple[Any, ...]]:
        """(id, language, *columns) of the symbols of that name that say which type they belong to, in order of path and position."""
        yield from self.db.execute(
            f"SELECT s.id, file.lang, {columns} FROM symbol s JOIN file ON file.id = s.id >> 20 WHERE s.name = ? AND s.owner >= 0 ORDER BY file.path, s.id",
            (name,),
        )

    def files_of_module(self, module: int) -> list[tuple[int, str]]:
        """(id, language) of the files of a module, by path."""
        return list(self.db.execute("SELECT id, lang FROM file WHERE module = ? ORDER BY path", (module,)))

    def file_row(self, file: int) -> tuple[str, str, int] | None:
        """(path, language, module) of a file."""
        found: tuple[str, str, int] | None = self.db.execute("SELECT path, lang, module FROM file WHERE id = ?", (file,)).fetchone()
        return found

    def aim_commands(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Where commands and their groups are: (target, target_file, item, outer, held, id)."""
        self.db.executemany("UPDATE command SET target = ?, target_file = ?, item = ?, outer = ?, held = ? WHERE id = ?", rows)

    def skipped(self) -> dict[str, Skipped]:
        return {path: row for path, *row in self.db.execute("SELECT path, reason, size, mtime_ns FROM skipped")}

    def set_skipped(self, skipped: dict[str, Skipped]) -> None:
        self.db.execute("DELETE FROM skipped")
        self.db.executemany("INSERT INTO skipped VALUES (?, ?, ?, ?)", [(path, *row) for path, row in sorted(skipped.items())])

    def all_files(self) -> set[int]:
        return {row[0] for row in self.db.execute("SELECT id FROM file")}

    def counts(self) -> dict[str, int]:
        """Totals for the report of a sync. Those of large tables are kept up to date, not counted again."""
        kept = {table: int(self.meta().get(f"{table}_count", "0")) + self.gained[table] for table in COUNTED}
        if any(self.gained.values()):
            self.set_meta({f"{table}_count": str(count) for table, count in kept.items()})
            self.gained = dict.fromkeys(COUNTED, 0)
        ((files, partial),) = self.db.execute("SELECT count(*), coalesce(sum(broken != '[]' OR status & 3 != 0), 0) FROM file")
        return {"files_indexed": files, "files_partial": partial, "symbols": kept["symbol"], "refs": kept["ref"]}

    def commands(self) -> Iterator[tuple[Any, ...]]:
        """(id, name, full name, item, outer, held, is the handler known), in order of path and position, those of tests last."""
        yield from self.db.execute(
            "SELECT c.id, c.name, c.full_name, c.item, c.outer, c.held, c.target IS NOT NULL FROM command c JOIN file f ON f.id = c.id >> 20"
            " ORDER BY f.is_test, f.path, c.id"
        )

    def name_command(self, command: int, full_name: str) -> None:
        self.db.execute("UPDATE command SET full_name = ? WHERE id = ?", (full_name, command))
