"""What commits and diffs changed, as git says it: the files, the blobs, the ranges of lines on the new side. Parses, decides nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from orbit import git
from orbit.graph.store.history import CommitRow

_ARGUMENTS = (
    "-c", "core.quotePath=true", "diff-tree", "--stdin", "-r", "--root", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
    "--submodule=short", "--ignore-submodules=none", "--relative", "--full-index", "--unified=0", "--patch-with-raw",
)  # fmt: skip
_DIFF = (
    "-c", "core.quotePath=true", "diff", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--relative",
    "--full-index", "--unified=0", "--inter-hunk-context=0", "--patch-with-raw",
)  # fmt: skip
_FORMAT = "--format=%m%x00%H%x00%ct%x00%cI%x00%P%x00%B"
_FIELDS = 6
# Lines of content start with `+`, `-` or `\`, so these can only be git's own.
_LINES = re.compile(
    rb"^(?:(?P<commit>[0-9a-f]{40,64})$|:\d{6} (?P<mode>\d{6}) [0-9a-f]+ (?P<blob>[0-9a-f]+) (?P<status>[A-Z])\d*\t(?P<path>[^\n]*)"
    rb"|(?P<diff>diff --git )|@@ -\d+(?:,\d+)? \+(?P<start>\d+)(?:,(?P<count>\d+))? @@)",
    re.MULTILINE,
)
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b'"': b'"', b"\\": b"\\"}
GITLINK, SYMLINK = "160000", "120000"


class Change(msgspec.Struct):
    """One file of one commit. `hunks` are (first line, number of lines) on the new side; none of a deletion has lines there."""

    path: str
    mode: str
    blob: str  # zeros when the file is gone
    status: str
    hunks: list[tuple[int, int]] = []

    @property
    def has_source(self) -> bool:
        return self.mode not in (GITLINK, SYMLINK, "000000")


def list_commits(root: Path, *revisions: str) -> list[tuple[str, CommitRow]]:
    """(`>` or `<` for the side of a symmetric difference, commit) for what `git log` lists, newest first."""
    config = ("-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=UTF-8")
    said = git.run(root, *config, "log", "-z", "--no-show-signature", "--no-notes", _FORMAT, *revisions, "--")
    fields = said.decode("utf-8", "replace").split("\0")
    return [
        (fields[at], CommitRow(fields[at + 1], int(fields[at + 2]), fields[at + 3], fields[at + 5].strip("\n"), tuple(fields[at + 4].split())))
        for at in range(0, len(fields) - _FIELDS + 1, _FIELDS)
    ]


def read_changes(root: Path, shas: Sequence[str]) -> dict[str, list[Change]]:
    """What each of some commits changed against its only parent, or against nothing."""
    return parse_changes(git.run(root, *_ARGUMENTS, stdin="".join(f"{sha}\n" for sha in shas).encode()))


def read_diff(root: Path, *what: str) -> list[Change]:
    """What `git diff` says of some revisions, of the index (`--cached`) or of the files (nothing)."""
    return parse_changes(git.run(root, *_DIFF, *what, "--"))[""]


def parse_changes(said: bytes) -> dict[str, list[Change]]:
    """By commit, or under an empty name where the answer is that of a plain diff. Raw rows come first, then as many patches in the same
    order; a file that changed its type has two, the first for what it was, one in conflict has none."""
    found: dict[str, list[Change]] = {}
    here: list[Change] = found.setdefault("", [])
    patches: list[Change | None] = []
    at = -1
    for match in _LINES.finditer(said):
        kind = match.lastgroup
        if kind in ("count", "start"):
            change = patches[at] if 0 <= at < len(patches) else None
            if change is not None:
                change.hunks.append((int(match["start"]), int(match["count"]) if match["count"] is not None else 1))
        elif kind == "diff":
            at += 1
        elif kind == "commit":
            here, patches, at = found.setdefault(match["commit"].decode(), []), [], -1
        else:
            change = Change(git.decode(unquote(match["path"])), match["mode"].decode(), match["blob"].decode(), match["status"].decode())
            here.append(change)
            patches += [None, change] if change.status == "T" else [] if change.status == "U" else [change]
    return found


def unquote(name: bytes) -> bytes:
    """A path as git prints it: plain, or in quotes with C escapes."""
    if not name.startswith(b'"'):
        return name
    return _ESCAPE.sub(lambda match: _LETTERS.get(match[1]) or bytes([int(match[1], 8)]), name[1:-1])


def read_blobs(root: Path, blobs: Sequence[str], largest: int) -> dict[str, bytes]:
    """The bytes of blobs, those that are there and not too large."""
    if not blobs:
        return {}
    said = git.run(root, "cat-file", "--batch", "--buffer", stdin="".join(f"{blob}\n" for blob in blobs).encode())
    found: dict[str, bytes] = {}
    at = 0
    while at < len(said):
        end = said.index(b"\n", at)
        head = said[at:end].split(b" ")
        at = end + 1
        if len(head) == 3 and head[1] != b"missing":
            size = int(head[2])
            if size <= largest:
                found[head[0].decode()] = said[at : at + size]
            at += size + 1
    return found
