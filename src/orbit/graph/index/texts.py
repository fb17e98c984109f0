"""Text ids of one database, both ways. A new database numbers its texts from 0; a stored one knows its own, and goes on from there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from orbit.graph.store.writer import Writer
from orbit_native.names import Names


class Texts(Protocol):
    """What extraction and resolution need of either."""

    def id(self, text: str) -> int: ...
    def text(self, text_id: int) -> str: ...
    def take(self, blob: bytes, offsets: Any, wanted: Any) -> Any:
        """The ids of those texts of a batch that are wanted, -1 for the others, as an array."""

    def fresh(self) -> Iterator[tuple[int, str]]:
        """Texts not yet in the database, by id; they count as written after this."""


class NewTexts:
    """Texts of a database that is built from nothing."""

    def __init__(self) -> None:
        self._names = Names()
        self._written = 0
        self.id, self.text, self.take = self._names.add_word, self._names.word, self._names.add_packed

    def __len__(self) -> int:
        return len(self._names)

    def fresh(self) -> Iterator[tuple[int, str]]:
        first, self._written = self._written, len(self._names)
        return ((text_id, self.text(text_id)) for text_id in range(first, self._written))


class StoredTexts:
    """Texts of a database that has some already: those are looked up, each once."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._ids: dict[str, int] = {}
        self._values: dict[int, str] = {}
        self._next = self._written = writer.last_text_id() + 1  # ids from `_written` on are not in the database yet

    def id(self, text: str) -> int:
        known = self._ids.get(text)
        if known is not None:
            return known
        found = self._writer.text_id(text)
        if found is None:
            found, self._next = self._next, self._next + 1
        self._ids[text], self._values[found] = found, text
        return found

    def text(self, text_id: int) -> str:
        known = self._values.get(text_id)
        if known is not None:
            return known
        found = self._writer.text_value(text_id)
        if found is None:
            raise KeyError(text_id)
        self._ids[found], self._values[text_id] = text_id, found
        return found

    def take(self, blob: bytes, offsets: Any, wanted: Any) -> Any:
        ids, bounds, chosen = np.full(len(offsets) - 1, -1, dtype=np.int32), offsets.tolist(), np.flatnonzero(wanted[: len(offsets) - 1])
        texts = [blob[bounds[at] : bounds[at + 1]].decode() for at in chosen.tolist()]
        unknown = [text for text in texts if text not in self._ids]
        for text, text_id in self._writer.text_ids(unknown).items():
            self._ids[text], self._values[text_id] = text_id, text
        for text in unknown:
            if text not in self._ids:
                self._ids[text], self._values[self._next], self._next = self._next, text, self._next + 1
        ids[chosen] = [self._ids[text] for text in texts]
        return ids

    def fresh(self) -> Iterator[tuple[int, str]]:
        first, self._written = self._written, self._next
        return ((text_id, self._values[text_id]) for text_id in range(first, self._written))
