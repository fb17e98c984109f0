"""Which files a worktree has, and which of them mention something. git decides where there is git, a walk elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

from orbit.errors import RefusedError
from orbit.git import run


def git(root: Path, *arguments: str) -> bytes | None:
    """Output of a git command, or None if it failed or there is no git."""
    try:
        return run(root, *arguments)
    except RefusedError:
        return None


def files(root: Path) -> list[str]:
    """All files that are tracked or could be, sorted."""
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is None:
        return sorted(_walk(root))
    deleted = git(root, "ls-files", "-z", "--deleted") or b""
    return sorted(set(os.fsdecode(listed).split("\0")) - set(os.fsdecode(deleted).split("\0")) - {""})


def files_with(root: Path, text: str) -> list[str]:
    """Text files among `files` that hold the literal `text`, sorted."""
    if git(root, "rev-parse", "--git-dir") is not None:
        found = git(root, "grep", "-l", "-z", "-I", "-F", "--untracked", "--exclude-standard", "--no-color", "-e", text)
        return sorted(set(os.fsdecode(found or b"").split("\0")) - {""})
    return [path for path in files(root) if holds(root / path, text)]


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
