"""Rust `use` trees as flat imports, one per leaf, with paths seen from the module of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts, Import

NONE = -1
DEPTH_LIMIT = 64  # of trees and of inline modules; deeper is not written by people
TREE_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|r#\w+|\w+|::|[{},*]", re.S)


def flatten(facts: FileFacts) -> None:
    """Replace the imports of a file by those of the leaves of its trees. `mod x;` is an import of self::x with the flag mod."""
    facts.imports = [leaf for found in facts.imports for leaf in _expand(facts, found)]
    _place_imports(facts)


def _expand(facts: FileFacts, found: Import) -> Iterator[Import]:
    """One import per leaf of a `use` tree."""
    text, line, start = facts.text(found.path), found.line, found.start
    if "mod" in found.flags:
        yield _leaf(facts, found, ["self", text], "", found.flags, found.start, found.end, line)
        return
    if "crate" in found.flags:
        found.flags = frozenset({"crate"})
        yield found
        return
    flags = frozenset({"export"}) if facts.source.startswith(b"pub", start) else frozenset[str]()
    if "{" not in text and "/" not in text:
        words = text.split()
        named = words[2] if len(words) == 3 and words[1] == "as" else ""
        parts = words[0].split("::") if len(words) in (1, 3) else []
        if parts and all(parts) and (named or len(words) == 1):
            last = parts[-1]
            at = max(facts.source.rfind(last.encode(), start, found.end - 1 - len(named)), start)
            if last == "*":
                yield _leaf(facts, found, parts[:-1], "", flags | {"star"}, at, at + 1, line)
            else:
                yield _leaf(facts, found, parts, named, flags, at, at + len(last.encode()), line)
            return
    raw = text.encode()
    at = max(facts.source.find(raw, start, found.end), start)
    plain = text.isascii()
    stack: list[list[str]] = []
    path: list[str] = ["::"] if text.startswith("::") else []
    prefix = path
    held: list[tuple[str, int, int]] = []
    alias, wants_alias, is_star = "", False, False
    lead, counted = line + facts.source.count(b"\n", start, at), 0
    for token in TREE_TOKEN.finditer(text + ","):
        word = token.group()
        if word[0] == "/":
            continue
        if word == "{":
            if len(stack) == DEPTH_LIMIT:
                return
            stack.append(prefix)
            prefix = [*prefix, *(w for w, _, _ in held)]
            held = []
        elif word in ",}":
            if held or is_star:
                begin, end = (held[-1][1], held[-1][2]) if held else (token.start() - 1, token.start())
                if not plain:
                    begin, end = len(text[:begin].encode()), len(text[:end].encode())
                whole = [*prefix, *(w for w, _, _ in held)]
                lead += raw.count(b"\n", counted, begin)
                counted = begin
                kind = flags | {"star"} if is_star else flags
                yield _leaf(facts, found, whole, alias, kind, at + begin, at + end, lead)
            held, alias, wants_alias, is_star = [], "", False, False
            if word == "}":
                prefix = stack.pop() if stack else []
        elif word == "*":
            is_star = True
        elif word == "as":
            wants_alias = True
        elif word != "::":
            if wants_alias:
                alias = word
            else:
                held.append((word, token.start(), token.end()))


def _leaf(facts: FileFacts, found: Import, whole: list[str], alias: str, flags: frozenset[str], start: int, end: int, line: int) -> Import:
    absolute = whole[:1] == ["::"]
    parts = whole[1:] if absolute else whole
    if len(parts) > 1 and parts[-1] == "self":
        parts = parts[:-1]
    name = ""
    if "star" not in flags and len(parts) > 1:
        name, parts = parts[-1], parts[:-1]
    path = ("::" if absolute else "") + "::".join(parts)
    return type(found)(
        path=facts.id(path), name=facts.id(name) if name else NONE, alias=facts.id(alias) if alias else NONE,
        flags=flags, start=start, end=end, line=line, scope=found.scope,
    )  # fmt: skip


def inline_modules(facts: FileFacts, scope: int) -> list[str]:
    """Names of the inline modules around a scope, outermost first."""
    names: list[str] = []
    for _ in range(DEPTH_LIMIT):
        if scope == NONE:
            break
        if facts.definitions[scope].kind == "module":
            names.insert(0, facts.definitions[scope].name)
        scope = facts.definitions[scope].parent
    return names


def _place_imports(facts: FileFacts) -> None:
    """Paths seen from the file's module: `super` inside an inline module is the file, a name of this file is `self::name`."""
    local: dict[tuple[str, ...], set[str]] = {}
    for found in facts.definitions:
        at_top = found.parent == NONE or facts.definitions[found.parent].kind == "module"
        if at_top and found.kind in ("module", "enum", "struct", "trait", "union", "type_alias"):
            local.setdefault(tuple(inline_modules(facts, found.parent)), set()).add(found.name)
    brought: dict[tuple[str, ...], dict[str, str]] = {}
    inside = [tuple(inline_modules(facts, i.scope)) if i.scope != NONE else () for i in facts.imports]
    for i, around in zip(facts.imports, inside, strict=True):
        if "mod" in i.flags:
            local.setdefault(around, set()).add(facts.text(i.name))
        elif i.name != NONE:
            brought.setdefault(around, {})[facts.text(i.alias if i.alias != NONE else i.name)] = f"{facts.text(i.path)}::{facts.text(i.name)}"
    for i, around in zip(facts.imports, inside, strict=True):
        text = facts.text(i.path)
        head, _, rest = text.partition("::")
        if head in local.get(around, ()):
            text = "::".join(["self", *around, text])
        elif head in brought.get(around, {}) and brought[around][head] != f"{text}::{facts.text(i.name)}":
            held = brought[around][head]
            text = _from_file(f"{held}::{rest}" if rest else held, around)
        else:
            text = _from_file(text, around)
        i.path = facts.id(text)


def _from_file(text: str, around: tuple[str, ...]) -> str:
    parts = text.split("::")
    if not around or parts[0] not in ("self", "super"):
        return text
    modules = list(around)
    while parts and parts[0] in ("self", "super") and modules:
        if parts.pop(0) == "super":
            modules.pop()
    if not modules and parts and parts[0] in ("self", "super"):
        return "::".join(parts)
    return "::".join(["self", *modules, *parts])
