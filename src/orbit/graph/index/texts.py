"""Text ids of one database: known ones are found in it, new ones are numbered on and written at the end of the sync."""

from __future__ import annotations

from orbit.graph.store.writer import Writer


class Texts:
    """Both ways between a text and its id. Without a writer nothing is known yet."""

    def __init__(self, writer: Writer | None = None) -> None:
        self._writer = writer
        self._ids: dict[str, int] = {}
        self._values: dict[int, str] = {}
        self._next = writer.last_text_id() + 1 if writer is not None else 0
        self._written = self._next  # ids from here on are not in the database yet

    def id(self, text: str) -> int:
        known = self._ids.get(text)
        if known is not None:
            return known
        found = self._writer.text_id(text) if self._writer is not None else None
        if found is None:
            found, self._next = self._next, self._next + 1
        self._ids[text], self._values[found] = found, text
        return found

    def text(self, text_id: int) -> str:
        known = self._values.get(text_id)
        if known is not None:
            return known
        found = self._writer.text_value(text_id) if self._writer is not None else None
        if found is None:
            raise KeyError(text_id)
        self._ids[found], self._values[text_id] = text_id, found
        return found

    def fresh(self) -> list[tuple[int, str]]:
        """Texts not yet in the database, by id; they count as written after this."""
        rows = [(text_id, self._values[text_id]) for text_id in range(self._written, self._next)]
        self._written = self._next
        return rows
