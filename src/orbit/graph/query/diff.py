"""What a diff changes and what that touches: symbols, other code, tests that reach it, and what the graph cannot see of it.

Lines are those of the new side, so the graph should be that of the files the diff leads to: sync first. A changed line belongs to the
innermost symbol that holds it; lines outside all symbols are the file's own. Lines only taken away count for the line before them.
"""

from __future__ import annotations

from pathlib import Path

import apsw
import msgspec

from orbit import git
from orbit.errors import NotFoundError, UsageError
from orbit.graph.patch import GITLINK, Change, read_diff
from orbit.graph.query.fresh import read_source, stale_files
from orbit.graph.query.impact import CAP, ImpactAnswer, ImpactParams, Unseen, impact_of, importing
from orbit.graph.query.reach import Reach
from orbit.graph.query.target import COLUMNS, SYMBOL_SHIFT, File, Symbol, read_file

MOST_CHANGED = 1_000  # symbols whose impact is followed
MOST_TESTS = 500


class Changed(msgspec.Struct):
    """What a diff touches: symbols by path and position, files by lines outside symbols, and what cannot be told."""

    symbols: list[Symbol] = []
    files: list[File] = []
    paths: list[str] = []
    unseen: list[Unseen] = []


def impact_of_diff(db: apsw.Connection, ask: ImpactParams, changed: Changed) -> ImpactAnswer:
    """The impact of everything a diff changes, taken together."""
    symbols = changed.symbols[:MOST_CHANGED]
    importers = importing(db, changed.files) if ask.direction != "out" and ask.confidence != "exact" else ()
    answer = impact_of(db, [symbol.id for symbol in symbols], ask, importers=importers)
    answer.changed = [symbol.selector for symbol in changed.symbols[:CAP]] + [file.selector for file in changed.files[: max(0, CAP - len(changed.symbols))]]
    answer.changed_total = len(changed.symbols) + len(changed.files)
    reach = Reach(db, ask, symbols, changed.files, changed.paths)
    tests, answer.tests_hidden = reach.tests()
    answer.tests, answer.tests_total = tests[:MOST_TESTS] if ask.limit is None else tests[: ask.limit], len(tests)
    answer.unseen = changed.unseen
    answer.untested = reach.untested()
    answer.truncated |= len(changed.symbols) > MOST_CHANGED or len(answer.tests) < len(tests) or len(answer.changed) < answer.changed_total
    answer.failed = [name for name, found in (("unseen", answer.unseen), ("untested", answer.untested)) if name == ask.fail_on and found]
    return answer


def find_changed(db: apsw.Connection, root: Path, ask: ImpactParams) -> Changed:
    found = Changed()
    changes = sorted(_read(root, ask), key=lambda change: change.path)
    stale = set(stale_files(db, root, {change.path for change in changes}))
    for change in changes:
        found.paths.append(change.path)
        file = read_file(db, change.path)
        reasons = {
            "conflict": change.status == "U", "deleted": change.status == "D", "submodule": change.mode == GITLINK, "not_indexed": file is None,
            "stale": change.path in stale,
        }  # fmt: skip
        found.unseen += [Unseen(change.path, reason) for reason, holds in reasons.items() if holds][:1]
        if file is None or not change.hunks or change.status == "D":
            continue
        content = read_source(db, root, file.path)[0] or b""
        symbols, has_rest = _touched(db, file, change.hunks, [not line.strip() for line in content.split(b"\n")] if content else [])
        found.symbols += symbols
        found.files += [file] if has_rest else []
        if _is_broken(db, file, change.hunks, content):
            found.unseen.append(Unseen(change.path, "broken_parse"))
    return found


def _read(root: Path, ask: ImpactParams) -> list[Change]:
    if ask.diff is not None:
        if ask.diff.startswith("-") or not ask.diff.strip():
            raise UsageError(f"{ask.diff!r} is no revision", hint="for example HEAD~1, main...HEAD, or a commit")
        try:
            return read_diff(root, ask.diff)
        except git.GitError as error:
            if "bad revision" in error.said or "unknown revision" in error.said:
                hint = "for example HEAD~1, main...HEAD, or a commit"
                raise NotFoundError(f"no revision {ask.diff!r} in this repository", hint=hint, code="revision-not-found") from None
            raise
    if ask.staged:
        return read_diff(root, "--cached")
    untracked = git.split(git.run(root, "ls-files", "-z", "--others", "--exclude-standard"))
    return read_diff(root) + [Change(path, "100644", "", "A", [(1, 1 << 30)]) for path in untracked if not path.startswith(".orbit/")]


def _touched(db: apsw.Connection, file: File, hunks: list[tuple[int, int]], blank: list[bool]) -> tuple[list[Symbol], bool]:
    """The innermost symbols that hold changed lines, and whether lines outside all of them changed that are not `blank`."""
    bounds = (file.id << SYMBOL_SHIFT, (file.id + 1) << SYMBOL_SHIFT)
    rows = [Symbol(*row) for row in db.execute(f"{COLUMNS} WHERE s.id >= ? AND s.id < ?", bounds)]
    held = sorted((row for row in rows if not (row.kind == "module" and row.start == 0)), key=lambda row: (row.line, -row.end_line, row.start, -row.end))
    ranges = [(max(start, 1), min(max(start, 1) + max(count, 1), len(blank) + 1)) for start, count in hunks]
    lines = sorted({line for first, end in ranges for line in range(first, end)})
    if not held or not lines:
        return [], any(not blank[line - 1] for line in lines) or not lines
    import numpy as np  # heavy, and only diffs need it

    from orbit_native.spans import innermost, nest

    zeros, starts = np.zeros(len(held), dtype=np.int32), np.array([row.line for row in held], dtype=np.int32)
    ends = np.array([row.end_line + 1 for row in held], dtype=np.int32)
    probes = np.array(lines, dtype=np.int32)
    owners = innermost(zeros, starts, ends, nest(zeros, starts, ends), np.zeros(len(probes), dtype=np.int32), probes, probes + 1)
    chosen = [held[index] for index in np.unique(owners).tolist() if index >= 0]
    return sorted(chosen, key=lambda row: row.id), any(owner < 0 and not blank[line - 1] for owner, line in zip(owners.tolist(), lines, strict=True))


def _is_broken(db: apsw.Connection, file: File, hunks: list[tuple[int, int]], content: bytes) -> bool:
    """Do changed lines meet a range that did not parse?"""
    broken = msgspec.json.decode(db.execute("SELECT broken FROM file WHERE id = ?", (file.id,)).get or "[]", type=list[tuple[int, int]])
    ranges = [(content.count(b"\n", 0, start) + 1, content.count(b"\n", 0, end) + 1) for start, end in broken]
    return any(first < start + max(count, 1) and start <= last for first, last in ranges for start, count in hunks)
