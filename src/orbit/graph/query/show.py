"""The source of a symbol or file, read from disk and checked against what the graph was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import apsw
import msgspec
from msgspec import UNSET, Meta, UnsetType

from orbit.errors import NotFoundError
from orbit.graph.query.answer import Decision, GraphAnswer, SelectorArgument
from orbit.graph.query.fresh import read_source
from orbit.graph.query.target import Symbol, find_target

MAX_BYTES = 65_536
STALE = "the file changed since the sync, so these bytes may not be the whole symbol, or all of them its own; run `orbit graph sync`"


class ShowParams(msgspec.Struct):
    selector: SelectorArgument
    max_bytes: Annotated[int, Meta(ge=0, description="How much source at most; cut at a character.")] = MAX_BYTES
    decisions: Annotated[bool, Meta(description="List the decisions that govern it.")] = False


class Span(msgspec.Struct, frozen=True):
    """Bytes of the file; the end is not included."""

    start: int
    end: int


class ShowAnswer(GraphAnswer, kw_only=True):
    selector: str
    kind: str
    name: str
    qualified: str
    path: str
    span: Span
    lines: tuple[int, int]
    signature: str
    source: str
    truncated: bool
    note: str | UnsetType = UNSET
    decisions: list[Decision] | UnsetType = UNSET


def show(db: apsw.Connection, ask: ShowParams, root: Path) -> ShowAnswer:
    """One symbol, or a whole file."""
    target = find_target(db, ask.selector, root)
    content, is_fresh = read_source(db, root, target.path)
    if content is None:
        raise NotFoundError(f"{target.path} cannot be read, or is no file of this worktree any more", hint="run `orbit graph sync`", code="file-gone")
    about = target.as_target()
    span = Span(target.start, target.end) if isinstance(target, Symbol) else Span(0, len(content))
    piece = content[span.start : span.end]
    source = cut(piece, ask.max_bytes)
    answer = ShowAnswer(
        selector=about.selector,
        kind=about.kind,
        name=about.name,
        qualified=about.qualified,
        path=about.path,
        span=span,
        lines=(target.line, target.end_line) if isinstance(target, Symbol) else (1, max(1, content.count(b"\n") + (not content.endswith(b"\n")))),
        signature=target.signature if isinstance(target, Symbol) else "",
        source=source,
        truncated=len(piece) > ask.max_bytes,
    )
    if not is_fresh:
        answer.fresh, answer.stale_files, answer.note = False, [about.path], STALE
    return answer


def cut(piece: bytes, most: int) -> str:
    """At most so many bytes as text, never half a character."""
    if len(piece) > most:
        piece = piece[:most]
        for back in range(1, min(4, len(piece)) + 1):
            byte = piece[-back]
            if byte & 0xC0 != 0x80:
                needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
                piece = piece[:-back] if needed > back else piece
                break
    return piece.decode("utf-8", "replace")
