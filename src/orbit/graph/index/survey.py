"""What names and ignore rules alone say of the files of a worktree: kept from one scan to the next, and made anew when either changed."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orbit import git
from orbit.graph import languages
from orbit.graph.index.ignore import FileTest, IgnoreTree
from orbit.graph.index.listing import ORBITIGNORE, Listing, default_rules, read_ignore_file
from orbit_native import hashing

# What is said of a file, beside the position of its language in `languages.NAMES`.
ONLY_MANIFEST, UNKNOWN, LEFT_OUT, IN_LEFT_OUT, NO_TEXT, UNREAL = -1, -2, -3, -4, -5, -6
SETTLED_NS = 2_000_000_000  # what changed this shortly before it was looked at may change again within one tick of the clock

_MANIFESTS = languages.manifest_names()
_MANIFEST_SUFFIXES = {name[name.rfind(".") :] for name in _MANIFESTS}
_UNDECIDED = {name[name.rfind(".") :] for name in languages.FILENAMES if "." in name[1:]}  # suffixes of names that are claimed as a whole
_CODES = {name: code for code, name in enumerate(languages.NAMES)}


class Survey:
    """Claims by position in `paths`, which are sorted; they hold as long as the paths, the folders and the ignore files stay as they were."""

    def __init__(self, root: Path, listing: Listing) -> None:
        self.listing, self.paths = listing, sorted(listing.paths)
        paths = self.paths
        self.names = encode(paths)
        self.folders = _Folders(root, paths)
        self.claims = np.full(len(paths), UNKNOWN, dtype=np.int32)
        self.manifests = np.zeros(len(paths), dtype=bool)
        self._named: tuple[NDArray[np.int64], list[str], list[str]] | None = None
        self.rules: dict[int, str] = {}  # of files that a rule leaves out by themselves
        by_suffix: dict[str, tuple[int, bool]] = {}
        for index, path in enumerate(paths):
            self._claim(index, path, by_suffix)
        self._seen = self._look_at_folders(root)

    def holds(self, root: Path, listing: Listing) -> bool:
        """Would a new survey say the same? The folders are looked at: is each still what it was, and are the rule files in them the same?"""
        if listing is not self.listing and sorted(listing.paths) != self.paths:
            return False
        seen, then = self._look_at_folders(root), self._seen.at
        is_same = np.array_equal(seen.folders["kind"][1:], self.folders.kinds) and np.array_equal(seen.rules, self._seen.rules)
        if not is_same or (then - seen.rules["mtime_ns"] < SETTLED_NS).any():
            return False
        changed = (seen.folders["mtime_ns"] != self._seen.folders["mtime_ns"]) | (then - seen.folders["mtime_ns"] < SETTLED_NS)
        folders = [b"", *self.folders.names]
        candidates = [rule_file(folders[index]) for index in np.flatnonzero(changed).tolist()]
        kinds = hashing.stat_files(os.fsencode(root), candidates)["kind"].tolist()
        sources = set(map(git.encode, self.folders.tree.sources))
        if any((path in sources) != (kind == hashing.REGULAR) for path, kind in zip(candidates, kinds, strict=True)):
            return False
        self._seen, self.listing = seen, listing
        return True

    def _look_at_folders(self, root: Path) -> _Seen:
        at, rules = time.time_ns(), list(map(git.encode, self.folders.tree.sources))
        found = hashing.stat_files(os.fsencode(root), [b".", *self.folders.names, *rules])[["kind", "size", "mtime_ns"]]
        return _Seen(at, *np.split(found, [len(found) - len(rules)]))

    def named(self, kept: NDArray[np.int64]) -> tuple[list[str], list[str]]:
        """Paths and languages of the files at these positions; the same lists when they are asked for again."""
        if self._named is None or not np.array_equal(self._named[0], kept):
            positions = kept.tolist()
            self._named = kept, [self.paths[index] for index in positions], [languages.NAMES[claim] for claim in self.claims[kept].tolist()]
        return self._named[1:]

    def look_at_files(self, root: Path) -> np.ndarray:
        """The stat of the files, in step with `paths`."""
        return hashing.stat_files(os.fsencode(root), self.names)

    def _claim(self, index: int, path: str, by_suffix: dict[str, tuple[int, bool]]) -> None:
        folder, _, name = path.rpartition("/")
        folders = self.folders
        claimed = by_suffix.get(name[name.rfind(".") :]) if name[0] != "." else None
        code, may_be_manifest = claimed if claimed is not None else _claim_name(name, by_suffix)
        is_manifest_name = may_be_manifest and is_manifest(name)
        if folder in folders.unreal:
            self.claims[index] = UNREAL
        elif not path.isascii() and not _is_text(path):
            self.claims[index] = NO_TEXT
        elif code == UNKNOWN and not is_manifest_name:
            return
        elif folder in folders.excluded:
            self.claims[index] = IN_LEFT_OUT
        elif folder in folders.tests and folders.tests[folder].may_match(self.names[index]) and (verdict := folders.tree.judge(self.names[index])) is not None:
            self.claims[index] = LEFT_OUT
            self.rules[index] = str(verdict)
        else:
            self.manifests[index] = is_manifest_name
            self.claims[index] = code if code != UNKNOWN else ONLY_MANIFEST


def _is_text(path: str) -> bool:
    """Can the name be written down? Bytes that are no UTF-8 have no place in an answer or in a database."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_manifest(name: str) -> bool:
    """Does a file of this name decide module names? A tsconfig may extend another, whose name says so by custom only."""
    return name in _MANIFESTS or name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json")


class _Seen(NamedTuple):
    """The stat of the folders, the root first, and of the rule files, and when that was."""

    at: int
    folders: NDArray[np.void]
    rules: NDArray[np.void]


class _Folders:
    """The folders that hold the listed paths: which are no folders after all, and which .orbitignore leaves out."""

    def __init__(self, root: Path, paths: list[str]) -> None:
        self.tree = IgnoreTree(ORBITIGNORE, default_rules())
        self.unreal: dict[str, bool] = {}  # folder behind a symlink, or gone -> is it the symlink itself?
        self.excluded: dict[str, str] = {}  # folder -> topmost excluded folder above it, or itself
        self.rules: dict[str, str] = {}  # topmost excluded folder -> rule
        self.tests: dict[str, FileTest] = {}  # folder in which a rule may match a file itself
        folders = _folders_of(paths)
        self.names = names = encode(folders)
        self.kinds = hashing.stat_files(os.fsencode(root), names)["kind"]
        candidates = [rule_file(name) for name in names]
        has_rules = (hashing.stat_files(os.fsencode(root), candidates)["kind"] == hashing.REGULAR).tolist()
        self.tree.enter(b"", read_ignore_file(root, ORBITIGNORE.encode()))
        self._note_test("", b"")
        for folder, name, kind, candidate, is_ruled in zip(folders, names, self.kinds.tolist(), candidates, has_rules, strict=True):
            parent = folder.rpartition("/")[0]
            if kind != hashing.DIRECTORY or parent in self.unreal:
                self.unreal[folder] = kind == hashing.SYMLINK and parent not in self.unreal
            elif parent in self.excluded:
                self.excluded[folder] = self.excluded[parent]
            else:
                verdict = self.tree.enter(name, read_ignore_file(root, candidate) if is_ruled else None)
                if verdict is not None:
                    self.excluded[folder] = folder
                    self.rules[folder] = str(verdict)
                else:
                    self._note_test(folder, name)

    def _note_test(self, folder: str, name: bytes) -> None:
        test = self.tree.file_test(name)
        if test.names is not None or test.may_match_paths:
            self.tests[folder] = test


def rule_file(folder: bytes) -> bytes:
    return b"/".join(filter(None, (folder, ORBITIGNORE.encode())))


def _folders_of(paths: list[str]) -> list[str]:
    """All folders above these paths, parents first, without the root."""
    found: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(found)


def _claim_name(name: str, by_suffix: dict[str, tuple[int, bool]]) -> tuple[int, bool]:
    """The language of a file, and whether it may be a manifest; kept by suffix where the suffix alone decides."""
    dot = name.rfind(".")
    suffix = name[dot:]
    language = languages.find(name)
    claim = (_CODES[language] if language is not None else UNKNOWN, dot < 0 or suffix in _MANIFEST_SUFFIXES)
    if dot > 0 and name[0] != "." and suffix not in _UNDECIDED:
        by_suffix[suffix] = claim
    return claim


def encode(paths: list[str]) -> list[bytes]:
    """All at once: ten times as fast as one by one."""
    return git.encode("\0".join(paths)).split(b"\0") if paths else []
