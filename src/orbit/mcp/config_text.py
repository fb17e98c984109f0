"""One entry in, one entry out, of a JSON or TOML text: the rest is not parsed and printed again but left as it stands. JSON may have comments."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}/]+")


class ConfigTextError(ValueError):
    """The text is not what its name says."""


class _Object:
    """Where an object stands in a text: braces, and for each member where it begins, where its value does, and where it ends."""

    def __init__(self, text: str, start: int) -> None:
        if text[start : start + 1] != "{":
            raise ConfigTextError("an object was expected")
        self.start = start
        self.members: dict[str, tuple[int, int, int]] = {}
        at = _skip(text, start + 1)
        self.has_trailing_comma = False
        while text[at : at + 1] != "}":
            name = _STRING.match(text, at)
            colon = _skip(text, name.end()) if name else at
            if name is None or text[colon : colon + 1] != ":":
                raise ConfigTextError(f"a member was expected in line {text.count(chr(10), 0, at) + 1}")
            value = _skip(text, colon + 1)
            end = _end(text, value)
            self.members[json.loads(name[0])] = (at, value, end)
            at = _skip(text, end)
            self.has_trailing_comma = text[at : at + 1] == ","
            if self.has_trailing_comma:
                at = _skip(text, at + 1)
            elif text[at : at + 1] != "}":
                raise ConfigTextError(f"a comma or brace was expected in line {text.count(chr(10), 0, at) + 1}")
        self.end = at  # of the closing brace


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _end(text: str, at: int) -> int:
    """The end of the value that begins here."""
    sign = text[at : at + 1]
    if sign == "{":
        return _Object(text, at).end + 1
    if sign == "[":
        at = _skip(text, at + 1)
        while text[at : at + 1] != "]":
            at = _skip(text, _end(text, at))
            if text[at : at + 1] == ",":
                at = _skip(text, at + 1)
            elif text[at : at + 1] != "]":
                raise ConfigTextError("a list does not end")
        return at + 1
    found = (_STRING if sign == '"' else _SCALAR).match(text, at)
    if found is None:
        raise ConfigTextError(f"a value was expected in line {text.count(chr(10), 0, at) + 1}")
    return found.end()


def _top(text: str) -> _Object:
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    top = _Object(text, start)
    if _skip(text, top.end + 1) != len(text):
        raise ConfigTextError("something follows the closing brace")
    return top


def read_json(text: str, section: str) -> dict[str, Any]:
    """The entries of a section: name to value. Values with comments in them are given as their text."""
    if not text.strip():
        return {}
    found = _top(text).members.get(section)
    if found is None:
        return {}
    entries: dict[str, Any] = {}
    for name, (_, value, end) in _Object(text, found[1]).members.items():
        try:
            entries[name] = json.loads(text[value:end])
        except ValueError:
            entries[name] = text[value:end]
    return entries


def add_json(text: str, section: str, name: str, entry: dict[str, Any]) -> str:
    if not text.strip():
        return json.dumps({section: {name: entry}}, indent=2) + "\n"
    top = _top(text)
    if section not in top.members:
        return _insert(text, top, section, {name: entry}, 1)
    return _insert(text, _Object(text, top.members[section][1]), name, entry, 2)


def drop_json(text: str, section: str, name: str) -> str:
    """Without the member, the comma that set it off and the space before it; comments around it stay."""
    inner = _Object(text, _top(text).members[section][1])
    start, _, end = inner.members[name]
    before = max((other for at, _, other in inner.members.values() if at < start), default=None)
    start, after = len(text[:start].rstrip()), _skip(text, end)
    if text[after] == ",":
        return text[:start] + text[end:after] + text[after + 1 :]
    comma = start if before is None else _skip(text, before)
    return text[:comma] + text[comma + 1 : start] + text[end:]


def _insert(text: str, into: _Object, name: str, value: Any, depth: int) -> str:
    """After the last member, in the manner of the text."""
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = next((found[1] for found in [re.search(r"\n([ \t]+)\S", text)] if found), "  ")
    body = json.dumps(value, indent=unit).replace("\n", newline + unit * depth)
    member = f"{newline}{unit * depth}{json.dumps(name)}: {body}"
    if not into.members:
        return f"{text[: into.start + 1]}{member}{newline}{unit * (depth - 1)}{text[into.end :]}"
    last = max(end for _, _, end in into.members.values())
    return f"{text[:last]},{member}{text[last:]}"


def read_toml(text: str, section: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(text).get(section, {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigTextError(str(error)) from None
    return found if isinstance(found, dict) else {}


def add_toml(text: str, section: str, name: str, entry: dict[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    lines = [f"[{section}.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in entry.items())]
    added = text + gap + newline.join(lines) + newline
    if read_toml(added, section).get(name) != entry:
        raise ConfigTextError(f"[{section}] is written in a way that cannot be added to")
    return added


def drop_toml(text: str, section: str, name: str) -> str:
    """Without the table, those inside it, and the empty line before each. A table ends before an empty line, a comment or another table."""
    table = rf"(?:^\r?\n)?^[ \t]*\[{section}\.{name}(?:\.[^\n]*)?\][^\n]*(?:\n(?![ \t]*(?:[#\[]|\r?$))[^\n]*)*\n?"
    left = re.sub(table, "", text, flags=re.MULTILINE)
    if name in read_toml(left, section):
        raise ConfigTextError(f"the entry is not a table [{section}.{name}] of its own")
    return left
