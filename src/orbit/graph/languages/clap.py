"""Commands declared with clap's derive macros: names from variants and attributes, the enum they hang on, the call that handles them.

A variant of an enum that derives Subcommand is a command in the group of that enum; its definition has the payload's type, and the flag `subcommand`
when that is another group. Composing names is left to whoever sees all files; for that there are rows of three other forms:
a program (a struct that derives Parser and is parsed here, or is given a name) has no group, and an empty name unless one is written;
a struct with a subcommand or flattened field, or an enum with a flattened variant, has no name, itself as group, and the type held as handler: commands of that
type hang on it;
a match arm that takes a variant of an enum declared elsewhere has no name, `Enum.Variant` as group, and the call it makes as handler.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from orbit.graph.languages.clap_builder import MADE, find_built
from orbit.model import REF_KIND_CODES

if TYPE_CHECKING:
    from orbit.graph.facts import Definition, FileFacts, Mark

NONE = -1
MACRO = 2  # flag of a reference
CALL = REF_KIND_CODES["call"]
KEY = re.compile(r"(?:^|[(,])\s*(\w+)\s*(?:=\s*\"([^\"]*)\")?")
WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
BOUND = re.compile(rb"^[^({]*\(\s*(?:ref\s+|mut\s+)*(\w+)\s*[,)]")
ATTRIBUTES = re.compile(rb"^(?:\s*#\[[^\]]*\])+\s*")
VARIANT = re.compile(rb"\w+(?:\s*::\s*\w+)+")
FIELD = re.compile(rb"(\w+)\s*[,}]")
GROUP_NAME = re.compile(r"(?:Sub)?(?:Commands?|Cmds?|Args|Cli|Opts?|Actions?|Verbs?)$")
RUNNERS = ("run", "execute", "exec", "handle", "call", "invoke", "dispatch", "main")
WRAPPERS = frozenset({"Ok", "Err", "Some", "Box", "new", "into", "await", "format", "println", "eprintln", "panic", "todo", "unimplemented", "unreachable",
                      "bail", "anyhow", "map_err", "context", "with_context", "block_on", "unwrap", "expect", "clone", "exit", "default", "pin"})  # fmt: skip
STYLES = {"snake_case": "_", "SCREAMING_SNAKE_CASE": "_", "lower": "", "UPPER": "", "kebab-case": "-"}


def find_commands(facts: FileFacts, attributes: dict[int, list[Mark]], arms: list[Mark]) -> None:
    """Commands of one file. `attributes` by the definition they stand before, `arms` the match arms that name a path."""
    if b".subcommand" in facts.source or b"clap" in facts.source and MADE.search(facts.source):
        _take_built(facts)
    declares = b"Subcommand" in facts.source or b"Parser" in facts.source or b"subcommand" in facts.source
    keys = {index: _keys(facts, marks) for index, marks in attributes.items()} if declares else {}
    groups = {}
    for index in sorted(attributes) if declares else ():
        found = facts.definitions[index]
        derived = _derived(facts, attributes[index])
        if found.kind == "enum" and derived & {"Subcommand", "Parser"}:
            groups[index] = keys.get(index, {})
        elif found.kind == "struct" and "Parser" in derived:
            name = keys.get(index, {}).get("name", "")
            if name or re.search(rb"\b" + found.name.encode() + rb"::(?:try_)?parse(?:_from)?\b", facts.source):
                has_main = any(d.kind == "function" and d.name == "main" and d.parent == NONE for d in facts.definitions)
                facts.add_command(name, found.start, found.line, scope=index, handler="main" if has_main else "")
        for word in ("subcommand", "flatten", "external_subcommand"):
            if found.kind in ("field", "enum_member") and word in keys.get(index, {}):
                found.flags = found.flags | {word}
                if found.parent != NONE and (word == "flatten" or word == "subcommand" and found.kind == "field"):
                    group = facts.definitions[found.parent].name
                    facts.add_command("", found.start, found.line, scope=found.parent, handler=_payload(facts, found), group=group)
    if not groups and not arms:
        return
    handled = _dispatch(facts, arms, {facts.definitions[index].name for index in groups})
    for index, found in enumerate(facts.definitions):
        if found.kind != "enum_member" or found.parent not in groups or found.flags & {"flatten", "external_subcommand"}:
            continue
        enum = facts.definitions[found.parent]
        name = keys.get(index, {}).get("name") or _styled(found.name, groups[found.parent].get("rename_all", "kebab-case"))
        handler = handled.pop(f"{enum.name}.{found.name}", ("",))[0] or _runner(facts, found)
        facts.add_command(name, found.start, found.line, scope=index, handler=handler, group=enum.name)
    for variant, (handler, arm, scope) in handled.items():
        if GROUP_NAME.search(variant.rpartition(".")[0]):
            facts.add_command("", arm.start, arm.line, scope=scope, handler=handler, group=variant)


def _take_built(facts: FileFacts) -> None:
    calls = _calls(facts)
    starts = [row[2] for row in calls]

    def choose(start: int, end: int, pattern: bytes, deeper: list[tuple[int, int]]) -> str:
        return _handler(facts, calls[bisect_left(starts, start) : bisect_left(starts, end)], pattern, "?", deeper)[0]

    find_built(facts, _closing, choose)


def _calls(facts: FileFacts) -> list[list[int]]:
    """The calls of a file, in order."""
    return sorted(facts.refs[facts.refs[:, 0] == CALL].tolist(), key=lambda row: row[2])


def _keys(facts: FileFacts, marks: list[Mark]) -> dict[str, str]:
    """Keys of #[command(...)] and its older names, with their literal values."""
    found: dict[str, str] = {}
    for mark in marks:
        if facts.text(mark.name) in ("command", "clap", "structopt", "arg"):
            text = facts.source[mark.start : mark.end].decode("utf-8", "replace")
            found.update({key: value or "" for key, value in KEY.findall(text.partition("(")[2])})
    return found


def _derived(facts: FileFacts, marks: list[Mark] | tuple[()]) -> set[str]:
    words: set[str] = set()
    for mark in marks:
        if facts.text(mark.name) in ("derive", "cfg_attr"):
            words.update(re.findall(r"\w+", facts.source[mark.start : mark.end].decode("utf-8", "replace")))
    return words


def _styled(name: str, style: str) -> str:
    joined = STYLES.get(style)
    if joined is None:
        return name
    text = joined.join(word for word in WORD_BREAK.split(name) if word)
    return text.upper() if style in ("UPPER", "SCREAMING_SNAKE_CASE") else text.lower()


def _runner(facts: FileFacts, variant: Definition) -> str:
    """The payload type's own method that runs it, if this file has one."""
    payload = _payload(facts, variant)
    if not payload:
        return ""
    for found in facts.definitions:
        if found.kind == "method" and found.name in RUNNERS and found.owner != NONE and facts.text(found.owner) == payload:
            return f"{payload}.{found.name}"
    return ""


def _payload(facts: FileFacts, found: Definition) -> str:
    """The type a variant or field holds, out of its Box or Option."""
    text = facts.text(found.type)
    while text.startswith(("Box<", "Option<")):
        text = text[text.index("<") + 1 : -1]
    return text


def _dispatch(facts: FileFacts, arms: list[Mark], groups: set[str]) -> dict[str, tuple[str, Mark, int]]:
    """`Enum.Variant` -> the call its match arm makes, the arm, and where to look it up. Only arms of known groups, and of enums named like one."""
    handled: dict[str, tuple[str, Mark, int]] = {}
    calls: list[list[int]] = []
    starts: list[int] = []
    heads = [arm.start for arm in arms]
    for arm in arms:
        arrow = facts.source.find(b"=>", arm.start, arm.end)
        patterns = ATTRIBUTES.sub(b"", facts.source[arm.start : max(arrow, arm.start)]).partition(b" if ")[0]
        outer = VARIANT.match(patterns)
        group = outer.group().split(b"::")[-2].strip().decode("utf-8", "replace") if outer else ""
        if group not in groups and group != "Self" and not GROUP_NAME.search(group):
            continue
        if not calls:
            calls = _calls(facts)
            starts = [row[2] for row in calls]
        inside = calls[bisect_left(starts, arrow) : bisect_left(starts, arm.end)]
        deeper = [(other.start, other.end) for other in arms[bisect_right(heads, arm.start) : bisect_left(heads, arm.end)]]
        for pattern in patterns.split(b"|"):
            meant = list(VARIANT.finditer(pattern))[-1:]  # of one pattern inside another the inner one
            if not meant:
                continue
            path = b"".join(meant[0].group().split()).decode("utf-8", "replace").split("::")
            enum = _enclosing_type(facts, arm.scope) if path[-2] == "Self" else path[-2]
            if enum not in groups and not GROUP_NAME.search(enum):
                continue
            variant = f"{enum}.{path[-1]}"
            handler, is_path = _handler(facts, inside, pattern[meant[0].start() :], variant, deeper)
            if not is_path:
                handler = _from_outside(facts, handler, arm.scope)
            if handler and variant not in handled:
                qualifier = ".".join([*path[:-2], variant]) if enum not in groups and path[-2] != "Self" else variant
                handled[qualifier] = (handler, arm, NONE if is_path else arm.scope)  # in a path no local is meant
    return handled


def _from_outside(facts: FileFacts, handler: str, scope: int) -> str:
    """The same without the locals of the function that dispatches."""
    head, dot, rest = handler.partition(".")
    if head == "Self":
        return f"{_enclosing_type(facts, scope)}{dot}{rest}"
    if dot and scope != NONE:
        name = facts.id(head)
        for _, bound, type_, value, where, _ in reversed(facts.binds.tolist()):
            if bound == name and where == scope:
                known = facts.text(type_) or facts.text(value)
                return f"{known}{dot}{rest}" if known not in ("", "?") else handler
    return handler


def _enclosing_type(facts: FileFacts, scope: int) -> str:
    while scope != NONE:
        if facts.definitions[scope].owner != NONE:
            return facts.text(facts.definitions[scope].owner).rpartition(".")[2]
        scope = facts.definitions[scope].parent
    return "?"


def _handler(facts: FileFacts, calls: list[list[int]], pattern: bytes, variant: str, deeper: list[tuple[int, int]]) -> tuple[str, bool]:
    """The call made on the payload, else the last that takes what the pattern binds, else the first that does something; is it written as a path?

    Calls of arms inside this one handle other variants.
    """
    doing = [row for row in calls if not row[8] & MACRO and facts.text(row[1]) not in WRAPPERS and not any(start <= row[2] < end for start, end in deeper)]
    bound = BOUND.match(pattern)
    payload = bound.group(1).decode("utf-8", "replace") if bound else ""
    names = [payload.encode()] if payload.strip("_") else [] if bound else FIELD.findall(pattern.partition(b"{")[2])
    chosen, until = None, 0
    for row in doing if names else ():
        if payload and facts.text(row[5]) == payload and not _is_path(facts, row):
            return f"{variant}.0.{facts.text(row[1])}", False
        if row[2] >= until and re.search(rb"\b(?:" + b"|".join(names) + rb")\b", facts.source[row[3] : _closing(facts.source, row[3])]):
            chosen, until = row, _closing(facts.source, row[3])
    chosen = chosen or (doing[0] if doing and not deeper else None)
    if chosen is None:
        return "", False
    name, held = facts.text(chosen[1]), facts.text(chosen[5])
    return f"{held}.{name}" if held else name, _is_path(facts, chosen)


def _is_path(facts: FileFacts, call: list[int]) -> bool:
    return facts.source[call[2] - 2 : call[2]] == b"::"


def _closing(source: bytes, at: int) -> int:
    """Where the brackets that begin near a place end."""
    depth = 0
    for i in range(at, len(source)):
        depth += (source[i] in b"({") - (source[i] in b")}")
        if depth <= 0 and source[i] in b")}":
            return i
    return len(source)
