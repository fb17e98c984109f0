"""Is an answer still true of the disk? Compares the stat of the files it names with the stored one, and the bytes where that differs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec
import xxhash

_PATH_FIELDS = frozenset({"path", "file", "from_file", "resolved_file"})
_RACY_NS = 2_000_000_000  # a file touched this shortly before the sync may have changed within one tick of the clock


def named_files(answer: Any) -> set[str]:
    """The files an answer names, wherever in it."""
    return set(_paths(answer))


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _paths(item)
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            held = getattr(value, field)
            if isinstance(held, str):
                if field in _PATH_FIELDS:
                    yield held
            elif isinstance(held, list | msgspec.Struct):
                yield from _paths(held)


def stale_files(db: apsw.Connection, root: Path, paths: set[str]) -> list[str]:
    """Those of some indexed files whose bytes are no longer the ones the graph was made from; sorted."""
    synced_at = int(db.execute("SELECT value FROM meta WHERE key = 'synced_at'").get or 0)
    found = []
    for path in sorted(paths):
        row: tuple[int, int, bytes] | None = db.execute("SELECT size, mtime_ns, hash FROM file WHERE path = ?", (path,)).fetchone()
        if row is not None and not _is_same(os.path.join(root, path), *row, synced_at):
            found.append(path)
    return found


def read_source(db: apsw.Connection, root: Path, path: str) -> tuple[bytes | None, bool]:
    """A file's bytes, None where they cannot be had, and whether they are those the graph knows. A symlink put in its place is not followed."""
    full = root / path
    try:
        content = None if full.is_symlink() or not full.resolve().is_relative_to(root) else full.read_bytes()
    except OSError:
        content = None
    stored = db.execute("SELECT hash FROM file WHERE path = ?", (path,)).get
    return content, content is not None and xxhash.xxh3_128_digest(content) == stored


def _is_same(path: str, size: int, mtime_ns: int, digest: bytes, synced_at: int) -> bool:
    """Does a file still hold the bytes with this hash? Reads it only when its stat leaves a doubt."""
    try:
        entry = os.lstat(path)
        if entry.st_size != size:
            return False
        if entry.st_mtime_ns == mtime_ns and synced_at - mtime_ns >= _RACY_NS:
            return True
        with open(path, "rb") as file:
            return xxhash.xxh3_128_digest(file.read()) == digest
    except OSError:
        return False
