"""A SQLite mirror of the decisions for fast lists and full-text search.

Never the truth: missing, stale or broken, it is built again from the files. [ADR-0004] [ADR-0008]
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import apsw
import msgspec
from msgspec import Meta

from orbit.adr.body import anchors, digest, missing
from orbit.adr.citations import Citation, citations_in_markdown
from orbit.adr.envelope import BODY, ENVELOPE, STATUSES, Envelope, Status, is_id, number_of, read_decision
from orbit.adr.globs import contains
from orbit.adr.journal import Journal
from orbit.errors import IntegrityError

VERSION = 2
# A file touched this shortly before it was indexed may change again without a new time stamp, so it is read again.
CLOCK_NS = 20_000_000
LABELS = {"feature": "related_features", "task_id": "related_tasks", "tag": "tags", "path": "paths", "legacy_id": "legacy_ids", "supersedes": "supersedes"}
LegacyId = Annotated[str | None, Meta(description="Number it had before, such as activity-job/ADR-039.")]
Stamp = tuple[int | None, ...]  # time and size of the envelope, then of the body


class Filters(msgspec.Struct, kw_only=True):
    feature: Annotated[str | None, Meta(description="Belongs to this feature.")] = None
    status: Annotated[Status | None, Meta(description="Has this status.")] = None
    owner: Annotated[str | None, Meta(description="Has this owner.")] = None
    task_id: Annotated[str | None, Meta(description="Names this task.")] = None
    tag: Annotated[str | None, Meta(description="Carries this tag, in any case.")] = None
    path: Annotated[str | None, Meta(description="Has a glob that covers this path.")] = None
    since: Annotated[str | None, Meta(description="Last updated at or after this date or UTC time.")] = None
    legacy_id: LegacyId = None


class Entry(msgspec.Struct, kw_only=True):
    """What the index keeps of a decision: enough to list and to lint it without opening its files again."""

    folder: str
    envelope: Envelope | None = None
    unknown: list[str] = []
    problems: list[str] = []
    gaps: list[str] = []
    body_digest: str = ""
    citations: list[Citation] = []
    anchors: list[tuple[str, int]] = []
    error: str | None = None

    @property
    def id(self) -> str:
        return self.folder.partition("/")[2]

    @property
    def status(self) -> str:
        return self.folder.partition("/")[0]

    @property
    def title(self) -> str:
        return self.envelope.title if self.envelope else ""


class Index:
    """The mirror of one store. `current` brings it up to date; the questions below read it."""

    def __init__(self, home: Path, journal: Journal) -> None:
        self._home = home
        self._journal = journal
        self._path = home / "index.sqlite"
        self._db: apsw.Connection | None = None

    def current(self, *, bodies: bool = True) -> Index:
        """Up to date with the files; without `bodies`, as far as envelopes go. Takes the store's lock only when something has changed."""
        self._journal.settle()
        try:
            if self._db is None and self._path.exists():
                self._open()
            is_ours = self._db is not None and self._one("PRAGMA user_version") == VERSION
            if is_ours and not self._differences(scan(self._home, bodies=bodies), bodies=bodies):
                return self
        except apsw.Error:
            self.close()
        if self._home.is_dir():
            try:
                with self._journal.locked():
                    self._refresh()
                return self
            except OSError:  # nothing can be written here
                self.close()
        self._db = self._db or apsw.Connection(":memory:")  # for this process only; a question makes no folder where there was none
        self._update(self._db)
        return self

    def rebuild(self) -> int:
        """Throw the mirror away and build it again; returns how many decisions it holds."""
        with self._journal.locked():
            self._discard()
            self._refresh()
        return int(self._one("SELECT count(*) FROM adrs"))

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    # What it can be asked

    def entries(self, filters: Filters | None = None, limit: int | None = None) -> list[Entry]:
        """Newest number first."""
        where, values = self._where(filters or Filters())
        sql = f"SELECT entry FROM adrs WHERE {where} ORDER BY number DESC, status LIMIT ?"
        return [entry for (entry,) in self._entries(sql, (*values, -1 if limit is None else limit))]

    def count(self, filters: Filters) -> int:
        where, values = self._where(filters)
        return int(self._one(f"SELECT count(*) FROM adrs WHERE {where}", values))

    def highest(self) -> int:
        """The highest number ever given out here, including those that decisions had before they were renumbered."""
        former = [number_of(value) for (value,) in self._run("SELECT value FROM labels WHERE kind = 'legacy_id' AND value GLOB 'ADR-[0-9]*'") if is_id(value)]
        return max([int(self._one("SELECT coalesce(max(number), 0) FROM adrs")), *former])

    def search(self, query: str, filters: Filters, limit: int) -> tuple[list[tuple[Entry, float, str]], int]:
        """(entry, score, snippet) best first, and how many match: all words, or any if none has all."""
        words = re.findall(r"\w+", query)
        for joiner in (" ", " OR "):
            match = joiner.join(f'"{word}"' for word in words)
            where, values = self._where(filters)
            source = f"FROM words JOIN adrs ON adrs.row = words.rowid WHERE words MATCH ? AND {where}"
            total = int(self._one(f"SELECT count(*) {source}", (match, *values))) if words else 0
            if total:
                columns = "entry, -bm25(words, 4.0, 2.0, 1.0) AS score, snippet(words, -1, '[', ']', '…', 24)"
                rows = self._entries(f"SELECT {columns} {source} ORDER BY score DESC, number DESC LIMIT ?", (match, *values, limit))
                return [(entry, score, " ".join(snippet.split())) for entry, score, snippet in rows], total
        return [], 0

    def vectors(self, embedder: str, filters: Filters, embed: Callable[[list[str]], list[bytes]]) -> list[tuple[Entry, bytes, str]]:
        """(entry, vector, body) of every match of `filters`; vectors not yet known are made by `embed` and kept."""
        where, values = self._where(filters)
        sql = f"SELECT row, title, body FROM adrs JOIN words ON words.rowid = row WHERE {where} AND row NOT IN (SELECT row FROM vectors WHERE embedder = ?)"
        missing = list(self._run(sql, (*values, embedder)))
        made = embed([f"{title}\n{body}" for _, title, body in missing]) if missing else []
        for (row, _, _), blob in zip(missing, made, strict=True):
            self._run("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (row, embedder, blob))
        sql = f"SELECT entry, vector, body FROM adrs JOIN vectors USING (row) JOIN words ON words.rowid = adrs.row WHERE embedder = ? AND {where}"
        return list(self._entries(sql, (embedder, *values)))

    def covering(self, path: str) -> list[tuple[Entry, str]]:
        """(entry, glob) for each path glob that covers `path`."""
        return self.labelled("path", lambda glob: contains(glob, path))

    def labelled(self, kind: str, wanted: Callable[[str], bool]) -> list[tuple[Entry, str]]:
        """(entry, value) for each label of a kind whose value is wanted, newest number first."""
        values = [value for value in self._values(kind) if wanted(value)]
        sql = f"SELECT entry, value FROM labels JOIN adrs USING (row) WHERE kind = ? AND value IN ({_marks(values)}) ORDER BY number DESC, value"
        return list(self._entries(sql, (kind, *values)))

    def entries_of(self, adr_ids: Iterable[str]) -> list[Entry]:
        numbers = {number_of(adr_id): adr_id for adr_id in adr_ids}
        found = self._entries(f"SELECT entry FROM adrs WHERE number IN ({_marks(numbers)})", tuple(numbers))
        return [entry for (entry,) in found if entry.id in numbers.values()]

    def _values(self, kind: str) -> list[str]:
        return [value for (value,) in self._run("SELECT DISTINCT value FROM labels WHERE kind = ?", (kind,))]

    def _where(self, filters: Filters) -> tuple[str, tuple[Any, ...]]:
        given = {name: value for name in Filters.__struct_fields__ if (value := getattr(filters, name)) is not None}
        columns = {"status": "status = ?", "owner": "owner = ?", "since": "last_updated >= ?"}
        clauses, values = ["1", *(columns[name] for name in given if name in columns)], [value for name, value in given.items() if name in columns]
        labels: dict[str, list[str]] = {name: [value] for name, value in given.items() if name in ("feature", "task_id", "legacy_id")}
        if filters.tag is not None:
            labels["tag"] = [tag for tag in self._values("tag") if tag.casefold() == filters.tag.casefold()]
        if filters.path is not None:
            labels["path"] = [glob for glob in self._values("path") if contains(glob, filters.path)]
        for kind, wanted in labels.items():
            clauses.append(f"adrs.row IN (SELECT row FROM labels WHERE kind = ? AND value IN ({_marks(wanted)}))")
            values += [kind, *wanted]
        return " AND ".join(clauses), tuple(values)

    # How it is kept

    def _run(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        assert self._db is not None, "asked before current()"
        return iter(self._db.execute(sql, values))

    def _entries(self, sql: str, values: tuple[Any, ...]) -> Iterator[Any]:
        """Rows whose first column is an entry."""
        decoder = msgspec.msgpack.Decoder(Entry)
        return ((decoder.decode(blob), *rest) for blob, *rest in self._run(sql, values))

    def _one(self, sql: str, values: tuple[Any, ...] = ()) -> Any:
        return next(self._run(sql, values))[0]

    def _open(self) -> apsw.Connection:
        self._db = apsw.Connection(str(self._path))
        self._db.set_busy_timeout(10_000)
        self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        return self._db

    def _differences(self, found: dict[str, Stamp], *, bodies: bool = True) -> set[str]:
        """Folders whose row is missing, out of date or left over, or was made too soon after a change to be trusted."""
        columns = "envelope_mtime, envelope_size" + (", body_mtime, body_size" if bodies else "")
        is_recent = f"max(coalesce(envelope_mtime, 0), coalesce(body_mtime, 0)) > indexed_ns - {CLOCK_NS}"
        known = {folder: () if recent else tuple(stamp) for folder, recent, *stamp in self._run(f"SELECT folder, {is_recent}, {columns} FROM adrs")}
        return {folder for folder in known.keys() | found.keys() if known.get(folder) != found.get(folder)}

    def _refresh(self) -> None:
        """The store's lock is held."""
        self._home.mkdir(parents=True, exist_ok=True)
        for attempt in (1, 2):
            try:
                self._update(self._db or self._open())
                break
            except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
                raise OSError(str(error)) from None
            except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError):
                if attempt == 2:
                    raise
                self._discard()

    def _discard(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)

    def _update(self, db: apsw.Connection) -> None:
        with db:
            version = self._one("PRAGMA user_version")
            if version == 0:
                db.execute((Path(__file__).parent / "index.sql").read_text(encoding="utf-8"))
                db.pragma("user_version", VERSION)
            elif version != VERSION:
                raise apsw.CorruptError(f"index version {version}")
            found = scan(self._home)
            for folder in self._differences(found):
                for row in list(db.execute("SELECT row FROM adrs WHERE folder = ?", (folder,))):
                    for table, column in (("adrs", "row"), ("labels", "row"), ("vectors", "row"), ("words", "rowid")):
                        db.execute(f"DELETE FROM {table} WHERE {column} = ?", row)
                if folder in found:
                    self._insert(db, folder, found[folder])

    def _insert(self, db: apsw.Connection, folder: str, stamp: Stamp) -> None:
        indexed = time.time_ns()
        entry, body = summarise(self._home, folder)
        envelope = entry.envelope
        sql = f"INSERT INTO adrs VALUES (NULL, {_marks(range(11))})"
        owner, updated = (envelope.owner, envelope.last_updated) if envelope else ("", "")
        db.execute(sql, (folder, number_of(entry.id), entry.status, owner, full_time(updated) or updated, *stamp, indexed, msgspec.msgpack.encode(entry)))
        row = db.last_insert_rowid()
        if envelope is None:
            return
        labels = [(row, kind, value) for kind, field in LABELS.items() for value in getattr(envelope, field)]
        db.executemany("INSERT INTO labels VALUES (?, ?, ?)", [*labels, *((row, "anchor", anchor) for anchor, _ in entry.anchors)])
        db.execute("INSERT INTO words (rowid, title, tags, body) VALUES (?, ?, ?, ?)", (row, envelope.title, " ".join(envelope.tags), body))


def summarise(home: Path, folder: str) -> tuple[Entry, str]:
    """The index entry of a folder, and its body."""
    try:
        decision = read_decision(home, folder)
    except IntegrityError as error:
        return Entry(folder=folder, error=error.message), ""
    body = decision.body
    told: dict[str, Any] = {"gaps": missing(body), "body_digest": digest(body), "citations": citations_in_markdown(body), "anchors": anchors(body)}
    return Entry(folder=folder, envelope=decision.envelope, unknown=list(decision.unknown), problems=decision.problems, **told), body


def scan(home: Path, *, bodies: bool = True) -> dict[str, Stamp]:
    """Time and size of the envelope, and of the body if wanted, of every decision folder."""
    found: dict[str, Stamp] = {}
    for status in STATUSES:
        folder = home / status
        if not folder.is_dir():
            continue
        # Paths relative to an open folder spare the kernel the walk from the root, ten thousand times.
        opened = os.open(folder, os.O_RDONLY) if os.stat in os.supports_dir_fd else None
        start = "" if opened is not None else f"{folder}/"
        try:
            for name in filter(is_id, os.listdir(folder)):
                envelope = _stat(f"{start}{name}/{ENVELOPE}", opened)
                body = _stat(f"{start}{name}/{BODY}", opened) if bodies or not envelope[0] else ()
                if envelope[0] or body[0]:
                    found[f"{status}/{name}"] = envelope + body if bodies else envelope
        finally:
            if opened is not None:
                os.close(opened)
    return found


def full_time(text: str) -> str | None:
    """A date or time as UTC with microseconds, so that text order is time order; None if it is neither."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|\+00:00)?)?", text)
    return f"{match[1]}T{match[2] or '00:00'}:{match[3] or '00'}.{(match[4] or '').ljust(6, '0')[:6]}Z" if match else None


def _stat(path: str, folder: int | None) -> Stamp:
    try:
        stat = os.stat(path, dir_fd=folder)
    except OSError:
        return None, None
    return stat.st_mtime_ns, stat.st_size


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)
