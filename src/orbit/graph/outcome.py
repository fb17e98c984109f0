"""What the write path and the housekeeping report. Apart from the code that makes them, so that showing it needs none of that."""

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


class VersionAnswer(msgspec.Struct, kw_only=True):
    """`extractor_version` rises when the same bytes give other facts, `schema_version` when the tables change."""

    version: str
    extractor_version: int
    schema_version: int


class DbPathAnswer(msgspec.Struct, kw_only=True):
    """Where the graph of what is checked out now is, or will be."""

    path: str
    branch: str
    extractor_version: int
    exists: bool


class CleanAnswer(msgspec.Struct, kw_only=True):
    """Names of the deleted files in the graph folder."""

    graph_dir: str
    deleted: list[str]


class InitAnswer(msgspec.Struct, kw_only=True):
    """Paths relative to the root; a second time all of them are in `kept`."""

    root: str
    created: list[str]
    kept: list[str]
