"""From a command of a command line to the code it runs: the handler, and the tree of what that calls."""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from typing import Annotated, Literal

import apsw
import msgspec
from msgspec import UNSET, Meta, UnsetType

from orbit.errors import NotFoundError
from orbit.graph.query.answer import BUDGET_BYTES, FLOORS, SPARE, ConfidenceFloor, GraphAnswer
from orbit.graph.query.target import COLUMNS, REF_SHIFT, SYMBOL_SHIFT, Symbol, clean, commands_of_name, find_symbol, near_commands, only_handler, symbol_at
from orbit.graph.selector import parse
from orbit.model import CONFIDENCES, REF_KIND_CODES, TYPE_KINDS

CAP = 200
DEPTH = 5
_NO_COMMAND = re.compile(r"[#/]|::|\w\.\w")  # in names of functions and of files, as other questions take them
_CONSTRUCTORS = ("__init__", "constructor", "initialize", "new")


class TraceParams(msgspec.Struct):
    command: Annotated[
        str,
        Meta(description="A command's full name or the end of it, `command:<name>`, or a function as elsewhere: `symbol:`.", extra={"cli": {"argument": True}}),
    ]
    depth: Annotated[int, Meta(ge=1, le=50, description="How many calls deep to go.")] = DEPTH
    confidence: ConfidenceFloor = "same_module"


class TraceNode(msgspec.Struct, kw_only=True):
    """`file` and `line` are where it is defined; `confidence` is of the call. `cut`: why its calls are not shown here."""

    name: str
    qualified_name: str | None
    confidence: str | None
    file: str
    line: int
    children: list[TraceNode] = []
    cut: Literal["cycle", "repeated"] | UnsetType = UNSET  # it is being called already; it is shown with its calls elsewhere in the tree


class TraceAnswer(GraphAnswer, kw_only=True):
    root: TraceNode | None
    visited_nodes: int
    truncated: bool
    reason: Literal["unknown_command", "handler_unresolved"] | UnsetType = UNSET
    did_you_mean: list[str] | UnsetType = UNSET


def trace(db: apsw.Connection, ask: TraceParams) -> TraceAnswer:
    """The call tree of a command. Calls less sure than the floor are left out, and with them what lies behind."""
    text = clean(ask.command).strip()
    if parse(text).kind in ("symbol", "file", "dir", "module"):
        return _tree(db, find_symbol(db, text), text, ask)
    name = " ".join(text.removeprefix("command:").split())
    rows = commands_of_name(db, name)
    if not rows and _NO_COMMAND.search(text):
        with suppress(NotFoundError):
            function = find_symbol(db, text)
            return _tree(db, function, function.selector, ask)
    if not rows:
        return TraceAnswer(root=None, visited_nodes=0, truncated=False, reason="unknown_command", did_you_mean=near_commands(db, name))
    found = only_handler(db, name, rows)
    if found is None:
        command, full_name, line, *_ = rows[0]
        path = db.execute("SELECT path FROM file WHERE id = ?", (command >> SYMBOL_SHIFT,)).get
        root = TraceNode(name=full_name, qualified_name=None, confidence=None, file=path, line=line)
        return TraceAnswer(root=root, visited_nodes=1, truncated=False, reason="handler_unresolved")
    return _tree(db, *found, ask)


def _tree(db: apsw.Connection, handler: Symbol, name: str, ask: TraceParams) -> TraceAnswer:
    """Breadth first, so that the cap leaves out what is farthest. What was shown with its calls once is not opened again."""
    root = TraceNode(name=name, qualified_name=handler.qualified, confidence=CONFIDENCES[0], file=handler.path, line=handler.line)
    floor, count, size, truncated = FLOORS[ask.confidence], 1, 0, False
    queue, opened = deque([(root, handler, frozenset([handler.id]), 0)]), {handler.id}
    while queue:
        node, symbol, above, depth = queue.popleft()
        if depth == ask.depth:
            continue
        for callee, confidence in _calls(db, symbol, floor):
            child = TraceNode(name=callee.name, qualified_name=callee.qualified, confidence=CONFIDENCES[confidence], file=callee.path, line=callee.line)
            size += len(msgspec.json.encode(child)) + len(',"cut":"repeated"')
            if count >= CAP or size > BUDGET_BYTES - SPARE:
                truncated = True
                break
            count += 1
            node.children.append(child)
            if callee.id in above:
                child.cut = "cycle"
            elif callee.id in opened:
                child.cut = "repeated"
            else:
                opened.add(callee.id)
                queue.append((child, callee, above | {callee.id}, depth + 1))
    return TraceAnswer(root=root, visited_nodes=count, truncated=truncated)


def _calls(db: apsw.Connection, symbol: Symbol, floor: int) -> list[tuple[Symbol, int]]:
    """What a symbol calls, each once, in the order of its source; of a type, what its constructor calls."""
    inside = _constructor(db, symbol) if symbol.kind in TYPE_KINDS else symbol
    if inside is None:
        return []
    rows = db.execute(
        "SELECT min(confidence), target, target_file FROM ref WHERE id >= ? AND id < ? AND start >= ? AND end <= ? AND kind = ? AND confidence <= ?"
        " AND target_file IS NOT NULL GROUP BY target, target_file ORDER BY min(start), min(id)",
        (inside.file << REF_SHIFT, (inside.file + 1) << REF_SHIFT, inside.start, inside.end, REF_KIND_CODES["call"], floor),
    )
    found = ((symbol_at(db, target, file), confidence) for confidence, target, file in list(rows))
    return [(callee, confidence) for callee, confidence in found if callee is not None]


def _constructor(db: apsw.Connection, symbol: Symbol) -> Symbol | None:
    members = (Symbol(*row) for row in db.execute(f"{COLUMNS} WHERE s.container = ? AND s.id >> 20 = ? ORDER BY s.id", (symbol.qualified_id, symbol.file)))
    return next((member for member in members if member.kind == "constructor" or member.name in _CONSTRUCTORS), None)
