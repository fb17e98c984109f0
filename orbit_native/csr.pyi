from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import disjoint_base

FORWARD: Final = 1
BACKWARD: Final = 2
NODE: Final = 0
DISTANCE: Final = 1
EDGE: Final = 2
DIRECTION: Final = 3

@disjoint_base
class Adjacency:
    @property
    def node_count(self) -> int: ...
    @property
    def edge_count(self) -> int: ...
    def __init__(self, node_count: int, sources: ArrayLike, targets: ArrayLike) -> None: ...
    def walk(self, starts: ArrayLike, depth: int, cap: int = -1, direction: int = 1) -> tuple[NDArray[np.int32], int]: ...
