"""Commands of command lines: what a declaration names and hangs on, and the full names that follow when all files are seen.

A row of table `command` speaks of things: what it declares (`item`), what that hangs on (`outer`), and what hangs on it without a name of its own
(`held`: the payload of a variant, the class of a group). Each is a definition, wherever it is declared; what cannot be resolved is the expression,
inside its file. Full names are a function of these rows alone.
"""

from __future__ import annotations

import numpy as np

from orbit.graph.facts import NONE
from orbit.graph.index.texts import Texts
from orbit.graph.index.unit import Unit
from orbit.graph.languages import language
from orbit.graph.store.writer import SYMBOL_SHIFT, Writer
from orbit.model import REF_KIND_CODES, SYMBOL_KIND_CODES, TYPE_KINDS
from orbit_native.definitions import DEFINITION_COLUMNS
from orbit_native.resolve import Resolver

DECLARED_ELSEWHERE = "?"  # begins the name of a row that goes by the name its thing was declared with; what follows is the name if there is none
_USE, _TYPE = REF_KIND_CODES["use"], REF_KIND_CODES["type"]
_VARIANT = SYMBOL_KIND_CODES["enum_member"]
_TYPES = frozenset(SYMBOL_KIND_CODES[kind] for kind in TYPE_KINDS)
_GROUPS = {*_TYPES, _VARIANT}
_S = {name: at for at, name in enumerate(DEFINITION_COLUMNS)}
_WRAPPERS = ("Box<", "Option<")
_FILE_SHIFT = 32  # a thing is file << 32 | text of its qualified name; below zero, text of an expression of that file

Aimed = tuple[int | None, int | None, int | None, int | None, int | None, int]  # target, its file, item, outer, held, id of the row


def name_commands(writer: Writer) -> None:
    """Compose full names: a thing hangs where the first row that says so puts it; tests speak last."""
    rows = list(writer.commands())
    own: dict[int, str] = {}
    for _, name, _, item, outer, _, _ in sorted(rows, key=lambda row: row[4] is not None):
        if item is not None and not name.startswith(DECLARED_ELSEWHERE) and (outer is None or name):
            own.setdefault(item, name)
    places: dict[int, tuple[int, str]] = {}
    for _, name, _, item, outer, held, _ in rows:
        if item is not None and outer is not None and item != outer:
            places.setdefault(item, (outer, _called(name, item, own)))
        if held is not None and item is not None and held != item:
            places.setdefault(held, (item, ""))
    for row, name, known, item, outer, _, runs in rows:
        if not name and not runs:
            full = ""  # it only joins others
        elif outer is not None:
            full = " ".join(filter(None, (*_path(outer, places, own), _called(name, item, own))))
        else:
            full = " ".join(_path(item, places, own)) if item is not None else name
        if full != known:
            writer.name_command(row, full)


def _called(name: str, item: int | None, own: dict[int, str]) -> str:
    return own.get(item, name[1:]) if item is not None and name.startswith(DECLARED_ELSEWHERE) else name.removeprefix(DECLARED_ELSEWHERE)


def _path(item: int, places: dict[int, tuple[int, str]], own: dict[int, str]) -> list[str]:
    """Names from the program down to a thing."""
    names, seen = [], {item}
    while (place := places.get(item)) is not None and place[0] not in seen:
        names.append(place[1])
        item = place[0]
        seen.add(item)
    return [name for name in (own.get(item, ""), *reversed(names)) if name]


def aim_commands(unit: Unit, texts: Texts, resolver: Resolver) -> list[Aimed]:
    """What the expressions of a file's commands mean, for every row of the file."""
    rows, file = unit.commands.tolist(), _File(unit, texts)
    asked: list[tuple[int, ...]] = []
    slots: list[list[int]] = []
    for begin, _, scope, handler, grouped in rows:
        slots.append([])
        for kind, text, where in ((_USE, file.text(handler), scope), (_USE, file.text(grouped), scope), file.held(scope, grouped)):
            receiver, _, name = text.removesuffix("()").rpartition(".")
            slots[-1].append(len(asked) if name.isidentifier() else NONE)
            if name.isidentifier():
                asked.append((kind, texts.id(name), begin, begin, 0, texts.id(receiver) if receiver else NONE, where, NONE, 0))
    found = resolver.resolve_refs(unit.file, np.array(asked, dtype=np.int32).reshape(-1, 9))[0].tolist()
    things = [home << _FILE_SHIFT | qualified if qualified >= 0 and home >= 0 else None for qualified, home, _ in found]
    made: list[Aimed] = []
    for n, ((_, _, scope, handler, grouped), places) in enumerate(zip(rows, slots, strict=True)):
        target, item, outer, held = file.aim(scope, handler, grouped, *(things[at] if at != NONE else None for at in places))
        place = (target & 0xFFFFFFFF, target >> _FILE_SHIFT) if target is not None else (None, None)
        made.append((*place, item, outer if outer is not None else file.unknown(grouped), held, unit.file << SYMBOL_SHIFT | n))
    return made


class _File:
    """The definitions of one file, as its commands speak of them."""

    def __init__(self, unit: Unit, texts: Texts) -> None:
        self.id, self.table, self.texts = unit.file, language(unit.lang), texts
        self.symbols = unit.symbols.tolist()

    def text(self, text: int) -> str:
        return self.texts.text(text) if text != NONE else ""

    def own(self, symbol: int) -> int:
        return int(self.id << _FILE_SHIFT | self.symbols[symbol][_S["qualified"]])

    def unknown(self, expression: int) -> int | None:
        return -(self.id << _FILE_SHIFT | expression) if expression != NONE else None

    def aim(self, scope: int, handler: int, grouped: int, target: int | None, outer: int | None, held: int | None) -> tuple[int | None, ...]:
        """(what runs it, item, outer, held) of a row, given what its expressions resolve to."""
        kind = self.symbols[scope][_S["kind"]] if scope != NONE else NONE
        if kind in _GROUPS and grouped == self.symbols[scope][_S["name"]]:
            return None, target, self.own(scope), None  # a type hangs here; nothing runs it
        if kind == _VARIANT:
            return target, self.own(scope), self.own(self.symbols[scope][_S["parent"]]), held
        if kind in _TYPES and grouped == NONE:
            return target, self.own(scope), outer, held
        if handler == NONE:  # a function that makes a command
            return None, self.own(scope) if grouped == NONE and scope != NONE else None, outer, held
        if self.text(handler).endswith("()"):  # what such a function makes hangs here
            return None, target, outer, held
        if target is None and scope != NONE and self.text(handler).rpartition(".")[2] == self.text(self.symbols[scope][_S["name"]]):
            target = self.own(scope)
        if outer is None and self.text(grouped) in self.table.self_names:
            outer = self.type_around(scope)
        return target, target if target is not None else self.unknown(handler), outer, held

    def held(self, scope: int, grouped: int) -> tuple[int, str, int]:
        """The type of a variant's payload, or the class that a group is made of, and where to look it up."""
        if scope == NONE:
            return _TYPE, "", scope
        symbol = self.symbols[scope]
        if symbol[_S["kind"]] == _VARIANT:
            text = self.text(symbol[_S["type"]])
            while text.startswith(_WRAPPERS):
                text = text[text.index("<") + 1 : -1]
            return _TYPE, text, self.symbols[symbol[_S["parent"]]][_S["parent"]]
        value = self.text(symbol[_S["value"]])
        return _TYPE, value if grouped == NONE and value.endswith("()") else "", symbol[_S["parent"]]

    def type_around(self, scope: int) -> int | None:
        while scope != NONE and self.symbols[scope][_S["kind"]] not in _TYPES:
            scope = self.symbols[scope][_S["parent"]]
        return self.own(scope) if scope != NONE else None
