"""Tables: the columns that the first row of a CSV or TSV file names. Reads no other row, and never more than a mebibyte."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orbit.graph.languages.language import Language, Layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from orbit.graph.facts import FileFacts

READ_LIMIT = 1 << 20  # bytes
COLUMN_LIMIT = 2_000
NAME_ROOM = 200  # bytes; a longer cell is no name
UTF8_BOM = b"\xef\xbb\xbf"


def read_columns(delimiters: bytes) -> Callable[[FileFacts], None]:
    """A reader of the first row; of several delimiters the first that occurs in it separates."""
    cells = {delimiter: re.compile(rb'[ ]*"([^"]*(?:""[^"]*)*)"[^%b\r\n]*|([^%b\r\n]*)' % (bytes([delimiter]), bytes([delimiter]))) for delimiter in delimiters}

    def reader(facts: FileFacts) -> None:
        text = facts.source[:READ_LIMIT]
        at = len(UTF8_BOM) if text.startswith(UTF8_BOM) else 0
        first_line = text[at:].partition(b"\n")[0]
        delimiter = next((found for found in delimiters if found in first_line), delimiters[0])
        line = 1
        while True:
            cell = cells[delimiter].match(text, at)
            if cell is None:  # cannot be: the second alternative matches the empty text
                return
            group = 1 if cell[1] is not None else 2
            name = cell[group].replace(b'""', b'"') if group == 1 else cell[group]
            if len(facts.definitions) == COLUMN_LIMIT:
                facts.cut(at)
                return
            if len(name) > NAME_ROOM or group == 2 and name.lstrip().startswith(b'"'):  # a quote that never closes
                facts.reject(cell.start(), cell.end())
            elif title := " ".join(name.decode("utf-8", "replace").split()):
                found = facts.define("column", title, cell.start(group), cell.end(group), line)
                found.end_line = line + name.count(b"\n")
            line += cell[0].count(b"\n")
            at = cell.end()
            if text[at : at + 1] != bytes([delimiter]):
                break
            at += 1
        if at == READ_LIMIT < len(facts.source):
            facts.cut(at)

    return reader


def module_of(path: str, layout: Layout) -> str:
    return path


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    return None


LANGUAGES = {
    name: Language(
        name=name, suffixes=(f".{name}",), separator="#", module_of=module_of, import_target=import_target, reader=read_columns(delimiters)
    )
    for name, delimiters in {"csv": b",;\t", "tsv": b"\t"}.items()
}
