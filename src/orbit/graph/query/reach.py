"""Which tests reach a change: first along references, then by what they mention, what they are named after, and what they share with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from orbit.graph.query.answer import FLOORS, listed
from orbit.graph.query.impact import ImpactParams, constructed, steps
from orbit.graph.query.likeness import NAME_WEIGHT, Change, shared
from orbit.graph.query.runnable import RUNNERS, TestRow, file_id, test_id
from orbit.graph.query.target import SYMBOL_SHIFT, File, Symbol
from orbit.graph.selector import Selector
from orbit.model import SYMBOL_KIND_CODES, SYMBOL_KINDS

WIDEST = 5_000  # nodes of the walk that looks for tests
COMMON_NAME = 30  # a name more symbols than this have says nothing about which of them a test means
FEWEST_LIKELY, SHARE_LIKELY = 3, 20  # files listed for likeness alone: three, or one in twenty of all test files
_WITH_KIND = frozenset({"python", "go", "rust"})  # languages in which a test is a symbol of that kind
TEST = SYMBOL_KIND_CODES["test"]
_CODE = frozenset(SYMBOL_KIND_CODES[kind] for kind in ("function", "method", "constructor", "singleton_method"))
_NOT_CODE = frozenset(SYMBOL_KIND_CODES[kind] for kind in ("section", "column"))
_TEST_WORDS = {"go": ("Test", "Benchmark", "Fuzz", "Example"), "ruby": ("test_",), "java": (), "kotlin": (), "csharp": ()}
_MENTIONS = """SELECT f.id, r.name, r.scope, r.target IS NULL OR r.confidence = 3, count(*) FROM file f
    CROSS JOIN ref r ON r.id >= f.id << 24 AND r.id < (f.id + 1) << 24 WHERE f.is_test AND r.name IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3, 4"""
_HOLDING = """SELECT DISTINCT f.id FROM file f CROSS JOIN symbol s ON s.id >= f.id << 20 AND s.id < (f.id + 1) << 20 WHERE f.is_test AND s.kind = ?"""
_USED = """SELECT r.name FROM (SELECT DISTINCT value >> 20 AS file FROM json_each(?1)) d CROSS JOIN ref r ON r.id >= d.file << 24 AND r.id < (d.file + 1) << 24
    WHERE r.scope IN (SELECT value FROM json_each(?1))
    UNION SELECT r.name FROM json_each(?2) j CROSS JOIN ref r ON r.id >= j.value << 24 AND r.id < (j.value + 1) << 24 WHERE r.scope IS NULL"""
_STRINGS = """SELECT DISTINCT t.value FROM json_each(?) j JOIN symbol s ON s.id = j.value
    CROSS JOIN string t ON t.id >= (s.id >> 20) << 24 AND t.id < ((s.id >> 20) + 1) << 24 WHERE t.line BETWEEN s.line AND s.end_line"""
_OWNERS = """SELECT DISTINCT n.value, n.id FROM json_each(?) j JOIN symbol s ON s.id = j.value JOIN symbol p ON p.id = s.parent JOIN text n ON n.id = p.name"""
_HOW_COMMON = "SELECT count(*) FROM (SELECT 1 FROM symbol WHERE name = ? LIMIT ?)"
_QUOTES = """SELECT f.id, t.value, count(*) FROM file f CROSS JOIN string t ON t.id >= f.id << 24 AND t.id < (f.id + 1) << 24
    WHERE f.is_test AND t.value IN (SELECT value FROM json_each(?)) GROUP BY 1, 2"""


class _File(NamedTuple):
    path: str
    lang: str
    is_test: int
    module: str
    size: int


class Reach:
    """The tests of one change. What is changed in tests themselves is listed, and not looked for elsewhere."""

    def __init__(self, db: apsw.Connection, ask: ImpactParams, symbols: Sequence[Symbol], files: Sequence[File], paths: Sequence[str]) -> None:
        self.db, self.ask, self.symbols = db, ask, symbols
        rows = db.execute("SELECT f.id, f.path, f.lang, f.is_test, m.value, f.size FROM file f JOIN text m ON m.id = f.module")
        self.files = {row[0]: _File(*row[1:]) for row in rows}
        self.code = [symbol for symbol in symbols if symbol.kind_code not in _NOT_CODE and not self.files[symbol.file].is_test]
        self.outside = [file.id for file in files if not self.files[file.id].is_test]
        self.ids = listed(symbol.id for symbol in self.code)
        self.names = {symbol.name: symbol.name_id for symbol in self.code} | dict(db.execute(_OWNERS, (self.ids,)))
        known = {file.path for file in self.files.values() if file.lang in RUNNERS and not file.is_test}
        self.change = Change([path for path in paths if path in known], self.names)
        # (test file, name, scope, is its meaning unknown, count) for the names in the changed code, and those of it
        used = {row[0] for row in db.execute(_USED, (self.ids, listed(self.outside)))}
        self.mentions = list(db.execute(_MENTIONS, (listed(used | set(self.names.values())),)))

    def tests(self) -> tuple[list[TestRow], int]:
        """Nearest first, surest first, a test or test file once; and how many files were too little like the change to be listed."""
        found: dict[str, TestRow] = {}
        own = [row for symbol in self.symbols if (row := self._row(symbol.id, 0, "changed")) is not None]
        for rows in (own, self._along([symbol.id for symbol in self.symbols]), self._mentioning({symbol.name_id for symbol in self.code})):
            for row in sorted(rows, key=lambda row: (row.distance, row.path, row.line)):
                found.setdefault(row.id, row)
        single = {row.path for row in found.values() if row.selector.startswith("symbol:")}  # a file is named as a whole only where none of its tests is
        reached = [row for row in found.values() if row.selector.startswith("symbol:") or row.path not in single]
        covered, tests = {row.path for row in reached}, self._test_files()
        whole = (self._file_row(file, self.ask.depth + 2, "file_name") for file in tests)
        rest = [row for row in whole if row is not None and row.path not in covered]
        named = [row for row in rest if self.change.names_file(row.path)]
        likely = self._likely([row for row in rest if row not in named], tests)
        most = len(likely) if FLOORS[self.ask.confidence] == FLOORS["fuzzy"] else max(FEWEST_LIKELY, len(tests) // SHARE_LIKELY)
        return [*reached, *named, *likely[:most]], max(0, len(likely) - most)

    def untested(self) -> list[str]:
        """Changed code outside tests that no test reaches along references; at most a hundred are looked at."""
        code = [symbol for symbol in self.code if symbol.kind_code in _CODE]
        return [symbol.selector for symbol in code[:100] if not self._mentioning({symbol.name_id}) and not self._along([symbol.id])]

    def _test_files(self) -> list[int]:
        """Files with tests in them, by path. Where tests are symbols of their own, what only helps them is left out."""
        holding = {row[0] for row in self.db.execute(_HOLDING, (TEST,))}
        found = [number for number, file in self.files.items() if file.is_test and (number in holding or file.lang in RUNNERS and file.lang not in _WITH_KIND)]
        return sorted(found, key=lambda number: self.files[number].path)

    def _along(self, starts: list[int]) -> list[TestRow]:
        """Tests on the way of a walk along references. What stands in a test (a nested function) is that test; what stands in no symbol, as in tests
        that are calls with a block, is the file's."""
        frontier, found = starts, list[TestRow]()
        seen = set(starts)
        for distance in range(1, self.ask.depth + 1):
            types = constructed(self.db, frontier) if distance == 1 else ()
            level = {node for node, _, _ in steps(self.db, frontier, FLOORS[self.ask.confidence], "in", types)}
            new = sorted(level - seen)
            seen |= level
            rows = (self._row(node, distance, "calls") if node > 0 else self._file_row(-node, distance, "calls") for node in new if self._may_be_test(node))
            found += [row for row in rows if row is not None]
            frontier = [node for node in new if node > 0]
            if not frontier or len(seen) > WIDEST:
                break
        return found

    def _may_be_test(self, node: int) -> bool:
        file = self.files[node >> SYMBOL_SHIFT if node > 0 else -node]
        return bool(file.is_test) or file.lang == "rust"

    def _mentioning(self, names: set[int]) -> list[TestRow]:
        """Tests that refer to the name of something changed, where what they mean by it is not known."""
        if FLOORS[self.ask.confidence] < FLOORS["same_module"]:
            return []
        rare = {name for name in names if self.db.execute(_HOW_COMMON, (name, COMMON_NAME + 1)).get <= COMMON_NAME}
        rows = [
            self._row(scope, self.ask.depth + 1, "name") if scope is not None else self._file_row(file, self.ask.depth + 1, "name")
            for file, name, scope, is_unknown, _ in self.mentions if is_unknown and name in rare
        ]  # fmt: skip
        return [row for row in rows if row is not None]

    def _likely(self, rows: Sequence[TestRow], tests: Sequence[int]) -> list[TestRow]:
        """Files that are like the change, the most alike first: by their names, and by what both mention."""
        strings = [row[0] for row in self.db.execute(_STRINGS, (self.ids,))]
        quotes = self.db.execute(_QUOTES, (listed(strings),))
        counts: dict[int, dict[int | str, int]] = {file: {} for file in tests}
        for file, said, count in [(row[0], row[1], row[4]) for row in self.mentions] + list(quotes):
            if file in counts:
                counts[file][said] = counts[file].get(said, 0) + count
        alike = shared(counts, {file: self.files[file].size for file in tests})
        file_of = {self.files[file].path: file for file in tests}
        scores = {row.path: NAME_WEIGHT * self.change.resembles(row.path) + alike[file_of[row.path]] for row in rows}
        likely = sorted((row for row in rows if scores[row.path]), key=lambda row: (-scores[row.path], row.path))
        return [msgspec.structs.replace(row, evidence="likely", distance=self.ask.depth + 3) for row in likely]

    # --- rows

    def _row(self, symbol: int, distance: int, evidence: str) -> TestRow | None:
        """The test that a symbol is, or stands in."""
        while True:
            row: Any = self.db.execute(_SYMBOL, (symbol,)).fetchone()
            if row is None:
                return None
            parent, kind, name, qualified, line = row
            path, lang, is_test, module, _ = self.files[symbol >> SYMBOL_SHIFT]
            words = _TEST_WORDS.get(lang)
            is_method = lang in ("java", "kotlin", "csharp") and kind in _CODE
            if kind == TEST and (is_test or lang == "rust") or is_test and (is_method or words and name.startswith(words)):
                selector = str(Selector("symbol", path=path, name=qualified, symbol_kind=SYMBOL_KINDS[kind]))
                return TestRow(id=test_id(lang, path, module, qualified, line), runner=RUNNERS.get(lang, "file"), path=path, line=line, distance=distance,
                               evidence=evidence, selector=selector)  # fmt: skip
            if parent is None:
                return self._file_row(symbol >> SYMBOL_SHIFT, distance, evidence) if is_test and lang in ("typescript", "tsx", "javascript") else None
            symbol = parent

    def _file_row(self, file: int, distance: int, evidence: str) -> TestRow | None:
        path, lang, is_test, _, _ = self.files[file]
        if not is_test or lang not in RUNNERS or path.endswith(("conftest.py", "__init__.py")):
            return None
        selector = str(Selector("file", path=path))
        return TestRow(id=file_id(lang, path), runner=RUNNERS.get(lang, "file"), path=path, line=1, distance=distance, evidence=evidence, selector=selector)


_SYMBOL = """SELECT s.parent, s.kind, n.value, q.value, s.line FROM symbol s JOIN text n ON n.id = s.name JOIN text q ON q.id = s.qualified
    WHERE s.id = ?"""
