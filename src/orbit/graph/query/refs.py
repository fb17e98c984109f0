"""Who refers to a symbol, or imports a file. Order: confidence, file, line."""

from __future__ import annotations

from typing import Annotated, Literal

import apsw
import msgspec
from msgspec import Meta

from orbit.graph.query.answer import FLOORS, ConfidenceFloor, GraphAnswer, SelectorArgument, Target, cut_to_budget
from orbit.graph.query.families import family_of
from orbit.graph.query.target import DECLARATION, REF_SHIFT, File, Symbol, find_target
from orbit.model import CONFIDENCES, REF_KIND_CODES, REF_KINDS, RELATION_KINDS, SYMBOL_KIND_CODES

LIMIT = 100
FUZZY = CONFIDENCES.index("fuzzy_name")
Kind = Literal["call", "type", "use", "trait_bound", "impl", "extends", "implements"]
_FUNCTION = SYMBOL_KIND_CODES["function"]


class RefsParams(msgspec.Struct, kw_only=True):
    selector: SelectorArgument
    confidence: ConfidenceFloor = "same_module"
    kind: Annotated[Kind | None, Meta(description="Only references or relations of this kind.")] = None
    limit: Annotated[int, Meta(ge=0, description="How many rows at most; without it 100, or fewer if they are long.")] | None = None


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


# (confidence, file id, path, line, start, kind code, qualified name of the scope)
_Row = tuple[int, str, int, int, int, str]


def refs(db: apsw.Connection, ask: RefsParams) -> RefsAnswer:
    """All references to what the selector names, best first."""
    target, floor = find_target(db, ask.selector), FLOORS[ask.confidence]
    rows: list[_Row] = []
    edges: list[_Row] = []
    if isinstance(target, File):
        rows = _importers(db, target)
    else:
        rows = _targeted(db, target) + _named_only(db, target)
        edges = _relations(db, target)
    rows = [row for row in rows if ask.kind is None or REF_KINDS[row[4]] == ask.kind]
    edges = [row for row in edges if ask.kind is None or RELATION_KINDS[row[4]] == ask.kind]
    kept, kept_edges = sorted(row for row in rows if row[0] <= floor), sorted(row for row in edges if row[0] <= floor)
    limit = LIMIT if ask.limit is None else ask.limit
    shown, shown_edges = kept[:limit], kept_edges[: max(0, limit - len(kept))]
    answer = RefsAnswer(
        target=target.as_target(),
        refs=[Ref(path, line, REF_KINDS[kind], CONFIDENCES[confidence], scope) for confidence, path, line, _, kind, scope in shown],
        relations=[RelationRow(scope, RELATION_KINDS[kind], path, line, CONFIDENCES[confidence]) for confidence, path, line, _, kind, scope in shown_edges],
        total=len(kept) + len(kept_edges),
        truncated=len(shown) + len(shown_edges) < len(kept) + len(kept_edges),
        skipped_low_confidence=len(rows) + len(edges) - len(kept) - len(kept_edges),
    )
    if ask.limit is None:
        cut_to_budget(answer, "refs", "relations")
    return answer


def _targeted(db: apsw.Connection, target: Symbol) -> list[_Row]:
    """References resolved to the symbol, or to a declaration of it in another file."""
    files = [target.file]
    if target.kind_code == _FUNCTION:
        files += [row[0] >> 20 for row in db.execute("SELECT id FROM symbol WHERE qualified = ? AND kind = ?", (target.qualified_id, DECLARATION))]
    marks = ", ".join("?" * len(set(files)))
    return list(
        db.execute(
            "SELECT r.confidence, f.path, r.line, r.start, r.kind, coalesce(q.value, f.path) FROM ref r JOIN file f ON f.id = r.id >> 24"
            f" LEFT JOIN symbol s ON s.id = r.scope LEFT JOIN text q ON q.id = s.qualified WHERE r.target = ? AND r.target_file IN ({marks})",
            (target.qualified_id, *set(files)),
        )
    )


def _named_only(db: apsw.Connection, target: Symbol) -> list[_Row]:
    """References by the same name, in the same family of languages, that could not be tied to anything."""
    family, found = family_of(target.lang), []
    for file, path, lang in db.execute("SELECT f.id, f.path, f.lang FROM uses u JOIN file f ON f.id = u.file WHERE u.name = ?", (target.name_id,)):
        if family_of(lang) != family:
            continue
        found += [
            (FUZZY, path, line, start, kind, scope or path)
            for line, start, kind, scope in db.execute(
                "SELECT r.line, r.start, r.kind, (SELECT q.value FROM symbol s JOIN text q ON q.id = s.qualified WHERE s.id = r.scope)"
                " FROM ref r WHERE r.id >= ? AND r.id < ? AND r.name = ? AND r.target IS NULL",
                (file << REF_SHIFT, (file + 1) << REF_SHIFT, target.name_id),
            )
        ]
    return found


def _relations(db: apsw.Connection, target: Symbol) -> list[_Row]:
    """What extends, implements or impl-s the symbol; by name alone where that was never resolved."""
    family = family_of(target.lang)
    found = db.execute(
        "SELECT CASE WHEN r.target = ?1 THEN r.confidence ELSE 3 END, f.path, r.line, r.start, r.kind, q.value, f.lang, r.target = ?1"
        " FROM relation r JOIN file f ON f.id = r.id >> 20 JOIN text q ON q.id = r.source WHERE r.id IN"
        " (SELECT id FROM relation WHERE target = ?1 UNION SELECT id FROM relation WHERE name = ?2 AND confidence = 3)",
        (target.qualified_id, target.name_id),
    )
    return [row[:6] for row in found if row[7] or family_of(row[6]) == family]


def _importers(db: apsw.Connection, file: File) -> list[_Row]:
    """Imports of a file's module."""
    return list(
        db.execute(
            "SELECT 1, f.path, i.line, i.start, ?, f.path FROM import i JOIN file f ON f.id = i.id >> 20 WHERE i.module = ?",
            (REF_KIND_CODES["use"], file.module_id),
        )
    )


