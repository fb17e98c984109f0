from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FORWARD: int
BACKWARD: int
NODE: int
DISTANCE: int
EDGE: int
DIRECTION: int

class Adjacency:
    node_count: int
    edge_count: int
    def __init__(self, node_count: int, sources: ArrayLike, targets: ArrayLike) -> None: ...
    def walk(self, starts: ArrayLike, depth: int, cap: int = -1, direction: int = 1) -> tuple[NDArray[np.int32], int]: ...
    def __reduce__(self) -> Any: ...
    def __setstate__(self, state: Any, /) -> None: ...
