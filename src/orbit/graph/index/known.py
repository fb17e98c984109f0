"""The files of the last sync beside those of a scan: which have another stat, which are gone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np

from orbit.graph.index.scan import Scan
from orbit.graph.store.writer import KnownFile
from orbit_native.definitions import Rules

RACY_NS = 2_000_000_000  # a file touched this shortly before it was read may change again within one tick of the clock


class Known:
    """What a handle keeps of a database from one sync to the next, rows of table `file` above all, as long as `synced_at` says that nobody else
    wrote."""

    def __init__(self, rows: dict[str, KnownFile], synced_at: str) -> None:
        self.rows, self.synced_at = rows, synced_at
        self.rules: dict[str, Rules] = {}  # of languages, in the text ids of the database
        self._paths: list[str] = []  # those of a scan; the columns run in step, -1 for files without a row
        self._languages: list[str | None] = []
        self._sizes = self._mtimes = np.empty(0, dtype=np.int64)

    def _line_up(self, paths: list[str]) -> None:
        rows = [self.rows.get(path) for path in paths]
        self._paths = paths
        self._languages = [None if row is None else row.lang for row in rows]
        self._sizes = np.array([-1 if row is None else row.size for row in rows], dtype=np.int64)
        self._mtimes = np.array([-1 if row is None else row.mtime_ns for row in rows], dtype=np.int64)

    def stale(self, found: Scan) -> list[int]:
        """Positions in the scan of files that are new, or whose bytes may be others."""
        if self._paths != found.paths:
            self._line_up(found.paths)
        differs = (self._sizes != found.sizes) | (self._mtimes != found.mtimes) | (int(self.synced_at or 0) - found.mtimes < RACY_NS)
        if self._languages != found.languages:
            differs |= np.array([one != other for one, other in zip(self._languages, found.languages, strict=True)], dtype=bool)
        stale: list[int] = np.flatnonzero(differs).tolist()
        return stale

    def removed(self, found: Scan, stale: list[int]) -> list[KnownFile]:
        """Rows of files that the scan did not find."""
        if len(found.paths) - sum(found.paths[index] not in self.rows for index in stale) == len(self.rows):
            return []
        now = set(found.paths)
        return [row for path, row in self.rows.items() if path not in now]

    def update(self, removed: Iterable[KnownFile], changed: Iterable[KnownFile]) -> None:
        """Take over what a sync wrote."""
        for row in removed:
            del self.rows[row.path]
            self._set(row.path, None)
        for row in changed:
            self.rows[row.path] = row
            self._set(row.path, row)

    def _set(self, path: str, row: KnownFile | None) -> None:
        at = bisect_left(self._paths, path)
        if at < len(self._paths) and self._paths[at] == path:
            self._languages[at] = None if row is None else row.lang
            self._sizes[at], self._mtimes[at] = (-1, -1) if row is None else (row.size, row.mtime_ns)
