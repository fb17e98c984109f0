"""Why one file is in the graph, or is not: the scan's own verdict, with the rule behind it."""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from pathlib import Path

from orbit import git
from orbit.config import STATE_DIR, Workspace
from orbit.errors import UsageError
from orbit.graph.index.listing import GITIGNORE, gitignore_tree, read_ignore_file
from orbit.graph.index.scan import BINARY, SNIFFED, SUBMODULE, SYMLINK, TOO_LARGE, UNKNOWN_EXTENSION, Scan, is_binary, read_limits, scan
from orbit.graph.outcome import Why


def why(root: Path, path: str) -> Why:
    """Explain a path given relative to the root, or absolute. A path outside the worktree is an error."""
    workspace = Workspace(root)
    name = relative_path(workspace.root, path)
    found = scan(workspace.root)
    at = bisect_left(found.paths, name)
    if at < len(found.paths) and found.paths[at] == name:
        return _explain_indexed(workspace.root, name, found.languages[at])
    for skipped in _self_and_folders(name):
        reason = found.skipped_paths.get(skipped)
        if reason == TOO_LARGE:
            size, cap = os.lstat(workspace.root / name).st_size, read_limits(workspace).max_file_size
            return Why(name, False, reason, f"{size} bytes; [graph] max_file_bytes = {cap}")
        if reason == SUBMODULE:
            return Why(name, False, reason, f"{skipped.rstrip('/')}; [graph] submodules = true in .orbit/config.toml takes submodules in")
        if reason is not None:
            return Why(name, False, reason, found.rules.get(skipped) or (skipped.rstrip("/") if skipped.rstrip("/") != name else None))
    return _explain_unlisted(workspace.root, name, found)


def relative_path(root: Path, path: str) -> str:
    """`path` as the scan would write it."""
    whole = os.path.normpath(root / path)
    for candidate in (whole, os.path.join(os.path.realpath(os.path.dirname(whole)), os.path.basename(whole))):
        if candidate == str(root):
            return "."
        if candidate.startswith(os.path.join(root, "")):
            return os.path.relpath(candidate, root).replace(os.sep, "/")
    raise UsageError(f"{path} is outside the worktree {root}", hint="name a file of this worktree, or another one with --root", code="outside-worktree")


def _self_and_folders(path: str) -> list[str]:
    """A path, and itself and every folder above it as folders."""
    parts = path.split("/")
    return [path, *("/".join(parts[:count]) + "/" for count in range(len(parts), 0, -1))]


def _explain_indexed(root: Path, name: str, language: str) -> Why:
    try:
        with open(root / name, "rb") as file:
            head = file.read(SNIFFED)
    except OSError as error:
        return Why(name, False, "unreadable", error.strerror)
    if is_binary(head):
        return Why(name, False, BINARY, f"a NUL byte at {head.index(0)}")
    return Why(name, True, "indexed", f"language {language}")


def _explain_unlisted(root: Path, name: str, found: Scan) -> Why:
    try:
        mode = os.lstat(root / name).st_mode
    except OSError:
        return Why(name, False, "missing")
    if ".git" in name.split("/"):
        return Why(name, False, "git_internal")
    if name.split("/")[0] == STATE_DIR and not found.is_git:
        return Why(name, False, "orbit_internal")
    for folder in _self_and_folders(name)[1:]:
        if stat.S_ISLNK(os.lstat(root / folder.rstrip("/")).st_mode):
            return Why(name, False, SYMLINK, folder.rstrip("/"))
    rule = _git_rule(root, name, stat.S_ISDIR(mode), found)
    if rule is not None:
        return Why(name, False, "gitignore", rule)
    if stat.S_ISDIR(mode):
        return Why(name, False, "directory")
    if not stat.S_ISREG(mode):
        return Why(name, False, "not_regular")
    file_name = name.rpartition("/")[2]
    return Why(name, False, UNKNOWN_EXTENSION, os.path.splitext(file_name)[1] or file_name)


def _git_rule(root: Path, name: str, is_folder: bool, found: Scan) -> str | None:
    """The rule by which git leaves a path out, as `file:line:pattern`."""
    if found.is_git:
        if name == ".":
            return None
        holder = next((folder for folder in _self_and_folders(name)[2:] if (root / folder / ".git").exists()), "")  # a submodule has its own rules
        asked = b"./" + git.encode(name.removeprefix(holder)) + b"\0"  # so that a leading colon is none of git's magic
        fields = git.split(git.run(root / holder, "check-ignore", "-v", "-z", "--stdin", stdin=asked, accept=(0, 1)))
        if len(fields) != 4 or fields[2].startswith("!"):
            return None
        source = fields[0] if os.path.isabs(fields[0]) else holder + fields[0]
        return f"{source}:{fields[1]}:{fields[2]}"
    tree = gitignore_tree(root)
    tree.enter(b"", read_ignore_file(root, GITIGNORE.encode()))
    for folder in reversed(_self_and_folders(name)[2:]):
        path = git.encode(folder[:-1])
        verdict = tree.enter(path, read_ignore_file(root, path + b"/" + GITIGNORE.encode()))
        if verdict is not None:
            return str(verdict)
    verdict = tree.judge(git.encode(name), is_folder) if name != "." else None
    return None if verdict is None else str(verdict)
