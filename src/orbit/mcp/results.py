"""What goes back to a client: an answer within the budget, or an error that says what to call next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from orbit.errors import OrbitError
from orbit.mcp.tools import for_agents

BUDGET_BYTES = 20_000  # of JSON, unless the client named a size
_MARGIN = 200
# What to do next where an error does not say it.
_NEXT = {
    "ambiguous": "call again with one of the candidates",
    "not-found": "call orbit_graph_search with the name or a part of it",
    "locked": "call orbit_graph_sync again in some seconds",
}


def error_body(error: OrbitError, listed: Sequence[str]) -> dict[str, Any]:
    """The contract's error, in words for a client with these tools."""
    hint = for_agents(error.hint, listed) if error.hint else _NEXT.get(error.code, "call orbit_graph_search to find the right name")
    if error.code == "symbol-not-found":
        hint += " orbit_graph_search finds it by a part of its name." if hint.endswith("?") else "; orbit_graph_search finds it by a part of its name"
    body: dict[str, Any] = {"code": error.code, "message": error.message, "hint": hint}
    if error.candidates:
        body["candidates"] = error.candidates
    return {"error": body}


def answer_body(answer: msgspec.Struct, *, is_sized: bool) -> dict[str, Any]:
    """The contract's shape of an answer; cut to the budget where the client named no size."""
    body: dict[str, Any] = msgspec.to_builtins(answer)
    if not is_sized:
        fit(body)
    return body


def fit(body: dict[str, Any]) -> None:
    """Shorten the longest part until all fits, and say so in `truncated`. Leaves alone what fits, which is nearly everything."""
    while (over := len(msgspec.json.encode(body)) - BUDGET_BYTES) > 0:
        body["truncated"] = True
        name = max(body, key=lambda key: len(msgspec.json.encode(body[key])))
        part = body[name]
        if isinstance(part, str):
            body[name] = part.encode()[: -min(len(part.encode()), over // 2 + _MARGIN)].decode("utf-8", "ignore")
        elif isinstance(part, list):
            _drop_last(part, over)
        elif isinstance(part, dict) and not _prune(part):
            body[name] = {}
        elif not isinstance(part, dict):
            return


def _drop_last(rows: list[Any], over: int) -> None:
    while rows and over > 0:
        over -= len(msgspec.json.encode(rows.pop())) + 1


def _prune(node: dict[str, Any]) -> bool:
    """Take the deepest children off a tree; False where there are none."""
    level = [node]
    parents: list[dict[str, Any]] = []
    while True:
        below = [child for parent in level for child in parent.get("children") or []]
        if not below:
            break
        parents, level = level, below
    for parent in parents:
        parent["children"] = []
    return bool(parents)
