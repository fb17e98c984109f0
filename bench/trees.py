"""Corpora as worktrees: committed copies, so that nothing is written into the cache."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corpus import corpus, files

LARGE_FILES = 5000
ADDED = {"python": "\n\ndef {0}():\n    return {0}\n", "c": "\nint {0}(void) {{ return sizeof({0}); }}\n"}


def tree_of(name: str, room: Path) -> Path:
    """`large` is what languages claim of both corpora, filled up to 5,000 files with the largest of Django; else the corpus of that name."""
    root = room / name
    if name == "large":
        folders = {part: corpus(part) for part in ("django", "mixed")}
        wanted = {root / part / path.relative_to(folder): path for part, folder in folders.items() for _, path in files(folder)}
        largest = sorted(((path.stat().st_size, path) for language, path in files(folders["django"]) if language == "python"), reverse=True)
        wanted |= {root / "again" / path.relative_to(folders["django"]): path for _, path in largest[: LARGE_FILES - len(wanted)]}
        for copy, path in wanted.items():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
    else:
        shutil.copytree(corpus(name), root)
    commit(root)
    return root


@contextmanager
def added(root: Path, path: Path) -> Iterator[None]:
    """A copy of a file beside it, tracked, whatever the tree's ignore files say."""
    copy = path.with_name(f"bench_{path.name}")
    shutil.copyfile(path, copy)
    try:
        subprocess.run(["git", "add", "--force", "--", str(copy)], cwd=root, check=True)
        yield
    finally:
        subprocess.run(["git", "rm", "--quiet", "--force", "--", str(copy)], cwd=root, check=True)


def commit(root: Path) -> None:
    """All of it, whatever its ignore files say: Debian's kernel has one that hides the whole tree."""
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "--all", "--force"], [*who, "commit", "-q", "-m", "corpus"]):
        subprocess.run(["git", *command], cwd=root, check=True)


@contextmanager
def edited(root: Path, count: int) -> Iterator[Iterator[Path]]:
    """Each step changes one more file and gives its path: Python and C get a new function, others a line. All are as before in the end."""
    listed = [(language, path) for language, path in files(root) if path.relative_to(root).parts[0] not in (".git", ".orbit")]
    chosen = random.Random(4).sample([(language, path) for language, path in listed if 1000 < path.stat().st_size < 100_000], count)
    held = {path: path.read_bytes() for _, path in chosen}

    def changes() -> Iterator[Path]:
        for number, (language, path) in enumerate(chosen):
            path.write_bytes(held[path] + ADDED.get(language, "\n").format(f"bench_{number}").encode())
            yield path

    try:
        yield changes()
    finally:
        for path, content in held.items():
            path.write_bytes(content)
