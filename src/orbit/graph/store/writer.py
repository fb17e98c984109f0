"""The only writer of the graph database: rows of files in and out, inside the one transaction of a sync."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import apsw
import msgspec
import numpy as np

from orbit_native.packing import pack, unpack

SYMBOL_SHIFT, REF_SHIFT = 20, 24
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
# Tables whose ids are file << shift | n.
SHIFTS = {"symbol": 20, "relation": 20, "import": 20, "command": 20, "string": 24, "config": 24, "ref": 24}
WIDTHS = {"symbol": 17, "relation": 12, "import": 11, "command": 13, "string": 4, "config": 4, "ref": 10}
MARKS = {table: ", ".join("?" * width) for table, width in WIDTHS.items()}
# Positions of the columns that indexes and word lists are made of, and the row's id: a row whose other columns differ is changed in place.
INDEXED = {"symbol": (0, 1, 2, 3, 14), "relation": (0, 3, 4, 5), "import": (0, 5), "command": (0, 2), "string": (0, 2), "config": (0, 2), "ref": (0, 8)}
FTS = {"symbol": "symbols_fts", "string": "strings_fts", "config": "configs_fts"}
_WORDS = (
    "INSERT INTO strings_fts (rowid, value) SELECT r.id, r.value FROM string r",
    "INSERT INTO configs_fts (rowid, key) SELECT r.id, t.value FROM config r JOIN text t ON t.id = r.key",
)
COUNTED = ("symbol", "ref")
CHUNK = 1 << 16
ASKED_AT_ONCE = 128  # texts in one question
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
    return pack(numbers.reshape(-1, 1))


def _numbers(packed: bytes | None) -> Any:
    return unpack(packed or b"", 1)[:, 0]


class Writer:
    """Rows of one database; the caller holds the transaction. `empty`: there are no rows yet, and no indexes."""

    def __init__(self, db: apsw.Connection, *, empty: bool = False) -> None:
        self.db, self.empty = db, empty
        self.gained = dict.fromkeys(COUNTED, 0)  # rows more than before
        self._wordless: dict[str, list[int]] = {table: [] for table in FTS}  # new rows that are in no full-text table yet

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

    def text_ids(self, values: Sequence[str]) -> dict[str, int]:
        """The ids of those texts that are known."""
        found = dict[str, int]()
        for start in range(0, len(values), ASKED_AT_ONCE):
            part = values[start : start + ASKED_AT_ONCE]
            asked = (*part, *(None,) * (ASKED_AT_ONCE - len(part)))
            found.update(self.db.execute(f"SELECT value, id FROM text WHERE value IN ({', '.join('?' * ASKED_AT_ONCE)})", asked))
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

    def module_names(self) -> dict[int, str]:
        """The name of its module, by file."""
        return dict(self.db.execute("SELECT file.id, text.value FROM file JOIN text ON text.id = file.module"))

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
        for table in SHIFTS:
            self.put_rows(table, (file,), ())
        self.replace_uses(file, (NO_NAMES, NO_NAMES))
        for table in ("facts", "used"):
            self.db.execute(f"DELETE FROM {table} WHERE file = ?", (file,))
        self.db.execute("DELETE FROM file WHERE id = ?", (file,))

    # --- rows of files

    def put_rows(self, table: str, files: Collection[int], rows: Iterable[tuple[Any, ...]]) -> None:
        """The rows that some files have in a table, in column order of the schema, id first. Only what differs is written."""
        if self.empty:
            before = self.db.total_changes()
            self.db.executemany(f"INSERT INTO {table} VALUES ({MARKS[table]})", rows)
            self._gain(table, self.db.total_changes() - before)
            return
        old, shift = dict[int, tuple[Any, ...]](), SHIFTS[table]
        for file in files:
            old.update((row[0], row) for row in self.db.execute(f"SELECT * FROM {table} WHERE id >= ? AND id < ?", (file << shift, (file + 1) << shift)))
        key, new, moved, gone = itemgetter(*INDEXED[table]), list[tuple[Any, ...]](), list[tuple[Any, ...]](), list[int]()
        for row in rows:
            known = old.pop(row[0], None)
            if known is None:
                new.append(row)
            elif known != row:
                if key(known) == key(row):
                    moved.append(row)
                else:
                    gone.append(row[0])
                    new.append(row)
        gone += old
        if table in FTS:
            self.db.executemany(f"DELETE FROM {FTS[table]} WHERE rowid = ?", [(row,) for row in gone])
            self._wordless[table] += [row[0] for row in new]
        self.db.executemany(f"DELETE FROM {table} WHERE id = ?", [(row,) for row in gone])
        self.db.executemany(f"INSERT INTO {table} VALUES ({MARKS[table]})", new)
        if moved:
            free = [at for at in range(WIDTHS[table]) if at not in INDEXED[table]]
            names = [name for (name,) in self.db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
            pick = itemgetter(*free, 0)
            self.db.executemany(f"UPDATE {table} SET {', '.join(f'{names[at]} = ?' for at in free)} WHERE id = ?", map(pick, moved))
        self._gain(table, len(new) - len(gone))

    def _gain(self, table: str, count: int) -> None:
        if table in COUNTED:
            self.gained[table] += count

    def add_all_words(self) -> None:
        """Fill the full-text tables; the texts of all rows are stored already."""
        self.db.execute("CREATE TEMP TABLE parts (name INTEGER PRIMARY KEY, value TEXT NOT NULL)")
        names = self.db.execute("SELECT DISTINCT name, t.value FROM symbol JOIN text t ON t.id = name")
        self.db.executemany("INSERT INTO temp.parts VALUES (?, ?)", ((name, parts) for name, value in names if (parts := name_parts(value))))
        self.db.execute(
            "INSERT INTO symbols_fts (rowid, name, parts, qualified) SELECT s.id, n.value, coalesce(p.value, ''), q.value FROM symbol s"
            " JOIN text n ON n.id = s.name JOIN text q ON q.id = s.qualified LEFT JOIN temp.parts p ON p.name = s.name"
        )
        self.db.execute("DROP TABLE temp.parts")
        for statement in _WORDS:
            self.db.execute(statement)

    def add_new_words(self) -> None:
        """Put the new rows into the full-text tables; their texts are stored already."""
        named = "SELECT s.id, n.value, q.value FROM symbol s JOIN text n ON n.id = s.name JOIN text q ON q.id = s.qualified WHERE s.id = ?"
        rows = [(row, name, name_parts(name), full) for new in self._wordless["symbol"] for row, name, full in self.db.execute(named, (new,))]
        self.db.executemany("INSERT INTO symbols_fts (rowid, name, parts, qualified) VALUES (?, ?, ?, ?)", rows)
        for table, statement in zip(("string", "config"), _WORDS, strict=True):
            self.db.executemany(f"{statement} WHERE r.id = ?", [(row,) for row in self._wordless[table]])

    def add_facts(self, rows: Iterable[tuple[int, Any, Any, Any]]) -> None:
        """(file, binds, exports, refs) of files: int32 arrays."""
        self.db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", ((file, *map(pack, tables)) for file, *tables in rows))

    def facts(self, file: int) -> tuple[Any, Any]:
        """(binds, exports) as stored by add_facts."""
        binds, exports = self.db.execute("SELECT binds, exports FROM facts WHERE file = ?", (file,)).fetchone() or (b"", b"")
        return unpack(binds, 6), unpack(exports, 2)

    def refs(self, file: int) -> Any:
        """The references as stored by add_facts."""
        return unpack(self.db.execute("SELECT refs FROM facts WHERE file = ?", (file,)).get or b"", 9)

    # --- resolution

    def replace_uses(self, file: int, uses: Uses) -> None:
        """What a file's resolution looked up; of the names only the difference is written."""
        names, prints = uses
        before = _numbers(self.db.execute("SELECT names FROM used WHERE file = ?", (file,)).get)
        gone, new = np.setdiff1d(before, names, assume_unique=True), np.setdiff1d(names, before, assume_unique=True)
        self.db.executemany("DELETE FROM uses WHERE name = ? AND file = ?", [(name, file) for name in gone.tolist()])
        self.db.executemany("INSERT INTO uses (name, file) VALUES (?, ?)", [(name, file) for name in new.tolist()])
        self.db.execute("INSERT OR REPLACE INTO used VALUES (?, ?, ?)", (file, _bytes(names), _bytes(prints)))

    def add_uses(self, found: list[tuple[int, Uses]]) -> None:
        """What all files looked up, at once, into empty tables: in the order of the tables."""
        self.db.executemany("INSERT INTO used VALUES (?, ?, ?)", ((file, _bytes(names), _bytes(prints)) for file, (names, prints) in found))
        if found:
            names = np.concatenate([names for _, (names, _) in found])
            files = np.repeat(np.array([file for file, _ in found], dtype=np.int32), [len(names) for _, (names, _) in found])
            order = np.lexsort((files, names))
            for start in range(0, len(order), CHUNK):
                part = order[start : start + CHUNK]
                self.db.executemany("INSERT INTO uses (name, file) VALUES (?, ?)", zip(names[part].tolist(), files[part].tolist(), strict=True))

    def has_looked_up(self, file: int, prints: set[int]) -> bool:
        """Did a file's resolution look up one of these fingerprints?"""
        return not prints.isdisjoint(_numbers(self.db.execute("SELECT prints FROM used WHERE file = ?", (file,)).get).tolist())

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

    def has_member(self, container: int, name: int) -> bool:
        return self.db.execute("SELECT 1 FROM symbol WHERE container = ? AND name = ?", (container, name)).get is not None

    def members(self, container: int, name: int, columns: str) -> list[tuple[Any, ...]]:
        """(id, *columns) of the symbols of that name in a container."""
        return self.db.execute(f"SELECT id, {columns} FROM symbol WHERE container = ? AND name = ?", (container, name)).fetchall()

    def names_inside(self, container: int, most: int) -> frozenset[int] | None:
        """The names of the symbols in a container, or None if there are more than that."""
        found: list[tuple[Any, ...]] = self.db.execute("SELECT name FROM symbol WHERE container = ? LIMIT ?", (container, most + 1)).fetchall()
        return frozenset(name for (name,) in found) if len(found) <= most else None

    def owned(self, name: int, columns: str) -> list[tuple[Any, ...]]:
        """(id, *columns) of the symbols of that name that say which type they belong to."""
        return self.db.execute(f"SELECT id, {columns} FROM symbol WHERE name = ? AND owner >= 0", (name,)).fetchall()

    def files_of_module(self, module: int) -> list[tuple[int, str]]:
        """(id, language) of the files of a module, by path."""
        return list(self.db.execute("SELECT id, lang FROM file WHERE module = ? ORDER BY path", (module,)))

    def modules(self) -> frozenset[int]:
        """The modules of all files."""
        found: list[tuple[Any, ...]] = self.db.execute("SELECT DISTINCT module FROM file").fetchall()
        return frozenset(module for (module,) in found)

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
        files = self.db.execute("SELECT count(*) FROM file").get
        partial = self.db.execute("SELECT count(*) FROM file WHERE broken != '[]' OR status & 3 != 0").get  # as index file_partial says it
        return {"files_indexed": files, "files_partial": partial, "symbols": kept["symbol"], "refs": kept["ref"]}

    def commands(self) -> Iterator[tuple[Any, ...]]:
        """(id, name, full name, item, outer, held, is the handler known), in order of path and position, those of tests last."""
        yield from self.db.execute(
            "SELECT c.id, c.name, c.full_name, c.item, c.outer, c.held, c.target IS NOT NULL FROM command c JOIN file f ON f.id = c.id >> 20"
            " ORDER BY f.is_test, f.path, c.id"
        )

    def name_command(self, command: int, full_name: str) -> None:
        self.db.execute("UPDATE command SET full_name = ? WHERE id = ?", (full_name, command))
