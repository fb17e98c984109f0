"""Commands made with clap's builder: `Command::new("git").subcommand(Command::new("clone"))`, and the match on `subcommand()` that runs them.

Only what is written out is read: names that are literals, chains inside one function, functions called inside `.subcommand(...)`. A command at the top
of a function stands for that function; one further in carries the names in between in its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts

NONE = -1
MADE = re.compile(rb'\b(?:(?:Command|App)::new|SubCommand::with_name)\(\s*"([\w.-]+)"')
HUNG = re.compile(rb"\.subcommands?\(\s*(?:((?:\w+::)*\w+)\(\)\s*\))?")
ARM = re.compile(rb'[({|,]\s*(?:Some\(\s*)?\(?\s*"([\w-]+)"\s*(?:,\s*(?:Some\(\s*)?(\w+)[\s)]*)?\)*\s*=>\s*')

Choose = Callable[[int, int, bytes, list[tuple[int, int]]], str]  # (start and end of an arm's body, what it binds, arms inside it) -> the call it makes


def find_built(facts: FileFacts, closing: Callable[[bytes, int], int], choose: Choose) -> None:
    """Commands of one file. `closing` finds where brackets end."""
    source = facts.source
    hung = [(found.start(), closing(source, found.start()), found[1]) for found in HUNG.finditer(source)]
    handled = dict(_dispatch(facts, choose))
    above: dict[tuple[int, int], list[str]] = {}  # function, depth -> names down to the last command there
    for found in MADE.finditer(source):
        start, function = found.start(), _function(facts, found.start())
        depth = sum(begin < start < end for begin, end, _ in hung)
        if function == NONE or depth and (function, depth - 1) not in above or not depth and not _makes(facts, function):
            continue
        path = above[function, depth] = [*above[function, depth - 1], found[1].decode()] if depth else []
        handler, group = handled.pop(tuple(path), ("", 0))[0], facts.definitions[function].name if path else ""
        facts.add_command(" ".join(path) or found[1].decode(), start, _line(facts, start), scope=function, handler=handler, group=group)
    for start, _, called in hung:
        function = _function(facts, start)
        if called is not None and (function, 0) in above and not any(begin < start < end for begin, end, _ in hung):
            text = called.decode().replace("::", ".")
            name = text.rpartition(".")[2].replace("_", "-")
            facts.add_command(f"?{name}", start, _line(facts, start), scope=function, handler=f"{text}()", group=facts.definitions[function].name)
    for names, (handler, start) in handled.items():  # of commands that are made elsewhere
        facts.add_command(" ".join(names), start, _line(facts, start), scope=_function(facts, start), handler=handler)


def _dispatch(facts: FileFacts, choose: Choose) -> Iterator[tuple[tuple[str, ...], tuple[str, int]]]:
    """Names of a command, as the arms around each other say them -> (the call that handles it, where)."""
    source = facts.source
    arms = []
    for found in ARM.finditer(source):
        function = _function(facts, found.start())
        if function != NONE and b".subcommand" in source[facts.definitions[function].start : facts.definitions[function].end]:
            arms.append((found.start(1), _end_of_arm(source, found.end()), found[1].decode(), found[2] or b"_", found.end()))
    for start, end, name, bound, body in arms:
        around = [other[2] for other in arms if other[0] < start and end <= other[1]]
        handler = choose(body, end, b"_(" + bound + b")", [other[:2] for other in arms if start < other[0] and other[1] <= end])
        if handler:
            yield (*around, name), (handler, start)


def _end_of_arm(source: bytes, at: int) -> int:
    """Where the body of an arm ends: at the brace that closes it, or at a comma outside all brackets."""
    depth = 0
    for i in range(at, len(source)):
        depth += (source[i] in b"({[") - (source[i] in b")}]")
        if depth < 0 or depth == 0 and source[i] in b",}":
            return i
    return len(source)


def _function(facts: FileFacts, at: int) -> int:
    """The function or method a place is in."""
    around = [index for index, found in enumerate(facts.definitions) if found.start <= at < found.end and found.kind in ("function", "method")]
    return around[-1] if around else NONE


def _makes(facts: FileFacts, function: int) -> bool:
    """Is it clap's command that a function makes, and not one of the operating system?"""
    found = facts.definitions[function]
    return re.search(r"\b(?:Command|App)\b", facts.text(found.type)) is not None or b".subcommand" in facts.source[found.start : found.end]


def _line(facts: FileFacts, at: int) -> int:
    return facts.source.count(b"\n", 0, at) + 1
