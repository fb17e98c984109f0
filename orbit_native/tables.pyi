import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

@disjoint_base
class NumberSet:
    def array(self) -> NDArray[np.int32]: ...

@disjoint_base
class Table: ...
