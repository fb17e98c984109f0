"""Which tests reach a change: first along references, then by what they mention, what they are named after, and what they import."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import msgspec

from orbit.graph.query.answer import FLOORS
from orbit.graph.query.impact import ImpactParams, impact_of
from orbit.graph.query.runnable import RUNNERS, TestRow, file_id, runner_of, test_id
from orbit.graph.query.target import SYMBOL_SHIFT, File, Symbol, find_target
from orbit.graph.selector import Selector
from orbit.model import SYMBOL_KIND_CODES

WIDEST = 5_000  # nodes of the walk that looks for tests
COMMON_NAME = 30  # a name more symbols than this have says nothing about which of them a test means
TEST = SYMBOL_KIND_CODES["test"]
_CODE = frozenset(SYMBOL_KIND_CODES[kind] for kind in ("function", "method", "constructor", "singleton_method"))
_NOT_CODE = frozenset(SYMBOL_KIND_CODES[kind] for kind in ("section", "column"))
_STEM = re.compile(r"^(?:test_|Test)?(.*?)(?:_test|_spec|\.test|\.spec|Tests?|IT)?$")
_TEST_WORDS = {"go": ("Test", "Benchmark", "Fuzz", "Example"), "ruby": ("test_",), "java": (), "kotlin": (), "csharp": ()}


class Reach:
    def __init__(self, db: apsw.Connection, ask: ImpactParams, changed_files: set[int]) -> None:
        self.db, self.ask, self.changed_files = db, ask, changed_files
        self.files = {row[0]: row for row in db.execute("SELECT f.id, f.path, f.lang, f.is_test, m.value, f.module FROM file f JOIN text m ON m.id = f.module")}

    def importers(self, files: Sequence[int]) -> list[int]:
        """Files that import these as a whole, as nodes of the walk."""
        if self.ask.confidence == "exact":
            return []
        modules = [self.files[file][5] for file in files]
        rows = self.db.execute("SELECT DISTINCT i.id >> 20 FROM json_each(?) j JOIN import i ON i.module = j.value", (_listed(modules),))
        return [-row[0] for row in rows if row[0] not in files]

    def tests(self, symbols: Sequence[Symbol], files: Sequence[File], paths: Sequence[str]) -> list[TestRow]:
        """Nearest first, surest first; a test, or test file, is named once."""
        found: dict[str, TestRow] = {}

        def keep(rows: Iterable[TestRow]) -> None:
            for row in sorted(rows, key=lambda row: (row.distance, row.path, row.line)):
                found.setdefault(row.id, row)

        keep(self._own(symbols))
        reached = self._along([symbol.id for symbol in symbols], self.importers([file.id for file in files]))
        keep(row for row in reached if row.evidence == "calls")
        keep(self._mentioning(symbols))
        for rows in (self._named_after(paths), [row for row in reached if row.evidence == "import"] + self._importing(paths)):
            covered = {row.path for row in found.values()}  # a file is named as a whole only where none of its tests is
            keep(row for row in rows if row.path not in covered)
        return list(found.values())

    def untested(self, symbols: Sequence[Symbol]) -> list[str]:
        """Changed code outside tests that no test reaches along references; at most a hundred are looked at."""
        code = [symbol for symbol in symbols if symbol.kind_code in _CODE and not self.files[symbol.file][3] and symbol.kind_code != TEST]
        return [symbol.selector for symbol in code[:100] if not self._along([symbol.id], ()) and not self._mentioning([symbol])]

    def _own(self, symbols: Sequence[Symbol]) -> list[TestRow]:
        """Tests that are changed themselves."""
        return [row for symbol in symbols if (row := self._row(symbol.id, 0, "changed")) is not None]

    def _along(self, starts: list[int], importers: Sequence[int]) -> list[TestRow]:
        """Tests on the way of the walk. What stands in a test (a nested function) is that test."""
        walk = msgspec.structs.replace(self.ask, direction="in", limit=WIDEST)
        found = []
        for touched in impact_of(self.db, starts, walk, importers=importers).touched:
            if touched.is_test or touched.selector.startswith("file:"):
                target = find_target(self.db, touched.selector)
                is_symbol = isinstance(target, Symbol)
                row = self._row(target.id, touched.distance, "calls") if is_symbol else self._file_row(target.id, self.ask.depth + 3, "import")
                if row is not None:
                    found.append(row)
        return found

    def _mentioning(self, symbols: Sequence[Symbol]) -> list[TestRow]:
        """Tests that refer to the name of something changed, where what they mean by it is not known."""
        if FLOORS[self.ask.confidence] < FLOORS["same_module"]:
            return []
        names = {symbol.name_id for symbol in symbols if symbol.kind_code not in _NOT_CODE and not self.files[symbol.file][3]}
        rows = self.db.execute(
            "SELECT r.scope, r.id >> 24 FROM json_each(?) j JOIN ref r ON r.name = j.value JOIN file f ON f.id = r.id >> 24"
            " WHERE f.is_test AND (r.target IS NULL OR r.confidence = 3)"
            " AND (SELECT count(*) FROM (SELECT 1 FROM symbol s WHERE s.name = j.value LIMIT ?)) <= ? GROUP BY 1, 2",
            (_listed(sorted(names)), COMMON_NAME + 1, COMMON_NAME),
        )
        found = []
        for scope, file in list(rows):
            row = self._row(scope, self.ask.depth + 1, "name") if scope is not None else self._file_row(file, self.ask.depth + 1, "name")
            if row is not None:
                found.append(row)
        return found

    def _named_after(self, paths: Sequence[str]) -> list[TestRow]:
        """Test files whose name is that of a changed file with the marks of a test."""
        code = {row[1] for row in self.files.values() if row[2] in RUNNERS and not row[3]}
        stems = {stem for path in paths if path in code and (stem := _stem(path)) and len(stem) > 2}
        rows = [self._file_row(file, self.ask.depth + 2, "file_name") for file, row in self.files.items() if row[3] and _stem(row[1]) in stems]
        return [row for row in rows if row is not None]

    def _importing(self, paths: Sequence[str]) -> list[TestRow]:
        """Test files that import a changed file, or import what imports it: a package that hands its names on, for one."""
        by_path = {row[1]: row for row in self.files.values()}
        frontier = {by_path[path][0] for path in paths if path in by_path and not by_path[path][3]}
        seen, found = set(frontier), []
        for hop in range(self.ask.depth):
            modules = sorted({self.files[file][5] for file in frontier})
            rows = self.db.execute("SELECT DISTINCT i.id >> 20 FROM json_each(?) j JOIN import i ON i.module = j.value", (_listed(modules),))
            level = {row[0] for row in rows} - seen
            seen |= level
            found += [row for file in sorted(level) if (row := self._file_row(file, self.ask.depth + 3 + hop, "import")) is not None]
            frontier = {file for file in level if not self.files[file][3]}
        return found

    # --- rows

    def _row(self, symbol: int, distance: int, evidence: str) -> TestRow | None:
        """The test that a symbol is, or stands in."""
        while True:
            row: Any = self.db.execute(_SYMBOL, (symbol,)).fetchone()
            if row is None:
                return None
            parent, kind, name, qualified, line = row
            _, path, lang, is_test, module, _ = self.files[symbol >> SYMBOL_SHIFT]
            words = _TEST_WORDS.get(lang)
            is_method = lang in ("java", "kotlin", "csharp") and kind in _CODE
            if kind == TEST and (is_test or lang == "rust") or is_test and (is_method or words and name.startswith(words)):
                selector = str(Selector("symbol", path=path, name=qualified, symbol_kind="test" if kind == TEST else _kind(kind)))
                return TestRow(id=test_id(lang, path, module, qualified, line), runner=runner_of(lang), path=path, line=line, distance=distance,
                               evidence=evidence, selector=selector)  # fmt: skip
            if parent is None:
                return self._file_row(symbol >> SYMBOL_SHIFT, distance, evidence) if is_test and lang in ("typescript", "tsx", "javascript") else None
            symbol = parent

    def _file_row(self, file: int, distance: int, evidence: str) -> TestRow | None:
        _, path, lang, is_test, _, _ = self.files[file]
        if not is_test or lang not in RUNNERS or path.endswith(("conftest.py", "__init__.py")):
            return None
        selector = str(Selector("file", path=path))
        return TestRow(id=file_id(lang, path), runner=runner_of(lang), path=path, line=1, distance=distance, evidence=evidence, selector=selector)


_SYMBOL = """SELECT s.parent, s.kind, n.value, q.value, s.line FROM symbol s JOIN text n ON n.id = s.name JOIN text q ON q.id = s.qualified
    WHERE s.id = ?"""


def _kind(code: int) -> str:
    return next(kind for kind, held in SYMBOL_KIND_CODES.items() if held == code)


def _listed(values: Iterable[int]) -> str:
    return msgspec.json.encode(list(values)).decode()


def _stem(path: str) -> str:
    """The name of a file without extension and without the marks of a test, lower case."""
    name = path.rpartition("/")[2]
    match = _STEM.match(name.rpartition(".")[0])
    return match[1].lower().strip("_") if match else ""
