"""The facts of one file, as extraction finds them: what is defined, referred to, imported, bound. Texts are ids of a `Names`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from orbit.model import REF_KIND_CODES
from orbit_native.capture import HAS_ERRORS, TOO_MANY_MATCHES
from orbit_native.expression import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from orbit_native.names import Names

NONE = -1  # no text, no parent, no scope

# Columns of the array tables.
REF_COLUMNS = ("kind", "name", "start", "end", "line", "receiver", "scope", "argc", "flags")
BIND_COLUMNS = ("form", "name", "type", "value", "scope", "start")
STRING_COLUMNS = ("text", "line", "scope")
KEY_COLUMNS = ("form", "start", "end", "line", "name")

NO_REFS, NO_BINDS, NO_STRINGS, NO_KEYS = (np.empty((0, len(columns)), dtype=np.int32) for columns in (REF_COLUMNS, BIND_COLUMNS, STRING_COLUMNS, KEY_COLUMNS))

# Flags of a reference.
NEW, MACRO, DECORATOR = 1, 2, 4
# Forms of a binding; FIELD binds a member of the enclosing type, the others a local of the scope.
BIND_FORMS = ("assign", "param", "field", "for", "with", "return", "given")
# Forms of a row of a configuration file; `item` is an element of a list, `document` one of several in a file.
KEY_FORMS = ("key", "item", "document", "table", "element")


def among(values: Any, pool: Any) -> Any:
    """Which values are in the pool? (np.isin costs ten times as much on arrays as small as those of a file.)"""
    if not len(pool):
        return np.zeros(len(values), dtype=bool)
    pool = np.sort(pool)
    return pool[np.minimum(pool.searchsorted(values), len(pool) - 1)] == values


class Definition(msgspec.Struct, kw_only=True, gc=False):
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


class Import(msgspec.Struct, kw_only=True, gc=False):
    """One imported name, or a whole module (`name` NONE)."""

    path: int
    name: int = NONE
    alias: int = NONE
    flags: frozenset[str] = frozenset()
    start: int
    end: int
    line: int
    scope: int = NONE


class Relation(msgspec.Struct, kw_only=True, gc=False):
    """`scope` (or the type `owner`) extends, implements or impl-s the type `target`."""

    kind: str
    target: int
    start: int
    end: int
    line: int
    scope: int = NONE
    owner: int = NONE


class Command(msgspec.Struct, kw_only=True, gc=False):
    """A command-line command: its own name, the expression that handles it, and the group it hangs on (canonical expressions)."""

    name: str
    start: int
    line: int
    scope: int = NONE  # the definition that declares it
    handler: str = ""
    group: str = ""


class Config(msgspec.Struct, kw_only=True, gc=False):
    key: str
    kind: str
    line: int


class Export(msgspec.Struct, kw_only=True, gc=False):
    """A name the file makes public; `value` is what it stands for when that is another expression. Flag `whole`: the file itself is the value."""

    name: int = NONE
    value: int = NONE
    start: int
    flags: frozenset[str] = frozenset()


class Mark(msgspec.Struct, kw_only=True, gc=False):
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
    """All facts of one source. Lists hold structs; `refs`, `binds`, `strings` and `keys` are int32 arrays with the columns named above."""

    def __init__(self, source: bytes, names: Names, status: int) -> None:
        self.source = source
        self.names = names
        self.text: Callable[[int], str] = names.word  # the text behind an id; empty for NONE
        self.id: Callable[[str], int] = names.add_word  # the id of a text
        self.status = status
        self.definitions: list[Definition] = []
        self.imports: list[Import] = []
        self.relations: list[Relation] = []
        self.commands: list[Command] = []
        self.configs: list[Config] = []
        self.exports: list[Export] = []
        self.marks: list[Mark] = []
        self.broken: list[tuple[int, int]] = []
        self.refs = NO_REFS
        self.binds = NO_BINDS
        self.strings = NO_STRINGS
        self.keys = NO_KEYS

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

    def add_strings(self, rows: Iterable[tuple[int, ...]]) -> None:
        """Append strings found by a fix-up, in STRING_COLUMNS order."""
        more = np.array(list(rows), dtype=np.int32).reshape(-1, len(STRING_COLUMNS))
        if len(more):
            self.strings = np.concatenate([self.strings, more])

    def add_config(self, key: str, kind: str, line: int) -> None:
        """Append one configuration key."""
        self.configs.append(Config(key=key, kind=kind, line=line))

    def define(self, kind: str, name: str, start: int, end: int, line: int, *, name_start: int = NONE, parent: int = NONE) -> Definition:
        """Append one definition found by a reader or a fix-up; those of one file stand in order of their start."""
        found = Definition(
            kind=kind, name=name, start=start, end=end, name_start=start if name_start == NONE else name_start, line=line, end_line=line, parent=parent
        )
        self.definitions.append(found)
        return found

    def reject(self, start: int, end: int) -> None:
        """Say that this range of the source could not be understood."""
        self.status |= HAS_ERRORS
        self.broken.append((start, end))

    def cut(self, start: int) -> None:
        """Say that the source holds more than is kept, from here to its end."""
        self.status |= TOO_MANY_MATCHES
        self.broken.append((start, len(self.source)))

    def ref(self, kind: str, name: str, start: int, line: int, *, receiver: str = "", scope: int = NONE) -> tuple[int, ...]:
        """One reference row for add_refs, spanning `name` at `start`."""
        held = self.id(receiver) if receiver else NONE
        return (REF_KIND_CODES[kind], self.id(name), start, start + len(name.encode()), line, held, scope, NONE, 0)

    def add_relation(self, kind: str, target: str, start: int, end: int, line: int, *, scope: int) -> None:
        """Append one relation found by a fix-up: of the definition `scope` to the type `target`."""
        self.relations.append(Relation(kind=kind, target=self.id(target), start=start, end=end, line=line, scope=scope))

    def add_command(self, name: str, start: int, line: int, *, scope: int = NONE, handler: str = "", group: str = "") -> None:
        """Append one command found by a fix-up."""
        self.commands.append(Command(name=name, start=start, line=line, scope=scope, handler=handler, group=group))
