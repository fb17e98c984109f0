"""Answers about the housekeeping of a graph: which version made it, where it lies, what was deleted of it."""

from __future__ import annotations

import msgspec


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
