from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

DEFINITION_COLUMNS: Final[tuple[str, ...]]
IMPORT_COLUMNS: Final[tuple[str, ...]]
STATIC: Final = 1
VARARGS: Final = 2
EXTENSION: Final = 4

class _Texts(Protocol):
    def id(self, text: str) -> int: ...
    def text(self, text_id: int) -> str: ...

class _Loader(Protocol):
    def members(self, family: int, container: int, name: int) -> list[tuple[int, int, list[int]]]: ...
    def module_files(self, family: int, module: int) -> list[int]: ...
    def load_file(self, resolver: Resolver, file: int) -> None: ...

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
class File:
    @property
    def id(self) -> int: ...
    @property
    def module(self) -> int: ...

@disjoint_base
class Thing: ...

@disjoint_base
class Resolver:
    def __init__(self, texts: _Texts, kind_bits: Iterable[int], loader: _Loader | None = None) -> None: ...
    def add_file(
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
    def index_file(self, id: int) -> None: ...
    def resolve_refs(self, file_id: int, refs: NDArray[np.int32]) -> tuple[NDArray[np.int32], Sequence[tuple[int, int, int]]]: ...
    def resolve_relations(self, file_id: int, rows: NDArray[np.int32]) -> NDArray[np.int32]: ...
    def follow_import(self, file_id: int, module: int, name: int) -> tuple[int, int | None] | None: ...
    def evaluate_text(self, file_id: int, scope: int, path: int, at: int) -> tuple[int, int] | None: ...
    def take_consulted(self) -> set[int]: ...
