"""One change, all of it or none: steps are written to a journal first, then carried out; after a crash the next command finishes them.

The moment the journal gets its name is the moment the change happens. Every step can be repeated, and a step whose file somebody else
has changed in the meantime is left alone. [ADR-0005]
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from orbit.audit import CommandLog, CommandRow
from orbit.config import Workspace
from orbit.errors import RefusedError
from orbit.files import sha256_of, write_whole

LOCK_TIMEOUT_S = 60


class Write(msgspec.Struct, tag="write"):
    """Give a file new content; `before` is the digest of what it held, None if it was not there."""

    path: str
    before: str | None
    content: bytes


class Move(msgspec.Struct, tag="move"):
    source: str
    target: str


Step = Write | Move


class Change(msgspec.Struct):
    """Steps in order, and the audit rows that go with them."""

    steps: list[Step] = []
    rows: list[CommandRow] = []


class Journal:
    """The lock and the journal of one worktree's store."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.root = workspace.root
        self._file = workspace.state / "state" / "adr-change.msgpack"
        self._lock = FileLock(workspace.state / "state" / "adr.lock", timeout=LOCK_TIMEOUT_S)

    def settle(self) -> None:
        """Before reading: wait for a change under way, or finish what a crash left behind."""
        if self._file.exists():
            with self.locked():
                pass

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the store alone, with whatever a crash left behind finished first. May be nested."""
        self.workspace.prepare()
        self._file.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
        except Timeout:
            raise RefusedError("another process is writing decisions", hint="try again when it has finished") from None
        try:
            self._recover()
            yield
        finally:
            self._lock.release()

    def relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def write_step(self, path: Path, content: str | bytes, moved_from: Path | None = None) -> Write:
        """`moved_from`: where the file is now, if an earlier step of the same change brings it to `path`."""
        raw = content.encode() if isinstance(content, str) else content
        return Write(self.relative(path), _digest(moved_from or path), raw)

    def commit(self, change: Change) -> None:
        """Carry out `change`; the lock must be held."""
        if not change.steps:
            return
        with _refusing("nothing was changed", "make room or give write access, then try again"):
            write_whole(self._file, msgspec.msgpack.encode(change), fsync=True, token="adr")
        with _refusing("the change is not finished", "remove the cause; the next command finishes it"):
            self._apply(change)

    def _recover(self) -> None:
        if not self._file.exists():
            return
        change = msgspec.msgpack.decode(self._file.read_bytes(), type=Change)
        seen = {(row.timestamp, row.adr_id, row.to_status) for row in CommandLog(self.workspace).rows()}
        change.rows = [row for row in change.rows if (row.timestamp, row.adr_id, row.to_status) not in seen]
        with _refusing("an unfinished change cannot be completed", f"remove the cause, or give the change up by deleting {self._file}"):
            self._apply(change)

    def _apply(self, change: Change) -> None:
        for step in change.steps:
            if isinstance(step, Write):
                if _digest(path := self.root / step.path) == step.before:
                    write_whole(path, step.content, fsync=True, token="adr")
            else:
                source, target = self.root / step.source, self.root / step.target
                if source.is_dir() and not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    os.rename(source, target)
        log = CommandLog(self.workspace)
        for row in change.rows:
            log.append(row)
        os.unlink(self._file)


@contextmanager
def _refusing(said: str, hint: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RefusedError(f"{said}: {error}", hint=hint) from None


def _digest(path: Path) -> str | None:
    with suppress(FileNotFoundError, NotADirectoryError):
        return sha256_of(path)
    return None
