"""What a change needs to read, in one call: sources and summaries of the selected things, within a budget of tokens and of time.

First every selected thing with its signature or summary, in the order given; then bodies, as far as the budget goes: of symbols and
commands, of files and modules, last the outlines of the files of a folder. A body that does not fit is passed over, smaller ones after it may still fit.
The budget covers the entries, as Markdown and as JSON alike; the list of what was not resolved comes on top.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Literal

import apsw
import msgspec
import xxhash
from msgspec import UNSET, Meta, UnsetType

from orbit.errors import AmbiguousError, NotFoundError, OrbitError, SelectorSyntaxError
from orbit.graph.query.answer import GraphAnswer
from orbit.graph.query.pack_text import PackEntry, entry_markdown
from orbit.graph.query.scope import Scope
from orbit.graph.query.target import (
    File,
    Symbol,
    as_text,
    at_line,
    choose_file,
    commands_of_name,
    files_ending,
    find_target,
    in_named_file,
    prefer_members,
    read_file,
    settle,
    symbols_of_name,
    symbols_of_selector,
)
from orbit.graph.query.tokens import Count
from orbit.graph.selector import Selector, guess_path, parse

MAX_TOKENS = 4_000
TIMEOUT_MS = 15_000
SIGNATURES = "SELECT line, t.value FROM symbol s JOIN text t ON t.id = s.signature WHERE s.id >= ? AND s.id < ?"
LONGEST_OUTLINE = 400  # symbols a file's summary names at most
LONGEST_LISTING = 200  # files a folder's summary names at most

Reason = Literal["not_found", "ambiguous", "outside_indexed_roots", "stale", "timeout", "over_budget"]


class PackParams(msgspec.Struct, kw_only=True):
    selectors: Annotated[
        list[str],
        Meta(
            description="symbol:<path>#<name>[:<kind>], file:<path>, dir:<path>, module:<qualified>, command:<name>, or names; as many as wanted.",
            extra={"cli": {"argument": True}},
        ),
    ]
    max_tokens: Annotated[int, Meta(ge=0, description="How many tokens the entries may cost together.")] = MAX_TOKENS
    timeout_ms: Annotated[int, Meta(ge=0, description="Give back what was reached by then.")] = TIMEOUT_MS
    refresh: Annotated[bool, Meta(description="Sync first; without it the graph is read as it is.")] = False


class Unresolved(msgspec.Struct, kw_only=True):
    """A selector without an entry, and why: see `reason`."""

    selector: str
    reason: Reason
    candidates: list[str] | UnsetType = UNSET
    hint: str | UnsetType = UNSET


class PackAnswer(GraphAnswer, kw_only=True):
    """Entries in the order of the selectors; `truncated`: something is shorter than it could be, or missing."""

    entries: list[PackEntry]
    unresolved: list[Unresolved]
    tokens: int
    token_budget: int
    token_count: str
    truncated: bool


class _Body(msgspec.Struct):
    """What an entry could hold besides its signature; `rank` is closeness, the nearest first."""

    rank: int
    entry: int
    source: str


class _Sources:
    """Bytes of files, read once and checked against what the graph was made from."""

    def __init__(self, db: apsw.Connection, root: Path) -> None:
        self.db, self.root = db, root
        self._held: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """The bytes the graph knows; None when the file has others now."""
        if path not in self._held:
            self._held[path] = self._load(path)
        return self._held[path]

    def _load(self, path: str) -> bytes | None:
        full = self.root / path
        try:
            if full.is_symlink() or not full.resolve().is_relative_to(self.root):
                return None
            with open(os.fspath(full), "rb") as file:
                content = file.read()
        except OSError:
            return None
        stored = self.db.execute("SELECT hash FROM file WHERE path = ?", (path,)).get
        return content if xxhash.xxh3_128_digest(content) == stored else None


def pack(db: apsw.Connection, ask: PackParams, root: Path, *, count: Count, counted_as: str) -> PackAnswer:
    """Resolve, sign, fill. Same graph, same files, same selectors: same answer, unless time runs out."""
    deadline = time.monotonic() + ask.timeout_ms / 1000
    answer = PackAnswer(entries=[], unresolved=[], tokens=0, token_budget=ask.max_tokens, token_count=counted_as, truncated=False)
    packing = _Packing(db, root, answer, count, deadline)
    for text in dict.fromkeys(map(as_text, ask.selectors)):
        packing.add(text)
    packing.fill()
    return answer


class _Packing:
    def __init__(self, db: apsw.Connection, root: Path, answer: PackAnswer, count: Count, deadline: float) -> None:
        self.db, self.root, self.answer, self.count, self.deadline = db, root, answer, count, deadline
        self.sources = _Sources(db, root)
        self.bodies: list[_Body] = []
        self.seen: set[str] = set()
        self.costs: list[int] = []

    def is_late(self) -> bool:
        return time.monotonic() >= self.deadline

    def leave(self, text: str, reason: Reason, error: OrbitError | None = None) -> None:
        left = Unresolved(selector=text, reason=reason)
        if error is not None and error.candidates:
            left.candidates = error.candidates[:5]
        if reason == "stale":
            left.hint = "the file changed since the sync; `--refresh` syncs first"
        self.answer.unresolved.append(left)

    def add(self, text: str) -> None:
        """One selector: an entry with its signature, or a reason."""
        if self.is_late():
            self.answer.truncated = True
            return self.leave(text, "timeout")
        try:
            found = self.resolve(text)
        except AmbiguousError as error:
            return self.leave(text, "ambiguous", error)
        except SelectorSyntaxError as error:
            return self.leave(text, "outside_indexed_roots" if "leaves the worktree" in error.message else "not_found")
        except (NotFoundError, OrbitError) as error:
            return self.leave(text, self.absence(text), error)
        if found is None:
            return self.leave(text, self.absence(text))
        if isinstance(found, Scope):
            return self.add_folder(text, found)
        content = self.sources.read(found.path)
        if content is None:
            return self.leave(text, "stale")
        if isinstance(found, Symbol):
            source = content[found.start : found.end].decode("utf-8", "replace")
            entry = PackEntry(
                selector=found.selector, kind=found.kind, path=found.path, lang=found.lang, lines=(found.line, found.end_line), signature=found.signature,
                summary=self.members(found),
            )  # fmt: skip
            return self.keep(text, entry, 0, source)
        return self.keep(text, self.file_entry(found, content), 1, content.decode("utf-8", "replace"))

    def keep(self, text: str, entry: PackEntry, rank: int, body: str | None) -> None:
        if entry.selector in self.seen:
            return
        cost = self.cost(entry)
        if self.answer.tokens + cost > self.answer.token_budget:
            entry = msgspec.structs.replace(entry, summary="")
            cost = self.cost(entry)
        if self.answer.tokens + cost > self.answer.token_budget:
            self.answer.truncated = True
            self.leave(text, "over_budget")
            return
        self.seen.add(entry.selector)
        self.answer.tokens += cost
        self.costs.append(cost)
        self.answer.entries.append(entry)
        if body is not None:
            self.bodies.append(_Body(rank, len(self.answer.entries) - 1, body))

    def cost(self, entry: PackEntry) -> int:
        """The dearer of the two forms an entry may be read in."""
        return max(self.count(entry_markdown(entry)), self.count(msgspec.json.encode(entry).decode() + "[]"))  # or a comma and half a bracket

    def fill(self) -> None:
        """Bodies in order of closeness, then of the selectors."""
        for body in sorted(self.bodies, key=lambda body: (body.rank, body.entry)):
            held = self.answer.entries[body.entry]
            if self.is_late():
                self.answer.truncated = True
                return
            if self.answer.tokens + len(body.source) // 64 > self.answer.token_budget + self.costs[body.entry]:  # no tokenizer is that good
                self.answer.truncated = True
                continue
            full = msgspec.structs.replace(held, **({"summary": body.source} if held.kind == "dir" else {"source": body.source, "summary": UNSET}))
            cost = self.cost(full)
            if self.answer.tokens - self.costs[body.entry] + cost <= self.answer.token_budget:
                self.answer.entries[body.entry] = full
                self.answer.tokens += cost - self.costs[body.entry]
            else:
                self.answer.truncated = True

    # --- what a selector means

    def resolve(self, text: str) -> Symbol | File | Scope | None:
        """Like the other questions, but without looking for names near a wrong one: a thousand wrong ones must not take long."""
        selector = parse(text.encode("utf-8", "replace").decode(), self.root)
        if selector.kind == "dir":
            return self.folder(selector.path)
        if selector.kind == "file":
            return read_file(self.db, selector.path)
        if selector.kind == "symbol":
            return _only(str(selector), symbols_of_selector(self.db, selector)) if read_file(self.db, selector.path) or "#" in selector.name else None
        if selector.kind == "command":
            return find_target(self.db, text, self.root) if commands_of_name(self.db, selector.name) else None
        found = symbols_of_name(self.db, selector.name)
        if selector.kind == "module":
            return find_target(self.db, text, self.root) if found or self.is_module(selector.name) else None
        if found:
            return _only(selector.name, prefer_members(found))
        if self.is_module(selector.name):
            return find_target(self.db, selector.name, self.root)
        return self.by_path(selector) or _only(selector.name, in_named_file(self.db, selector.name))

    def by_path(self, selector: Selector) -> Symbol | File | Scope | None:
        """What a bare path means: a file, what stands at a line of it, a folder, a file by the end of its path."""
        guess = guess_path(selector)
        if guess is None:
            return None
        file = read_file(self.db, guess.path) if guess.kind == "file" else None
        if file is not None:
            return at_line(self.db, file, selector.name)
        if (folder := self.folder(guess.path)) is not None:
            return folder
        files = files_ending(self.db, guess.path)
        return files[0] if len(files) == 1 else choose_file(selector.name, files) if files else None

    def is_module(self, name: str) -> bool:
        return bool(self.db.execute("SELECT 1 FROM file f JOIN text m ON m.id = f.module WHERE m.value = ? LIMIT 1", (name,)).get)

    def folder(self, path: str) -> Scope | None:
        scope = Scope("dir:.") if path == "." else Scope(str(Selector("dir", path=path)), f"{path}/", f"{path}0")
        return scope if self.db.execute(f"SELECT 1 FROM file f WHERE {scope.where} LIMIT 1", scope.values).get else None

    def absence(self, text: str) -> Reason:
        """Is it nowhere, or only not in the graph?"""
        try:
            selector = parse(text, self.root)
        except SelectorSyntaxError:
            return "not_found"
        guess = selector if selector.path else guess_path(selector)
        if guess is None or not guess.path or read_file(self.db, guess.path) is not None:
            return "not_found"
        return "outside_indexed_roots" if os.path.lexists(self.root / guess.path) else "not_found"

    # --- summaries

    def members(self, symbol: Symbol) -> str:
        """Signatures of what stands inside a symbol; for one without members, its length."""
        rows = list(
            self.db.execute(
                f"{SIGNATURES} AND start >= ? AND end <= ? AND s.id != ? AND parent = ? ORDER BY start, s.id LIMIT ?",
                (symbol.file << 20, (symbol.file + 1) << 20, symbol.start, symbol.end, symbol.id, symbol.id, LONGEST_OUTLINE),
            )
        )
        count = symbol.end_line - symbol.line + 1
        return "".join(f"{line}: {signature}\n" for line, signature in rows) or f"{count} line{'s' if count != 1 else ''}\n"

    def file_entry(self, file: File, content: bytes) -> PackEntry:
        last = max(1, content.count(b"\n") + (not content.endswith(b"\n")))
        summary = self.outline(file.id) or f"{last} lines\n"
        return PackEntry(selector=file.selector, kind="file", path=file.path, lang=file.lang, lines=(1, last), signature="", summary=summary)

    def outline(self, file: int) -> str:
        bounds = (file << 20, (file + 1) << 20)
        rows = self.db.execute(f"{SIGNATURES} ORDER BY start, s.id LIMIT ?", (*bounds, LONGEST_OUTLINE + 1))
        lines = [f"{line}: {signature}\n" for line, signature in rows if signature]
        return "".join(lines[:LONGEST_OUTLINE]) + (f"… more than {LONGEST_OUTLINE} symbols\n" if len(lines) > LONGEST_OUTLINE else "")

    def add_folder(self, text: str, scope: Scope) -> None:
        """A folder: its files with the number of their symbols; as body, the same with outlines."""
        files = list(self.db.execute(f"SELECT f.id, f.path, f.lang FROM file f WHERE {scope.where} ORDER BY f.path", scope.values))
        counts = {
            file: self.db.execute("SELECT count(*) FROM symbol WHERE id >= ? AND id < ?", (file << 20, (file + 1) << 20)).get
            for file, _, _ in files[:LONGEST_LISTING]
        }
        lines = [f"{path} ({lang}, {counts[file]} symbols)\n" for file, path, lang in files[:LONGEST_LISTING]]
        more = f"… {len(files) - LONGEST_LISTING} more files\n" if len(files) > LONGEST_LISTING else ""
        path = scope.selector.removeprefix("dir:")
        entry = PackEntry(selector=scope.selector, kind="dir", path=path, lang="", lines=None, signature="", summary="".join(lines) + more)
        room = (self.answer.token_budget - self.answer.tokens) * 8
        outlines, used = [], 0
        for (file, _, _), line in zip(files, lines, strict=False):
            outlines.append(line + "".join(f"  {row}\n" for row in self.outline(file).splitlines()))
            used += len(outlines[-1])
            if used > room or self.is_late():
                break
        self.keep(text, entry, 2, "".join(outlines) + more if len(outlines) == len(lines) else None)
        if len(outlines) < len(lines) or more:
            self.answer.truncated = True


def _only(text: str, found: list[Symbol]) -> Symbol | None:
    """The one that is meant."""
    found = settle(found)
    if len(found) > 1:
        raise AmbiguousError(text, [symbol.selector for symbol in sorted(found, key=lambda symbol: symbol.is_demoted)[:20]], total=len(found))
    return found[0] if found else None
