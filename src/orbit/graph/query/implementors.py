"""What implements, extends or impl-s a type. Order: file, line.

A relation counts when it was resolved to the type, or was never resolved and names it by its last part: `Display` finds `fmt::Display`.
"""

from __future__ import annotations

import re
from contextlib import suppress

import apsw
import msgspec

from orbit.errors import AmbiguousError, NotFoundError, SymbolNotFoundError, UsageError
from orbit.graph.query.answer import ROWS, GraphAnswer, RowLimit, SelectorArgument, Target
from orbit.graph.query.near import near_names
from orbit.graph.query.target import COLUMNS, MOST_CANDIDATES, File, Symbol, clean, find_target, symbols_of_name, text_id
from orbit.graph.selector import parse
from orbit.model import RELATION_KINDS, SYMBOL_KIND_CODES, TYPE_KINDS, family_of

_TYPES = {SYMBOL_KIND_CODES[kind] for kind in TYPE_KINDS | {"type_alias", "typedef", "module", "delegate"}}
_IMPL = SYMBOL_KIND_CODES["impl"]


class ImplementorsParams(msgspec.Struct):
    selector: SelectorArgument
    limit: RowLimit = None


class Implementor(msgspec.Struct, frozen=True):
    """`trait_matched` is the full name of what it implements, or the name as written when that is not in the graph."""

    type_qualified: str
    trait_matched: str
    kind: str
    file: str
    line: int
    selector: str | None


class ImplementorsAnswer(GraphAnswer, kw_only=True):
    """`target` is null for a type that is not in the graph, such as one of the standard library."""

    trait_name: str
    target: Target | None
    implementors: list[Implementor]
    total: int
    truncated: bool


def implementors(db: apsw.Connection, ask: ImplementorsParams) -> ImplementorsAnswer:
    """Direct ones; ask again for those of an implementor."""
    target = _find_type(db, ask.selector)
    name = target.name if target is not None else re.split(r"::|[.#/]", ask.selector.strip().partition("<")[0])[-1]
    rows = _rows(db, target, name)
    if not rows and target is None:
        if found := symbols_of_name(db, ask.selector.strip()):
            raise UsageError(f"{name!r} is a {found[0].kind}, not a type", hint=f"`orbit graph refs {found[0].selector}` shows who refers to it")
        raise SymbolNotFoundError(ask.selector, near_names(db, name))
    limit = ROWS if ask.limit is None else ask.limit
    return ImplementorsAnswer(
        trait_name=name,
        target=target.as_target() if target is not None else None,
        implementors=[_implementor(db, *row) for row in rows[:limit]],
        total=len(rows),
        truncated=len(rows) > limit,
    )


def _find_type(db: apsw.Connection, text: str) -> Symbol | None:
    """The type a selector names; None for a bare name the graph only knows from relations."""
    selector = parse(clean(text))
    if selector.kind != "name":
        return _type_of(find_target(db, text))
    types = [symbol for symbol in symbols_of_name(db, selector.name) if symbol.kind_code in _TYPES and symbol.kind_code != _IMPL]
    if len(types) > 1:
        ranked = sorted(types, key=lambda symbol: symbol.is_demoted)
        raise AmbiguousError(selector.name, [symbol.selector for symbol in ranked[:MOST_CANDIDATES]], total=len(types))
    if not types and not symbols_of_name(db, selector.name):
        with suppress(NotFoundError):  # a path with a name or a line, as elsewhere
            return _type_of(find_target(db, text))
    return types[0] if types else None


def _type_of(found: Symbol | File) -> Symbol:
    if isinstance(found, File):
        raise UsageError(f"{found.selector} is a file, not a type", hint=f"`orbit graph overview {found.selector}` lists its symbols")
    return found


def _rows(db: apsw.Connection, target: Symbol | None, name: str) -> list[tuple[str, int, int, int, int, int]]:
    found = db.execute(
        "SELECT f.path, r.line, r.id, r.kind, r.source, r.target, f.lang FROM relation r JOIN file f ON f.id = r.id >> 20 WHERE r.id IN"
        " (SELECT id FROM relation WHERE target = ?1 UNION SELECT id FROM relation x WHERE x.name = ?2"
        "   AND NOT EXISTS (SELECT 1 FROM symbol s WHERE s.qualified = x.target))"
        " ORDER BY f.path, r.line, r.id",
        (target.qualified_id if target is not None else -2, text_id(db, name)),
    )
    return [row[:6] for row in found if target is None or row[5] == target.qualified_id or family_of(row[6]) == family_of(target.lang)]


def _implementor(db: apsw.Connection, path: str, line: int, relation: int, kind: int, source: int, target: int) -> Implementor:
    name, of = (db.execute("SELECT value FROM text WHERE id = ?", (text,)).get for text in (source, target))
    order = "s.kind = ?, f.id != ?, f.path, s.id LIMIT 1"
    found = db.execute(f"{COLUMNS} WHERE s.qualified = ? ORDER BY {order}", (source, _IMPL, relation >> 20)).fetchone()
    return Implementor(name, of, RELATION_KINDS[kind], path, line, Symbol(*found).selector if found else None)
