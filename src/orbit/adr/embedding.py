"""Search by meaning, when a package offers an embedder under the entry point group `orbit.embedders`."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from importlib.metadata import entry_points
from operator import mul
from typing import Protocol

from orbit.adr.decision import Entry
from orbit.adr.index import Filters, Index

GROUP = "orbit.embedders"
SNIPPET_CHARS = 280


class Embedder(Protocol):
    """What the entry point names: an object, or a class or function without arguments that gives one."""

    def embed(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """One vector per text, all of the same length."""


def embedder_search(index: Index, query: str, filters: Filters) -> tuple[list[tuple[Entry, float, str]] | None, str | None]:
    """Every match best first, or None and the reason if the embedder failed; (None, None) if there is none."""
    point = next(iter(sorted(entry_points(group=GROUP), key=lambda point: point.name)), None)
    if point is None:
        return None, None
    try:
        loaded = point.load()
        embedder: Embedder = loaded if hasattr(loaded, "embed") and not isinstance(loaded, type) else loaded()

        def embed(texts: list[str]) -> list[bytes]:
            return [_unit(vector).tobytes() for vector in embedder.embed(texts)]

        wanted = _unit(embedder.embed([query])[0])
        rows = index.vectors(f"{point.name}={point.value}", filters, embed)
    except Exception as error:  # somebody else's package: its failure must not take search away
        return None, f"embedder {point.name!r} failed ({type(error).__name__}: {error}); ranked by full text"
    scored = [(entry, _dot(wanted, array("f", vector)), _snippet(body)) for entry, vector, body in rows]
    return sorted(scored, key=lambda match: (-match[1], match[0].folder)), None


def _unit(vector: Sequence[float]) -> array[float]:
    length = sum(value * value for value in vector) ** 0.5 or 1.0
    return array("f", [value / length for value in vector])


def _dot(one: array[float], other: array[float]) -> float:
    return float(sum(map(mul, one, other)))


def _snippet(body: str) -> str:
    words = " ".join(line for line in body.split("\n") if not line.startswith("#"))
    return " ".join(words.split())[:SNIPPET_CHARS]
