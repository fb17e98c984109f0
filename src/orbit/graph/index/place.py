"""Where the graph of a worktree lives: one database for each branch or detached commit and each version of the extractor.

HEAD is read straight from git's files, so that finding the database starts no process. Also knows which databases nobody will open again.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from orbit import git
from orbit.config import Workspace
from orbit.graph.index.listing import find_dot_git

EXTRACTOR_VERSION = 3  # raise it when the same bytes give other facts; databases of other versions are not read, and swept
NO_BRANCH = "HEAD"
_MAX_STEM = 180  # with version and suffixes still a file name everywhere

_DATABASE = re.compile(r"(?P<stem>.+)\.(?P<version>\d+)\.db(?P<part>|-wal|-shm|-journal|\.lock|\.damaged|\.tmp(?:-wal|-shm|-journal)?)")
_DETACHED = re.compile(r"detached-([0-9a-f]{12})")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Head(msgspec.Struct, frozen=True):
    """What is checked out. Detached, or without git, the branch is HEAD; before the first commit, or without git, the commit is empty."""

    branch: str
    commit: str

    @property
    def is_detached(self) -> bool:
        return self.branch == NO_BRANCH and bool(self.commit)


class Place(msgspec.Struct, frozen=True):
    """The database of one worktree as it is checked out now."""

    folder: Path
    database: Path
    branch: str
    commit: str

    @property
    def lock(self) -> Path:
        """Held by the one writer. Beside the database, because locking that file itself disturbs SQLite."""
        return self.database.with_name(self.database.name + ".lock")


class Sweep(msgspec.Struct):
    """What was deleted, and what could not be, with the reason; file names in the graph folder."""

    deleted: list[str] = []
    kept: dict[str, str] = {}


def find_place(root: Path) -> Place:
    """Where the graph of this worktree is, or will be."""
    workspace = Workspace(root)
    head = read_head(workspace.root)
    folder = workspace.state / "graph"
    return Place(folder, folder / f"{stem_of(head)}.{EXTRACTOR_VERSION}.db", head.branch, head.commit)


def stem_of(head: Head) -> str:
    """The part of a database's name that says what was checked out. Different branches may share one: the graph is still that of the files."""
    return f"detached-{head.commit[:12]}" if head.is_detached else sanitise(head.branch)


def sanitise(branch: str) -> str:
    """A branch name as part of a file name: what is not plain becomes `_`; no leading dot, no two dots in a row."""
    kept = [character if _is_plain(branch, at) else "_" for at, character in enumerate(branch)]
    stem = "".join(kept) or "_"
    if len(stem) > _MAX_STEM:
        stem = f"{stem[:_MAX_STEM]}-{hashlib.blake2b(git.encode(branch), digest_size=6).hexdigest()}"
    return stem


def _is_plain(branch: str, at: int) -> bool:
    character = branch[at]
    if character == ".":
        return at > 0 and "." not in (branch[at - 1], branch[at + 1 : at + 2])
    return character.isascii() and (character.isalnum() or character in "_-")


def read_head(root: Path) -> Head:
    """The branch and commit checked out in the worktree that holds `root`."""
    git_folder = find_git_folder(root)
    if git_folder is None:
        return Head(NO_BRANCH, "")
    head = git_folder / "HEAD"
    try:
        text = f"ref: {os.readlink(head)}" if head.is_symlink() else _read(head)
    except OSError:
        return Head(NO_BRANCH, "")
    if not text.startswith("ref:"):
        return Head(NO_BRANCH, text) if _COMMIT.fullmatch(text) else Head(NO_BRANCH, "")
    reference = text.removeprefix("ref:").strip()
    if reference == "refs/heads/.invalid":  # references kept in another format than files
        return _ask_head(root)
    return Head(reference.removeprefix("refs/heads/"), _read_commit(git_folder, reference))


def find_git_folder(root: Path) -> Path | None:
    """The folder with this worktree's HEAD: `.git`, or where the file `.git` of a linked worktree or submodule points."""
    dot_git = find_dot_git(root)
    if dot_git is None or dot_git.is_dir():
        return dot_git
    try:
        text = _read(dot_git)
    except OSError:
        return None
    return dot_git.parent / text.removeprefix("gitdir:").strip() if text.startswith("gitdir:") else None


def _read_commit(git_folder: Path, reference: str) -> str:
    """The commit a branch is at; empty before its first."""
    shared = git_folder
    if (git_folder / "commondir").is_file():
        shared = git_folder / _read(git_folder / "commondir")
    for _ in range(5):  # a branch may be a name for another; git stops at five, too
        text = _read_loose(git_folder, shared, reference)
        if not text.startswith("ref:"):
            return text if _COMMIT.fullmatch(text) else _read_packed(shared, reference)
        reference = text.removeprefix("ref:").strip()
    return ""


def _read_loose(git_folder: Path, shared: Path, reference: str) -> str:
    for folder in dict.fromkeys((shared, git_folder)):
        try:
            return _read(folder / reference)
        except OSError:
            continue
    return ""


def _read_packed(shared: Path, reference: str) -> str:
    try:
        lines = (shared / "packed-refs").read_bytes().splitlines()
    except OSError:
        return ""
    wanted = git.encode(reference)
    return next((git.decode(line[: -len(wanted) - 1]) for line in lines if line.endswith(b" " + wanted)), "")


def _ask_head(root: Path) -> Head:
    try:
        branch = git.decode(git.run(root, "symbolic-ref", "-q", "HEAD", accept=(0, 1))).strip().removeprefix("refs/heads/")
        commit = git.decode(git.run(root, "rev-parse", "-q", "--verify", "HEAD", accept=(0, 1))).strip()
    except (git.GitError, git.GitMissingError):
        return Head(NO_BRANCH, "")
    return Head(branch or NO_BRANCH, commit)


def _read(path: Path) -> str:
    return git.decode(path.read_bytes()).strip()


def find_stale(place: Place) -> list[Path]:
    """Files of databases nobody will open again: other extractor versions, and detached commits that no reference reaches any more.

    Never the database of `place`, and nothing whose name is not that of a database.
    """
    families = _families(place.folder)
    active = (place.database.name.removesuffix(f".{EXTRACTOR_VERSION}.db"), EXTRACTOR_VERSION)
    families.pop(active, None)
    commits = {stem: match[1] for stem, version in families if version == EXTRACTOR_VERSION and (match := _DETACHED.fullmatch(stem))}
    lost = _unreachable(place.folder.parent.parent, set(commits.values())) if commits else set()
    return sorted(
        path for (stem, version), paths in families.items() if version != EXTRACTOR_VERSION or commits.get(stem) in lost for path in paths
    )  # fmt: skip


def find_all(folder: Path) -> list[Path]:
    """Every database file of a graph folder, for `clean`."""
    return sorted(path for paths in _families(folder).values() for path in paths)


def delete(paths: list[Path]) -> Sweep:
    """Delete database files, a family at a time; a family whose writer is at work is left alone."""
    done = Sweep()
    families: dict[tuple[str, int], list[Path]] = {}
    for path in paths:
        parsed = _parse_name(path.name)
        if parsed is not None:
            families.setdefault(parsed, []).append(path)
    for (stem, version), members in families.items():
        lock = members[0].with_name(f"{stem}.{version}.db.lock")
        try:
            with FileLock(lock, timeout=0):
                _delete_family(members, lock, done)
        except Timeout:
            done.kept.update((path.name, "in use") for path in members)
        except OSError as error:
            done.kept.update((path.name, error.strerror or str(error)) for path in members)
    return done


def _delete_family(members: list[Path], lock: Path, done: Sweep) -> None:
    for path in sorted({*members, lock}, key=lambda member: (member == lock, member)):  # the lock last: it is what we hold
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            done.kept[path.name] = error.strerror or str(error)
        else:
            if path in members:
                done.deleted.append(path.name)


def _families(folder: Path) -> dict[tuple[str, int], list[Path]]:
    families: dict[tuple[str, int], list[Path]] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                parsed = _parse_name(entry.name)
                if parsed is not None and entry.is_file(follow_symlinks=False):
                    families.setdefault(parsed, []).append(folder / entry.name)
    except FileNotFoundError:
        pass
    return families


def _parse_name(name: str) -> tuple[str, int] | None:
    match = _DATABASE.fullmatch(name)
    return (match["stem"], int(match["version"])) if match else None


def _unreachable(root: Path, short_commits: set[str]) -> set[str]:
    """Those of some abbreviated commits that are gone, or that neither HEAD nor any reference reaches. Where git cannot say, none."""
    asked = sorted(short_commits)
    try:
        answers = git.run(root, "cat-file", "--batch-check", stdin="".join(f"{commit}^{{commit}}\n" for commit in asked).encode()).decode().splitlines()
        full = {answer.split()[0]: commit for commit, answer in zip(asked, answers, strict=True) if " commit " in answer}
        gone = {commit for commit, answer in zip(asked, answers, strict=True) if answer.endswith(" missing")}
        loose = git.run(root, "rev-list", *full, "--not", "--all").decode().split() if full else []
    except (git.GitError, git.GitMissingError):
        return set()
    return gone | {full[commit] for commit in loose if commit in full}
