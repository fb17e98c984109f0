from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from orbit_native.names import Names

ROLES: Final[tuple[str, ...]]
COLUMNS: Final[tuple[str, ...]]
PARSE_TIMED_OUT: Final = 1
QUERY_TIMED_OUT: Final = 2
HAS_ERRORS: Final = 4
TOO_MANY_MATCHES: Final = 8

@disjoint_base
class Arena: ...

@disjoint_base
class Past: ...

@disjoint_base
class Query:
    def __new__(cls, capsule: Any, text: str, *, final_newline: bool = False, analyse: bool = False) -> Query: ...
    def capture_names(self) -> list[str]: ...
    def capture(self, source: bytes, names: Names, budget_seconds: float = 5.0, past: Past | None = None) -> tuple[int, NDArray[np.int32]]: ...
    def parse(self, source: bytes) -> int: ...
