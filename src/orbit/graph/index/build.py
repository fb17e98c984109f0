"""A graph from nothing: rows go in as extraction gives them; then SQLite makes indexes and word lists while a copy of this process resolves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from orbit.graph.index.commands import name_commands
from orbit.graph.index.layout import Worktree
from orbit.graph.index.pool import apart
from orbit.graph.index.resolution import AT_ONCE, Edges, Resolution
from orbit.graph.index.rows import as_rows, import_table
from orbit.graph.index.spill import Spill
from orbit.graph.index.texts import NewTexts
from orbit.graph.index.unit import Unit
from orbit.graph.index.work import Sync
from orbit.graph.languages import language
from orbit.graph.outcome import SyncAnswer
from orbit.graph.store.connection import create_edge_indexes, create_indexes, create_tables
from orbit.graph.store.writer import Writer

SPILL_BYTES = 1 << 26  # of source; references of a larger tree wait on disk
SPILLING, FORKING = 8, 4  # bytes of memory for each of source, less than which references wait on disk, and nothing is copied
FORGET_AFTER = 1024  # files; what the resolver made out of arrays until then is dropped, so that memory does not grow with the tree


class Resolved(msgspec.Struct):
    """What resolving some files found, and what it left behind."""

    edges: Edges
    imports: Any  # as rows.import_table makes it
    texts: list[tuple[int, str]]  # not known before
    consulted: set[str]  # files read like manifests, not known before


def build(sync: Sync, writer: Writer) -> SyncAnswer:
    """Fill an empty database."""
    create_tables(writer.db)
    texts, found, size = NewTexts(), sync.found, int(sync.found.sizes.sum())
    if size > SPILL_BYTES or not sync.has_memory(SPILLING * size):
        sync.spill = Spill(sync.place.folder)
    layout = sync.layout()
    modules = [language(lang).module_of(path, layout) for path, lang in zip(found.paths, found.languages, strict=True)]
    ids = {path: index + 1 for index, path in enumerate(found.paths)}
    units = sorted(sync.extract(writer, texts, list(range(len(found.paths))), modules, ids), key=lambda unit: unit.path)
    extracted, uses, count = texts.fresh(), list[tuple[int, Any]](), len(units)
    beside = sync.executor is None and sync.has_memory(FORKING * size)  # who brings an executor decides what runs where
    with apart(partial(_resolve, texts, layout, units), sync.place.folder, sync.workers if beside else 1, size) as resolved:
        del units, texts  # who resolves has them
        writer.add_texts(extracted)
        create_indexes(writer.db)
        writer.add_all_words()
        for some in resolved:
            sync.progress("resolve", len(uses), count)
            writer.put_rows("import", (), as_rows(*some.imports.T))
            writer.put_rows("ref", (), some.edges.ref_rows())
            writer.put_rows("relation", (), some.edges.relations)
            writer.aim_commands(some.edges.commands)
            writer.add_texts(some.texts)
            sync.consulted |= some.consulted
            uses += zip(some.edges.files, some.edges.uses, strict=True)
    writer.add_uses(uses)
    create_edge_indexes(writer.db)
    name_commands(writer)
    sync.spill.close()
    return sync.finish(writer, "full", changed=count)


def _resolve(texts: NewTexts, layout: Worktree, units: list[Unit]) -> Iterator[Resolved]:
    """Touches no database: in another process SQLite is busy meanwhile."""
    resolution, consulted = Resolution(texts), layout.consulted
    for unit in units:
        unit.aim_imports(texts, layout)
        resolution.add(unit)
    resolution.index(len(texts))
    for start in range(0, len(units), AT_ONCE):
        some = units[start : start + AT_ONCE]
        edges, known = resolution.resolve(some), consulted
        consulted = layout.consulted
        yield Resolved(edges, import_table(some), list(texts.fresh()), set(consulted - known))
        if start % FORGET_AFTER == FORGET_AFTER - AT_ONCE:
            resolution.forget()
