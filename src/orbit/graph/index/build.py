"""A graph from nothing: rows go in as extraction gives them; then SQLite makes indexes and word lists while the resolver works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from orbit.graph.index.commands import name_commands
from orbit.graph.index.layout import Worktree
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


def build(sync: Sync, writer: Writer) -> SyncAnswer:
    """Fill an empty database."""
    create_tables(writer.db)
    texts, found = NewTexts(), sync.found
    if int(found.sizes.sum()) > SPILL_BYTES:
        sync.spill = Spill(sync.place.folder)
    layout = sync.layout()
    modules = [language(lang).module_of(path, layout) for path, lang in zip(found.paths, found.languages, strict=True)]
    ids = {path: index + 1 for index, path in enumerate(found.paths)}
    units = sorted(sync.extract(writer, texts, list(range(len(found.paths))), modules, ids), key=lambda unit: unit.path)
    writer.add_texts(texts.fresh())
    with _in_background(writer):
        edges = list(_resolve(sync, texts, layout, units))
    for start in range(0, len(units), AT_ONCE):
        write_imports(writer, units[start : start + AT_ONCE])
    for some in edges:
        writer.add_rows("ref", some.ref_rows())
        writer.add_rows("relation", some.relations)
        writer.aim_commands(some.commands)
    writer.add_uses([(file, names) for some in edges for file, names in zip(some.files, some.uses, strict=True)])
    writer.add_texts(texts.fresh())
    create_edge_indexes(writer.db)
    name_commands(writer)
    sync.spill.close()
    return sync.finish(writer, "full", changed=len(units))


def _resolve(sync: Sync, texts: NewTexts, layout: Worktree, units: list[Unit]) -> Iterator[Edges]:
    """Touches no database: SQLite is busy meanwhile."""
    resolution = Resolution(texts, sync.spill)
    for unit in units:
        unit.aim_imports(texts, layout)
        resolution.add(unit)
    resolution.index(len(texts))
    for start in range(0, len(units), AT_ONCE):
        yield resolution.resolve(units[start : start + AT_ONCE])
        sync.progress("resolve", start, len(units))
        if start % FORGET_AFTER == FORGET_AFTER - AT_ONCE:
            resolution.forget()


@contextmanager
def _in_background(writer: Writer) -> Iterator[None]:
    """Indexes and word lists of what extraction found, made by SQLite on another core."""
    failed: list[BaseException] = []

    def work() -> None:
        try:
            create_indexes(writer.db)
            writer.add_words()
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=work)
    thread.start()
    try:
        yield
    except BaseException:
        writer.db.interrupt()
        raise
    finally:
        thread.join()
    if failed:
        raise failed[0]
