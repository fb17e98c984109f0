"""One writer at a time on an open file, across threads of other processes. Threads of this process need their own mutex."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    from filelock import FileLock

    @contextmanager
    def exclusive(fd: int, path: Path) -> Iterator[None]:
        """Windows locks are mandatory, so the lock is a file beside the data and readers stay free."""
        with FileLock(f"{path}.lock"):
            yield

else:
    import fcntl

    @contextmanager
    def exclusive(fd: int, path: Path) -> Iterator[None]:
        """Advisory lock on the data file itself; released by the kernel if the holder dies."""
        fcntl.flock(fd, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)
