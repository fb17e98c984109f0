"""The worktree as the languages see it: which files are indexed, and what the manifests say. Reads a manifest once, when first asked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from orbit import git
from orbit.graph.index.scan import Scan
from orbit_native import hashing

_MAX_MANIFEST_SIZE = 8 << 20


class Worktree:
    """A `Layout` over one scan. `consulted` names every file whose text was read: module names may depend on it."""

    def __init__(self, root: Path, scan: Scan) -> None:
        self._root = os.fsencode(root)
        self._paths = frozenset(scan.paths)
        self._readable = self._paths | scan.manifests.keys()
        self._texts: dict[str, str | None] = {}
        self._parts: frozenset[str] | None = None
        self.targets: dict[tuple[str, str, str], str | None] = {}  # (language, import, folder) -> what it means, of languages where that decides
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(scan.manifests):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    @property
    def consulted(self) -> frozenset[str]:
        return frozenset(path for path, text in self._texts.items() if text is not None)

    def has(self, path: str) -> bool:
        return path in self._paths

    def has_part(self, name: str) -> bool:
        if self._parts is None:
            folders = {path.rpartition("/")[0] for path in self._paths}
            names = {path.rpartition("/")[2].partition(".")[0] for path in self._paths}
            self._parts = frozenset(names.union(*(folder.split("/") for folder in folders)))
        return name in self._parts

    def text(self, path: str) -> str | None:
        """The text of a manifest or any other indexed file (a tsconfig may extend one of any name); None if the scan has none such."""
        if path not in self._texts:
            self._texts[path] = self._read(path) if path in self._readable else None
        return self._texts[path]

    def manifests(self, name: str) -> Sequence[str]:
        return self._by_name.get(name, ())

    def _read(self, path: str) -> str | None:
        content = hashing.read_files(self._root, [git.encode(path)], _MAX_MANIFEST_SIZE)[0][0]
        return None if content is None else content.decode("utf-8-sig", "replace")
