"""Which files a worktree has, which of them mention something, and which numbers another branch gave out. git decides where there is git, a walk elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from orbit.adr.envelope import ENVELOPE, STATUSES, decode, is_id
from orbit.adr.globs import contains
from orbit.config import Workspace
from orbit.errors import IntegrityError, UsageError
from orbit.git import ask, split

HOME = ".orbit/adrs"


def files(root: Path) -> list[str]:
    """All files that are tracked or could be, sorted."""
    listed = ask(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is None:
        return sorted(_walk(root))
    return sorted(set(split(listed)) - set(split(ask(root, "ls-files", "-z", "--deleted") or b"")))


def files_with(root: Path, text: str) -> list[str]:
    """Text files among `files` that hold the literal `text`, sorted."""
    if ask(root, "rev-parse", "--git-dir") is not None:
        found = ask(root, "grep", "-l", "-z", "-I", "-F", "--untracked", "--exclude-standard", "--no-color", "-e", text)
        return sorted(set(split(found or b"")))
    return [path for path in files(root) if holds(root / path, text)]


def citing(workspace: Workspace, paths: Iterable[str]) -> list[str]:
    """The files among `paths` whose citations count: none of Orbit's own, none that the configuration leaves out."""
    excluded = workspace.setting("adr", "exclude", [])
    return [path for path in paths if not path.startswith(".orbit/") and not any(contains(glob, path) for glob in excluded)]


def holds(path: Path, text: str) -> bool:
    try:
        raw = path.read_bytes()
    except OSError:
        return False
    return text.encode() in raw and b"\0" not in raw[:8192]


def _walk(root: Path) -> list[str]:
    found = []
    for folder, names, leaves in os.walk(root):
        names[:] = [name for name in names if name not in (".git", "node_modules", "__pycache__", ".venv")]
        found += [Path(folder, leaf).relative_to(root).as_posix() for leaf in leaves]
    return found


def ids_at(root: Path, revision: str) -> dict[str, str]:
    """id -> folder of every decision in a commit."""
    listed = ask(root, "ls-tree", "-r", "-z", "--name-only", revision, "--", f"{HOME}/")
    if listed is None:
        raise UsageError(f"git knows no revision {revision!r}", hint="name a branch, tag or commit, such as origin/main")
    parts = [path.split("/") for path in split(listed) if path.endswith("/" + ENVELOPE)]
    return {part[3]: f"{part[2]}/{part[3]}" for part in parts if len(part) == 5 and part[2] in STATUSES and is_id(part[3])}


def collisions(root: Path, ours: dict[str, tuple[str, str]], revision: str) -> dict[str, str]:
    """id -> title over there, for ids given out on both sides since they parted. `ours`: id -> (created_at, title)."""
    theirs = ids_at(root, revision)
    parted = (ask(root, "merge-base", "HEAD", revision) or b"").decode().strip()
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
    raw = ask(root, "show", f"{revision}:./{HOME}/{folder}/{ENVELOPE}") or b""
    try:
        envelope, _ = decode(raw.decode(errors="replace"), f"{revision}:{folder}")
    except IntegrityError:
        return "", "(unreadable)"
    return envelope.created_at, envelope.title
