"""What happened to a stream of linked lines: edits, deletions, insertions, reordering, truncation, forks; each with its line.

First one pass that holds nothing: is every line untouched and does it follow the one before? Only if not, the file is looked at as a whole: from the
anchored head (else the last line) back along `prev_hash`. What lies on that way is the history; gaps in it were deleted, lines beside it were inserted or fork.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from orbit.runs.chain import GENESIS, is_untouched, parse
from orbit.runs.manifest import StreamAnchor


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """`kind` is one of edited, deleted, inserted, reordered, truncated, forked, unreadable, unanchored, changed, missing."""

    kind: str
    file: str
    line: int | None = None
    message: str


class StreamEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What a pass over a stream found: its length, its last hash, and whether it is one unbroken chain."""

    count: int
    head: str
    is_whole: bool
    holds_anchor: bool


class Entry(msgspec.Struct):
    """One line. The links are as written, true or not; `untouched` says whether its own hash holds."""

    line: int
    seq: int
    prev: str
    hash: str
    untouched: bool


def scan(path: Path, anchor: str | None) -> StreamEnd:
    """Follow the chain once, holding one hash."""
    count, head, is_whole, holds_anchor = 0, GENESIS, True, anchor is None
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                record = parse(line)
                if record is None or not line.endswith(b"\n") or not is_untouched(line[:-1], record):
                    is_whole = False
                    continue
                is_whole = is_whole and record.get("seq") == count + 1 and record.get("prev_hash") == head
                count, head = count + 1, str(record["hash"])
                holds_anchor = holds_anchor or head == anchor
    return StreamEnd(count=count, head=head, is_whole=is_whole, holds_anchor=holds_anchor)


def find_problems(path: Path, anchor: StreamAnchor | None, *, pinned: str | None = None) -> tuple[StreamEnd, list[Problem]]:
    """Everything wrong with the stream at `path`. `anchor` is where the run says it ended, `pinned` a hash kept elsewhere."""
    end = scan(path, pinned)
    problems = [] if end.is_whole else _diagnose(path, anchor.head if anchor else None)
    if anchor is not None and (end.count, end.head) != (anchor.count, anchor.head):
        problems += _against_anchor(path, end, anchor, problems)
    if not end.holds_anchor:
        problems.append(
            Problem(kind="forked", file=path.name, message=f"the anchor {pinned} is nowhere in this history: it was replaced, or cut off before it")
        )
    return end, sorted(problems, key=lambda problem: (problem.line or 1 << 60, problem.kind))


def _against_anchor(path: Path, end: StreamEnd, anchor: StreamAnchor, known: list[Problem]) -> list[Problem]:
    entries, _ = _entries(path)
    at = next((entry for entry in entries if entry.hash == anchor.head), None)
    last = entries[-1].line if entries else 0
    if at is not None:
        added = [entry.line for entry in entries if entry.line > at.line]
        where = added[0] if added else at.line
        return (
            [Problem(kind="inserted", file=path.name, line=where, message=f"{len(added)} lines were added after the anchored end, line {at.line}")]
            if added
            else []
        )
    if end.count < anchor.count and (end.is_whole or not known):
        cut = f"truncated after line {last}: {anchor.count - end.count} of {anchor.count} events are gone"
        return [Problem(kind="truncated", file=path.name, line=last, message=cut)]
    if any(entry.seq < anchor.count for entry in entries) and max((entry.seq for entry in entries), default=0) < anchor.count:
        return [Problem(kind="truncated", file=path.name, line=last, message=f"truncated: the anchored end, event {anchor.count}, is gone")]
    if end.is_whole:
        return [Problem(kind="forked", file=path.name, line=last, message="an unbroken history, but not the anchored one: it was written anew")]
    return []


def _entries(path: Path) -> tuple[list[Entry], list[Problem]]:
    entries: list[Entry] = []
    problems: list[Problem] = []
    if not path.exists():
        return entries, problems
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            record = parse(line)
            if record is None or not isinstance(record.get("seq"), int):
                reason = "not an event" if line.endswith(b"\n") else "torn: the line has no end"
                problems.append(Problem(kind="unreadable", file=path.name, line=number, message=f"line {number} is {reason}"))
                continue
            untouched = is_untouched(line.removesuffix(b"\n"), record)
            entries.append(Entry(number, record["seq"], str(record.get("prev_hash")), str(record.get("hash")), untouched))
            if not untouched:
                problems.append(
                    Problem(kind="edited", file=path.name, line=number, message=f"line {number} (event {record['seq']}) is not what its hash was made of")
                )
            elif not line.endswith(b"\n"):
                problems.append(Problem(kind="unreadable", file=path.name, line=number, message=f"line {number} has lost its end"))
    return entries, problems


def _diagnose(path: Path, anchored: str | None) -> list[Problem]:
    entries, problems = _entries(path)
    first: dict[str, Entry] = {}
    for entry in entries:
        first.setdefault(entry.hash, entry)
    tip = first.get(anchored or "") or (max(entries, key=lambda entry: (entry.seq, entry.line)) if entries else None)
    way: list[Entry] = []
    on_way: set[int] = set()
    here = tip
    while here is not None and here.line not in on_way:
        way.append(here)
        on_way.add(here.line)
        before, problem = _predecessor(here, entries, first, on_way, path.name)
        problems += [problem] if problem else []
        here = before
    problems += _order(reversed(way), path.name)
    seen = {problem.line for problem in problems if problem.kind == "edited"}
    problems += [_beside(entry, first, tip, path.name) for entry in entries if entry.line not in on_way and entry.line not in seen]
    return problems


def _predecessor(here: Entry, entries: list[Entry], first: dict[str, Entry], on_way: set[int], file: str) -> tuple[Entry | None, Problem | None]:
    """The line `here` says it follows; if that is gone, the nearest before it, and what is missing between."""
    linked = first.get(here.prev)
    if linked is not None and linked.line not in on_way:
        return linked, None
    if here.prev == GENESIS and here.seq == 1:
        return None, None
    older = [entry for entry in entries if entry.seq < here.seq and entry.line not in on_way]
    nearest = max(older, key=lambda entry: (entry.seq, not entry.untouched, entry.line), default=None)
    known = nearest.seq if nearest else 0
    if nearest is not None and nearest.seq == here.seq - 1:
        if not nearest.untouched or not here.untouched:
            return nearest, None  # already named as edited
        message = f"line {nearest.line} (event {nearest.seq}) is not the event that line {here.line} followed: it was replaced"
        return nearest, Problem(kind="edited", file=file, line=nearest.line, message=message)
    if here.seq - known <= 1:
        return nearest, None if not here.untouched else Problem(
            kind="edited", file=file, line=here.line, message=f"line {here.line} follows no line of this file"
        )
    gone = f"event {known + 1}" if here.seq - known == 2 else f"events {known + 1} to {here.seq - 1}"
    return nearest, Problem(kind="deleted", file=file, line=here.line, message=f"{gone} gone before line {here.line}")


def _order(way: Iterable[Entry], file: str) -> list[Problem]:
    """Lines of the history that stand before a line they came after."""
    problems = []
    lowest = 0
    for entry in way:
        if entry.line < lowest:
            message = f"line {entry.line} (event {entry.seq}) stands before event {entry.seq - 1}, which it followed"
            problems.append(Problem(kind="reordered", file=file, line=entry.line, message=message))
        lowest = max(lowest, entry.line)
    return problems


def _beside(entry: Entry, first: dict[str, Entry], tip: Entry | None, file: str) -> Problem:
    """A line the history does not go through."""
    original = first[entry.hash]
    if original.line != entry.line:
        return Problem(kind="inserted", file=file, line=entry.line, message=f"line {entry.line} is a copy of line {original.line}")
    if tip is not None and entry.seq >= tip.seq:
        return Problem(
            kind="forked", file=file, line=entry.line, message=f"line {entry.line} (event {entry.seq}) belongs to another branch than line {tip.line}"
        )
    follows = first.get(entry.prev)
    said = f"line {entry.line} (event {entry.seq}) was inserted" + (f" after line {follows.line}" if follows else "")
    return Problem(kind="inserted", file=file, line=entry.line, message=f"{said}: nothing in the history follows it")
