"""One number for the whole graph: equal graphs have equal digests, on any machine and after any history.

Hashes what the documented views say, without row ids and times; rows that point at a symbol point at its qualified name here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw
import msgspec
import xxhash

_NAMED = "(SELECT {0}.file_path || '#' || {0}.qualified || ':' || {0}.kind || '@' || {0}.span_start FROM symbols {0} WHERE {0}.id = {1})"
# One query for each documented view. The order of the rows does not matter, their columns do.
QUERIES = {
    "files": "SELECT path, content_hash, lang, byte_len FROM files",
    "symbols": f"""SELECT s.file_path, s.name, s.qualified, s.kind, s.span_start, s.span_end, s.signature, s.line, s.end_line,
                   {_NAMED.format('p', 's.parent_symbol')} FROM symbols s""",
    "refs": f"""SELECT from_file, from_span_start, from_span_end, target_name, target_qualified, refs.kind, confidence, line,
                {_NAMED.format('t', 'refs.target_symbol_hint')} FROM refs""",
    "relations": "SELECT def_file, def_span_start, def_span_end, from_qualified, to_qualified, kind, confidence, line FROM relations",
    "imports": "SELECT from_file, target_path, target_symbol, line, resolved_file FROM imports",
    "commands": f"SELECT name, commands.file_path, span_start, {_NAMED.format('h', 'commands.handler_symbol')} FROM commands",
    "strings": f"SELECT strings.file_path, line, value, {_NAMED.format('c', 'strings.context_symbol')} FROM strings",
    "configs": "SELECT file_path, line, key, kind FROM configs",
}


class DigestAnswer(msgspec.Struct, kw_only=True):
    """The digest, as 32 hexadecimal digits."""

    digest: str


def digest(db: apsw.Connection) -> str:
    """xxh3-128 over the sorted hashes of all rows of all views."""
    whole = xxhash.xxh3_128()
    with db:  # one view of the database for all queries
        for view, rows in views(db):
            whole.update(view.encode() + b"\0")
            for row_hash in sorted(map(xxhash.xxh3_128_digest, map(msgspec.msgpack.encode, rows))):
                whole.update(row_hash)
    return whole.hexdigest()


def views(db: apsw.Connection) -> Iterator[tuple[str, Iterator[tuple[Any, ...]]]]:
    """The rows of each documented view, as the digest takes them."""
    for view, query in QUERIES.items():
        yield view, iter(db.execute(query))
