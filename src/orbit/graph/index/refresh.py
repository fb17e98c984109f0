"""A graph brought up to date with what changed: extract those files, and resolve again whoever looked up a name that may mean something else now."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from orbit import git
from orbit.graph.index.commands import name_commands
from orbit.graph.index.resolution import Resolution
from orbit.graph.index.rows import write_imports
from orbit.graph.index.texts import StoredTexts
from orbit.graph.index.unit import Unit, load_unit, path_names
from orbit.graph.index.work import Sync
from orbit.graph.languages import language
from orbit.graph.outcome import SyncAnswer
from orbit.graph.store.writer import KnownFile, Writer
from orbit_native import hashing

RACY_NS = 2_000_000_000  # a file touched this shortly before it was read may change again within one tick of the clock

Interface = dict[int, set[tuple[Any, ...]]]  # what files show under a name


def refresh(sync: Sync, writer: Writer) -> SyncAnswer:
    """Apply what changed since the last sync."""
    found, meta, known = sync.found, writer.meta(), writer.files()
    last_sync = int(meta.get("synced_at", "0"))
    stale = []
    for index, (path, lang, size, mtime_ns) in enumerate(zip(found.paths, found.languages, found.sizes.tolist(), found.mtimes.tolist(), strict=True)):
        row = known.get(path)
        if row is None or row.size != size or row.mtime_ns != mtime_ns or row.lang != lang or last_sync - mtime_ns < RACY_NS:
            stale.append(index)
    now = set(found.paths) if len(found.paths) != len(known) or any(found.paths[index] not in known for index in stale) else known.keys()
    removed = [row for path, row in known.items() if path not in now]
    sync.further = set(meta.get("further_manifests", "").split("\n")) - {""}
    if sync.further:
        sync.manifests = sync.manifest_digest(sync.further)
    manifests_changed = sync.manifests != meta.get("manifests")
    moved = manifests_changed or bool(removed) or any(found.paths[index] not in known for index in stale)
    if not stale and not moved:
        return sync.finish(writer, "auto", unchanged=meta)
    stale = _really_changed(sync, writer, known, stale)
    if not stale and not moved:
        writer.set_meta({"synced_at": str(sync.started_ns)})  # what was touched around the last sync has been read again
        return sync.finish(writer, "auto", unchanged=meta)
    return _Refresh(sync, writer, known).apply(stale, removed, meta, moved=moved, manifests_changed=manifests_changed)


def _really_changed(sync: Sync, writer: Writer, known: dict[str, KnownFile], stale: list[int]) -> list[int]:
    """Of files whose stat changed, those whose bytes did."""
    found = sync.found
    candidates = [index for index in stale if found.paths[index] in known and known[found.paths[index]].lang == found.languages[index]]
    hashes, sizes, status = hashing.hash_files(os.fsencode(sync.workspace.root), [git.encode(found.paths[index]) for index in candidates])
    same = set()
    for at, index in enumerate(candidates):
        row = known[found.paths[index]]
        if status[at] == hashing.READ and bytes(hashes[at]) == writer.file_hash(row.id):
            same.add(index)
            if row.size != found.sizes[index] or row.mtime_ns != found.mtimes[index]:
                writer.touch_file(row.id, int(sizes[at]), int(found.mtimes[index]))
    return [index for index in stale if index not in same]


class _Refresh:
    def __init__(self, sync: Sync, writer: Writer, known: dict[str, KnownFile]) -> None:
        self.sync, self.writer, self.known = sync, writer, known
        self.layout = sync.layout()
        self.texts = StoredTexts(writer)
        self.resolution = Resolution(self.texts, writer)

    def apply(self, stale: list[int], removed: list[KnownFile], meta: dict[str, str], *, moved: bool, manifests_changed: bool) -> SyncAnswer:
        found, known, texts, writer = self.sync.found, self.known, self.texts, self.writer
        modules = [""] * len(found.paths)
        for index in range(len(found.paths)) if moved else stale:
            modules[index] = language(found.languages[index]).module_of(found.paths[index], self.layout)
        if moved:  # a new or lost file, or a manifest, may rename the modules of others
            again = {index for index, path in enumerate(found.paths) if path in known and texts.text(known[path].module) != modules[index]}
            stale = sorted(again | set(stale))
        if not stale and not removed and not manifests_changed:
            writer.set_meta({"synced_at": str(self.sync.started_ns)})
            return self.sync.finish(writer, "auto", unchanged=meta)
        ids, names = self._identify(stale)
        before = self._drop(stale, removed)
        names.update(texts.id(name) for row in removed for name in path_names(row.path))
        units = sorted(self.sync.extract(writer, texts, stale, modules, ids), key=lambda unit: unit.path)
        lost = {ids[found.paths[index]] for index in stale} - {unit.file for unit in units}
        for file in lost:
            writer.drop_file(file)
        after: Interface = {}
        for unit in units:
            unit.aim_imports(texts, self.layout)
            _merge(after, unit)
        write_imports(writer, units)
        names.update(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        affected = self._affected(names, {unit.file for unit in units}, everything=manifests_changed)
        for unit in [*units, *affected]:
            self.resolution.add(unit)
        self._resolve([*units, *affected])
        writer.add_texts(texts.fresh())
        for unit in units:
            writer.add_words(unit.file)
        name_commands(writer)
        return self.sync.finish(writer, "auto", changed=len(units), removed=len(removed) + len(lost & {row.id for row in known.values()}))

    def _identify(self, stale: list[int]) -> tuple[dict[str, int], set[int]]:
        """Ids of the files to extract, and the names by which imports may mean those that are new."""
        ids, names, next_id = dict[str, int](), set[int](), self.writer.last_file_id() + 1
        for index in stale:
            path = self.sync.found.paths[index]
            if path in self.known:
                ids[path] = self.known[path].id
            else:
                ids[path], next_id = next_id, next_id + 1
                names.update(self.texts.id(name) for name in path_names(path))
        return ids, names

    def _drop(self, stale: list[int], removed: list[KnownFile]) -> Interface:
        """Take out the rows of changed and lost files; what they showed to others."""
        before: Interface = {}
        changed = [self.known[self.sync.found.paths[index]] for index in stale if self.sync.found.paths[index] in self.known]
        for row in [*removed, *changed]:
            _merge(before, load_unit(self.writer, row.id, row.path, row.lang, row.module))
        for row in removed:
            self.writer.drop_file(row.id)
        for row in changed:
            self.writer.drop_rows(row.id)
        return before

    def _affected(self, names: set[int], touched: set[int], *, everything: bool) -> list[Unit]:
        """Files to resolve again although their bytes are the same, with their imports aimed anew."""
        done = set(touched)
        units: list[Unit] = []
        while True:
            wanted = (self.writer.all_files() if everything else self.writer.users_of(names)) - done
            if not wanted:
                return units
            names = set()
            for file in sorted(wanted):
                done.add(file)
                row = self.writer.file_row(file)
                if row is None:
                    continue
                unit = load_unit(self.writer, file, *row)
                old, targets = unit.interface(), unit.targets
                unit.aim_imports(self.texts, self.layout)
                if not np.array_equal(targets, unit.targets):
                    new = unit.interface()
                    names.update(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
                    self.writer.replace_rows("import", file, ())
                    write_imports(self.writer, [unit])
                units.append(unit)
            if everything:
                return units

    def _resolve(self, units: list[Unit]) -> None:
        for count, unit in enumerate(units):
            edges = self.resolution.resolve([unit])
            self.writer.replace_rows("ref", unit.file, edges.ref_rows())
            self.writer.replace_rows("relation", unit.file, edges.relations)
            self.writer.replace_uses(unit.file, edges.uses[0])
            self.writer.aim_commands(edges.commands)
            self.sync.progress("resolve", count, len(units))


def _merge(into: Interface, unit: Unit) -> None:
    for name, facts in unit.interface().items():
        into.setdefault(name, set()).add(facts)
