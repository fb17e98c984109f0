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

_STRING = r'"(?:[^"\\]|\\.)*"'
_SPACE = r"(?:\s|//[^\n]*|/\*.*?\*/)+"
_TOKEN = re.compile(rf"(?P<space>{_SPACE})|(?P<string>{_STRING})|[^\s\"]", re.DOTALL)
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)

Member = tuple[int, int, int]  # where it begins, where its value does, where it ends


class ConfigTextError(ValueError):
    """The text is not what its name says."""


def read_json(text: str, section: str) -> dict[str, Any]:
    """The entries of a section: name to value."""
    plain = _COMMENT.sub(r"\1", text.removeprefix("\ufeff"))
    try:
        found = json.loads(_LAST_COMMA.sub(r"\1", plain)) if plain.strip() else {}
    except ValueError as error:
        raise ConfigTextError(str(error)) from None
    entries = found.get(section, {}) if isinstance(found, dict) else None
    if not isinstance(entries, dict):
        raise ConfigTextError("an object was expected")
    return entries


def add_json(text: str, section: str, name: str, entry: dict[str, Any]) -> str:
    """The entry behind the others of its section, in the manner of the text, which is sound."""
    if not text.strip():
        return json.dumps({section: {name: entry}}, indent=2) + "\n"
    start = text.index("{", _skip(text, 1 if text.startswith("\ufeff") else 0))
    top, _ = _members(text, start)
    if section in top:
        return _insert(text, top[section][1], name, entry, 2)
    return _insert(text, start, section, {name: entry}, 1)


def drop_json(text: str, section: str, name: str) -> str:
    """Without the member, the comma that set it off and the space before it; comments around it stay."""
    top, _ = _members(text, text.index("{", _skip(text, 1 if text.startswith("\ufeff") else 0)))
    inner, _ = _members(text, top[section][1])
    start, _, end = inner[name]
    before = max((other for at, _, other in inner.values() if at < start), default=None)
    start, after = len(text[:start].rstrip()), _skip(text, end)
    if text[after] == ",":
        return text[:start] + text[end:after] + text[after + 1 :]
    comma = start if before is None else _skip(text, before)
    return text[:comma] + text[comma + 1 : start] + text[end:]


def _skip(text: str, at: int) -> int:
    found = re.compile(_SPACE, re.DOTALL).match(text, at)
    return found.end() if found else at


def _members(text: str, start: int) -> tuple[dict[str, Member], int]:
    """The members of the object that begins at `start` of a sound text, and where its closing brace stands."""
    found: dict[str, Member] = {}
    name, depth, begin, value = None, 0, 0, 0
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        depth -= sign in "}]"
        if depth == 0 and sign == "}":
            return found, token.start()
        if token["space"] is None and depth:
            if depth == 1 and sign == ",":
                name = None
            elif name is None:
                name, begin, value = json.loads(sign), token.start(), 0
            elif value or sign != ":":
                value = value or token.start()
                found[name] = (begin, value, token.end())
        depth += sign in "{["
    raise ConfigTextError("an object does not end")


def _insert(text: str, start: int, name: str, value: Any, depth: int) -> str:
    """After the last member of the object that begins at `start`."""
    members, end = _members(text, start)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = next((found[1] for found in [re.search(r"\n([ \t]+)\S", text)] if found), "  ")
    body = json.dumps(value, indent=unit).replace("\n", newline + unit * depth)
    member = f"{newline}{unit * depth}{json.dumps(name)}: {body}"
    if not members:
        return f"{text[: start + 1]}{member}{newline}{unit * (depth - 1)}{text[end:]}"
    last = max(end for _, _, end in members.values())
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
