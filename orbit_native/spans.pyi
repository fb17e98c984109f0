import numpy as np
from numpy.typing import NDArray

def nest(files: NDArray[np.int32], starts: NDArray[np.int32], ends: NDArray[np.int32]) -> NDArray[np.int32]: ...
def innermost(
    files: NDArray[np.int32],
    starts: NDArray[np.int32],
    ends: NDArray[np.int32],
    parents: NDArray[np.int32],
    probe_files: NDArray[np.int32],
    probe_starts: NDArray[np.int32],
    probe_ends: NDArray[np.int32],
) -> NDArray[np.int32]: ...
def touching(
    starts: NDArray[np.int32], ends: NDArray[np.int32], probe_starts: NDArray[np.int32], probe_ends: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
