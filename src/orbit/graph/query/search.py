"""Find by name and by text: symbols, string literals, configuration keys.

Order: symbols before configuration keys before strings. Symbols by how they match: the name or qualified name itself, the name in another case,
the beginning of the name, words of the name, words of name and qualified name together. Within each: code before tests and generated code,
definitions before mere declarations (for equal names), then path and line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

import apsw
import msgspec
from msgspec import UNSET, Meta, UnsetType

from orbit.graph.query.answer import GraphAnswer, cut_to_budget
from orbit.graph.query.history import TaskTouches, task_symbols
from orbit.graph.query.near import near_names, quoted, words
from orbit.graph.query.target import COLUMNS, DECLARATION, Symbol, symbols_of_name

LIMIT = 20
LONGEST_VALUE = 200  # characters of a string literal that an answer repeats
_TOKENS = re.compile(r"\w+")
_MOST_WORDS = 12


class SearchParams(msgspec.Struct, kw_only=True):
    query: Annotated[
        str, Meta(description="A name, the beginning of one, or words; may be left out with --task-id.", extra={"cli": {"argument": True}})
    ] = ""
    kind: Annotated[Literal["symbol", "string", "config"] | None, Meta(description="Only symbols, string literals or configuration keys.")] = None
    lang: Annotated[str | None, Meta(description="Only files of this language, such as python.")] = None
    task_id: Annotated[str | None, Meta(description="Only what commits touched whose message names this task.")] = None
    limit: Annotated[int, Meta(ge=0, description="How many matches at most; without it 20.")] | None = None


class SymbolMatch(msgspec.Struct, frozen=True, tag_field="kind", tag="symbol"):
    symbol_kind: str
    name: str
    qualified: str
    signature: str
    path: str
    line: int
    end_line: int
    selector: str


class StringMatch(msgspec.Struct, frozen=True, tag_field="kind", tag="string"):
    value: str
    path: str
    line: int
    in_: str = msgspec.field(name="in")


class ConfigMatch(msgspec.Struct, frozen=True, tag_field="kind", tag="config"):
    value: str
    config_kind: str
    path: str
    line: int


class SearchAnswer(GraphAnswer, kw_only=True):
    """`did_you_mean`, present when nothing matched: names like the one asked for."""

    query: str
    total: int
    truncated: bool
    matches: list[SymbolMatch | StringMatch | ConfigMatch]
    did_you_mean: list[str] | UnsetType = UNSET


class _Scope:
    """The files a search is held to, as a condition on `f`, a row of `file`; and the symbols, if it is held to some."""

    def __init__(self, lang: str | None, paths: Iterable[str] | None, symbols: Iterable[int] | None = None) -> None:
        self.symbols = None if symbols is None else set(symbols)
        self.is_whole = lang is None and paths is None
        self.where, self.values = "1", []  # type: str, list[str]
        if lang is not None:
            self.where, self.values = "f.lang = ?", [lang.lower()]
        if paths is not None:
            self.where += " AND f.path IN (SELECT value FROM json_each(?))"
            self.values.append(msgspec.json.encode(sorted(paths)).decode())

    def inside(self, symbols: Iterable[int]) -> list[int]:
        """Those of some symbols it is held to, in order of their ids."""
        return sorted(one for one in symbols if self.symbols is None or one in self.symbols)


def search(db: apsw.Connection, ask: SearchParams, touched: TaskTouches | None = None) -> SearchAnswer:
    """What matches, best first. Any text may be asked for. `touched`: what the task touched, where one is named."""
    query = ask.query.encode("utf-8", "replace").decode().replace("\0", " ").strip()
    scope = _Scope(ask.lang, None, None) if touched is None else _Scope(ask.lang, touched.paths, task_symbols(db, touched))
    limit = LIMIT if ask.limit is None else ask.limit
    answer = SearchAnswer(query=ask.query, total=0, truncated=False, matches=[])
    if (query or touched is not None) and ask.kind in (None, "symbol"):
        _add_symbols(db, answer, query, scope, limit)
    for kind, add in (("config", _add_configs), ("string", _add_strings)):
        if _TOKENS.search(query) and ask.kind in (None, kind):
            add(db, answer, query, scope, limit)
    answer.truncated = len(answer.matches) < answer.total
    if not answer.total:
        answer.did_you_mean = near_names(db, query)
    if ask.limit is None:
        cut_to_budget(answer, "matches")
    return answer


# --- symbols


def _add_symbols(db: apsw.Connection, answer: SearchAnswer, query: str, scope: _Scope, limit: int) -> None:
    """Step by step down the ladder; each step adds what the steps above have not found."""
    exact = _exact(db, query, scope) if query else _read(db, _first(db, scope.inside(scope.symbols or ()), 20, len(scope.symbols or ())))
    seen = dict.fromkeys(symbol.id for symbol in exact)
    found: list[Symbol] = exact[:limit]
    for pattern in _patterns(query):
        fresh = [symbol_id for symbol_id in scope.inside(_match(db, "symbols_fts", pattern, scope)) if symbol_id not in seen]
        if len(found) < limit:
            found += _read(db, _first(db, fresh, 20, limit - len(found)))
        seen.update(dict.fromkeys(fresh))
    answer.total += len(seen)
    answer.matches += [
        SymbolMatch(symbol.kind, symbol.name, symbol.qualified, _shorten(symbol.signature), symbol.path, symbol.line, symbol.end_line, symbol.selector)
        for symbol in found
    ]


def _exact(db: apsw.Connection, query: str, scope: _Scope) -> list[Symbol]:
    found = symbols_of_name(db, query)
    if not scope.is_whole and found:
        inside = {row[0] for row in db.execute(f"SELECT f.path FROM file f WHERE {scope.where}", scope.values)}
        found = [symbol for symbol in found if symbol.path in inside and (scope.symbols is None or symbol.id in scope.symbols)]
    return sorted(found, key=lambda symbol: (symbol.is_demoted, symbol.kind_code == DECLARATION, symbol.path, symbol.line, symbol.id))


def _patterns(query: str) -> Iterator[str]:
    """The steps below an exact name, as full-text expressions."""
    tokens, parts = _TOKENS.findall(query)[:_MOST_WORDS], words(query)[:_MOST_WORDS]
    if len(tokens) == 1:
        yield f"name : {quoted(tokens[0])}"
        yield f"name : {quoted(tokens[0])} *"
    if parts:
        yield "parts : (" + " AND ".join(f"{quoted(part)} *" for part in parts) + ")"
    if len(tokens) > 1:
        every = " AND ".join(f"{quoted(token)} *" for token in tokens)
        some = " OR ".join(f"{quoted(token)} *" for token in tokens)
        yield f"({every}) AND {{name parts}} : ({some})"


def _match(db: apsw.Connection, table: str, pattern: str, scope: _Scope) -> list[int]:
    """Row ids in order; a file's rows stand together."""
    if scope.is_whole:
        return [row[0] for row in db.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (pattern,))]
    shift = 20 if table == "symbols_fts" else 24
    return [
        row[0]
        for row in db.execute(
            f"SELECT w.rowid FROM {table} w JOIN file f ON f.id = w.rowid >> {shift} WHERE w.{table} MATCH ? AND {scope.where} ORDER BY w.rowid",
            (pattern, *scope.values),
        )
    ]


def _first(db: apsw.Connection, ids: list[int], shift: int, count: int) -> list[int]:
    """The first `count` of row ids, by: code before tests and generated code, path, position."""
    by_file: dict[int, list[int]] = {}
    for row_id in ids:
        by_file.setdefault(row_id >> shift, []).append(row_id)
    order = [row[0] for row in db.execute(_BY_RANK, (msgspec.json.encode(list(by_file)).decode(),))] if len(by_file) > 1 else list(by_file)
    chosen: list[int] = []
    for file in order:
        if len(chosen) >= count:
            break
        chosen += by_file[file]
    return chosen[:count]


_BY_RANK = "SELECT f.id FROM json_each(?) j JOIN file f ON f.id = j.value ORDER BY f.is_test OR f.is_generated, f.path"


def _read(db: apsw.Connection, ids: list[int]) -> list[Symbol]:
    return [Symbol(*row) for symbol_id in ids for row in db.execute(f"{COLUMNS} WHERE s.id = ?", (symbol_id,))]


# --- strings and configuration keys


def _text_pattern(query: str) -> str:
    return " AND ".join(f"{quoted(token)} *" for token in _TOKENS.findall(query)[:_MOST_WORDS])


def _add_configs(db: apsw.Connection, answer: SearchAnswer, query: str, scope: _Scope, limit: int) -> None:
    ids = _match(db, "configs_fts", _text_pattern(query), scope)
    answer.total += len(ids)
    for row_id in _first(db, ids, 24, limit - len(answer.matches)) if len(answer.matches) < limit else ():
        rows = db.execute("SELECT c.key, c.kind, f.path, c.line FROM config c JOIN file f ON f.id = c.id >> 24 WHERE c.id = ?", (row_id,))
        answer.matches += [ConfigMatch(_shorten(key), *rest) for key, *rest in rows]


def _add_strings(db: apsw.Connection, answer: SearchAnswer, query: str, scope: _Scope, limit: int) -> None:
    ids = _match(db, "strings_fts", _text_pattern(query), scope)
    answer.total += len(ids)
    for row_id in _first(db, ids, 24, limit - len(answer.matches)) if len(answer.matches) < limit else ():
        rows = db.execute(
            "SELECT t.value, f.path, t.line, coalesce(q.value, f.path) FROM string t JOIN file f ON f.id = t.id >> 24"
            " LEFT JOIN symbol s ON s.id = t.scope LEFT JOIN text q ON q.id = s.qualified WHERE t.id = ?",
            (row_id,),
        )
        answer.matches += [StringMatch(_shorten(value), *rest) for value, *rest in rows]


def _shorten(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
