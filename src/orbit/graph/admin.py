"""Housekeeping of a worktree's graph: which version made it, where it lies, how to be rid of it."""

from __future__ import annotations

import msgspec

from orbit.config import Workspace
from orbit.errors import RefusedError


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


def version() -> VersionAnswer:
    from importlib.metadata import version as installed

    from orbit.graph.index.place import EXTRACTOR_VERSION
    from orbit.graph.store.connection import SCHEMA_VERSION

    return VersionAnswer(version=installed("orbit-native"), extractor_version=EXTRACTOR_VERSION, schema_version=SCHEMA_VERSION)


def db_path(workspace: Workspace) -> DbPathAnswer:
    from orbit.graph.index.place import EXTRACTOR_VERSION, find_place

    place = find_place(workspace.root)
    return DbPathAnswer(path=str(place.database), branch=place.branch, extractor_version=EXTRACTOR_VERSION, exists=place.database.exists())


def clean(workspace: Workspace) -> CleanAnswer:
    """Delete the databases of all branches. Refuses, and deletes the others, when one is being written."""
    from orbit.graph.index.place import delete, find_all, find_place

    folder = find_place(workspace.root).folder
    done = delete(find_all(folder))
    if done.kept:
        names = ", ".join(f"{name} ({reason})" for name, reason in sorted(done.kept.items()))
        busy = "in use" in done.kept.values()
        hint = "wait for the sync that is running, then try again" if busy else f"check permissions of {folder}"
        raise RefusedError(f"could not delete {names}", hint=hint, code="in-use" if busy else "not-writable")
    return CleanAnswer(graph_dir=str(folder), deleted=sorted(done.deleted))
