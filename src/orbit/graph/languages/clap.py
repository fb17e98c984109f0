"""Commands declared with clap's derive macros: names from variants and attributes, the enum they hang on, the call that handles them.

A variant of an enum that derives Subcommand is a command in the group of that enum; its definition has the payload's type, and the flag `subcommand`
when that is another group. A struct that derives Parser is a program: a command without a group, its name empty unless it is written. A match elsewhere
that takes such variants apart gives a row without a name, with the variant as group. Composing them is left to whoever sees all files.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from orbit.model import REF_KIND_CODES

if TYPE_CHECKING:
    from orbit.graph.index.facts import Definition, FileFacts, Mark

NONE = -1
CALL = REF_KIND_CODES["call"]
KEY = re.compile(r"(?:^|[(,])\s*(\w+)\s*(?:=\s*\"([^\"]*)\")?")
WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
BOUND = re.compile(r"^[^({]*[({]\s*(?:ref\s+|mut\s+)*(\w+)\s*[,})]")
GROUP_NAME = re.compile(r"(?:Sub)?(?:Commands?|Cmds?|Args|Cli|Opts?|Actions?|Verbs?)$")
RUNNERS = ("run", "execute", "exec", "handle", "call", "invoke", "dispatch", "main")
WRAPPERS = frozenset({"Ok", "Err", "Some", "Box", "new", "into", "await", "format", "println", "eprintln", "panic", "todo", "unimplemented", "unreachable",
                      "bail", "anyhow", "map_err", "context", "with_context", "block_on", "unwrap", "expect", "clone", "exit", "default"})  # fmt: skip
STYLES = {"snake_case": "_", "SCREAMING_SNAKE_CASE": "_", "lower": "", "UPPER": "", "kebab-case": "-"}


def find_commands(facts: FileFacts, attributes: dict[int, list[Mark]], arms: list[Mark]) -> None:
    """Commands of one file. `attributes` by the definition they stand before, `arms` the match arms that name a path."""
    keys = {index: _keys(facts, marks) for index, marks in attributes.items()}
    groups = {}
    for index, found in enumerate(facts.definitions):
        derived = _derived(facts, attributes.get(index, ()))
        if found.kind == "enum" and derived & {"Subcommand", "Parser"}:
            groups[index] = keys.get(index, {})
        elif found.kind == "struct" and "Parser" in derived and "clap" in _words(facts):
            names = {d.name for d in facts.definitions if d.kind == "function" and d.parent == NONE}
            facts.add_command(keys.get(index, {}).get("name", ""), found.start, found.line, scope=index, handler="main" if "main" in names else "")
        for word in ("subcommand", "flatten", "external_subcommand"):
            if found.kind in ("field", "enum_member") and word in keys.get(index, {}):
                found.flags = found.flags | {word}
    if not groups and not arms:
        return
    handled = _dispatch(facts, arms, {facts.definitions[index].name for index in groups})
    for index, found in enumerate(facts.definitions):
        if found.kind != "enum_member" or found.parent not in groups or found.flags & {"flatten", "external_subcommand"}:
            continue
        group = facts.definitions[found.parent]
        name = keys.get(index, {}).get("name") or _styled(found.name, groups[found.parent].get("rename_all", "kebab-case"))
        handler = handled.pop(f"{group.name}.{found.name}", ("", None))[0] or _runner(facts, found)
        facts.add_command(name, found.start, found.line, scope=index, handler=handler, group=group.name)
    for variant, (handler, arm) in handled.items():
        if arm is not None and handler and GROUP_NAME.search(variant.rpartition(".")[0]):
            facts.add_command("", arm.start, arm.line, scope=arm.scope, handler=handler, group=variant)


def _words(facts: FileFacts) -> str:
    """A program's Parser is clap's: the source says so."""
    return "clap" if b"clap" in facts.source else ""


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
    payload = facts.text(variant.type)
    payload = payload[4:-1] if payload.startswith("Box<") else payload
    if not payload:
        return ""
    for found in facts.definitions:
        if found.kind == "method" and found.name in RUNNERS and found.owner != NONE and facts.text(found.owner) == payload:
            return f"{payload}.{found.name}"
    return ""


def _dispatch(facts: FileFacts, arms: list[Mark], groups: set[str]) -> dict[str, tuple[str, Mark | None]]:
    """`Enum.Variant` -> the call its match arm makes. Only arms of known groups, and of enums named like one."""
    handled: dict[str, tuple[str, Mark | None]] = {}
    calls: list[list[int]] = []
    starts: list[int] = []
    for arm in arms:
        path = facts.text(arm.path).replace(" ", "").split("::")
        if len(path) < 2:
            continue
        enum = _enclosing_type(facts, arm.scope) if path[-2] == "Self" else path[-2]
        if enum not in groups and not GROUP_NAME.search(enum):
            continue
        if not calls:
            calls = facts.refs[facts.refs[:, 0] == CALL].tolist()
            calls.sort(key=lambda row: row[2])
            starts = [row[2] for row in calls]
        text = facts.source[arm.start : arm.end]
        arrow = text.find(b"=>")
        if arrow < 0:
            continue
        inside = calls[bisect_left(starts, arm.start + arrow) : bisect_left(starts, arm.end)]
        bound = BOUND.match(text[:arrow].decode("utf-8", "replace"))
        payload = bound.group(1) if bound and bound.group(1) not in ("_", "..") else ""
        variant = f"{enum}.{path[-1]}"
        handler = _handler(facts, inside, payload, variant)
        if handler and variant not in handled:
            qualifier = ".".join([*path[:-2], variant]) if enum not in groups and path[-2] != "Self" else variant
            handled[qualifier] = (handler, arm)
    return handled


def _enclosing_type(facts: FileFacts, scope: int) -> str:
    while scope != NONE:
        if facts.definitions[scope].owner != NONE:
            return facts.text(facts.definitions[scope].owner).rpartition(".")[2]
        scope = facts.definitions[scope].parent
    return "?"


def _handler(facts: FileFacts, calls: list[list[int]], payload: str, variant: str) -> str:
    """The call that takes the payload, or is made on it; else the only call that does something."""
    doing = [row for row in calls if facts.text(row[1]) not in WRAPPERS]
    for row in doing:
        name, held = facts.text(row[1]), facts.text(row[5])
        if payload and held == payload:
            return f"{variant}.0.{name}"
        end = facts.source.find(b")", row[3])
        if payload and held.partition(".")[0] != payload and re.search(rb"\b" + payload.encode() + rb"\b", facts.source[row[3] : end]):
            return f"{held}.{name}" if held else name
    if not doing:
        return ""
    name, held = facts.text(doing[0][1]), facts.text(doing[0][5])
    return f"{held}.{name}" if held else name
