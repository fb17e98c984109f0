"""The files a worktree holds before Orbit's own rules: asked of git, or found by walking where there is no git.

Names are text with `/`; bytes that are no UTF-8 survive as surrogates. `.git` is never listed, nor, by a walk, our own folder; git's ignore rules
are applied. Submodules and nested repositories, linked worktrees among them, are not entered and are reported by the name of their folder.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from orbit import git
from orbit.config import STATE_DIR
from orbit.graph.index.ignore import DEFAULT_PATTERNS, IgnoreTree

GITIGNORE, ORBITIGNORE = ".gitignore", ".orbitignore"
_LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_GITLINK = "160000"


class Listing(msgspec.Struct):
    """Paths in no order and without repeats. They may be gone from the disk, and may be symlinks: that is for a stat to say."""

    paths: list[str]
    is_git: bool
    unentered: dict[str, str] = {}  # folder -> "submodule", "nested_repository" or "unreadable"
    pruned: dict[str, str] = {}  # folder the walk did not enter -> the rule of .orbitignore, as `file:line:pattern`
    ignore_files: list[str] = []  # .gitignore files the walk obeyed
    said: bytes = b""  # what git said, where it lists all there is


def list_files(root: Path, *, submodules: bool = False) -> Listing:
    """The files of a worktree."""
    listing = list_by_git(root, submodules=submodules) if find_dot_git(root) is not None else None
    return listing if listing is not None else list_by_walk(root)


def start_listing(root: Path) -> git.Running | None:
    """Have git list a worktree while something else is done; None where there is none."""
    try:
        return git.Running(root, *_LIST)
    except OSError:
        return None


def find_dot_git(root: Path) -> Path | None:
    """The `.git`, folder or file, of the worktree that holds `root`."""
    for folder in (root, *root.parents):
        dot_git = folder / ".git"
        if dot_git.exists():
            return dot_git
    return None


def list_by_git(root: Path, *, submodules: bool = False) -> Listing | None:
    """What git lists, or None where git is missing, knows no worktree, or is told to ignore this whole folder."""
    try:
        output = git.run(root, *_LIST)
        if not output and not (root / ".git").exists() and git.run(root, "check-ignore", "--", ".", accept=(0, 1)):
            return None
    except git.GitMissingError:
        return None
    except git.GitError as error:
        if error.is_no_repository:
            return None
        raise
    listing = read_listing(output)
    if submodules:
        listing.said = b""
        _descend(root, listing)
    return listing


def read_listing(output: bytes) -> Listing:
    """What git said."""
    listing = Listing(list(dict.fromkeys(git.split(output))), is_git=True, said=output)  # in git's order: nearly sorted
    nested = [path for path in listing.paths if path.endswith("/")] if b"/\0" in output else []
    if nested:
        listing.unentered.update((path[:-1], "nested_repository") for path in nested)
        listing.paths = [path for path in listing.paths if not path.endswith("/")]
    return listing


def find_gitlinks(root: Path, folders: list[str] | None = None) -> set[str]:
    """The submodules that git tracks, or those among some folders."""
    entries = git.split(git.run(root, "ls-files", "-z", "--stage", "--", *(f":(literal){folder}" for folder in folders or ())))
    return {path for entry in entries for meta, _, path in [entry.partition("\t")] if meta.startswith(_GITLINK)}


def _descend(root: Path, listing: Listing) -> None:
    """Replace submodules that are checked out by their own files."""
    for folder in sorted(find_gitlinks(root)):
        inner = list_by_git(root / folder, submodules=True) if (root / folder / ".git").exists() else None
        if inner is not None:
            listing.paths.remove(folder)
            listing.paths.extend(f"{folder}/{path}" for path in inner.paths)
            listing.unentered.update((f"{folder}/{path}", reason) for path, reason in inner.unentered.items())


def list_by_walk(root: Path) -> Listing:
    """What a walk finds under git's rules, read from the .gitignore files of the tree; folders that .orbitignore leaves out are not entered."""
    found = Listing([], is_git=False)
    trees = (gitignore_tree(root), IgnoreTree(ORBITIGNORE, default_rules()))
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        prefix = folder + b"/" if folder else b""
        try:
            with os.scandir(os.path.join(os.fsencode(root), folder)) as entries:
                held = list(entries)
        except OSError:
            found.unentered[git.decode(folder)] = "unreadable"
            continue
        names = {entry.name for entry in held}
        if folder and b".git" in names:
            found.unentered[git.decode(folder)] = "nested_repository"
            continue
        if not _enter(root, folder, names, trees, found):
            continue
        for entry in held:
            if entry.name == b".git" or not folder and entry.name == STATE_DIR.encode():
                continue
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif trees[0].judge(path) is None:
                found.paths.append(git.decode(path))
    found.ignore_files = trees[0].sources
    return found


def _enter(root: Path, folder: bytes, names: set[bytes], trees: tuple[IgnoreTree, ...], found: Listing) -> bool:
    prefix = folder + b"/" if folder else b""
    verdicts = []
    for tree in trees:
        name = tree.name.encode()
        verdicts.append(tree.enter(folder, read_ignore_file(root, prefix + name) if name in names else None))
    if verdicts[1] is not None and verdicts[0] is None:
        found.pruned[git.decode(folder)] = str(verdicts[1])
    return verdicts == [None, None]


def read_ignore_file(root: Path, path: bytes) -> bytes | None:
    """The content of an ignore file; like git, a symlink or what cannot be read counts as absent."""
    try:
        descriptor = os.open(os.path.join(os.fsencode(root), path), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        with open(descriptor, "rb") as file:
            return file.read()
    except OSError:
        return None


def gitignore_tree(root: Path) -> IgnoreTree:
    """The .gitignore files of a tree, none entered yet, above the excludes of its repository if it has one after all and only git is missing."""
    return IgnoreTree(GITIGNORE, read_ignore_file(root, b".git/info/exclude") or b"", ".git/info/exclude")


def default_rules() -> bytes:
    return "\n".join(DEFAULT_PATTERNS).encode()
