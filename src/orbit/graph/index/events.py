"""File events of a worktree, by the `watchfiles` package. Says that something changed, not what: a sync finds out.

Where the system watches folders one by one (inotify), only folders that may hold indexed files are watched, and the one with git's HEAD; elsewhere the root.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import msgspec

from orbit import git
from orbit.config import STATE_DIR
from orbit.graph.index.listing import GITIGNORE, ORBITIGNORE
from orbit.graph.index.place import find_git_folder
from orbit.graph.index.scan import scan

PER_FOLDER = sys.platform == "linux"
STEP_MS, BATCH_MS, WAKE_MS = 50, 200, 250  # how often events are looked for, the longest batch of them, and how often a stop is noticed at the latest
_GIT_FILES = ("HEAD", "index")  # of all that git writes, what changes which files are meant
_IGNORED = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")


class Field(msgspec.Struct, frozen=True):
    """What is watched: absolute folders, and below them what is not worth a sync."""

    root: str
    folders: frozenset[str]
    ignored: tuple[str, ...]  # absolute folders, each ending in a separator
    git_folder: str | None

    def concerns(self, path: str) -> bool:
        """May a change of this path change the graph?"""
        folder, _, name = path.rpartition(os.sep)
        if self.git_folder is not None and (path == self.git_folder or f"{path}{os.sep}".startswith(self.git_folder + os.sep)):
            return folder == self.git_folder and name in _GIT_FILES
        return not f"{path}{os.sep}".startswith(self.ignored)


def file_events(root: Path, stop: threading.Event) -> Iterator[None]:
    """Yields once when watching has begun, and begun anew because folders came, and whenever files changed."""
    from watchfiles import Change, watch

    field = find_field(root)
    while not stop.is_set():
        batches = watch(
            *sorted(field.folders), watch_filter=partial(_concerns, field), debounce=BATCH_MS, step=STEP_MS,
            rust_timeout=WAKE_MS, yield_on_timeout=True, stop_event=stop, raise_interrupt=False, recursive=not PER_FOLDER,
            ignore_permission_denied=True,
        )  # fmt: skip
        with closing(batches):
            is_new = True
            for changes in batches:
                was_new, is_new = is_new, False
                if changes or was_new:
                    yield
                rules_changed = any(os.path.basename(path) in (GITIGNORE, ORBITIGNORE, *_GIT_FILES) for _, path in changes)
                grown = any(change == Change.added and os.path.isdir(path) and not os.path.islink(path) for change, path in changes)
                if was_new or rules_changed or grown:  # at the beginning, for what came while nobody watched
                    now = find_field(root)
                    if now != field:
                        field = now
                        break


def _concerns(field: Field, _: object, path: str) -> bool:
    return field.concerns(path)


def find_field(root: Path) -> Field:
    """The folders to watch now."""
    top, home = os.fspath(root), find_git_folder(root)
    ignored = [STATE_DIR, *(path.rstrip("/") for path in scan(root).skipped_paths if path.endswith("/"))]
    if home is not None:
        with suppress(git.GitError, git.GitMissingError):
            ignored += [path.rstrip("/") for path in git.split(git.run(root, *_IGNORED)) if path.endswith("/")]
    skipped = {os.path.join(top, path.replace("/", os.sep)) for path in ignored}
    folders = set(_folders(top, skipped)) if PER_FOLDER else {top}
    if home is not None and (PER_FOLDER or not home.is_relative_to(root)):
        folders.add(os.fspath(home))
    return Field(top, frozenset(folders), tuple(sorted(folder + os.sep for folder in skipped)), os.fspath(home) if home is not None else None)


def _folders(top: str, skipped: set[str]) -> Iterator[str]:
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        yield folder
        try:
            with os.scandir(folder) as entries:
                waiting += [
                    entry.path for entry in entries if entry.name != ".git" and entry.is_dir(follow_symlinks=False) and entry.path not in skipped
                ]  # fmt: skip
        except OSError:
            continue
