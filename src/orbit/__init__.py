"""Orbit: what is in the code, why it is so, what was done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orbit.adr import AdrStore
    from orbit.graph import Graph
    from orbit.runs import Run

__all__ = ["AdrStore", "Graph", "Run"]

_HOMES = {"AdrStore": "orbit.adr", "Graph": "orbit.graph", "Run": "orbit.runs"}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `import orbit` stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'orbit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
