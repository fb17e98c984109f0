"""Arrays that wait for their turn on disk instead of in memory: in a file without a name, beside the database, gone with the process."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


class Held:
    """An int32 table in a spill, or still in memory."""

    __slots__ = ("_file", "_offset", "_shape", "_table")

    def __init__(self, table: Any, file: Any = None, offset: int = 0, shape: tuple[int, int] = (0, 0)) -> None:
        self._table, self._file, self._offset, self._shape = table, file, offset, shape

    def array(self) -> Any:
        if self._table is not None:
            return self._table
        size = 4 * self._shape[0] * self._shape[1]
        return np.frombuffer(os.pread(self._file.fileno(), size, self._offset), dtype=np.int32).reshape(self._shape)

    def rows(self, start: int, end: int) -> Held:
        """A part of the table."""
        if self._table is not None:
            return Held(self._table[start:end])
        return Held(None, self._file, self._offset + 4 * start * self._shape[1], (end - start, self._shape[1]))

    def __len__(self) -> int:
        return len(self._table) if self._table is not None else self._shape[0]


class Spill:
    """Takes tables out of memory; without a folder it leaves them there."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder) if folder is not None else None  # noqa: SIM115 (lives as long as this)
        self._end = 0

    def hold(self, table: Any) -> Held:
        if self._file is None:
            return Held(table)
        content, offset = np.ascontiguousarray(table, dtype=np.int32).tobytes(), self._end
        self._file.seek(offset)
        self._file.write(content)
        self._file.flush()
        self._end += len(content)
        return Held(None, self._file, offset, table.shape)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
