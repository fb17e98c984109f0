"""The shape of the tree, or of a part of it: languages, kinds of symbols, the files, and what was left out."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import Annotated, Any, Literal

import apsw
import msgspec
from msgspec import UNSET, Meta, UnsetType

from orbit.graph.query.answer import BUDGET_BYTES, SPARE, GraphAnswer
from orbit.graph.query.scope import Scope, find_scope
from orbit.model import SYMBOL_KINDS

TOP_FILES = 20
_PARTIAL = "f.broken != '[]' OR f.status & 3 != 0"


class OverviewParams(msgspec.Struct):
    scope: Annotated[str | None, Meta(description="dir:<path>, file:<path> or a path; without it the whole tree.", extra={"cli": {"argument": True}})] = None
    format: Annotated[Literal["summary", "full"], Meta(description="full: every file with its symbols, by path, as far as 20 kB go.")] = "summary"
    limit: Annotated[int, Meta(ge=0, description="How many files at most; without it the 20 with most symbols, or what fits.")] | None = None


class OverviewSymbol(msgspec.Struct, frozen=True):
    name: str
    kind: str
    qualified: str
    line: int


class OverviewFile(msgspec.Struct, kw_only=True):
    path: str
    lang: str
    symbol_count: int
    symbols: list[OverviewSymbol] | UnsetType = UNSET


class Coverage(msgspec.Struct, frozen=True):
    """Files in the scope: in the graph, in it but not wholly parsed, and left out by reason."""

    indexed: int
    partial: int
    skipped: dict[str, int]


class OverviewAnswer(GraphAnswer, kw_only=True):
    """Files by number of symbols, then path; in `full`, by path. `truncated`: files, or symbols of the last one, are missing."""

    scope: str
    format: str
    total_files: int
    total_symbols: int
    languages: dict[str, int]
    symbol_kinds: dict[str, int]
    files: list[OverviewFile]
    truncated: bool
    coverage: Coverage


def overview(db: apsw.Connection, ask: OverviewParams) -> OverviewAnswer:
    """Counts exact, files as many as asked for."""
    scope = find_scope(db, ask.scope)
    files = {row[0]: row for row in db.execute(f"SELECT f.id, f.path, f.lang, {_PARTIAL} FROM file f WHERE {scope.where}", scope.values)}
    counts, kinds = count_symbols(db, scope)
    has_symbols = ask.format == "full" or scope.is_file
    order = sorted(files.values(), key=(lambda row: row[1]) if has_symbols else (lambda row: (-counts[row[0]], row[1])))
    limit = ask.limit if ask.limit is not None else len(order) if has_symbols else TOP_FILES
    answer = OverviewAnswer(
        scope=scope.selector,
        format=ask.format,
        total_files=len(files),
        total_symbols=sum(counts.values()),
        languages=_ranked(Counter(lang for _, _, lang, _ in files.values())),
        symbol_kinds=_ranked(kinds),
        files=[],
        truncated=limit < len(order),
        coverage=Coverage(len(files), sum(bool(row[3]) for row in files.values()), _count_skipped(db, scope)),
    )
    _add_files(db, answer, order[:limit], counts, with_symbols=has_symbols, is_bounded=ask.limit is None)
    return answer


def _add_files(db: apsw.Connection, answer: OverviewAnswer, rows: list[Any], counts: Counter[int], *, with_symbols: bool, is_bounded: bool) -> None:
    room = BUDGET_BYTES - SPARE - len(msgspec.json.encode(answer)) if is_bounded else 1 << 62
    for file, path, lang, _ in rows:
        entry = OverviewFile(path=path, lang=lang, symbol_count=counts[file])
        answer.files.append(entry)
        if with_symbols:
            symbols = _symbols(db, file)
            sizes = accumulate((len(msgspec.json.encode(symbol)) + 1 for symbol in symbols), initial=len(msgspec.json.encode(entry)) + 14)
            used = [size for size in sizes if size <= room]
            entry.symbols = symbols[: max(0, len(used) - 1)]
            if len(used) <= len(symbols):
                answer.truncated = True
                break
            room -= used[-1]


def _symbols(db: apsw.Connection, file: int) -> list[OverviewSymbol]:
    found = db.execute(
        "SELECT n.value, s.kind, q.value, s.line FROM symbol s JOIN text n ON n.id = s.name JOIN text q ON q.id = s.qualified"
        " WHERE s.id >= ? AND s.id < ? ORDER BY s.start, s.end DESC, s.id",
        (file << 20, (file + 1) << 20),
    )
    return [OverviewSymbol(name, SYMBOL_KINDS[kind], qualified, line) for name, kind, qualified, line in found]


def count_symbols(db: apsw.Connection, scope: Scope) -> tuple[Counter[int], Counter[str]]:
    """Symbols by file id and by kind."""
    if scope.end:
        found = db.execute(
            "SELECT f.id, s.kind, count(*) FROM file f CROSS JOIN symbol s ON s.id >= f.id << 20 AND s.id < (f.id + 1) << 20"
            f" WHERE {scope.where} GROUP BY f.id, s.kind",
            scope.values,
        )
    else:
        found = db.execute("SELECT id >> 20, kind, count(*) FROM symbol GROUP BY 1, 2")
    counts, kinds = Counter[int](), Counter[str]()
    for file, kind, count in found:
        counts[file] += count
        kinds[SYMBOL_KINDS[kind]] += count
    return counts, kinds


def _count_skipped(db: apsw.Connection, scope: Scope) -> dict[str, int]:
    """What the scan left out below the scope. Files of unknown kinds are known by number only, and of the whole tree."""
    where = scope.where.replace("f.path", "s.path")
    found = dict(db.execute(f"SELECT s.reason, count(*) FROM skipped s WHERE {where} GROUP BY s.reason", scope.values))
    unknown = db.execute("SELECT value FROM meta WHERE key = 'unknown_extension'").get
    if not scope.end and unknown and unknown != "0":
        found["unknown_extension"] = int(unknown)
    return dict(sorted(found.items()))


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
