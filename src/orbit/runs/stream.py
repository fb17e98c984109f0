"""An append-only file of linked JSON lines. One `write` per line under a lock; a failing disk keeps lines in memory and is counted.

A line carries `seq`, `prev_hash`, and `hash` over the canonical JSON (UTF-8, keys sorted at every depth, no white space) of everything but `hash`.
On disk it is compact JSON in reading order, `hash` last. This makes a change evident to whoever holds a later hash; it cannot stop one.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

GENESIS = "0" * 64  # what the first line of a stream follows
LINE = msgspec.json.Encoder()
CANONICAL = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(dict[str, Any])


def digest_of(record: dict[str, Any], *, without: str = "hash") -> str:
    """SHA-256 of the canonical JSON of `record`, one key left out."""
    return hashlib.sha256(CANONICAL.encode({key: value for key, value in record.items() if key != without})).hexdigest()


def seal(record: dict[str, Any], seq: int, prev_hash: str) -> tuple[bytes, str]:
    """The line that puts `record` at place `seq` after `prev_hash`, and its own hash."""
    linked = {**record, "seq": seq, "prev_hash": prev_hash}
    linked["hash"] = digest_of(linked)
    return LINE.encode(linked) + b"\n", linked["hash"]


def parse(line: bytes) -> dict[str, Any] | None:
    """The record of one line, or None if it is torn or foreign."""
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def is_untouched(line: bytes, record: dict[str, Any]) -> bool:
    """Whether the line is what was sealed: its hash holds, and no byte hides behind parsing (repeated keys, white space)."""
    try:
        return record.get("hash") == digest_of(record) and LINE.encode(record) == line
    except (msgspec.MsgspecError, OverflowError, UnicodeEncodeError):
        return False


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


LOG = logging.getLogger("orbit.runs")
_BLOCK = 4096


class Stream:
    """Any number of threads and processes may append to one file; each has its own Stream on it."""

    def __init__(self, path: Path, *, fsync_each: bool = False) -> None:
        self.path = path
        self.failures = 0
        self.first_error: str | None = None
        self.unwritten: list[dict[str, Any]] = []  # in order; tried again with the next append
        self.count = 0  # lines in the chain, as of the last append
        self.head = GENESIS
        self._fsync_each = fsync_each
        self._end = -1  # file size after the last append of ours; anything else means somebody wrote since
        self._mend = b""
        self._fd: int | None = None
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._mutex = threading.RLock()
        self._depth = 0

    def append(self, record: dict[str, Any]) -> bool:
        """Put `record` at the end; False if it could only be kept in memory."""
        LINE.encode(record)  # what cannot be written at all is the caller's mistake, told at once
        self._settle_after_fork()
        with self._mutex:
            self.unwritten.append(record)
            return self.flush()

    def flush(self, *, fsync: bool = False) -> bool:
        """Try again what failed before, and make sure of the disk if asked; False if something still waits in memory."""
        self._settle_after_fork()
        with self._mutex, self._counting():
            if self.unwritten:
                with self.held():
                    self._write_all(self._open())
            if fsync and self._fd is not None:
                os.fsync(self._fd)
        return not self.unwritten

    def refresh(self) -> None:
        """Learn what others appended, without appending or making the file."""
        if self.path.exists():
            with self._counting(), self.held():
                self._end = self._catch_up(self._open())

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep all other writers out, so that what is read of the head stays true until the end of the block. May be nested."""
        self._settle_after_fork()
        with self._mutex, ExitStack() as until_end:
            if not self._depth:
                with suppress(OSError):  # a file that cannot even be opened leaves only memory to guard
                    until_end.enter_context(exclusive(self._open(), self.path))
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Turn an operating system error into a counted failure."""
        try:
            yield
        except OSError as error:
            self.failures += 1
            if self.failures == 1:
                LOG.warning("audit events of %s cannot be written and stay in memory: %s", self.path.name, error)
                self.first_error = error.strerror or str(error)
            self._end = -1

    def close(self) -> None:
        with self._mutex:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    def _settle_after_fork(self) -> None:
        """In a forked child: a lock and an open file of its own. The parent's unwritten lines are the parent's to write."""
        if self._pid == os.getpid():
            return
        self._start()
        if self._fd is not None:
            os.close(self._fd)
        self._fd, self._end, self.unwritten = None, -1, []

    def _open(self) -> int:
        if self._fd is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
            self._fd = os.open(self.path, flags, 0o644)
        return self._fd

    def _write_all(self, fd: int) -> None:
        size = self._catch_up(fd)
        while self.unwritten:
            line, digest = seal(self.unwritten[0], self.count + 1, self.head)
            written = os.write(fd, self._mend + line)
            if written != len(self._mend) + len(line):
                os.ftruncate(fd, size)  # half a line is worse than none
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            size += written
            self._end, self._mend, self.head = size, b"", digest
            self.count += 1
            del self.unwritten[0]
            if self._fsync_each:
                os.fsync(fd)

    def _catch_up(self, fd: int) -> int:
        """Learn the head from the file if others wrote, or this is the first append; its size. A torn tail is closed off, not built upon."""
        size = os.fstat(fd).st_size
        if size == self._end:
            return size
        self.count, self.head, self._mend = 0, GENESIS, b""
        window = 0
        while window < size:
            window = min(size, max(_BLOCK, window * 4))
            with open(fd, "rb", closefd=False) as file:
                file.seek(size - window)
                tail = file.read(window)
            if not self._mend and not tail.endswith(b"\n"):
                self._mend = b"\n"
            lines = tail.split(b"\n")
            for line in reversed(lines if window == size else lines[1:]):
                record = parse(line) if line else None
                if record is not None and isinstance(record.get("seq"), int) and is_untouched(line, record):
                    self.count, self.head = record["seq"], record["hash"]
                    return size
        return size
