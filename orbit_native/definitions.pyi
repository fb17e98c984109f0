from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

DEFINITION_COLUMNS: Final[tuple[str, ...]]
IMPORT_COLUMNS: Final[tuple[str, ...]]

@disjoint_base
class Rules:
    family: int
    implicit_self: bool
    shared_modules: bool
    reexports_all: bool
    global_names: bool
    nested_modules: bool
    module_paths: bool
    class_sides: bool
    bound_after: bool
    makes_objects: bool
    textual_imports: bool
    named_types: bool
    overloads: bool
    methods_apart: bool
    self_names: frozenset[int]
    class_names: frozenset[int]
    super_names: frozenset[int]
    class_words: frozenset[int]
    root_names: frozenset[int]
    outer_names: frozenset[int]
    constructors: frozenset[int]
    transparent: frozenset[int]
    collections: frozenset[int]
    passing: frozenset[int]
    picking: frozenset[int]
    builtins: frozenset[int]
    separator: str

@disjoint_base
class Symbol:
    @property
    def file(self) -> int: ...
    @property
    def index(self) -> int: ...
    @property
    def kind(self) -> int: ...
    @property
    def name(self) -> int: ...
    @property
    def qualified(self) -> int: ...
    @property
    def container(self) -> int: ...
    @property
    def parent(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def type(self) -> int: ...
    @property
    def value(self) -> int: ...
    @property
    def owner(self) -> int: ...
    @property
    def argc(self) -> int: ...
    @property
    def flags(self) -> int: ...
    @property
    def family(self) -> int: ...

@disjoint_base
class Facts:
    def __init__(
        self,
        id: int,
        module: int,
        rules: Rules,
        definitions: NDArray[np.int32],
        imports: NDArray[np.int32],
        relations: NDArray[np.int32],
        binds: NDArray[np.int32],
        exports: NDArray[np.int32],
    ) -> None: ...
    @property
    def id(self) -> int: ...
    @property
    def module(self) -> int: ...

@disjoint_base
class File:
    @property
    def id(self) -> int: ...
    @property
    def module(self) -> int: ...

@disjoint_base
class Index:
    def __init__(self, facts: list[Facts], name_count: int) -> None: ...
