from typing import Final

import numpy as np
from numpy.typing import NDArray

MISSING: Final = 0
REGULAR: Final = 1
SYMLINK: Final = 2
DIRECTORY: Final = 3
OTHER: Final = 4

READ: Final = 0
VANISHED: Final = 1
CHANGED: Final = 2
UNREADABLE: Final = 3
NOT_REGULAR: Final = 4
TOO_LARGE: Final = 5

ENTRY: np.dtype[np.void]

def stat_files(root: bytes | str, paths: list[bytes]) -> NDArray[np.void]: ...
def read_files(root: bytes | str, paths: list[bytes], max_size: int) -> tuple[list[bytes | None], NDArray[np.uint8]]: ...
def hash_files(root: bytes | str, paths: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]: ...
def hash_bytes(data: bytes) -> bytes: ...
