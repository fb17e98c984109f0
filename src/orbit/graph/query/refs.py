"""Who refers to a symbol, or imports a file. Order: confidence, file, line."""

from __future__ import annotations

from typing import Annotated, Literal

import apsw
import msgspec
from msgspec import Meta

from orbit.graph.query.answer import FLOORS, ROWS, ConfidenceFloor, GraphAnswer, RowLimit, SelectorArgument, Target, listed
from orbit.graph.query.target import DECLARATION, File, Symbol, find_target, read_file, symbols_of_name
from orbit.model import CONFIDENCES, REF_KIND_CODES, REF_KINDS, RELATION_KIND_CODES, RELATION_KINDS, SYMBOL_KIND_CODES, family_members

FUZZY = CONFIDENCES.index("fuzzy_name")
Kind = Literal["call", "type", "use", "trait_bound", "impl", "extends", "implements"]
_FUNCTION = SYMBOL_KIND_CODES["function"]
_IMPORTS = f"SELECT min(id) AS id, line, min(start) AS start, {REF_KIND_CODES['use']} AS kind FROM import WHERE module = ?1 GROUP BY id >> 20, line"


class RefsParams(msgspec.Struct):
    selector: SelectorArgument
    confidence: ConfidenceFloor = "same_module"
    kind: Annotated[Kind | None, Meta(description="Only references or relations of this kind.")] = None
    limit: RowLimit = None


class Ref(msgspec.Struct, frozen=True):
    file: str
    line: int
    kind: str
    confidence: str
    in_: str = msgspec.field(name="in")


class RelationRow(msgspec.Struct, frozen=True):
    from_: str = msgspec.field(name="from")
    kind: str
    file: str
    line: int
    confidence: str


class RefsAnswer(GraphAnswer, kw_only=True):
    """`total` counts both lists; `skipped_low_confidence` the rows below the floor. `in` is the enclosing symbol, or the file."""

    target: Target
    refs: list[Ref]
    relations: list[RelationRow]
    total: int
    truncated: bool
    skipped_low_confidence: int


class _Source(msgspec.Struct, frozen=True):
    """Rows that may be in the answer: what follows FROM, with the columns of _COLUMNS in reach, and the values in it."""

    tables: str
    values: tuple[int | str, ...]
    confidence: str = "r.confidence"


def refs(db: apsw.Connection, ask: RefsParams) -> RefsAnswer:
    """All references to what the selector names, best first."""
    target, floor = find_target(db, ask.selector), FLOORS[ask.confidence]
    limit = ROWS if ask.limit is None else ask.limit
    sources, relations = _sources(db, target)
    kind = REF_KIND_CODES.get(ask.kind or "", -1)
    relation_kind = RELATION_KIND_CODES.get(ask.kind or "", -1)
    if ask.kind is not None:
        sources, relations = sources if kind >= 0 else [], relations if relation_kind >= 0 else []
    kept, skipped = _count(db, sources, kind, floor)
    kept_edges, skipped_edges = _count(db, relations, relation_kind, floor)
    rows, edges = _read(db, sources, kind, floor, limit), _read(db, relations, relation_kind, floor, max(0, limit - kept))
    return RefsAnswer(
        target=target.as_target(),
        refs=[Ref(path, line, REF_KINDS[code], CONFIDENCES[confidence], scope) for confidence, path, line, _, code, scope in rows],
        relations=[RelationRow(source, RELATION_KINDS[code], path, line, CONFIDENCES[confidence]) for confidence, path, line, _, code, source in edges],
        total=kept + kept_edges,
        truncated=len(rows) + len(edges) < kept + kept_edges,
        skipped_low_confidence=skipped + skipped_edges,
    )


def _sources(db: apsw.Connection, target: Symbol | File) -> tuple[list[_Source], list[_Source]]:
    """Where references to the target are, and relations to it. A file is referred to by importing it, or by naming its module."""
    if isinstance(target, Symbol) and target.kind != "module":
        return [_targeted(db, target), _named_only(target)], [_relations(target)]
    file = target if isinstance(target, File) else read_file(db, target.path)
    modules = [target] if isinstance(target, Symbol) else [symbol for symbol in symbols_of_name(db, target.module) if symbol.file == target.id]
    imports = [_importers(file)] if file is not None and all(symbol.qualified_id == file.module_id for symbol in modules) else []
    return imports + [_targeted(db, symbol) for symbol in modules if symbol.kind == "module"], []


def _count(db: apsw.Connection, sources: list[_Source], kind: int, floor: int) -> tuple[int, int]:
    """(rows at the floor or better, rows below it)."""
    kept = skipped = 0
    for source in sources:
        for confidence, count in db.execute(
            f"SELECT {source.confidence}, count(*) FROM {source.tables} AND (?{len(source.values) + 1} < 0 OR r.kind = ?{len(source.values) + 1}) GROUP BY 1",
            (*source.values, kind),
        ):
            kept, skipped = (kept + count, skipped) if confidence <= floor else (kept, skipped + count)
    return kept, skipped


def _read(db: apsw.Connection, sources: list[_Source], kind: int, floor: int, limit: int) -> list[tuple[int, str, int, int, int, str]]:
    """(confidence, path, line, start, kind, scope) of the best rows, in order."""
    found: list[tuple[int, str, int, int, int, str]] = []
    for source in sources:
        if source.confidence == "3" and floor < FUZZY:
            continue
        at = len(source.values)
        found += db.execute(
            f"SELECT c, path, line, start, kind, coalesce((SELECT q.value FROM text q WHERE q.id = scope), path) FROM"
            f" (SELECT {source.confidence} AS c, f.path AS path, r.line AS line, r.start AS start, r.kind AS kind, {_scope(source)} AS scope"
            f" FROM {source.tables} AND {source.confidence} <= ?{at + 1} AND (?{at + 2} < 0 OR r.kind = ?{at + 2}) ORDER BY 1, 2, 3, 4 LIMIT ?{at + 3})",
            (*source.values, floor, kind, limit),
        )
    return sorted(found)[:limit]


def _scope(source: _Source) -> str:
    """Text id of what a row stands in: the enclosing symbol's name, or for a relation the type that has it."""
    if source.tables.startswith("relation"):
        return "r.source"
    return "NULL" if source.tables.startswith("(") else "(SELECT s.qualified FROM symbol s WHERE s.id = r.scope)"


def _targeted(db: apsw.Connection, target: Symbol) -> _Source:
    """References resolved to the symbol, or to a declaration of it in another file."""
    files = {target.file}
    if target.kind_code == _FUNCTION:
        files |= {row[0] >> 20 for row in db.execute("SELECT id FROM symbol WHERE qualified = ? AND kind = ?", (target.qualified_id, DECLARATION))}
    only = "r.target_file = ?2" if len(files) == 1 else "r.target_file IN (SELECT value FROM json_each(?2))"
    held = target.file if len(files) == 1 else listed(sorted(files))
    return _Source(f"ref r JOIN file f ON f.id = r.id >> 24 WHERE r.target = ?1 AND {only}", (target.qualified_id, held))


def _named_only(target: Symbol) -> _Source:
    """References by the same name, in the same family of languages, that could not be tied to anything."""
    tables = (
        "uses u CROSS JOIN file f ON f.id = u.file CROSS JOIN ref r ON r.id >= u.file << 24 AND r.id < (u.file + 1) << 24"
        " WHERE u.name = ?1 AND r.name = ?1 AND r.target IS NULL AND f.lang IN (SELECT value FROM json_each(?2))"
    )
    return _Source(tables, (target.name_id, listed(family_members(target.lang))), confidence="3")


def _relations(target: Symbol) -> _Source:
    """What extends, implements or impl-s the symbol; by name alone where that was never resolved."""
    tables = (
        "relation r JOIN file f ON f.id = r.id >> 20 WHERE r.id IN"
        " (SELECT id FROM relation WHERE target = ?1 UNION SELECT id FROM relation WHERE name = ?2 AND confidence = 3)"
        " AND (r.target = ?1 OR f.lang IN (SELECT value FROM json_each(?3)))"
    )
    values = (target.qualified_id, target.name_id, listed(family_members(target.lang)))
    return _Source(tables, values, confidence="CASE WHEN r.target = ?1 THEN r.confidence ELSE 3 END")


def _importers(file: File) -> _Source:
    """Imports of a file's module; one that names the module as a part of its package is a reference to the module."""
    return _Source(f"({_IMPORTS}) r JOIN file f ON f.id = r.id >> 20 WHERE 1", (file.module_id,), confidence="1")

