"""What a command did to the worktree: two snapshots by git, compared. Leaves the repository's own index and objects alone."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from orbit.config import environment


class WorkspaceWatch:
    """A snapshot is a tree of everything git would track, untracked files included, built with an index and an object folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._temporary = Path(tempfile.mkdtemp(prefix="orbit-diff-"))
        self.before = self._snapshot()  # None where there is nothing to compare

    def __enter__(self) -> WorkspaceWatch:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    def diff(self) -> bytes:
        """The change since the first snapshot, as a patch."""
        after = self._snapshot()
        if self.before is None or after is None:
            return b""
        return self._git("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--binary", self.before, after) or b""

    def status(self) -> bytes:
        """Branch, head and changed files, as they are now."""
        head = (self._git("rev-parse", "--verify", "-q", "HEAD", own=False) or b"none").strip()
        return b"# head " + head + b"\n" + (self._git("status", "--porcelain=v1", "--branch", own=False) or b"")

    def _snapshot(self) -> str | None:
        """The id of a tree, or None where there is no git, no repository, or no room for a snapshot."""
        found = self._git("rev-parse", "--git-path", "index", "--git-path", "objects", own=False)
        if found is None:
            return None
        index, self._objects = (self.root / line for line in found.decode("utf-8", "surrogateescape").splitlines()[:2])
        (self._temporary / "objects").mkdir(exist_ok=True)
        try:
            shutil.copyfile(index, self._temporary / "index")
        except OSError:
            (self._temporary / "index").unlink(missing_ok=True)  # a repository without a first `git add` has none
        if self._git("add", "--all") is None:
            return None
        tree = self._git("write-tree")
        return tree.decode().strip() if tree else None

    def _git(self, *words: str, own: bool = True) -> bytes | None:
        """Output of a git command, or None if it failed; `own` for the private index and objects."""
        variables = environment() | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        if own:
            variables |= {"GIT_INDEX_FILE": str(self._temporary / "index"), "GIT_OBJECT_DIRECTORY": str(self._temporary / "objects")}
            variables["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(self._objects)
        command = ["git", "-c", "core.looseCompression=0", "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false", *words]
        try:
            done = subprocess.run(command, cwd=self.root, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout if done.returncode == 0 else None
