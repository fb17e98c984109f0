"""Answers as text for people. A renderer is found by the answer's type; rooms register theirs in `RENDERERS`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

ROOMS = {"orbit.graph": "orbit.present.graph", "orbit.adr": "orbit.present.adr", "orbit.runs": "orbit.present.runs", "orbit.mcp": "orbit.present.mcp"}


def render(answer: Any, *, colour: bool) -> str:
    """Text of an answer, ending in a newline. The answer's module decides which room's renderers apply."""
    module = type(answer).__module__
    room = next((target for prefix, target in ROOMS.items() if module.startswith(prefix)), None)
    if room is None:
        return f"{answer}\n"
    renderers = import_module(room).RENDERERS
    text: str = renderers[type(answer)](answer, colour)
    return text if text.endswith("\n") else text + "\n"
