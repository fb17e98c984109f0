"""What a symbol calls, in the order of its source; calls inside nested functions belong to it, too."""

from __future__ import annotations

from typing import Annotated

import apsw
import msgspec
from msgspec import Meta

from orbit.graph.query.answer import FLOORS, ConfidenceFloor, GraphAnswer, SelectorArgument, Target, cut_to_budget
from orbit.graph.query.target import REF_SHIFT, Symbol, find_target
from orbit.graph.selector import Selector
from orbit.model import CONFIDENCES, REF_KIND_CODES, SYMBOL_KINDS

LIMIT = 100


class CalleesParams(msgspec.Struct, kw_only=True):
    selector: SelectorArgument
    confidence: ConfidenceFloor = "fuzzy"
    limit: Annotated[int, Meta(ge=0, description="How many rows at most; without it 100, or fewer if they are long.")] | None = None


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
    limit = LIMIT if ask.limit is None else ask.limit
    answer = CalleesAnswer(
        target=target.as_target(),
        callees=[_callee(db, target.path, *row) for row in kept[:limit]],
        total=len(kept),
        truncated=len(kept) > limit,
        skipped_low_confidence=len(rows) - len(kept),
    )
    if ask.limit is None:
        cut_to_budget(answer, "callees")
    return answer


def _callee(db: apsw.Connection, path: str, confidence: int, line: int, name: int, target: int | None, target_file: int | None) -> Callee:
    written = db.execute("SELECT value FROM text WHERE id = ?", (name,)).get
    if target is None:
        return Callee(written, None, CONFIDENCES[confidence], path, line, None)
    qualified = db.execute("SELECT value FROM text WHERE id = ?", (target,)).get
    found = db.execute(
        "SELECT f.path, s.kind FROM symbol s JOIN file f ON f.id = s.id >> 20 WHERE s.qualified = ? AND s.id >> 20 = ?"
        " ORDER BY s.kind = 18 OR s.kind BETWEEN 21 AND 29, s.id LIMIT 1",  # a call means the function, not its prototype or a field
        (target, target_file),
    ).fetchone()
    selector = str(Selector("symbol", path=found[0], name=qualified, symbol_kind=SYMBOL_KINDS[found[1]])) if found else None
    return Callee(written, qualified, CONFIDENCES[confidence], path, line, selector)
