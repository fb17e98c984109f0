"""What a change needs to read, in one call: sources and summaries of the selected things, within a budget of tokens and of time.

First every selected thing with its signature or summary, in the order given; then bodies, as far as the budget goes: of symbols and
commands, of files and modules, last the outlines of the files of a folder. A body that does not fit is passed over, smaller ones after it may still fit.
The budget covers the entries, as Markdown and as JSON alike; the list of what was not resolved comes on top.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Literal

import apsw
import msgspec
from msgspec import UNSET, Meta, UnsetType

from orbit.errors import AmbiguousError, NotFoundError, OrbitError, SelectorSyntaxError, UsageError
from orbit.graph.query.answer import GraphAnswer
from orbit.graph.query.fresh import read_source
from orbit.graph.query.pack_text import PackEntry, entry_markdown
from orbit.graph.query.scope import Scope
from orbit.graph.query.target import File, Symbol, clean, find_target, read_file
from orbit.graph.selector import Selector, guess_path, parse

BYTES_PER_TOKEN = 4
ESTIMATE = "estimate: bytes / 4"
GROUP = "orbit.tokenizers"
MAX_TOKENS = 4_000
TIMEOUT_MS = 15_000
SIGNATURES = "SELECT line, signature FROM symbol s WHERE s.id >= ? AND s.id < ?"
LONGEST_OUTLINE = 400  # symbols a file's summary names at most
LONGEST_LISTING = 200  # files a folder's summary names at most

Count = Callable[[str], int]  # tokens of a text
Reason = Literal["not_found", "ambiguous", "outside_indexed_roots", "stale", "timeout", "over_budget"]


class PackParams(msgspec.Struct):
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


def pack(db: apsw.Connection, ask: PackParams, root: Path, *, count: Count, counted_as: str) -> PackAnswer:
    """Resolve, sign, fill. Same graph, same files, same selectors: same answer, unless time runs out."""
    deadline = time.monotonic() + ask.timeout_ms / 1000
    answer = PackAnswer(entries=[], unresolved=[], tokens=0, token_budget=ask.max_tokens, token_count=counted_as, truncated=False)
    packing = _Packing(db, root, answer, count, deadline)
    for text in dict.fromkeys(map(clean, ask.selectors)):
        packing.add(text)
    packing.fill()
    return answer


def estimate(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def find_counter(name: str | None) -> tuple[str, Count]:
    """(how it counts, the function) for a configured tokenizer, an entry point of group `orbit.tokenizers`: from text to a number; else the estimate.

    Only installed packages are asked, so a cloned repository cannot make Orbit run code of its own.
    """
    if not name:
        return ESTIMATE, estimate
    from importlib.metadata import entry_points  # costs a tenth of a command's start

    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        known = ", ".join(sorted(point.name for point in entry_points(group=GROUP))) or "none"
        raise UsageError(f"no installed package offers a tokenizer {name!r}", hint=f"installed: {known}; without `[graph] tokenizer` tokens are estimated")
    load: Count = found[0].load()
    return f"tokenizer: {name}", load


class _Packing:
    def __init__(self, db: apsw.Connection, root: Path, answer: PackAnswer, count: Count, deadline: float) -> None:
        self.db, self.root, self.answer, self.count, self.deadline = db, root, answer, count, deadline
        self.read = cache(partial(read_source, db, root))  # a file at most once
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
        if found is None:
            return self.leave(text, self.absence(text))
        if isinstance(found, Scope):
            return self.add_folder(text, found)
        content, is_fresh = self.read(found.path)
        if content is None or not is_fresh:
            return self.leave(text, "stale")
        if isinstance(found, Symbol):
            source = content[found.start : found.end].decode("utf-8", "replace")
            entry = PackEntry(
                selector=found.selector, kind=found.kind, path=found.path, lang=found.lang, lines=(found.line, found.end_line), signature=found.signature,
                summary=self.members(found),
            )  # fmt: skip
            return self.keep(text, entry, 0, source)
        last = max(1, content.count(b"\n") + (not content.endswith(b"\n")))
        summary = self.outline(found.id) or f"{last} lines\n"
        entry = PackEntry(selector=found.selector, kind="file", path=found.path, lang=found.lang, lines=(1, last), signature="", summary=summary)
        return self.keep(text, entry, 1, content.decode("utf-8", "replace"))

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
        selector = parse(clean(text), self.root)
        guess = guess_path(selector)
        if selector.kind == "dir":
            return self.folder(selector.path)
        try:
            return find_target(self.db, text, self.root, with_near=False)
        except (NotFoundError, UsageError):
            return self.folder(guess.path) if guess is not None else None

    def folder(self, path: str) -> Scope | None:
        scope = Scope("dir:.") if path == "." else Scope(str(Selector("dir", path=path)), f"{path}/", f"{path}0")
        return scope if self.db.execute(f"SELECT 1 FROM file f WHERE {scope.where} LIMIT 1", scope.values).get else None

    def absence(self, text: str) -> Reason:
        """Is it nowhere, or only not in the graph?"""
        selector = parse(clean(text), self.root)
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
