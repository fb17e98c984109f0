"""Which symbols a diff touches: the innermost ones whose lines it changed. Symbols that are gone are in no graph and are not found."""

from __future__ import annotations

import re
from pathlib import Path

import apsw

from orbit import git
from orbit.errors import UsageError
from orbit.graph.query.target import COLUMNS, SYMBOL_SHIFT, Symbol

_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def changed_symbols(db: apsw.Connection, root: Path, revision: str) -> list[Symbol]:
    """Symbols touched between a revision and the files on disk, by path and position."""
    if revision.startswith("-") or not revision.strip():
        raise UsageError(f"{revision!r} is no revision", hint="for example HEAD~1, main, or a commit")
    text = git.run(root, "diff", "--no-color", "--no-ext-diff", "-U0", "--no-renames", "--relative", "-z", "--name-only", revision, "--")
    found = []
    for path in sorted(git.decode(name) for name in text.split(b"\0") if name):
        file = db.execute("SELECT id FROM file WHERE path = ?", (path,)).get
        if file is not None:
            found += _touched(db, file, changed_lines(root, revision, path))
    return found


def changed_lines(root: Path, revision: str, path: str) -> list[tuple[int, int]]:
    """First and last line of each changed stretch of a file as it is now; for lines only removed, the line before."""
    text = git.run(root, "diff", "--no-color", "--no-ext-diff", "-U0", "--no-renames", revision, "--", f":(literal){path}")
    lines = []
    for line in text.split(b"\n"):
        match = _HUNK.match(line)
        if match is not None:
            start, count = int(match[1]), int(match[2] or b"1")
            lines.append((start, start + max(count, 1) - 1))
    return lines


def _touched(db: apsw.Connection, file: int, lines: list[tuple[int, int]]) -> list[Symbol]:
    """The innermost symbols of a file that hold some of the lines."""
    bounds = (file << SYMBOL_SHIFT, (file + 1) << SYMBOL_SHIFT)
    held = [Symbol(*row) for row in db.execute(f"{COLUMNS} WHERE s.id >= ? AND s.id < ? ORDER BY s.id", bounds)]
    owners = [-1] * (max((symbol.end_line for symbol in held), default=0) + 1)  # by line: the innermost symbol, painted over those around it
    for at, symbol in sorted(enumerate(held), key=lambda item: (item[1].start - item[1].end, item[0])):
        owners[symbol.line : symbol.end_line + 1] = [at] * (symbol.end_line + 1 - symbol.line)
    found = {owner for first, last in lines for owner in owners[first : last + 1] if owner >= 0}
    return [held[at] for at in sorted(found)]
