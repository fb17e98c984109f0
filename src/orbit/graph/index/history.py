"""Walks the commits of the checked-out branch once and keeps which symbols each of them touched. Extends from where it stopped.

A range of changed lines touches the symbols whose lines it overlaps, in the file as the commit left it; where lines were only taken
away, the line before them decides. Renames are not followed; a merge is credited with nothing, its parents are; the first commits of
a shallow clone, whose changes are not known, are credited with nothing either.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import apsw
import msgspec
import numpy as np
from filelock import FileLock, Timeout

from orbit import git
from orbit.config import Workspace, cpu_limit
from orbit.errors import RefusedError, UsageError
from orbit.graph import languages
from orbit.graph.index.extract import PARSE_BUDGET_SECONDS, extract
from orbit.graph.index.place import EXTRACTOR_VERSION
from orbit.graph.index.scan import is_binary, read_limits
from orbit.graph.outcome import Standing
from orbit.graph.patch import Change, list_commits, read_blobs, read_changes
from orbit.graph.store.connection import open_history, transaction
from orbit.graph.store.history import FILE_KIND, STEM, CommitRow, HistoryStore, Touch, read_meta
from orbit.model import SYMBOL_KIND_CODES
from orbit_native.capture import Past
from orbit_native.names import Names
from orbit_native.spans import touching

DEFAULT_PATTERN = r"\[(T\d{8}-\d+(?:-\d+)*)\]"
LOCK_SECONDS = 600.0
BATCH_COMMITS = 512
WITHOUT_SYMBOLS = frozenset({"yaml", "toml", "json", "env", "ini"})  # they have keys, and no definitions

Progress = Callable[[str, int, int], None]  # (stage, done, of)

Hunks = list[tuple[int, int]]

_UNREAD = WITHOUT_SYMBOLS | {None}


class Extension(msgspec.Struct, kw_only=True):
    """What bringing the history up to date did."""

    commits_walked: int = 0
    commits_dropped: int = 0
    tasks_rebuilt: bool = False
    duration_ms: int = 0


class Checkout(msgspec.Struct, frozen=True):
    """What the worktree has checked out; `boundary` are the commits whose parents a shallow clone left out."""

    head: str
    boundary: frozenset[str]


def history_database(workspace: Workspace) -> Path:
    return workspace.state / "graph" / f"{STEM}.{EXTRACTOR_VERSION}.db"


def task_pattern(workspace: Workspace, given: str | None) -> re.Pattern[str]:
    """What a task id looks like: as given, else as configured, else Orbit's own."""
    text = given if given is not None else workspace.setting("graph", "task_id_pattern", DEFAULT_PATTERN)
    source = "--task-id-pattern" if given is not None else "[graph] task_id_pattern"
    if not isinstance(text, str) or not text:
        raise UsageError(f"{source} is {text!r}, not a pattern", hint=f"the default is {DEFAULT_PATTERN}")
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"{source} {text!r} is no regular expression: {error}", hint=f"the default is {DEFAULT_PATTERN}") from None


def tasks_in(message: str, pattern: re.Pattern[str]) -> list[str]:
    """Task ids a message names: group 1 of each match, or the whole of it."""
    found = [match[1] if pattern.groups else match[0] for match in pattern.finditer(message)]
    return list(dict.fromkeys(task for task in found if task))


def read_checkout(root: Path) -> Checkout:
    """The commit checked out, or an empty one before the first. Raises where there is no git."""
    try:
        output = git.run(root, "rev-parse", "--is-shallow-repository", "--git-path", "shallow", "-q", "--verify", "HEAD", accept=(0, 1, 128))
    except git.GitMissingError:
        raise RefusedError("there is no history without git", hint="install git", code="no-git") from None
    said = git.decode(output).split("\n")
    if said[0] not in ("true", "false"):
        raise RefusedError("there is no history here: not a git worktree", hint="`git init` starts one", code="no-git")
    head = said[2] if len(said) > 2 else ""
    boundary = frozenset((root / said[1]).read_text(encoding="ascii").split()) if said[0] == "true" else frozenset[str]()
    return Checkout(head, boundary)


def extend(workspace: Workspace, pattern: re.Pattern[str], progress: Progress | None = None, jobs: int | None = None) -> Extension:
    """Bring the stored history up to date with the checked-out commit and the pattern. After any past it equals a fresh one."""
    started = time.perf_counter()
    checkout = read_checkout(workspace.root)
    database = history_database(workspace)
    try:
        workspace.prepare()
        database.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(database.with_name(database.name + ".lock"), timeout=LOCK_SECONDS), HistoryStore(database) as store:
            done = _Walk(workspace, store, checkout, pattern, progress or (lambda *_: None), jobs or cpu_limit()).run()
    except Timeout:
        raise RefusedError("the history of this worktree is being extended by another process", hint="wait for it, or end it", code="locked") from None
    except (apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.CantOpenError, OSError) as error:
        hint = f"check space and permissions of {database.parent}"
        raise RefusedError(f"the history cannot be written: {error}", hint=hint, code="not-writable") from None
    done.duration_ms = round((time.perf_counter() - started) * 1000)
    return done


class _Walk:
    def __init__(self, workspace: Workspace, store: HistoryStore, checkout: Checkout, pattern: re.Pattern[str], progress: Progress, jobs: int) -> None:
        self.root, self.store, self.checkout, self.pattern = workspace.root, store, checkout, pattern
        self.progress, self.jobs = progress, jobs
        self.largest = read_limits(workspace).max_file_size
        self.done = Extension()

    def run(self) -> Extension:
        meta = self.store.meta()
        boundary = "\n".join(sorted(self.checkout.boundary))
        is_same_tree = meta.get("boundary", "") == boundary
        if not (meta.get("cursor") == self.checkout.head and is_same_tree):
            fresh, gone = self._difference(meta, is_same_tree)
            with transaction(self.store.db):
                self.store.set_meta(cursor="")  # until all is walked, what is stored is not the history of any commit
                self.store.drop(gone)
            self.done.commits_dropped = len(gone)
            self._walk(fresh)
        if meta.get("pattern") not in (None, self.pattern.pattern):
            self._rename_tasks()
        with transaction(self.store.db):
            self.store.set_meta(cursor=self.checkout.head, boundary=boundary, pattern=self.pattern.pattern)
        return self.done

    def _difference(self, meta: dict[str, str], is_same_tree: bool) -> tuple[list[CommitRow], list[str]]:
        """Commits to walk, and commits to forget."""
        cursor, head = meta.get("cursor", ""), self.checkout.head
        if not head:
            return [], sorted(self.store.known())
        if cursor and is_same_tree:
            try:
                sides = list_commits(self.root, "--left-right", f"{cursor}...{head}")
            except git.GitError:  # the commit is gone, as after a rewrite and a clean-up
                sides = None
            if sides is not None:
                return [commit for side, commit in sides if side == ">"], [commit.sha for side, commit in sides if side == "<"]
        listed = [commit for _, commit in list_commits(self.root, head)]
        known = self.store.known()
        edges = self.checkout.boundary | set(meta.get("boundary", "").split())
        gone = (known - {commit.sha for commit in listed}) | (known & edges)
        return [commit for commit in listed if commit.sha not in known or commit.sha in edges], sorted(gone)

    def _rename_tasks(self) -> None:
        """The pattern is another one: every message is read again. Messages are kept, so git need not be asked."""
        with transaction(self.store.db):
            self.store.replace_tasks([(task, number) for number, message in self.store.messages() for task in tasks_in(message, self.pattern)])
        self.done.tasks_rebuilt = True

    def _walk(self, commits: list[CommitRow]) -> None:
        batches = [commits[at : at + BATCH_COMMITS] for at in range(0, len(commits), BATCH_COMMITS)]
        with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(self.jobs) as pool:
            ahead: Future[_Read] | None = reader.submit(self._read, batches[0]) if batches else None
            for index, batch in enumerate(batches):
                assert ahead is not None
                read = ahead.result()
                ahead = reader.submit(self._read, batches[index + 1]) if index + 1 < len(batches) else None
                touched = _touches(read, pool)
                with transaction(self.store.db):
                    self.store.add([(commit, touched.get(commit.sha, ()), tasks_in(commit.message, self.pattern)) for commit in batch])
                self.done.commits_walked += len(batch)
                self.progress("history", self.done.commits_walked, len(commits))

    def _read(self, batch: Sequence[CommitRow]) -> _Read:
        """What a batch of commits changed, and the sources it left."""
        shas = [commit.sha for commit in batch if len(commit.parents) < 2 and commit.sha not in self.checkout.boundary]
        changes = read_changes(self.root, shas) if shas else {}
        changed = [change for listed in changes.values() for change in listed if change.hunks and change.has_source]
        wanted = {change.blob for change in changed if languages.find(change.path) not in _UNREAD}
        return _Read(changes, read_blobs(self.root, sorted(wanted), self.largest))


class _Read(msgspec.Struct):
    changes: dict[str, list[Change]]
    sources: dict[str, bytes]


def _touches(read: _Read, pool: ThreadPoolExecutor) -> dict[str, list[Touch]]:
    """By commit: the files it touched, and the symbols in them. Each source is parsed once, however many commits left it; the versions of
    a file are parsed one after the other, so that only what differs takes time."""
    asked: dict[tuple[str, str], list[tuple[str, Change]]] = {}
    found: dict[str, list[Touch]] = {}
    for sha, listed in read.changes.items():
        found[sha] = [(change.path, "", FILE_KIND) for change in listed]
        for change in listed:
            lang = languages.find(change.path)
            if lang is not None and change.hunks and change.blob in read.sources:
                asked.setdefault((change.blob, lang), []).append((sha, change))
    files: dict[str, list[tuple[str, str]]] = {}
    for version, uses in asked.items():
        files.setdefault(uses[0][1].path, []).append(version)
    work = ([(read.sources[blob], lang, [change.hunks for _, change in asked[blob, lang]]) for blob, lang in versions] for versions in files.values())
    for versions, matched in zip(files.values(), pool.map(_match, work), strict=True):
        for version, names in zip(versions, matched, strict=True):
            for (sha, change), touched in zip(asked[version], names, strict=True):
                found[sha] += [(change.path, name, kind) for name, kind in touched]
    return found


def _match(versions: list[tuple[bytes, str, list[Hunks]]]) -> list[list[list[tuple[str, int]]]]:
    """For each version of a file, for each list of hunks, the symbols they touch."""
    past, found = Past(), []
    for source, lang, several in versions:
        symbols = symbols_of(source, lang, past)
        found.append([list(touched_symbols(symbols, hunks)) for hunks in several])
    return found


class Symbols(msgspec.Struct):
    """The definitions of a source by position: names within the file, kinds, and lines, the end not included."""

    names: list[tuple[str, int]]
    starts: np.ndarray
    ends: np.ndarray


def symbols_of(source: bytes, lang: str, past: Past | None = None) -> Symbols:
    if is_binary(source) or lang in WITHOUT_SYMBOLS:
        return Symbols([], np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))
    facts = extract(languages.language(lang), source, Names(), PARSE_BUDGET_SECONDS, only_definitions=True, past=past)
    rows = sorted(((d.line, d.end_line + 1, d.local, SYMBOL_KIND_CODES[d.kind]) for d in facts.definitions), key=lambda row: row[:2])
    return Symbols([row[2:] for row in rows], np.array([row[0] for row in rows], dtype=np.int32), np.array([row[1] for row in rows], dtype=np.int32))


def touched_symbols(symbols: Symbols, hunks: Iterable[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    """Symbols that hunks overlap; lines that were only taken away count for the line before them."""
    probes = [(start, start + max(count, 1)) for start, count in hunks]
    starts, ends = (np.array(column, dtype=np.int32) for column in zip(*probes, strict=True))
    _, spans = touching(symbols.starts, symbols.ends, starts, ends)
    for index in np.unique(spans).tolist():
        yield symbols.names[index]


def stand(workspace: Workspace, pattern: re.Pattern[str], *, progress: Progress | None = None, stored: bool = False) -> Standing:
    """Bring the history up to date, or with `stored` say how far behind it is; and whatever a reader of it should know."""
    database, warnings = history_database(workspace), []
    if not stored:
        try:
            done = extend(workspace, pattern, progress)
        except RefusedError as error:
            if error.code != "not-writable" or not database.exists() or not database.stat().st_size:
                raise
            stored, done = True, Extension()
            warnings.append(f"{error.message}; this is what is stored")
        if done.tasks_rebuilt:
            warnings.append("the task id pattern changed: task ids of the whole history were read again")
    checkout = read_checkout(workspace.root)
    behind = 0
    if stored:
        with open_history(database) as db:
            meta = read_meta(db)
        if meta.get("pattern", pattern.pattern) != pattern.pattern:
            warnings.append("task ids are those of another pattern; ask without --stored to read them again")
        cursor = meta.get("cursor", "")
        if cursor != checkout.head:
            behind = _count_commits(workspace.root, cursor, checkout.head)
            warnings.append("the stored history is not that of the checked-out commit; ask without --stored to extend it")
    if checkout.boundary:
        warnings.append("this clone is shallow: what its oldest commits changed, and what came before them, is not known; `git fetch --unshallow` brings it")
    if not checkout.head:
        warnings.append("there are no commits yet")
    return Standing(database, pattern.pattern, behind, tuple(warnings))


def _count_commits(root: Path, cursor: str, head: str) -> int:
    for excluded in ([f"^{cursor}"], []) if cursor else ([],):
        try:
            return int(git.run(root, "rev-list", "--count", head, *excluded, "--"))
        except git.GitError:
            continue
    return 0
