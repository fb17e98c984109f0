"""Numbers that two branches gave to different decisions. git merges them without a word, so somebody has to look."""

from __future__ import annotations

import os
from pathlib import Path

from orbit.adr.decision import ENVELOPE
from orbit.adr.envelope import STATUSES, decode
from orbit.adr.ids import is_id
from orbit.adr.worktree import git
from orbit.errors import IntegrityError, UsageError

HOME = ".orbit/adrs"


def ids_at(root: Path, revision: str) -> dict[str, str]:
    """id -> folder of every decision in a commit."""
    listed = git(root, "ls-tree", "-r", "-z", "--name-only", revision, "--", f"{HOME}/")
    if listed is None:
        raise UsageError(f"git knows no revision {revision!r}", hint="name a branch, tag or commit, such as origin/main")
    parts = [path.split("/") for path in os.fsdecode(listed).split("\0") if path.endswith("/" + ENVELOPE)]
    return {part[3]: f"{part[2]}/{part[3]}" for part in parts if len(part) == 5 and part[2] in STATUSES and is_id(part[3])}


def collisions(root: Path, ours: dict[str, tuple[str, str]], revision: str) -> dict[str, str]:
    """id -> title over there, for ids given out on both sides since they parted. `ours`: id -> (created_at, title)."""
    theirs = ids_at(root, revision)
    parted = (git(root, "merge-base", "HEAD", revision) or b"").decode().strip()
    shared = ids_at(root, parted) if parted else {}
    found = {}
    for adr_id in sorted(ours.keys() & theirs.keys()):
        there = _identity(root, revision, theirs[adr_id])
        before = _identity(root, parted, shared[adr_id]) if adr_id in shared else None
        if not _is_same(ours[adr_id], there) and not (before and _is_same(ours[adr_id], before)):
            found[adr_id] = there[1]
    return found


def _is_same(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Created at the same moment; where the moment is only a day, as after an import, the title has to agree as well."""
    return one[0] == other[0] and (one[1] == other[1] or "." in one[0])


def _identity(root: Path, revision: str, folder: str) -> tuple[str, str]:
    """When it was created and what it is called: together they tell two decisions with one number apart."""
    raw = git(root, "show", f"{revision}:./{HOME}/{folder}/{ENVELOPE}") or b""
    try:
        envelope, _ = decode(raw.decode(errors="replace"), f"{revision}:{folder}")
    except IntegrityError:
        return "", "(unreadable)"
    return envelope.created_at, envelope.title
