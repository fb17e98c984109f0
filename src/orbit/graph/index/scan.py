"""Which files of a worktree are indexed, and why the others are not. Looks at names and stat only; reads no source.

In order: git's own ignore rules, what lies at the path (symlinks are never followed), known extension, `.orbitignore`, size cap.

Cost is linear. Warm, 5,000 tracked files on a shared, busy two-core server: 22 ms at best in 50 folders (git 6, stat 7 to 8, the rules 7); in 1,000
folders 21 ms of processor time beside git's own; seven to ten patterns in .orbitignore add 3 to 6.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from orbit import git
from orbit.config import Workspace
from orbit.errors import UsageError
from orbit.graph import languages
from orbit.graph.index.ignore import DEFAULT_PATTERNS, FileTest, IgnoreTree
from orbit.graph.index.listing import ORBITIGNORE, Listing, default_rules, find_gitlinks, list_files, read_ignore_file
from orbit_native import hashing

MAX_FILE_SIZE = 2 << 20
SNIFFED = 8192  # bytes in which git, too, looks for a NUL

# Why a file is not indexed. Of unknown extensions only the number is kept.
SYMLINK, IGNORED, UNKNOWN_EXTENSION, TOO_LARGE = "symlink", "orbitignore", "unknown_extension", "too_large"
NOT_REGULAR, SUBMODULE, NESTED_REPOSITORY, BINARY, NOT_TEXT = "not_regular", "submodule", "nested_repository", "binary", "name_is_no_text"

_MANIFESTS = languages.manifest_names()
_MANIFEST_SUFFIXES = {name[name.rfind(".") :] for name in _MANIFESTS}
_UNDECIDED = {name[name.rfind(".") :] for name in languages.FILENAMES if "." in name[1:]}  # suffixes of names that are claimed as a whole


class Limits(msgspec.Struct, frozen=True):
    """What `[graph]` of .orbit/config.toml says about files."""

    max_file_size: int = MAX_FILE_SIZE
    submodules: bool = False


class Scan(msgspec.Struct, kw_only=True):
    """The files to index, sorted by path, with what their stat said; the four columns run in step."""

    paths: list[str]
    languages: list[str]
    sizes: NDArray[np.int64]
    mtimes: NDArray[np.int64]  # ns
    skipped: dict[str, int]  # reason -> number of files; a folder that was not entered counts once
    skipped_paths: dict[str, str]  # path -> reason; a folder that was not entered ends with `/`
    rules: dict[str, str]  # path skipped by .orbitignore -> `file:line:pattern`
    manifests: dict[str, tuple[int, int]]  # path -> (size, mtime in ns), of files that decide module names; indexed themselves or not
    ignore_files: list[str]  # ignore files that were read
    is_git: bool


def scan(root: Path) -> Scan:
    """The files of the worktree at `root`."""
    workspace = Workspace(root)
    limits = read_limits(workspace)
    return sift(workspace.root, list_files(workspace.root, submodules=limits.submodules), limits)


def read_limits(workspace: Workspace) -> Limits:
    section = workspace.settings().get("graph", {})
    size, submodules = section.get("max_file_bytes", MAX_FILE_SIZE), section.get("submodules", False)
    if type(size) is not int or size < 0:
        raise UsageError(f"[graph] max_file_bytes is {size!r}, not a number of bytes", hint="mend .orbit/config.toml")
    if type(submodules) is not bool:
        raise UsageError(f"[graph] submodules is {submodules!r}, not true or false", hint="mend .orbit/config.toml")
    return Limits(size, submodules)


def is_binary(content: bytes) -> bool:
    """Is this no text? Told from the first bytes, as git does."""
    return b"\0" in content[:SNIFFED]


def seed_ignore(root: Path) -> bool:
    """Write an .orbitignore with the default patterns, unless there is one; says whether it did."""
    comment = "# What `orbit graph` leaves out, beside what git ignores. Gitignore syntax. These lines hold anyway; `!build/` would take build back in."
    lines = [comment, *DEFAULT_PATTERNS]
    try:
        with (root / ORBITIGNORE).open("x", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        return False
    return True


def sift(root: Path, listing: Listing, limits: Limits) -> Scan:
    """What is left of a listing after Orbit's rules."""
    paths = sorted(listing.paths)
    names = _encode(paths)
    entries = hashing.stat_files(os.fsencode(root), names)
    folders = _Folders(root, paths)
    result = _start(listing, folders)
    _note_irregular(root, listing, paths, entries["kind"], folders, result)

    sizes, mtimes = entries["size"].tolist(), entries["mtime_ns"].tolist()
    by_suffix: dict[str, tuple[str | None, bool]] = {}
    unreal, excluded, tests = folders.unreal, folders.excluded, folders.tests
    kept: list[int] = []
    found: list[str] = []
    unknown = 0
    for index in np.flatnonzero(entries["kind"] == hashing.REGULAR).tolist():
        path = paths[index]
        folder, _, name = path.rpartition("/")
        claimed = by_suffix.get(name[name.rfind(".") :]) if name[0] != "." else None
        language, may_be_manifest = claimed if claimed is not None else _claim(name, by_suffix)
        if folder in unreal:
            continue
        if not path.isascii() and not _is_text(path):
            _skip(result, git.encode(path).decode("utf-8", "replace"), NOT_TEXT)
            continue
        if language is None and not (may_be_manifest and is_manifest(name)):
            unknown += 1
        elif folder in excluded:
            _count(result, IGNORED)
        elif folder in tests and tests[folder].may_match(names[index]) and (verdict := folders.tree.judge(names[index])) is not None:
            _skip(result, path, IGNORED, str(verdict))
        elif sizes[index] > limits.max_file_size:
            _skip(result, path, TOO_LARGE)
        else:
            if may_be_manifest and is_manifest(name):
                result.manifests[path] = (sizes[index], mtimes[index])
            if language is not None:
                kept.append(index)
                found.append(language)
    if unknown:
        result.skipped[UNKNOWN_EXTENSION] = unknown
    result.paths, result.languages = [paths[index] for index in kept], found
    result.sizes, result.mtimes = entries["size"][kept], entries["mtime_ns"][kept]
    return result


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
        names = _encode(folders)
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


def _start(listing: Listing, folders: _Folders) -> Scan:
    empty = np.empty(0, dtype=np.int64)
    result = Scan(
        paths=[], languages=[], sizes=empty, mtimes=empty, skipped={}, skipped_paths={}, rules={}, manifests={},
        ignore_files=sorted([*listing.ignore_files, *folders.tree.sources]), is_git=listing.is_git,
    )  # fmt: skip
    for folder, reason in listing.unentered.items():
        _skip(result, f"{folder}/", reason)
    for folder, rule in listing.pruned.items():
        _skip(result, f"{folder}/", IGNORED, rule)
    for folder, rule in folders.rules.items():  # their files are counted one by one
        result.skipped_paths[f"{folder}/"] = IGNORED
        result.rules[f"{folder}/"] = rule
    return result


def _note_irregular(root: Path, listing: Listing, paths: list[str], kinds: NDArray[np.uint8], folders: _Folders, result: Scan) -> None:
    """Symlinks, submodules and pipes among the listed paths. What is gone from the disk is no file, and not mentioned."""
    for folder, is_symlink in folders.unreal.items():
        if is_symlink:
            _skip(result, folder, SYMLINK)
    directories = []
    for index in np.flatnonzero((kinds != hashing.REGULAR) & (kinds != hashing.MISSING)).tolist():
        path = paths[index]
        if path.rpartition("/")[0] in folders.unreal:
            continue
        if kinds[index] == hashing.DIRECTORY:
            directories.append(path)
        elif path not in result.skipped_paths:
            _skip(result, path, SYMLINK if kinds[index] == hashing.SYMLINK else NOT_REGULAR)
    if directories and listing.is_git:
        for path in sorted(find_gitlinks(root, directories)):  # a folder that stands where git tracks a file is not one
            _skip(result, f"{path}/", SUBMODULE)


def _claim(name: str, by_suffix: dict[str, tuple[str | None, bool]]) -> tuple[str | None, bool]:
    """The language of a file, and whether it may be a manifest; kept by suffix where the suffix alone decides."""
    dot = name.rfind(".")
    suffix = name[dot:]
    claim = (languages.find(name), dot < 0 or suffix in _MANIFEST_SUFFIXES)
    if dot > 0 and name[0] != "." and suffix not in _UNDECIDED:
        by_suffix[suffix] = claim
    return claim


def _skip(result: Scan, path: str, reason: str, rule: str | None = None) -> None:
    _count(result, reason)
    result.skipped_paths[path] = reason
    if rule is not None:
        result.rules[path] = rule


def _count(result: Scan, reason: str) -> None:
    result.skipped[reason] = result.skipped.get(reason, 0) + 1


def _encode(paths: list[str]) -> list[bytes]:
    """All at once: ten times as fast as one by one."""
    return git.encode("\0".join(paths)).split(b"\0") if paths else []
