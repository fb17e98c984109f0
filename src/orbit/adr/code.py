"""What decisions need to know about code, and nothing more. Whoever has a graph can answer; without one, only files are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from orbit.errors import AmbiguousError


class Place(msgspec.Struct, frozen=True):
    """Where a symbol is: a file and its lines, 1-based, both ends included."""

    path: str
    first_line: int
    last_line: int


class Code(Protocol):
    """The graph's side of the join."""

    def locate(self, selector: str) -> Place | None:
        """Where what `selector` names is; None if the graph has no such thing. Raises AmbiguousError if it has several."""


def path_of(selector: str) -> str | None:
    """The path a selector names by itself; None if only a graph can tell."""
    kind, _, rest = selector.partition(":")
    if kind in ("file", "dir"):
        return _clean(rest)
    return _clean(rest.partition("#")[0]) if kind == "symbol" else None


def is_alive(root: Path, selector: str, code: Code | None) -> bool:
    """Whether what an anchor names still exists, as far as can be told."""
    path = path_of(selector)
    if path is not None and not (root / path).exists():
        return False
    try:
        return code is None or selector.startswith(("file:", "dir:")) or code.locate(selector) is not None
    except AmbiguousError:
        return True


def _clean(path: str) -> str:
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join(parts) or "."
