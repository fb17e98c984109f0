from typing import Any

import numpy as np
from numpy.typing import NDArray

CLASSES: tuple[str, ...]
NOTHING: tuple[Any, ...]

def arrange(
    rows: NDArray[np.int32],
    classes: NDArray[np.int32],
    codes: NDArray[np.int32],
    flags: NDArray[np.int32],
    outer: NDArray[np.uint8],
    types: NDArray[np.uint8],
    outer_matters: bool,
) -> tuple[Any, ...]: ...
