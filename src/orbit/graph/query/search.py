"""Find by name and by text: symbols, string literals, configuration keys.

Order: symbols before configuration keys before strings. Symbols by how they match: the name or qualified name itself, the name in another case,
the beginning of the name, words of the name, words of the qualified name and then of the name. Within each: code before tests and generated code,
definitions before mere declarations (for equal names), then path and line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

import apsw
import msgspec
from msgspec import UNSET, Meta, UnsetType

from orbit.errors import NotFoundError, UsageError
from orbit.graph.query.answer import GraphAnswer, listed
from orbit.graph.query.history import TaskTouches, task_symbols
from orbit.graph.query.near import closest, near_names, quoted, words
from orbit.graph.query.target import COLUMNS, DECLARATION, Symbol, symbols_of_name

LIMIT = 20
LONGEST_VALUE = 200  # characters of a string literal that an answer repeats
_TOKENS = re.compile(r"\w+")
_MOST_WORDS = 12


class SearchParams(msgspec.Struct):
    query: Annotated[
        str | None, Meta(description="A name, the beginning of one, or words; may be left out with --task-id.", extra={"cli": {"argument": True}})
    ] = None
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
    """`did_you_mean`, present when nothing matched: names like the one asked for, or tasks like it where no commit names that one."""

    query: str
    task_id: str | UnsetType = UNSET
    total: int
    truncated: bool
    matches: list[SymbolMatch | StringMatch | ConfigMatch]
    did_you_mean: list[str] | UnsetType = UNSET


class _Scope:
    """The files a search is held to, as a condition on `f`, a row of `file`."""

    def __init__(self, lang: str | None, paths: Iterable[str] | None) -> None:
        self.is_whole = lang is None and paths is None
        self.where, self.values = "1", []  # type: str, list[str]
        if lang is not None:
            self.where, self.values = "f.lang = ?", [lang.lower()]
        if paths is not None:
            self.where += " AND f.path IN (SELECT value FROM json_each(?))"
            self.values.append(listed(sorted(paths)))


def search(db: apsw.Connection, ask: SearchParams, touched: TaskTouches | None = None) -> SearchAnswer:
    """What matches, best first. Any text may be asked for. `touched`: what the task touched, where one is named."""
    query = (ask.query or "").encode("utf-8", "replace").decode().replace("\0", " ").strip()
    if ask.query is None and ask.task_id is None:
        raise UsageError("there is nothing to search for", hint="give a name, the beginning of one, or words; or a --task-id")
    if ask.lang is not None:
        _check_language(db, ask.lang.lower())
    scope = _Scope(ask.lang, None if touched is None else touched.paths)
    limit = LIMIT if ask.limit is None else ask.limit
    answer = SearchAnswer(query=ask.query or "", task_id=ask.task_id or UNSET, total=0, truncated=False, matches=[])
    if touched is not None and ask.kind in (None, "symbol"):
        _add_touched(db, answer, query, scope, task_symbols(db, touched), limit)
    elif query and ask.kind in (None, "symbol"):
        _add_symbols(db, answer, query, scope, limit)
    if tokens := _TOKENS.findall(query):
        _add_texts(db, answer, ask, scope, tokens, limit)
    answer.truncated = len(answer.matches) < answer.total
    if touched is not None and not touched.paths:
        answer.did_you_mean = touched.near
    elif not answer.total:
        near = near_names(db, query)
        answer.did_you_mean = [] if query.lower() in (name.lower() for name in near) else near  # the name is there: kind, language or task rule it out
    return answer


def _check_language(db: apsw.Connection, lang: str) -> None:
    known = [row[0] for row in db.execute("SELECT DISTINCT lang FROM file ORDER BY lang")]
    if lang not in known:
        written_so = db.execute("SELECT DISTINCT lang FROM file WHERE substr(path, -length(?1)) = ?1 ORDER BY lang", (f".{lang}",))
        near = closest(lang, known) or [row[0] for row in written_so]
        hint = f"did you mean {', '.join(near)}?" if near else f"there is {', '.join(known) or 'no file at all'}"
        raise NotFoundError(f"no file of language {lang!r} is in the graph", hint=hint, candidates=near, code="language-not-found")


# --- symbols


def _add_symbols(db: apsw.Connection, answer: SearchAnswer, query: str, scope: _Scope, limit: int) -> None:
    """Step by step down the ladder; each step adds what the steps above have not found."""
    exact, patterns = _exact(db, query, scope), list(_patterns(query))
    found = exact[:limit]
    for pattern in patterns:
        if len(found) >= limit:
            break
        seen = {symbol.id for symbol in found}
        fresh = [symbol_id for symbol_id in _first(db, "symbols_fts", pattern, scope, limit + len(seen)) if symbol_id not in seen]
        found += _read(db, fresh[: limit - len(found)])
    every = " OR ".join(f"({pattern})" for pattern in patterns if f"{pattern} *" not in patterns)
    if every:
        answer.total += _count(db, "symbols_fts", every, scope)
        unsure = exact if len(patterns) < 2 or not (query.isascii() and query.isidentifier()) else ()  # the first step finds a plain name again
        again = "SELECT 1 FROM symbols_fts WHERE symbols_fts MATCH ? AND rowid = ?"
        answer.total += sum(db.execute(again, (every, symbol.id)).get is None for symbol in unsure)
    else:
        answer.total += len(exact)
    answer.matches += [_match(symbol) for symbol in found]


def _add_touched(db: apsw.Connection, answer: SearchAnswer, query: str, scope: _Scope, touched: set[int], limit: int) -> None:
    """The same ladder over the symbols a task touched; without a query, all of them."""
    inside = {row[0] for row in db.execute(f"SELECT f.id FROM file f WHERE {scope.where}", scope.values)}
    symbols = sorted(_read(db, [one for one in touched if one >> 20 in inside]), key=lambda symbol: (symbol.is_demoted, symbol.path, symbol.line, symbol.id))
    found = dict.fromkeys(symbol.id for symbol in _exact(db, query, scope) if symbol.id in touched) if query else {symbol.id: None for symbol in symbols}
    for pattern in _patterns(query):
        matched = {row[0] for row in db.execute("SELECT rowid FROM symbols_fts WHERE symbols_fts MATCH ?", (pattern,))}
        found.update((symbol.id, None) for symbol in symbols if symbol.id in matched)
    answer.total += len(found)
    answer.matches += [_match(symbol) for symbol in _read(db, list(found)[:limit])]


def _match(symbol: Symbol) -> SymbolMatch:
    signature = _shorten(symbol.signature)
    return SymbolMatch(symbol.kind, symbol.name, symbol.qualified, signature, symbol.path, symbol.line, symbol.end_line, symbol.selector)


def _exact(db: apsw.Connection, query: str, scope: _Scope) -> list[Symbol]:
    found = symbols_of_name(db, query)
    if not scope.is_whole and found:
        inside = {row[0] for row in db.execute(f"SELECT f.path FROM file f WHERE {scope.where}", scope.values)}
        found = [symbol for symbol in found if symbol.path in inside]
    return sorted(found, key=lambda symbol: (symbol.is_demoted, symbol.kind_code == DECLARATION, symbol.path, symbol.line, symbol.id))


def _patterns(query: str) -> Iterator[str]:
    """The steps below an exact name, as full-text expressions."""
    tokens, parts = _TOKENS.findall(query)[:_MOST_WORDS], words(query)[:_MOST_WORDS]
    if len(tokens) == 1:
        yield f"name : {quoted(tokens[0])}"
        yield f"name : {quoted(tokens[0])} *"
    if parts:
        yield "parts : (" + _all(parts) + ")"
    if len(tokens) > 1:
        yield " AND ".join(quoted(token) for token in tokens[:-1]) + f" AND {{name parts}} : ({_all(tokens[-1:])})"


def _all(terms: list[str]) -> str:
    """All terms; the last one, unless very short, may be the beginning of a word."""
    return " AND ".join(quoted(term) for term in terms) + (" *" if len(terms[-1]) > 2 else "")


def _first(db: apsw.Connection, table: str, pattern: str, scope: _Scope, count: int) -> list[int]:
    """Row ids of the first matches, by: code before tests and generated code, path, position."""
    found = db.execute(
        f"SELECT w.rowid FROM {table} w JOIN file f ON f.id = w.rowid >> {_SHIFTS[table]} WHERE w.{table} MATCH ? AND {scope.where}"
        " ORDER BY f.is_test OR f.is_generated, f.path, w.rowid LIMIT ?",
        (pattern, *scope.values, count),
    )
    return [row[0] for row in found]


def _count(db: apsw.Connection, table: str, pattern: str, scope: _Scope) -> int:
    if scope.is_whole:
        return int(db.execute(f"SELECT count(*) FROM {table} WHERE {table} MATCH ?", (pattern,)).get or 0)
    joined = f"SELECT count(*) FROM {table} w JOIN file f ON f.id = w.rowid >> {_SHIFTS[table]} WHERE w.{table} MATCH ? AND {scope.where}"
    return int(db.execute(joined, (pattern, *scope.values)).get or 0)


_SHIFTS = {"symbols_fts": 20, "strings_fts": 24, "configs_fts": 24}


def _read(db: apsw.Connection, ids: list[int]) -> list[Symbol]:
    return [Symbol(*row) for symbol_id in ids for row in db.execute(f"{COLUMNS} WHERE s.id = ?", (symbol_id,))]


# --- strings and configuration keys

_CONFIGS = "SELECT key, kind, file_path, line FROM configs WHERE id = ?"
_STRINGS = """SELECT t.value, t.file_path, t.line, coalesce(q.value, t.file_path) FROM strings t
    LEFT JOIN symbol s ON s.id = t.context_symbol LEFT JOIN text q ON q.id = s.qualified WHERE t.id = ?"""
_TEXTS = (("config", "configs_fts", ConfigMatch, _CONFIGS), ("string", "strings_fts", StringMatch, _STRINGS))


def _add_texts(db: apsw.Connection, answer: SearchAnswer, ask: SearchParams, scope: _Scope, tokens: list[str], limit: int) -> None:
    pattern = _all(tokens[:_MOST_WORDS])
    for kind, table, match, columns in _TEXTS:
        if ask.kind in (None, kind):
            answer.total += _count(db, table, pattern, scope)
            for row_id in _first(db, table, pattern, scope, max(0, limit - len(answer.matches))):
                answer.matches += [match(_shorten(value), *rest) for value, *rest in db.execute(columns, (row_id,))]


def _shorten(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
