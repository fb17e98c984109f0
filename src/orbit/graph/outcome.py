"""What the write path reports: answers of a sync and of `why`. Apart from the code that makes them, so that showing them needs none of it."""

from __future__ import annotations

from pathlib import Path

import msgspec


class SyncAnswer(msgspec.Struct, kw_only=True):
    """What a sync did."""

    mode: str
    files_indexed: int
    files_changed: int
    files_removed: int
    files_skipped: dict[str, int]
    files_partial: int
    symbols: int
    refs: int
    duration_ms: int
    db: str
    message: str | None = None


class Why(msgspec.Struct, frozen=True):
    """`reason` is one of the scan's reasons, or indexed, missing, unreadable, gitignore, directory, git_internal, orbit_internal."""

    path: str
    indexed: bool
    reason: str
    rule: str | None = None


class Standing(msgspec.Struct, frozen=True):
    """How the stored history stands to the worktree: told by whoever looked."""

    database: Path
    pattern: str
    commits_behind: int = 0
    warnings: tuple[str, ...] = ()
