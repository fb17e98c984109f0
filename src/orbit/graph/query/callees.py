"""What a symbol calls, in the order of its source; calls inside nested functions belong to it, too."""

from __future__ import annotations

import apsw
import msgspec

from orbit.graph.query.answer import FLOORS, ROWS, ConfidenceFloor, GraphAnswer, RowLimit, SelectorArgument, Target
from orbit.graph.query.target import REF_SHIFT, Symbol, find_target, symbol_at
from orbit.model import CONFIDENCES, REF_KIND_CODES


class CalleesParams(msgspec.Struct):
    selector: SelectorArgument
    confidence: ConfidenceFloor = "fuzzy"
    limit: RowLimit = None


class Callee(msgspec.Struct, frozen=True):
    """`file` and `line` are where the call stands; `selector` is what is called, where that is known."""

    target_name: str
    target_qualified: str | None
    confidence: str
    file: str
    line: int
    selector: str | None


class CalleesAnswer(GraphAnswer, kw_only=True):
    target: Target
    callees: list[Callee]
    total: int
    truncated: bool
    skipped_low_confidence: int


def callees(db: apsw.Connection, ask: CalleesParams) -> CalleesAnswer:
    """Calls from inside the symbol, or from anywhere in a file."""
    target, floor = find_target(db, ask.selector), FLOORS[ask.confidence]
    start, end = (target.start, target.end) if isinstance(target, Symbol) else (0, 1 << 62)
    file = target.file if isinstance(target, Symbol) else target.id
    rows = list(
        db.execute(
            "SELECT r.confidence, r.line, r.name, r.target, r.target_file FROM ref r"
            " WHERE r.id >= ? AND r.id < ? AND r.start >= ? AND r.end <= ? AND r.kind = ? ORDER BY r.start, r.id",
            (file << REF_SHIFT, (file + 1) << REF_SHIFT, start, end, REF_KIND_CODES["call"]),
        )
    )
    kept = [row for row in rows if row[0] <= floor]
    limit = ROWS if ask.limit is None else ask.limit
    return CalleesAnswer(
        target=target.as_target(),
        callees=[_callee(db, target.path, *row) for row in kept[:limit]],
        total=len(kept),
        truncated=len(kept) > limit,
        skipped_low_confidence=len(rows) - len(kept),
    )


def _callee(db: apsw.Connection, path: str, confidence: int, line: int, name: int, target: int | None, target_file: int | None) -> Callee:
    written, qualified = (db.execute("SELECT value FROM text WHERE id = ?", (text,)).get for text in (name, target))
    found = symbol_at(db, target, target_file)
    return Callee(written, qualified, CONFIDENCES[confidence], path, line, found.selector if found else None)
