"""Globs over repository paths: `*` and `?` stay inside one folder, `**` crosses folders, a plain path covers what lies below it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

WILD = re.compile(r"[*?\[]")
TOKEN = re.compile(r"/\*\*$|\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]/]+\]|[\s\S]")


def problem_with(glob: str) -> str | None:
    """Why `glob` cannot be a repository-relative pattern, or None."""
    if not glob or any(ord(char) < 32 for char in glob):
        return "is empty or holds control characters"
    if glob.startswith("/") or re.match(r"[A-Za-z]:", glob):
        return "is not relative to the repository"
    if "\\" in glob:
        return "holds a backslash; separate folders with /"
    if any(part in ("..", ".", "") for part in glob.rstrip("/").split("/")):
        return "holds an empty, '.' or '..' part"
    if glob.count("[") != glob.count("]"):
        return "has an unclosed ["
    return None


@lru_cache(maxsize=8192)
def pattern(glob: str) -> re.Pattern[str]:
    below = "" if WILD.search(glob) else "(?:/.*)?"
    return re.compile("".join(map(_translate, TOKEN.findall(glob.rstrip("/")))) + below)


def contains(glob: str, path: str) -> bool:
    """Whether `glob` covers `path`; a narrower glob in place of a path works too."""
    return path.startswith(prefix(glob)) and pattern(glob).fullmatch(path) is not None


def prefix(glob: str) -> str:
    """The literal beginning that every covered path shares."""
    wild = WILD.search(glob)
    return glob[: wild.start()].rstrip("/") if wild else glob.rstrip("/")


def matches_any(glob: str, paths: Sequence[str]) -> bool:
    """Whether one of the sorted `paths` is covered."""
    start = prefix(glob)
    for path in paths[bisect_left(paths, start) :]:
        if not path.startswith(start):
            return False
        if pattern(glob).fullmatch(path):
            return True
    return False


def _translate(token: str) -> str:
    special = {"/**": "(?:/.*)?", "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if token in special:
        return special[token]
    if len(token) > 1:
        inner = token[1:-1].replace("\\", "\\\\")
        return f"[^/{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]"
    return re.escape(token)
