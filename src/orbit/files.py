"""Files that are whole or absent, and their digests."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def temporary(path: Path, token: str | None = None) -> Iterator[Path]:
    """A name beside `path` to write to; takes the place of `path`, and its permissions, when the block ends well, and is removed when not.

    Who is the only writer may give a fixed `token`: then a repetition cleans up after a crash.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name[:40]}.{token or secrets.token_hex(4)}.tmp")
    try:
        yield beside
        if path.exists():
            shutil.copymode(path, beside)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes, *, fsync: bool = False, token: str | None = None) -> None:
    with temporary(path, token) as beside, beside.open("wb") as file:
        file.write(content)
        file.flush()
        if fsync:
            os.fsync(file.fileno())
