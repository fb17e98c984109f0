"""A graph from nothing: rows go in as extraction gives them; then SQLite makes indexes and word lists while a copy of this process resolves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from orbit.graph.index.commands import name_commands
from orbit.graph.index.layout import Worktree
from orbit.graph.index.pool import apart
from orbit.graph.index.resolution import AT_ONCE, Edges, Resolution
from orbit.graph.index.rows import write_imports
from orbit.graph.index.spill import Spill
from orbit.graph.index.texts import NewTexts
from orbit.graph.index.unit import Unit
from orbit.graph.index.work import Sync
from orbit.graph.languages import language
from orbit.graph.outcome import SyncAnswer
from orbit.graph.store.connection import create_edge_indexes, create_indexes, create_tables
from orbit.graph.store.writer import Writer

SPILL_BYTES = 1 << 26  # of source; references of a larger tree wait on disk
FORGET_AFTER = 1024  # files; what the resolver made out of arrays until then is dropped, so that memory does not grow with the tree


class Resolved(msgspec.Struct):
    """What resolving some files found, and what it left behind."""

    edges: Edges
    targets: list[Any]  # of the imports of each file
    texts: list[tuple[int, str]]  # not known before
    consulted: set[str]  # files read like manifests, not known before


def build(sync: Sync, writer: Writer) -> SyncAnswer:
    """Fill an empty database."""
    create_tables(writer.db)
    texts, found, size = NewTexts(), sync.found, int(sync.found.sizes.sum())
    if size > SPILL_BYTES:
        sync.spill = Spill(sync.place.folder)
    layout = sync.layout()
    modules = [language(lang).module_of(path, layout) for path, lang in zip(found.paths, found.languages, strict=True)]
    ids = {path: index + 1 for index, path in enumerate(found.paths)}
    units = sorted(sync.extract(writer, texts, list(range(len(found.paths))), modules, ids), key=lambda unit: unit.path)
    extracted, uses = texts.fresh(), list[tuple[int, Any]]()
    workers = sync.workers if sync.executor is None else 1  # who brings an executor decides what runs where
    with apart(lambda: _resolve(sync, texts, layout, units), sync.place.folder, workers, size) as resolved:
        writer.add_texts(extracted)
        create_indexes(writer.db)
        writer.add_words()
        for start, some in zip(range(0, len(units), AT_ONCE), resolved, strict=True):
            sync.progress("resolve", start, len(units))
            _write(writer, units[start : start + AT_ONCE], some)
            sync.consulted |= some.consulted
            uses += zip(some.edges.files, some.edges.uses, strict=True)
    writer.add_uses(uses)
    create_edge_indexes(writer.db)
    name_commands(writer)
    sync.spill.close()
    return sync.finish(writer, "full", changed=len(units))


def _write(writer: Writer, units: list[Unit], resolved: Resolved) -> None:
    for unit, targets in zip(units, resolved.targets, strict=True):
        unit.targets = targets
    write_imports(writer, units)
    writer.add_rows("ref", resolved.edges.ref_rows())
    writer.add_rows("relation", resolved.edges.relations)
    writer.aim_commands(resolved.edges.commands)
    writer.add_texts(resolved.texts)


def _resolve(sync: Sync, texts: NewTexts, layout: Worktree, units: list[Unit]) -> Iterator[Resolved]:
    """Touches no database: in this process SQLite is busy meanwhile."""
    resolution, consulted = Resolution(texts), layout.consulted
    for unit in units:
        unit.aim_imports(texts, layout)
        resolution.add(unit)
    resolution.index(len(texts))
    for start in range(0, len(units), AT_ONCE):
        some = units[start : start + AT_ONCE]
        edges, known = resolution.resolve(some), consulted
        consulted = layout.consulted
        yield Resolved(edges, [unit.targets for unit in some], list(texts.fresh()), set(consulted - known))
        if start % FORGET_AFTER == FORGET_AFTER - AT_ONCE:
            resolution.forget()
