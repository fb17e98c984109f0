"""Files that are whole or absent: written beside their place and renamed into it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; takes the place of `path` when the block ends well, and is removed when not."""
    beside = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.tmp")
    try:
        yield beside
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes, *, fsync: bool = False) -> None:
    with temporary(path) as beside, beside.open("xb") as file:
        file.write(content)
        file.flush()
        if fsync:
            os.fsync(file.fileno())
