"""The facts of one file, as extraction finds them: what is defined, referred to, imported, bound. Texts are ids of a `Names`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from orbit.model import REF_KIND_CODES
from orbit_native.expression import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orbit_native.names import Names

NONE = -1  # no text, no parent, no scope

# Columns of the array tables.
REF_COLUMNS = ("kind", "name", "start", "end", "line", "receiver", "scope", "argc", "flags")
BIND_COLUMNS = ("form", "name", "type", "value", "scope", "start")
STRING_COLUMNS = ("text", "line", "scope")

# Flags of a reference.
NEW, MACRO, DECORATOR = 1, 2, 4
# Forms of a binding; FIELD binds a member of the enclosing type, the others a local of the scope.
BIND_FORMS = ("assign", "param", "field", "for", "with", "return")


class Definition(msgspec.Struct, kw_only=True):
    """One symbol. `parent` is its index in the file's list; `owner` the canonical type it belongs to when that stands elsewhere."""

    kind: str
    name: str
    start: int
    end: int
    name_start: int
    line: int
    end_line: int
    parent: int = NONE
    body: int = NONE  # where the signature ends
    type: int = NONE  # declared or return type
    value: int = NONE  # initialiser
    owner: int = NONE
    path: int = NONE
    argc: int = NONE
    flags: frozenset[str] = frozenset()
    local: str = ""  # qualified name within the file; a fix-up may set it
    signature: int = NONE


class Import(msgspec.Struct, kw_only=True):
    """One imported name, or a whole module (`name` NONE)."""

    path: int
    name: int = NONE
    alias: int = NONE
    flags: frozenset[str] = frozenset()
    start: int
    end: int
    line: int
    scope: int = NONE


class Relation(msgspec.Struct, kw_only=True):
    """`scope` (or the type `owner`) extends, implements or impl-s the type `target`."""

    kind: str
    target: int
    start: int
    end: int
    line: int
    scope: int = NONE
    owner: int = NONE


class Command(msgspec.Struct, kw_only=True):
    """A command-line command: its own name, the expression that handles it, and the group it hangs on (canonical expressions)."""

    name: str
    start: int
    line: int
    scope: int = NONE  # the definition that declares it
    handler: str = ""
    group: str = ""


class Config(msgspec.Struct, kw_only=True):
    key: str
    kind: str
    line: int


class Export(msgspec.Struct, kw_only=True):
    """A name the file makes public; `value` is what it stands for when that is another expression."""

    name: int
    value: int = NONE
    start: int
    flags: frozenset[str] = frozenset()


class Mark(msgspec.Struct, kw_only=True):
    """A row only fix-ups read: an attribute, a decorator, a command declaration."""

    flags: frozenset[str]
    start: int
    end: int
    line: int
    name: int
    receiver: int
    type: int
    value: int
    path: int
    argc: int
    scope: int = NONE


class FileFacts:
    """All facts of one source. Lists hold structs; `refs`, `binds` and `strings` are int32 arrays with the columns named above."""

    def __init__(self, source: bytes, names: Names, status: int) -> None:
        self.source = source
        self.names = names
        self.status = status
        self.definitions: list[Definition] = []
        self.imports: list[Import] = []
        self.relations: list[Relation] = []
        self.commands: list[Command] = []
        self.configs: list[Config] = []
        self.exports: list[Export] = []
        self.marks: list[Mark] = []
        self.broken: list[tuple[int, int]] = []
        self.refs = np.empty((0, len(REF_COLUMNS)), dtype=np.int32)
        self.binds = np.empty((0, len(BIND_COLUMNS)), dtype=np.int32)
        self.strings = np.empty((0, len(STRING_COLUMNS)), dtype=np.int32)

    def text(self, text_id: int) -> str:
        """The text behind an id; empty for NONE."""
        return "" if text_id == NONE else self.names.text(text_id).decode("utf-8", "replace")

    def id(self, text: str) -> int:
        """The id of a text."""
        return self.names.add(text.encode("utf-8", "replace"))

    def type_id(self, text: str) -> int:
        """The id of the canonical form of a type written in plain text; that of `?` when it is not known."""
        return self.names.add(canonical(text.encode("utf-8", "replace"), is_type=True) or b"?")

    def add_import(self, path: str, start: int, end: int, line: int, *, name: str = "", alias: str = "", flags: frozenset[str] = frozenset()) -> None:
        """Append one import found by a fix-up."""
        held = [self.id(text) if text else NONE for text in (name, alias)]
        self.imports.append(Import(path=self.id(path), name=held[0], alias=held[1], flags=flags, start=start, end=end, line=line))

    def add_export(self, name: str, start: int, *, value: str = "", flags: frozenset[str] = frozenset()) -> None:
        """Append one export found by a fix-up: of the definition of that name, or of what `value` says."""
        self.exports.append(Export(name=self.id(name), value=self.id(value) if value else NONE, start=start, flags=flags))

    def add_refs(self, rows: Iterable[tuple[int, ...]]) -> None:
        """Append references found by a fix-up, in REF_COLUMNS order."""
        more = np.array(list(rows), dtype=np.int32).reshape(-1, len(REF_COLUMNS))
        if len(more):
            self.refs = np.concatenate([self.refs, more])

    def add_binds(self, rows: Iterable[tuple[int, ...]]) -> None:
        """Append bindings found by a fix-up, in BIND_COLUMNS order."""
        more = np.array(list(rows), dtype=np.int32).reshape(-1, len(BIND_COLUMNS))
        if len(more):
            self.binds = np.concatenate([self.binds, more])

    def define(self, kind: str, name: str, start: int, end: int, line: int, *, name_start: int = NONE, parent: int = NONE) -> Definition:
        """Append one definition found by a reader or a fix-up; those of one file stand in order of their start."""
        found = Definition(
            kind=kind, name=name, start=start, end=end, name_start=start if name_start == NONE else name_start, line=line, end_line=line, parent=parent
        )
        self.definitions.append(found)
        return found

    def ref(self, kind: str, name: str, start: int, line: int, *, receiver: str = "", scope: int = NONE) -> tuple[int, ...]:
        """One reference row for add_refs, spanning `name` at `start`."""
        held = self.id(receiver) if receiver else NONE
        return (REF_KIND_CODES[kind], self.id(name), start, start + len(name.encode()), line, held, scope, NONE, 0)
