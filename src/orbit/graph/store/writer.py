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
SYMBOL_NAMES = "SELECT s.id, n.value, q.value FROM symbol s JOIN text n ON n.id = s.name JOIN text q ON q.id = s.qualified"
SHIFTS = {"symbol": 20, "relation": 20, "import": 20, "command": 20, "string": 24, "config": 24, "ref": 24}
FTS = {"symbol": "symbols_fts", "string": "strings_fts", "config": "configs_fts"}


class FileRow(msgspec.Struct):
    """One row of table `file`."""

    id: int
    path: str
    lang: str
    module: int
    hash: bytes
    size: int
    mtime_ns: int
    extracted_at: int
    status: int
    broken: str
    is_test: int
    is_generated: int


def name_parts(name: str) -> str:
    """The words inside a camelCase or snake_case name, lower case: what search matches besides the whole name."""
    parts = _PARTS.findall(name)
    return " ".join(parts).lower() if len(parts) > 1 else ""


class Writer:
    """Rows of one database; the caller holds the transaction."""

    def __init__(self, db: apsw.Connection, *, indexed: bool) -> None:
        self.db = db
        self.indexed = indexed  # are the indexes and full-text tables there already?

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

    def files(self) -> dict[str, FileRow]:
        """All files, by path."""
        columns = ", ".join(FileRow.__struct_fields__)
        return {row[1]: FileRow(*row) for row in self.db.execute(f"SELECT {columns} FROM file")}

    def put_file(self, row: FileRow) -> None:
        marks = ", ".join("?" * len(FileRow.__struct_fields__))
        self.db.execute(f"INSERT OR REPLACE INTO file VALUES ({marks})", msgspec.structs.astuple(row))

    def touch_file(self, file: int, size: int, mtime_ns: int) -> None:
        """Same bytes, another stat."""
        self.db.execute("UPDATE file SET size = ?, mtime_ns = ? WHERE id = ?", (size, mtime_ns, file))

    def drop_file(self, file: int) -> None:
        """Remove a file and all its rows."""
        self.drop_rows(file)
        self.db.execute("DELETE FROM file WHERE id = ?", (file,))

    def drop_rows(self, file: int) -> None:
        for table, shift in SHIFTS.items():
            bounds = (file << shift, (file + 1) << shift)
            if table in FTS and self.indexed:
                self.db.execute(f"DELETE FROM {FTS[table]} WHERE rowid IN (SELECT id FROM {table} WHERE id >= ? AND id < ?)", bounds)
            self.db.execute(f"DELETE FROM {table} WHERE id >= ? AND id < ?", bounds)
        self.db.execute("DELETE FROM facts WHERE file = ?", (file,))
        self.drop_uses(file)

    # --- rows of a file

    def add_rows(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Rows in column order of the schema, id first."""
        rows = list(rows)
        if not rows:
            return
        self.db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        if self.indexed and table in ("string", "config"):
            column = "value" if table == "string" else "key"
            self.db.executemany(f"INSERT INTO {FTS[table]} (rowid, {column}) VALUES (?, ?)", [(row[0], row[2]) for row in rows])

    def add_symbol_words(self, rows: Iterable[tuple[int, str, str]]) -> None:
        """(id, name, qualified) of symbols into the full-text table."""
        self.db.executemany("INSERT INTO symbols_fts (rowid, name, parts, qualified) VALUES (?, ?, ?, ?)", [(i, n, name_parts(n), q) for i, n, q in rows])

    def fill_words(self) -> None:
        """Full-text tables of a cold build, once all rows are there."""
        self.add_symbol_words(self.db.execute(SYMBOL_NAMES))
        self.db.execute("INSERT INTO strings_fts (rowid, value) SELECT id, value FROM string")
        self.db.execute("INSERT INTO configs_fts (rowid, key) SELECT id, key FROM config")

    def set_facts(self, file: int, refs: Any, binds: Any, exports: Any) -> None:
        blobs = [np.ascontiguousarray(table, dtype="<i4").tobytes() for table in (refs, binds, exports)]
        self.db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", (file, *blobs))

    def facts(self, file: int) -> tuple[Any, Any, Any]:
        """(refs, binds, exports) as stored by set_facts."""
        found = self.db.execute("SELECT refs, binds, exports FROM facts WHERE file = ?", (file,)).fetchone()
        if found is None:
            return tuple(np.empty((0, width), dtype=np.int32) for width in (9, 6, 2))  # type: ignore[return-value]
        return tuple(np.frombuffer(blob, dtype="<i4").reshape(-1, width) for blob, width in zip(found, (9, 6, 2), strict=True))  # type: ignore[return-value]

    # --- resolution

    def replace_refs(self, file: int, rows: list[tuple[Any, ...]]) -> None:
        self.db.execute("DELETE FROM ref WHERE id >= ? AND id < ?", (file << REF_SHIFT, (file + 1) << REF_SHIFT))
        self.add_rows("ref", rows)

    def replace_relations(self, file: int, rows: list[tuple[Any, ...]]) -> None:
        self.db.execute("DELETE FROM relation WHERE id >= ? AND id < ?", (file << SYMBOL_SHIFT, (file + 1) << SYMBOL_SHIFT))
        self.add_rows("relation", rows)

    def drop_uses(self, file: int) -> None:
        if self.indexed:
            names = self.db.execute("SELECT names FROM used WHERE file = ?", (file,)).get
            if names is not None:
                self.db.executemany("DELETE FROM uses WHERE name = ? AND file = ?", [(name, file) for name in np.frombuffer(names, dtype="<i4").tolist()])
                self.db.execute("DELETE FROM used WHERE file = ?", (file,))

    def set_uses(self, file: int, names: Iterable[int]) -> None:
        kept = sorted(names)
        self.db.executemany("INSERT OR IGNORE INTO uses (name, file) VALUES (?, ?)", [(name, file) for name in kept])
        self.db.execute("INSERT OR REPLACE INTO used (file, names) VALUES (?, ?)", (file, np.array(kept, dtype="<i4").tobytes()))

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

    def skipped(self) -> dict[str, str]:
        return dict(self.db.execute("SELECT path, reason FROM skipped"))

    def set_skipped(self, skipped: dict[str, str]) -> None:
        self.db.execute("DELETE FROM skipped")
        self.db.executemany("INSERT INTO skipped (path, reason) VALUES (?, ?)", sorted(skipped.items()))

    def all_files(self) -> set[int]:
        return {row[0] for row in self.db.execute("SELECT id FROM file")}

    def drop_imports(self, file: int) -> None:
        self.db.execute("DELETE FROM import WHERE id >= ? AND id < ?", (file << SYMBOL_SHIFT, (file + 1) << SYMBOL_SHIFT))

    def symbol_names(self, file: int) -> list[tuple[int, str, str]]:
        """(id, name, qualified) of a file's symbols."""
        bounds = (file << SYMBOL_SHIFT, (file + 1) << SYMBOL_SHIFT)
        return list(
            self.db.execute(f"{SYMBOL_NAMES} WHERE s.id >= ? AND s.id < ?", bounds)
        )

    def counts(self) -> dict[str, int]:
        """Totals for the report of a sync."""
        ((files, partial),) = self.db.execute("SELECT count(*), coalesce(sum(broken != '[]' OR status & 3 != 0), 0) FROM file")
        return {
            "files_indexed": files,
            "files_partial": partial,
            "symbols": self.db.execute("SELECT count(*) FROM symbol").get,
            "refs": self.db.execute("SELECT count(*) FROM ref").get,
        }

    def commands(self) -> Iterator[tuple[Any, ...]]:
        """(id, name, full name, item, outer, held, is the handler known), in order of path and position, those of tests last."""
        yield from self.db.execute(
            "SELECT c.id, c.name, c.full_name, c.item, c.outer, c.held, c.target IS NOT NULL FROM command c JOIN file f ON f.id = c.id >> 20"
            " ORDER BY f.is_test, f.path, c.id"
        )

    def name_command(self, command: int, full_name: str) -> None:
        self.db.execute("UPDATE command SET full_name = ? WHERE id = ?", (full_name, command))
