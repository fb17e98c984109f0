"""A graph brought up to date with what changed: extract those files, and resolve again whoever looked up a name that may mean something else now."""

from __future__ import annotations

import os
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np

from orbit import git
from orbit.graph.index.commands import name_commands
from orbit.graph.index.known import RACY_NS, Known
from orbit.graph.index.resolution import Resolution
from orbit.graph.index.rows import as_rows, import_table
from orbit.graph.index.texts import StoredTexts
from orbit.graph.index.unit import Unit, load_imports, load_unit, path_names
from orbit.graph.index.work import Sync
from orbit.graph.languages import PACKAGE_FILES, language
from orbit.graph.outcome import SyncAnswer
from orbit.graph.store.writer import KnownFile, Writer
from orbit_native import hashing
from orbit_native.catalogue import fingerprint, hint

Interface = dict[int, set[tuple[Any, ...]]]  # what files show under a name
Changed = dict[int, set[int]]  # names that may mean something else, and where they are looked up


def refresh(sync: Sync, writer: Writer) -> SyncAnswer:
    """Apply what changed since the last sync."""
    found, meta = sync.found, writer.meta()
    known = _known(sync, writer, meta)
    stale = _without_skipped(sync, writer, known, known.stale(found))
    removed = known.removed(found, stale)
    sync.further = set(meta.get("further_manifests", "").split("\n")) - {""}
    if sync.further:
        sync.manifests = sync.manifest_digest(sync.further)
    manifests_changed = sync.manifests != meta.get("manifests")
    moved = manifests_changed or bool(removed) or any(found.paths[index] not in known.rows for index in stale)
    if not stale and not moved:
        return sync.finish(writer, "auto", unchanged=meta)
    if moved:
        sync.confirm()  # a file that is gone from the disk is probably gone from git's listing
    sync.memory.known = None  # until this is done
    stale = _really_changed(sync, writer, known, stale)
    if not stale and not moved:
        writer.set_meta({"synced_at": str(sync.started_ns)})  # what was touched around the last sync has been read again
        answer = sync.finish(writer, "auto", unchanged=meta)
    else:
        answer = _Refresh(sync, writer, known).apply(stale, removed, meta, manifests_changed=manifests_changed)
    known.synced_at = str(sync.started_ns)
    sync.memory.known = known
    return answer


def _known(sync: Sync, writer: Writer, meta: dict[str, str]) -> Known:
    known, synced_at = sync.memory.known, meta.get("synced_at", "")
    if known is None or known.synced_at != synced_at:
        known = sync.memory.known = Known(writer.files(), synced_at)
    return known


def _without_skipped(sync: Sync, writer: Writer, known: Known, stale: list[int]) -> list[int]:
    """Less the files that were read before and are no source: as long as their stat is the same they are not read again."""
    found = sync.found
    fresh = {index for index in stale if found.paths[index] not in known.rows}
    skipped = writer.skipped() if fresh else {}
    for index in list(fresh):
        path, seen = found.paths[index], [int(found.sizes[index]), int(found.mtimes[index])]
        row = skipped.get(path)
        if row is not None and row[1:] == seen and int(known.synced_at or 0) - seen[1] >= RACY_NS:
            sync.skipped[path] = row
        else:
            fresh.discard(index)
    return [index for index in stale if index not in fresh]


def _really_changed(sync: Sync, writer: Writer, known: Known, stale: list[int]) -> list[int]:
    """Of files whose stat changed, those whose bytes did."""
    found, rows = sync.found, known.rows
    candidates = [index for index in stale if found.paths[index] in rows and rows[found.paths[index]].lang == found.languages[index]]
    hashes, sizes, status = hashing.hash_files(os.fsencode(sync.workspace.root), [git.encode(found.paths[index]) for index in candidates])
    same, touched = set(), []
    for at, index in enumerate(candidates):
        row = rows[found.paths[index]]
        if status[at] == hashing.READ and bytes(hashes[at]) == writer.file_hash(row.id):
            same.add(index)
            if row.size != found.sizes[index] or row.mtime_ns != found.mtimes[index]:
                touched.append(msgspec.structs.replace(row, size=int(sizes[at]), mtime_ns=int(found.mtimes[index])))
                writer.touch_file(row.id, touched[-1].size, touched[-1].mtime_ns)
    known.update((), touched)
    return [index for index in stale if index not in same]


class _Refresh:
    def __init__(self, sync: Sync, writer: Writer, files: Known) -> None:
        self.sync, self.writer, self.files, self.known = sync, writer, files, files.rows
        self.layout = sync.layout()
        self.texts = StoredTexts(writer)
        self.resolution = Resolution(self.texts, writer, files.rules)

    def apply(self, stale: list[int], removed: list[KnownFile], meta: dict[str, str], *, manifests_changed: bool) -> SyncAnswer:
        found, known, texts, writer = self.sync.found, self.known, self.texts, self.writer
        modules = [""] * len(found.paths)
        came = (found.paths[index] for index in stale if found.paths[index] not in known)
        renames = manifests_changed or _name_others([*(row.path for row in removed), *came])
        for index in range(len(found.paths)) if renames else stale:
            modules[index] = language(found.languages[index]).module_of(found.paths[index], self.layout)
        if renames:
            before = writer.module_names()
            again = {index for index, path in enumerate(found.paths) if path in known and before[known[path].id] != modules[index]}
            stale = sorted(again | set(stale))
        if not stale and not removed and not manifests_changed:
            writer.set_meta({"synced_at": str(self.sync.started_ns)})
            return self.sync.finish(writer, "auto", unchanged=meta)
        ids, names = self._identify(stale)
        shown = self._before(stale, removed)
        names.update(texts.id(name) for row in removed for name in path_names(row.path))
        units = sorted(self.sync.extract(writer, texts, stale, modules, ids), key=lambda unit: unit.path)
        lost = {ids[found.paths[index]] for index in stale} - {unit.file for unit in units}
        for file in lost:
            writer.drop_file(file)
        after: Interface = {}
        for unit in units:
            unit.aim_imports(texts, self.layout)
            _merge(after, unit)
        self._write_imports(units)
        hinted = writer.all_files() if manifests_changed else writer.users_of(map(hint, names))
        affected = self._affected(_changed(shown, after), hinted, {unit.file for unit in units})
        for unit in [*units, *affected]:
            self.resolution.add(unit)
        self._resolve([*units, *affected])
        writer.add_texts(texts.fresh())
        writer.add_new_words()
        name_commands(writer)
        gone = [*removed, *(known[path] for path, file in ids.items() if file in lost and path in known)]
        self.files.update(gone, filter(None, (writer.known_file(unit.file) for unit in units)))
        return self.sync.finish(writer, "auto", changed=len(units), removed=len(gone))

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

    def _before(self, stale: list[int], removed: list[KnownFile]) -> Interface:
        """What changed and lost files showed to others; the rows of the latter are taken out."""
        before: Interface = {}
        changed = [self.known[self.sync.found.paths[index]] for index in stale if self.sync.found.paths[index] in self.known]
        for row in [*removed, *changed]:
            _merge(before, load_unit(self.writer, row.id, row.path, row.lang, row.module))
        for row in removed:
            self.writer.drop_file(row.id)
        return before

    def _write_imports(self, units: list[Unit]) -> None:
        if units:
            self.writer.put_rows("import", [unit.file for unit in units], as_rows(*import_table(units).T))

    def _affected(self, changed: Changed, hinted: set[int], touched: set[int]) -> list[Unit]:
        """Files to resolve again although their bytes are the same: those that looked up what changed, and of some whose imports may mean something
        else now those of which that is true."""
        done, units = set(touched), list[Unit]()
        turned = {file for file in hinted - done if self._aims_elsewhere(file)}
        while True:
            users, turned, changed = (self._users(changed) | turned) - done, set[int](), {}
            for file in sorted(users):
                row = self.writer.file_row(file)
                if row is not None:
                    units.append(load_unit(self.writer, file, *row))
                    for name, places in self._aim_again(units[-1]).items():
                        changed.setdefault(name, set()).update(places)
            done |= users
            if not changed:
                return units

    def _aims_elsewhere(self, file: int) -> bool:
        """Do the imports of a file mean something else now?"""
        row = self.writer.file_row(file)
        if row is None:
            return False
        unit = Unit(file, *row)
        unit.imports, targets = load_imports(self.writer, file)
        unit.aim_imports(self.texts, self.layout)
        return not np.array_equal(unit.targets, targets)

    def _aim_again(self, unit: Unit) -> Changed:
        """What a file shows otherwise now that its imports are aimed anew."""
        targets = unit.targets
        unit.aim_imports(self.texts, self.layout)
        if np.array_equal(targets, unit.targets):
            return {}
        self._write_imports([unit])
        after = _merged(unit)
        aimed, unit.targets = unit.targets, targets
        before, unit.targets = _merged(unit), aimed
        return _changed(before, after)

    def _users(self, changed: Changed) -> set[int]:
        """Files that looked up one of these names there."""
        asked = dict[int, set[int]]()  # of files that looked up some of the names at all
        for name, places in changed.items():
            prints = {fingerprint(where, name) for where in places}
            for file in self.writer.users_of([name]):
                asked.setdefault(file, set()).update(prints)
        return {file for file, prints in asked.items() if self.writer.has_looked_up(file, prints)}

    def _resolve(self, units: list[Unit]) -> None:
        for count, unit in enumerate(units):
            edges = self.resolution.resolve([unit])
            self.writer.put_rows("ref", (unit.file,), edges.ref_rows())
            self.writer.put_rows("relation", (unit.file,), edges.relations)
            self.writer.replace_uses(unit.file, edges.uses[0])
            self.writer.aim_commands(edges.commands)
            self.sync.progress("resolve", count, len(units))


def _name_others(paths: list[str]) -> bool:
    """May the modules of other files have other names because one of these came or went?"""
    return any(path.rpartition("/")[2] in PACKAGE_FILES for path in paths)


def _changed(before: Interface, after: Interface) -> Changed:
    """Names under which files show something else now, and where."""
    changed: Changed = {}
    for name in before.keys() | after.keys():
        if before.get(name) != after.get(name):
            old, new = (_by_place(side.get(name, set())) for side in (before, after))
            changed[name] = {where for where in old.keys() | new.keys() if old.get(where) != new.get(where)}
    return changed


def _by_place(shown: set[tuple[Any, ...]]) -> dict[int, list[Any]]:
    places: dict[int, list[Any]] = {}
    for path, *facts in sorted(shown, key=itemgetter(0)):
        for where, *fact in facts:
            places.setdefault(where, []).append((path, *fact))
    return places


def _merge(into: Interface, unit: Unit) -> None:
    for name, facts in unit.interface().items():
        into.setdefault(name, set()).add(facts)


def _merged(unit: Unit) -> Interface:
    into: Interface = {}
    _merge(into, unit)
    return into
