"""Which files of a worktree are indexed, and why the others are not. Looks at names and stat only; reads no source.

In order: git's own ignore rules, what lies at the path (symlinks are never followed), known extension, `.orbitignore`, size cap.

Cost is linear in files and folders; a scan that takes over the survey of the last one costs a stat of each.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from orbit import git
from orbit.config import Workspace, memory_limit
from orbit.errors import UsageError
from orbit.graph.index.ignore import DEFAULT_PATTERNS
from orbit.graph.index.listing import ORBITIGNORE, Listing, find_gitlinks, list_files
from orbit.graph.index.survey import IN_LEFT_OUT, LEFT_OUT, NO_TEXT, ONLY_MANIFEST, UNKNOWN, Survey
from orbit_native import hashing

MAX_FILE_SIZE = 2 << 20
SETTINGS = frozenset({"max_file_bytes", "memory_mb", "submodules", "task_id_pattern", "tokenizer"})  # of `[graph]`
SNIFFED = 8192  # bytes in which git, too, looks for a NUL

# Why a file is not indexed. Of unknown extensions only the number is kept.
SYMLINK, IGNORED, UNKNOWN_EXTENSION, TOO_LARGE = "symlink", "orbitignore", "unknown_extension", "too_large"
NOT_REGULAR, SUBMODULE, NESTED_REPOSITORY, BINARY, NOT_TEXT = "not_regular", "submodule", "nested_repository", "binary", "name_is_no_text"


class Limits(msgspec.Struct, frozen=True):
    """What `[graph]` of .orbit/config.toml says about files and memory."""

    max_file_size: int = MAX_FILE_SIZE
    submodules: bool = False
    memory: int | None = None  # bytes a sync should get by with; None: as it likes


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
    survey: Survey | None = None  # what the next scan may take over


def scan(root: Path, known: Survey | None = None, listing: Listing | None = None) -> Scan:
    """The files of the worktree at `root`, or those of them that are listed. `known` is the survey of an earlier scan: names and rules that are the
    same are not judged again."""
    workspace = Workspace(root)
    limits, root = read_limits(workspace), workspace.root
    if listing is None:
        listing = list_files(root, submodules=limits.submodules)
    survey = known if known is not None and known.holds(root, listing) else Survey(root, listing)
    return sift(root, listing, limits, survey, survey.look_at_files(root))


def read_limits(workspace: Workspace) -> Limits:
    section = workspace.settings().get("graph", {})
    size, submodules = section.get("max_file_bytes", MAX_FILE_SIZE), section.get("submodules", False)
    if type(size) is not int or size < 0:
        raise UsageError(f"[graph] max_file_bytes is {size!r}, not a number of bytes", hint="mend .orbit/config.toml")
    if type(submodules) is not bool:
        raise UsageError(f"[graph] submodules is {submodules!r}, not true or false", hint="mend .orbit/config.toml")
    memory_mb, memory = section.get("memory_mb"), memory_limit()
    if memory_mb is not None:
        if type(memory_mb) is not int or memory_mb < 1:
            raise UsageError(f"[graph] memory_mb is {memory_mb!r}, not a number of megabytes", hint="mend .orbit/config.toml")
        memory = min(memory_mb << 20, memory or memory_mb << 20)
    return Limits(size, submodules, memory)


def unknown_settings(workspace: Workspace) -> list[str]:
    """Names in `[graph]` of .orbit/config.toml that mean nothing, as a slip of the pen does."""
    return sorted(set(workspace.settings().get("graph", {})) - SETTINGS)


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


def sift(root: Path, listing: Listing, limits: Limits, survey: Survey, entries: np.ndarray) -> Scan:
    """What is left of a listing after Orbit's rules, by a survey of its paths and their stat."""
    paths = survey.paths
    result = _start(listing, survey)
    _note_irregular(root, listing, paths, entries["kind"], survey, result)
    regular, claims = entries["kind"] == hashing.REGULAR, survey.claims
    for index in np.flatnonzero(regular & (claims == NO_TEXT)).tolist():
        _skip(result, git.encode(paths[index]).decode("utf-8", "replace"), NOT_TEXT)
    for index in np.flatnonzero(regular & (claims == LEFT_OUT)).tolist():
        _skip(result, paths[index], IGNORED, survey.rules[index])
    for reason, claim in ((IGNORED, IN_LEFT_OUT), (UNKNOWN_EXTENSION, UNKNOWN)):
        count = int((regular & (claims == claim)).sum())
        if count:
            result.skipped[reason] = result.skipped.get(reason, 0) + count
    wanted = regular & (claims >= ONLY_MANIFEST)
    large = entries["size"] > limits.max_file_size
    for index in np.flatnonzero(wanted & large).tolist():
        _skip(result, paths[index], TOO_LARGE)
    wanted &= ~large
    for index in np.flatnonzero(wanted & survey.manifests).tolist():
        result.manifests[paths[index]] = (int(entries["size"][index]), int(entries["mtime_ns"][index]))
    kept = np.flatnonzero(wanted & (claims >= 0))
    result.paths, result.languages = survey.named(kept)
    result.sizes, result.mtimes, result.survey = entries["size"][kept], entries["mtime_ns"][kept], survey
    return result


def _start(listing: Listing, survey: Survey) -> Scan:
    empty = np.empty(0, dtype=np.int64)
    result = Scan(
        paths=[], languages=[], sizes=empty, mtimes=empty, skipped={}, skipped_paths={}, rules={}, manifests={},
        ignore_files=sorted([*listing.ignore_files, *survey.folders.tree.sources]), is_git=listing.is_git,
    )  # fmt: skip
    for folder, reason in listing.unentered.items():
        _skip(result, f"{folder}/", reason)
    for folder, rule in listing.pruned.items():
        _skip(result, f"{folder}/", IGNORED, rule)
    for folder, rule in survey.folders.rules.items():  # their files are counted one by one
        result.skipped_paths[f"{folder}/"] = IGNORED
        result.rules[f"{folder}/"] = rule
    return result


def _note_irregular(root: Path, listing: Listing, paths: list[str], kinds: NDArray[np.uint8], survey: Survey, result: Scan) -> None:
    """Symlinks, submodules and pipes among the listed paths. What is gone from the disk is no file, and not mentioned."""
    for folder, is_symlink in survey.folders.unreal.items():
        if is_symlink:
            _skip(result, folder, SYMLINK)
    directories = []
    for index in np.flatnonzero((kinds != hashing.REGULAR) & (kinds != hashing.MISSING)).tolist():
        path = paths[index]
        if path.rpartition("/")[0] in survey.folders.unreal:
            continue
        if kinds[index] == hashing.DIRECTORY:
            directories.append(path)
        elif path not in result.skipped_paths:
            _skip(result, path, SYMLINK if kinds[index] == hashing.SYMLINK else NOT_REGULAR)
    if directories and listing.is_git:
        for path in sorted(find_gitlinks(root, directories)):  # a folder that stands where git tracks a file is not one
            _skip(result, f"{path}/", SUBMODULE)


def _skip(result: Scan, path: str, reason: str, rule: str | None = None) -> None:
    _count(result, reason)
    result.skipped_paths[path] = reason
    if rule is not None:
        result.rules[path] = rule


def _count(result: Scan, reason: str) -> None:
    result.skipped[reason] = result.skipped.get(reason, 0) + 1
