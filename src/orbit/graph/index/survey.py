"""What names and ignore rules alone say of the files of a worktree: kept from one scan to the next, and made anew when either changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from orbit import git
from orbit.graph import languages
from orbit.graph.index.ignore import FileTest, IgnoreTree
from orbit.graph.index.listing import ORBITIGNORE, Listing, default_rules, read_ignore_file
from orbit_native import hashing

# What is said of a file, beside the position of its language in `languages.NAMES`.
ONLY_MANIFEST, UNKNOWN, LEFT_OUT, IN_LEFT_OUT, NO_TEXT, UNREAL = -1, -2, -3, -4, -5, -6
SETTLED_NS = 2_000_000_000  # a folder changed this shortly before it was looked at may change again within one tick of the clock

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
        self.rules: dict[int, str] = {}  # of files that a rule leaves out by themselves
        by_suffix: dict[str, tuple[int, bool]] = {}
        for index, path in enumerate(paths):
            self._claim(index, path, by_suffix)
        self._seen = self.look_at_folders(root)
        self._is_settled = time.time_ns() - int(self._seen["mtime_ns"].max(initial=0)) > SETTLED_NS

    def holds(self, folders: np.ndarray, listing: Listing) -> bool:
        """Would a new survey say the same, now that folders look like this? A rule file that came or went has changed its folder."""
        is_same = listing is self.listing or sorted(listing.paths) == self.paths
        return self._is_settled and is_same and np.array_equal(folders, self._seen)

    def look_at_folders(self, root: Path) -> np.ndarray:
        """The stat of the folders and rule files."""
        rules = [os.fsencode(source) for source in self.folders.tree.sources]
        return hashing.stat_files(os.fsencode(root), [*self.folders.names, *rules, b"."])[["kind", "size", "mtime_ns"]]

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
        kinds = hashing.stat_files(os.fsencode(root), names)["kind"].tolist()
        candidates = [name + b"/" + ORBITIGNORE.encode() for name in names]
        has_rules = (hashing.stat_files(os.fsencode(root), candidates)["kind"] == hashing.REGULAR).tolist()
        self.tree.enter(b"", read_ignore_file(root, ORBITIGNORE.encode()))
        self._note_test("", b"")
        for folder, name, kind, candidate, is_ruled in zip(folders, names, kinds, candidates, has_rules, strict=True):
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
