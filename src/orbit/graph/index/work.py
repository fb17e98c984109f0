"""What a build from nothing and a refresh share: the scan, extraction, and how a sync ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from typing import Any

import xxhash

from orbit import git
from orbit.config import Workspace, cpu_limit
from orbit.graph.index.known import Known
from orbit.graph.index.layout import Worktree
from orbit.graph.index.listing import Listing, list_files, read_listing, start_listing
from orbit.graph.index.place import EXTRACTOR_VERSION, Place
from orbit.graph.index.pool import CRASHED, FEW_BYTES, make_jobs, run
from orbit.graph.index.rows import write_batch
from orbit.graph.index.scan import BINARY, Scan, read_limits, scan
from orbit.graph.index.spill import Spill
from orbit.graph.index.survey import Survey
from orbit.graph.index.texts import Texts
from orbit.graph.index.unit import Unit
from orbit.graph.outcome import SyncAnswer
from orbit.graph.store.connection import SCHEMA_VERSION
from orbit.graph.store.writer import Skipped, Writer
from orbit_native import hashing

WORKER_BYTES = 96 << 20  # what a process that extracts holds, with some room

Progress = Callable[[str, int, int], None]  # (stage, done, of)


class Memory:
    """What a handle keeps from one sync to the next."""

    survey: Survey | None = None
    known: Known | None = None
    layout: Worktree | None = None
    layout_of: tuple[Any, ...] = ()  # files and manifests that the layout stands for


class MovedError(Exception):
    """Other files are listed than was taken for granted."""

    def __init__(self, listing: Listing) -> None:
        super().__init__()
        self.listing = listing


class Sync:
    """One sync of a worktree. The listing of the sync before is believed; git's new one is awaited at the end, where all else is done, and a
    MovedError says that it differs."""

    def __init__(
        self, workspace: Workspace, place: Place, progress: Progress | None, jobs: int | None, executor: Executor | None, memory: Memory,
        listing: Listing | None = None,
    ) -> None:
        self.workspace, self.place = workspace, place
        self.progress: Progress = progress or (lambda *_: None)
        self.memory_limit, self.executor = read_limits(workspace).memory, executor
        self.workers = jobs or cpu_limit()
        if self.memory_limit is not None:
            self.workers = max(1, min(self.workers, self.memory_limit // WORKER_BYTES - 1))
        self.message: str | None = None
        # As they were before any file was read: what changes meanwhile then looks new to the next sync.
        self.started_ns = time.time_ns()
        self._listed: git.Running | None = None
        try:
            self.found: Scan = scan(workspace.root, memory.survey, listing or self._believed(memory.survey))
        except BaseException:
            self.close()
            raise
        memory.survey = self.found.survey
        self.memory = memory
        self.manifests = self.manifest_digest()
        self.further: set[str] = set()  # other files that were read like manifests, now or at the last sync
        self.consulted: set[str] = set()  # manifests and others that a copy of this process has read
        self.skipped: dict[str, Skipped] = {path: [reason, -1, -1] for path, reason in self.found.skipped_paths.items()}
        self.spill = Spill()

    def _believed(self, survey: Survey | None) -> Listing | None:
        if survey is not None and survey.listing.said and not read_limits(self.workspace).submodules:
            self._listed = start_listing(self.workspace.root)
        return survey.listing if survey is not None and self._listed is not None else None

    def confirm(self) -> None:
        """Wait for git's listing, if one is believed."""
        listed, self._listed = self._listed, None
        if listed is not None and self.found.survey is not None:
            said = listed.output()
            if said != self.found.survey.listing.said:
                raise MovedError(read_listing(said) if said else list_files(self.workspace.root))

    def close(self) -> None:
        if self._listed is not None:
            self._listed.stop()

    def has_memory(self, size: int) -> bool:
        return self.memory_limit is None or size <= self.memory_limit

    def layout(self) -> Worktree:
        """The worktree as the languages see it; that of the last sync where neither files nor manifests are others."""
        memory, stands_for = self.memory, (self.found.paths, self.manifests)
        if memory.layout is None or memory.layout_of != stands_for:
            memory.layout, memory.layout_of = Worktree(self.workspace.root, self.found), stands_for
        return memory.layout

    def extract(self, writer: Writer, texts: Texts, wanted: list[int], modules: list[str], ids: dict[str, int]) -> Iterator[Unit]:
        """Units of the wanted files; their rows that need no resolving are written on the way."""
        found, done_count = self.found, 0
        size = int(found.sizes[wanted].sum())
        if size > FEW_BYTES:  # too much to be done in vain
            self.confirm()
        self.progress("extract", 0, len(wanted))
        jobs = make_jobs(os.fsencode(self.workspace.root), found, modules, wanted, self.workers)
        for done in run(jobs, self.workers, size, self.executor):
            for position, outcome in zip(done.positions, done.outcome, strict=True):
                if isinstance(outcome, str):
                    seen = [int(found.sizes[position]), int(found.mtimes[position])] if outcome in (BINARY, CRASHED) else [-1, -1]
                    self.skipped[found.paths[position]] = [outcome, *seen]
            yield from write_batch(writer, texts, done, found, modules, ids, self.spill)
            done_count += len(done.positions)
            self.progress("extract", done_count, len(wanted))

    def finish(self, writer: Writer, mode: str, *, changed: int = 0, removed: int = 0, unchanged: dict[str, str] | None = None) -> SyncAnswer:
        """Write down what was left out and when this was; `unchanged` is the meta table of a graph that stays as it is."""
        found, unknown = self.found, str(self.found.skipped.get("unknown_extension", 0))
        if unchanged is None or writer.skipped() != self.skipped or unchanged.get("unknown_extension") != unknown:
            writer.set_skipped(self.skipped)
            writer.set_meta({"unknown_extension": unknown})
        if unchanged is None:
            writer.set_meta({
                "schema_version": str(SCHEMA_VERSION), "extractor_version": str(EXTRACTOR_VERSION), "branch": self.place.branch,
                "commit_sha": self.place.commit, "synced_at": str(self.started_ns), **self._manifests_read(),
                "last_full_build_at" if mode == "full" else "last_incremental_at": str(time.time_ns()),
            })  # fmt: skip
        reasons: dict[str, int] = dict(found.skipped)
        for path, (reason, *_) in self.skipped.items():
            if path not in found.skipped_paths:
                reasons[reason] = reasons.get(reason, 0) + 1
        self.confirm()
        return SyncAnswer(
            mode=mode, files_changed=changed, files_removed=removed, files_skipped=dict(sorted(reasons.items())), duration_ms=0,
            db=str(self.place.database), message=self.message, **writer.counts(),
        )  # fmt: skip

    def _manifests_read(self) -> dict[str, str]:
        further = sorted(self.further | (self.layout().consulted | self.consulted) - self.found.manifests.keys())
        return {"manifests": self.manifest_digest(further) if set(further) != self.further else self.manifests, "further_manifests": "\n".join(further)}

    def manifest_digest(self, further: Iterable[str] = ()) -> str:
        """Changes when a manifest's text does, or that of another file that was read like one (a tsconfig may extend a file of any name)."""
        paths = [git.encode(path) for path in sorted({*self.found.manifests, *further})]
        hashes, _, _ = hashing.hash_files(os.fsencode(self.workspace.root), paths)
        digest = xxhash.xxh3_128()
        for path, value in zip(paths, hashes, strict=True):
            digest.update(path + b"\0" + bytes(value))
        return digest.hexdigest()
