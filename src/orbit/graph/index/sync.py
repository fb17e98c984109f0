"""Bring the graph up to date with the files: scan, extract what changed, resolve what that may have changed, in one transaction.

The law: after any history of syncs the graph equals that of a fresh build. It holds because extraction is a function of a file's
bytes alone, and because a file is resolved again whenever a name it looked up may mean something else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import msgspec
import numpy as np
import xxhash
from filelock import FileLock, Timeout

from orbit import git
from orbit.config import Workspace, cpu_limit
from orbit.errors import RefusedError
from orbit.graph.index.extract import PARSE_BUDGET_SECONDS
from orbit.graph.index.layout import Worktree
from orbit.graph.index.pack import Batch, Packed, extract_batch
from orbit.graph.index.place import EXTRACTOR_VERSION, Place, delete, find_place, find_stale
from orbit.graph.index.resolution import Resolution
from orbit.graph.index.scan import BINARY, Scan, is_binary, scan
from orbit.graph.index.texts import Texts
from orbit.graph.index.unit import Unit, load_unit, path_names, unpack
from orbit.graph.languages import language
from orbit.graph.outcome import SyncAnswer
from orbit.graph.store.connection import SCHEMA_VERSION, create_indexes, create_tables, drop_all, is_empty, open_writer, transaction, use_wal
from orbit.graph.store.writer import REF_SHIFT, SYMBOL_SHIFT, FileRow, Writer
from orbit_native import hashing

LOCK_SECONDS = 600.0
BATCH_BYTES = 1 << 20
RACY_NS = 2_000_000_000  # a file touched this shortly before it was read may change again within one tick of the clock
UNREADABLE, CHANGING = "unreadable", "changing"
DAMAGE = (apsw.NotADBError, apsw.CorruptError, apsw.SQLError)

Progress = Callable[[str, int, int], None]  # (stage, done, of)


def sync(
    workspace: Workspace, *, full: bool = False, jobs: int | None = None, progress: Progress | None = None, executor: Executor | None = None
) -> SyncAnswer:
    """Sync the graph of a worktree. One writer at a time: others wait for it, then find little left to do."""
    started = time.perf_counter()
    place = find_place(workspace.root)
    try:
        workspace.prepare()
        place.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(place.lock, timeout=LOCK_SECONDS)
        with lock:
            answer = _Sync(workspace, place, progress or (lambda *_: None), jobs, executor).run(full)
            delete(find_stale(place))
    except Timeout:
        raise RefusedError("another sync of this worktree is still running", hint="wait for it, or end it", code="locked") from None
    except (apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.CantOpenError, OSError) as error:
        raise RefusedError(f"the graph cannot be written: {error}", hint=f"check space and permissions of {place.folder}", code="not-writable") from None
    answer.duration_ms = round((time.perf_counter() - started) * 1000)
    return answer


class _Sync:
    def __init__(self, workspace: Workspace, place: Place, progress: Progress, jobs: int | None, executor: Executor | None) -> None:
        self.workspace, self.place, self.progress = workspace, place, progress
        self.jobs = jobs or cpu_limit()
        self.executor = executor
        self.message: str | None = None
        # As they were before any file was read: what changes meanwhile then looks new to the next sync.
        self.started_ns, self.manifests = 0, ""

    def run(self, full: bool) -> SyncAnswer:
        self.started_ns = time.time_ns()
        found = scan(self.workspace.root)
        self.manifests = _manifest_digest(self.workspace.root, found)
        database = self.place.database
        if _is_usable(database):
            try:
                with closing(open_writer(database)) as db, transaction(db):
                    if full:
                        drop_all(db)
                        return self._fill(db, found, "full")
                    return self._refresh(db, found)
            except DAMAGE:  # seen only when the ruined page was read
                pass
        if database.exists():
            self.message = f"the old database could not be used and was set aside as {_set_aside(database).name}"
        return self._build(found, database)

    # --- from nothing

    def _build(self, found: Scan, database: Path) -> SyncAnswer:
        """A new database, beside its place until it is whole."""
        scratch = database.with_name(database.name + ".tmp")
        for part in ("", "-journal", "-wal", "-shm"):
            scratch.with_name(scratch.name + part).unlink(missing_ok=True)
        with closing(open_writer(scratch, journal="OFF")) as db:
            with transaction(db):
                answer = self._fill(db, found, "full")
            use_wal(db)
        for part in ("-wal", "-shm"):  # left by a sync that died while it set a damaged database aside: SQLite would replay them into the new one
            database.with_name(database.name + part).unlink(missing_ok=True)
        os.replace(scratch, database)
        return answer

    def _fill(self, db: apsw.Connection, found: Scan, mode: str) -> SyncAnswer:
        create_tables(db)
        writer, texts = Writer(db, indexed=False), Texts()
        layout = Worktree(self.workspace.root, found)
        modules = [language(lang).module_of(path, layout) for path, lang in zip(found.paths, found.languages, strict=True)]
        ids = {path: index + 1 for index, path in enumerate(found.paths)}
        skipped = dict(found.skipped_paths)
        units = list(self._extract(writer, texts, found, range(len(found.paths)), modules, ids, skipped))
        units.sort(key=lambda unit: unit.path)
        resolution = Resolution(texts, writer, complete=True)
        for unit in units:
            unit.aim_imports(texts, layout)
            resolution.add(unit)
        resolution.index(units)
        for index, unit in enumerate(units):
            resolution.resolve(unit)
            self._write_imports(writer, unit)
            if index % 64 == 0:
                self.progress("resolve", index, len(units))
        writer.add_texts(texts.fresh())
        create_indexes(db)
        writer.indexed = True
        writer.fill_words()
        _name_commands(writer, texts)
        return self._finish(writer, found, skipped, mode, len(units), 0, layout)

    # --- from what is there

    def _refresh(self, db: apsw.Connection, found: Scan) -> SyncAnswer:
        writer = Writer(db, indexed=True)
        meta, known = writer.meta(), writer.files()
        skipped = dict(found.skipped_paths)
        now = set(found.paths)
        removed = [row for path, row in known.items() if path not in now]
        last_sync = int(meta.get("synced_at", "0"))
        stale: list[int] = []
        for index, path in enumerate(found.paths):
            row = known.get(path)
            same = row is not None and row.size == found.sizes[index] and row.mtime_ns == found.mtimes[index] and row.lang == found.languages[index]
            if row is None or not same or last_sync - row.mtime_ns < RACY_NS:
                stale.append(index)
        manifests = self.manifests
        moved = manifests != meta.get("manifests") or len(removed) > 0 or any(found.paths[index] not in known for index in stale)
        if not stale and not moved:
            return self._finish(writer, found, skipped, "auto", 0, 0, None, unchanged=meta)
        layout = Worktree(self.workspace.root, found)
        texts = Texts(writer)
        renamed = manifests != meta.get("manifests")
        return self._apply(writer, texts, found, known, stale, removed, layout, skipped, meta, moved=moved, manifests_changed=renamed)

    def _apply(
        self, writer: Writer, texts: Texts, found: Scan, known: dict[str, FileRow], stale: list[int], removed: list[FileRow], layout: Worktree,
        skipped: dict[str, str], meta: dict[str, str], *, moved: bool, manifests_changed: bool,
    ) -> SyncAnswer:  # fmt: skip
        stale = self._really_changed(writer, found, known, stale)
        modules = [""] * len(found.paths)
        for index in range(len(found.paths)) if moved else stale:
            path = found.paths[index]
            modules[index] = language(found.languages[index]).module_of(path, layout)
        if moved:  # a new or lost file, or a manifest, may rename the modules of others
            again = {index for index, path in enumerate(found.paths) if path in known and texts.text(known[path].module) != modules[index]}
            stale = sorted(again | set(stale))
        if not stale and not removed and not manifests_changed:
            writer.set_meta({"synced_at": str(self.started_ns)})  # what was touched around the last sync has been read again
            return self._finish(writer, found, skipped, "auto", 0, 0, None, unchanged=meta)
        before: dict[int, set[tuple[Any, ...]]] = {}
        after: dict[int, set[tuple[Any, ...]]] = {}
        touched: set[int] = set()
        changed_names: set[int] = set()
        next_id = max((row.id for row in known.values()), default=0) + 1
        ids: dict[str, int] = {}
        for index in stale:
            path = found.paths[index]
            if path in known:
                ids[path] = known[path].id
            else:
                ids[path], next_id = next_id, next_id + 1
                changed_names.update(texts.id(name) for name in path_names(path))
        for row in [*removed, *(known[found.paths[index]] for index in stale if found.paths[index] in known)]:
            _merge(before, load_unit(writer, row.id, row.path, row.lang, row.module).interface())
        for row in removed:
            writer.drop_file(row.id)
            changed_names.update(texts.id(name) for name in path_names(row.path))
        for index in stale:
            if found.paths[index] in known:
                writer.drop_rows(known[found.paths[index]].id)
        units = sorted(self._extract(writer, texts, found, stale, modules, ids, skipped), key=lambda unit: unit.path)
        lost = {ids[found.paths[index]] for index in stale} - {unit.file for unit in units}
        for file in lost:
            writer.drop_file(file)
        for unit in units:
            unit.aim_imports(texts, layout)
            _merge(after, unit.interface())
            touched.add(unit.file)
            self._write_imports(writer, unit)
        changed_names.update(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        texts_known = Resolution(texts, writer, complete=False)
        for unit in units:
            texts_known.add(unit)
        affected = self._affected(writer, texts, changed_names, touched, layout, manifests_changed)
        for unit in affected:
            texts_known.add(unit)
        for index, unit in enumerate([*units, *affected]):
            texts_known.resolve(unit)
            self.progress("resolve", index, len(units) + len(affected))
        writer.add_texts(texts.fresh())
        for unit in units:
            writer.add_symbol_words(writer.symbol_names(unit.file))
        _name_commands(writer, texts)
        return self._finish(writer, found, skipped, "auto", len(units), len(removed) + len(lost & {row.id for row in known.values()}), layout)

    def _affected(self, writer: Writer, texts: Texts, names: set[int], touched: set[int], layout: Worktree, everything: bool) -> list[Unit]:
        """Files to resolve again although their bytes are the same, with their imports aimed anew."""
        done = set(touched)
        units: list[Unit] = []
        while True:
            wanted = (writer.all_files() if everything else writer.users_of(names)) - done
            if not wanted:
                return units
            names = set()
            for file in sorted(wanted):
                done.add(file)
                row = writer.file_row(file)
                if row is None:
                    continue
                unit = load_unit(writer, file, *row)
                old, targets = unit.interface(), unit.targets
                unit.aim_imports(texts, layout)
                if not np.array_equal(targets, unit.targets):
                    new = unit.interface()
                    names.update(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
                    writer.drop_imports(file)
                    self._write_imports(writer, unit)
                units.append(unit)
            if everything:
                return units

    def _really_changed(self, writer: Writer, found: Scan, known: dict[str, FileRow], stale: list[int]) -> list[int]:
        """Of files whose stat changed, those whose bytes did."""
        candidates = [index for index in stale if found.paths[index] in known and known[found.paths[index]].lang == found.languages[index]]
        if not candidates:
            return stale
        hashes, sizes, status = hashing.hash_files(os.fsencode(self.workspace.root), [git.encode(found.paths[index]) for index in candidates])
        same = set()
        for at, index in enumerate(candidates):
            row = known[found.paths[index]]
            if status[at] == hashing.READ and bytes(hashes[at]) == row.hash:
                same.add(index)
                if row.size != found.sizes[index] or row.mtime_ns != found.mtimes[index]:
                    writer.touch_file(row.id, int(sizes[at]), int(found.mtimes[index]))
        return [index for index in stale if index not in same]

    # --- extraction

    def _extract(
        self, writer: Writer, texts: Texts, found: Scan, wanted: Iterable[int], modules: list[str], ids: dict[str, int], skipped: dict[str, str]
    ) -> Iterator[Unit]:
        """Units of the wanted files; their rows that need no resolving are written on the way."""
        work = _Work(os.fsencode(self.workspace.root), found, modules, list(wanted))
        done, total = 0, len(work.wanted)
        self.progress("extract", 0, total)
        for positions, packed, hashes, sizes in self._run(work):
            if packed is None:
                continue
            kept = [position for position, digest in zip(positions, hashes, strict=True) if isinstance(digest, bytes)]
            for position, digest in zip(positions, hashes, strict=True):
                if not isinstance(digest, bytes):
                    skipped[found.paths[position]] = digest
            digests = [digest for digest in hashes if isinstance(digest, bytes)]

            def make(index: int, kept: list[int] = kept) -> Unit:
                path = found.paths[kept[index]]
                return Unit(ids[path], path, found.languages[kept[index]], texts.id(modules[kept[index]]))

            for index, unit in enumerate(unpack(packed, texts, make)):
                self._write_unit(writer, texts, unit, packed, index, digests[index], sizes[index], found, kept[index])
                yield unit
            done += len(positions)
            self.progress("extract", done, total)

    def _run(self, work: _Work) -> Iterator[tuple[list[int], Packed | None, list[bytes | str], list[int]]]:
        jobs = work.jobs()
        if self.jobs <= 1 or len(jobs) <= 1:
            yield from map(work.do, jobs)
            return
        if self.executor is not None:
            yield from self.executor.map(work.do, jobs)
            return
        with ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(work.do, jobs)

    def _write_unit(
        self, writer: Writer, texts: Texts, unit: Unit, packed: Packed, index: int, digest: bytes, size: int, found: Scan, position: int
    ) -> None:
        broken = msgspec.json.encode(packed.broken[index]).decode()
        writer.put_file(
            FileRow(
                unit.file, unit.path, unit.lang, unit.module, digest, size, int(found.mtimes[position]), time.time_ns(),
                packed.status[index], broken, packed.tests[index], packed.generated[index],
            )
        )  # fmt: skip
        base, text = unit.file << SYMBOL_SHIFT, texts.text
        writer.add_rows("symbol", [
            (base + n, row[1], row[2], row[3], row[0], row[4], row[5], row[6], row[7], row[8], base + row[9] if row[9] >= 0 else None, text(row[10]), *row[11:])
            for n, row in enumerate(unit["symbol"].tolist())
        ])  # fmt: skip
        held = unit.file << REF_SHIFT
        writer.add_rows("string", [
            (held + n, line, text(value), base + scope if scope >= 0 else None) for n, (value, line, scope) in enumerate(unit["string"].tolist())
        ])  # fmt: skip
        writer.add_rows("config", [(held + n, line, text(key), text(kind)) for n, (key, kind, line) in enumerate(unit["config"].tolist())])
        writer.add_rows("command", [
            (base + n, text(name), text(name), start, line, scope, handler, group, None, None)
            for n, (name, start, line, scope, handler, group) in enumerate(unit["command"].tolist())
        ])  # fmt: skip
        unit.tables["command"] = unit["command"][:, 1:]
        writer.set_facts(unit.file, unit["ref"], unit["bind"], unit["export"])

    def _write_imports(self, writer: Writer, unit: Unit) -> None:
        base = unit.file << SYMBOL_SHIFT
        writer.add_rows("import", [
            (base + n, *row[:4], *target, row[7], *row[4:7]) for n, (row, target) in enumerate(zip(unit["import"].tolist(), unit.targets.tolist(), strict=True))
        ])  # fmt: skip

    # --- the end

    def _finish(
        self, writer: Writer, found: Scan, skipped: dict[str, str], mode: str, changed: int, removed: int, layout: Worktree | None,
        unchanged: dict[str, str] | None = None,
    ) -> SyncAnswer:  # fmt: skip
        unknown = str(found.skipped.get("unknown_extension", 0))
        if unchanged is None or writer.skipped() != skipped or unchanged.get("unknown_extension") != unknown:
            writer.set_skipped(skipped)
            writer.set_meta({"unknown_extension": unknown})
        if unchanged is None:
            writer.set_meta({
                "schema_version": str(SCHEMA_VERSION), "extractor_version": str(EXTRACTOR_VERSION), "branch": self.place.branch,
                "commit_sha": self.place.commit, "synced_at": str(self.started_ns), "manifests": self.manifests,
                "last_full_build_at" if mode == "full" else "last_incremental_at": str(time.time_ns()),
            })  # fmt: skip
        reasons: dict[str, int] = dict(found.skipped)
        for path, reason in skipped.items():
            if path not in found.skipped_paths:
                reasons[reason] = reasons.get(reason, 0) + 1
        counts = writer.counts()
        return SyncAnswer(
            mode=mode, files_changed=changed, files_removed=removed, files_skipped=dict(sorted(reasons.items())), duration_ms=0,
            db=str(self.place.database), message=self.message, **counts,
        )  # fmt: skip


class _Work:
    """What the pool does: read a few files of one language, hash them, extract them."""

    def __init__(self, root: bytes, found: Scan, modules: list[str], wanted: list[int]) -> None:
        self.root, self.found, self.modules, self.wanted = root, found, modules, wanted

    def jobs(self) -> list[list[int]]:
        """Positions of files, one language a job, about BATCH_BYTES each; the largest first, so that no worker ends late."""
        room: dict[str, tuple[list[int], int]] = {}
        made: list[tuple[int, list[int]]] = []
        for position in self.wanted:
            lang, size = self.found.languages[position], int(self.found.sizes[position])
            batch, used = room.get(lang, ([], 0))
            if batch and used + size > BATCH_BYTES:
                made.append((used, batch))
                batch, used = [], 0
            batch.append(position)
            room[lang] = (batch, used + size)
        made += [(used, batch) for batch, used in room.values()]
        return [batch for _, batch in sorted(made, key=lambda job: (-job[0], job[1]))]

    def do(self, positions: list[int]) -> tuple[list[int], Packed | None, list[bytes | str], list[int]]:
        """(positions, facts, hash or reason of each, sizes of those that were read): a file may have changed since the scan saw its size."""
        paths = [self.found.paths[position] for position in positions]
        limit = int(max(self.found.sizes[position] for position in positions)) + (1 << 20)
        contents, status = hashing.read_files(self.root, [git.encode(path) for path in paths], limit)
        outcome: list[bytes | str] = []
        batch = Batch(self.found.languages[positions[0]], [], [], [], PARSE_BUDGET_SECONDS)
        for position, path, content, state in zip(positions, paths, contents, status.tolist(), strict=True):
            if content is None or state != hashing.READ:
                outcome.append(CHANGING if state == hashing.CHANGED else UNREADABLE)
            elif is_binary(content):
                outcome.append(BINARY)
            else:
                outcome.append(xxhash.xxh3_128_digest(content))
                batch.paths.append(path)
                batch.modules.append(self.modules[position])
                batch.sources.append(content)
        return positions, extract_batch(batch), outcome, [len(source) for source in batch.sources]


def _merge(into: dict[int, set[tuple[Any, ...]]], found: dict[int, tuple[Any, ...]]) -> None:
    for name, facts in found.items():
        into.setdefault(name, set()).add(facts)


def _manifest_digest(root: Path, found: Scan) -> str:
    """Changes when a manifest's text does."""
    paths = sorted(found.manifests)
    hashes, _, _ = hashing.hash_files(os.fsencode(root), [git.encode(path) for path in paths])
    digest = xxhash.xxh3_128()
    for path, value in zip(paths, hashes, strict=True):
        digest.update(git.encode(path) + b"\0" + bytes(value))
    return digest.hexdigest()


def _name_commands(writer: Writer, texts: Texts) -> None:
    """Compose full names: a command hangs on the group whose handler its group expression names."""
    rows = list(writer.commands())
    by_handler: dict[tuple[int, str], int] = {}
    for row in rows:
        command, _, _, _, handler, _, _, _ = row
        if handler != -1:
            by_handler.setdefault((command >> SYMBOL_SHIFT, texts.text(handler)), command)
    by_id = {row[0]: row for row in rows}

    def full(command: int, depth: int) -> str:
        _, name, _, _, _, grouped, _, _ = by_id[command]
        around = by_handler.get((command >> SYMBOL_SHIFT, texts.text(grouped))) if grouped != -1 else None
        return f"{full(around, depth + 1)} {name}".strip() if around is not None and around != command and depth < 8 else name

    for row in rows:
        name = full(row[0], 0)
        if name != row[2]:
            writer.name_command(row[0], name)


def _is_usable(database: Path) -> bool:
    """Is there a graph of this schema and this extractor, or only something that looks like one?"""
    if not database.exists():
        return False
    try:
        with closing(open_writer(database)) as db:
            if is_empty(db):
                return False
            meta = Writer(db, indexed=True).meta()
            return meta.get("schema_version") == str(SCHEMA_VERSION) and meta.get("extractor_version") == str(EXTRACTOR_VERSION)
    except DAMAGE:
        return False


def _set_aside(database: Path) -> Path:
    aside = database.with_name(f"{database.name}.damaged")
    os.replace(database, aside)
    for part in ("-wal", "-shm"):
        database.with_name(database.name + part).unlink(missing_ok=True)
    return aside
