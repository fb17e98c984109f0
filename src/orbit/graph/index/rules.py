"""Language tables in the terms of the native resolver: words become text ids, kinds become bits."""

from __future__ import annotations

from typing import Protocol

from orbit.graph.languages import language
from orbit.model import SYMBOL_KINDS, TYPE_KINDS
from orbit_native.definitions import Rules

TYPE, CALLABLE, VALUE, MODULE, DECLARATION, CONSTRUCTOR, SLOT, VARIANT, MEMBER, MACRO = 1, 2, 4, 8, 16, 32, 64, 128, 1024, 2048
CALLABLES = {"function", "method", "constructor", "function_declaration", "singleton_method", "test", "macro", "delegate"}
WORDS = (
    "self_names", "class_names", "super_names", "class_words", "root_names", "outer_names", "constructors", "transparent", "collections", "passing",
    "picking", "builtins",
)  # fmt: skip
VALUES = {"property", "field", "const", "constant", "static", "var", "global", "enum_member", "event"}
SLOTS = {"property", "field", "event"}


class Texts(Protocol):
    def id(self, text: str) -> int: ...


def kind_bits() -> list[int]:
    """What a resolver may do with each kind of symbol."""
    bits = []
    for kind in SYMBOL_KINDS:
        value = (TYPE if kind in TYPE_KINDS or kind == "typedef" else 0) | (CALLABLE if kind in CALLABLES else 0) | (VALUE if kind in VALUES else 0)
        value |= MODULE if kind in ("module", "package", "namespace") else 0
        value |= DECLARATION if kind == "function_declaration" else 0
        value |= CONSTRUCTOR if kind == "constructor" else 0
        value |= SLOT if kind in SLOTS else VARIANT if kind == "enum_member" else MACRO if kind == "macro" else 0
        value |= MEMBER if kind in ("method", "property") else 0
        bits.append(value)
    return bits


def make_rules(name: str, texts: Texts, family: int) -> Rules:
    """The resolver's rules of one language."""
    table, rules = language(name), Rules()
    rules.family = family
    rules.implicit_self, rules.shared_modules = table.implicit_self, table.shared_modules
    rules.reexports_all, rules.global_names = table.reexports_all, table.global_names
    rules.separator, rules.nested_modules = table.separator, table.nested_modules
    rules.module_paths, rules.class_sides, rules.bound_after = table.module_paths, table.class_sides, table.bound_after
    rules.makes_objects = table.makes_objects
    rules.textual_imports, rules.named_types = bool(table.shared_suffixes), table.named_types
    rules.overloads, rules.methods_apart = table.overloads, table.methods_apart
    for field in WORDS:
        setattr(rules, field, frozenset(texts.id(word) for word in sorted(getattr(table, field))))
    return rules
