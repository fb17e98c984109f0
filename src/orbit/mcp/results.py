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
    hint = for_agents(error.hint, listed) if error.hint else _NEXT.get(error.code, "check the parameters")
    if error.code == "symbol-not-found":
        hint += " orbit_graph_search finds it by a part of its name." if hint.endswith("?") else "; orbit_graph_search finds it by a part of its name"
    body: dict[str, Any] = {"code": error.code, "message": error.message, "hint": hint}
    if error.candidates:
        body["candidates"] = error.candidates
    return {"error": body}


def fit(body: dict[str, Any]) -> None:
    """Shorten the longest text or list until all fits, and say so in `truncated`. Leaves alone what fits, which is nearly everything."""
    while (over := len(msgspec.json.encode(body)) - BUDGET_BYTES) > 0:
        sizes = {name: len(msgspec.json.encode(part)) for name, part in body.items() if part and isinstance(part, str | list)}
        if not sizes:
            return
        body["truncated"] = True
        name = max(sizes, key=sizes.__getitem__)
        part = body[name]
        if isinstance(part, str):
            body[name] = part.encode()[: -(over // 2 + _MARGIN)].decode("utf-8", "ignore")
        else:
            while part and over > 0:
                over -= len(msgspec.json.encode(part.pop())) + 1
