"""Command audit: one row for each thing Orbit itself changed. Append only; readers never write."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import apsw
import msgspec

from orbit.config import Workspace, actor

SCHEMA = """
CREATE TABLE IF NOT EXISTS commands (
    id INTEGER PRIMARY KEY, timestamp TEXT NOT NULL, command TEXT NOT NULL, actor TEXT NOT NULL, status TEXT NOT NULL,
    exit_code INTEGER NOT NULL, duration_ms INTEGER NOT NULL, pid INTEGER NOT NULL, task_id TEXT, adr_id TEXT,
    from_status TEXT, to_status TEXT, arguments TEXT NOT NULL, error TEXT
) STRICT;
"""


class CommandRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What was done, by whom, and how it ended. The adr fields are set for lifecycle transitions."""

    command: str
    timestamp: str = msgspec.field(default_factory=lambda: now())
    actor: str = msgspec.field(default_factory=actor)
    status: str = "success"
    exit_code: int = 0
    duration_ms: int = 0
    pid: int = msgspec.field(default_factory=os.getpid)
    task_id: str | None = None
    adr_id: str | None = None
    from_status: str | None = None
    to_status: str | None = None
    arguments: dict[str, Any] = {}
    error: str | None = None


def now(seconds_ago: int = 0) -> str:
    """UTC, RFC 3339, microseconds."""
    seconds, nanos = divmod(max(0, time.time_ns() - seconds_ago * 1_000_000_000), 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{nanos // 1000:06d}Z"


class CommandLog:
    """The command audit database of one worktree."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.path = workspace.state / "state" / "audit" / "commands.sqlite"

    def append(self, row: CommandRow) -> None:
        self._workspace.prepare()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._open() as db:
            db.execute(SCHEMA)
            values = msgspec.structs.asdict(row) | {"arguments": msgspec.json.encode(row.arguments).decode()}
            db.execute(f"INSERT INTO commands ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", tuple(values.values()))

    def rows(self) -> Iterator[CommandRow]:
        """Oldest first."""
        if not self.path.exists():
            return
        names = CommandRow.__struct_fields__
        with self._open() as db:
            for values in db.execute(f"SELECT {', '.join(names)} FROM commands ORDER BY id"):
                fields = dict(zip(names, values, strict=True))
                yield CommandRow(**fields | {"arguments": msgspec.json.decode(fields["arguments"])})

    def _open(self) -> apsw.Connection:
        db = apsw.Connection(self.path.as_posix())
        db.set_busy_timeout(5000)
        return db
