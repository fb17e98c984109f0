"""Configuration files: keys as dotted paths with the line they stand on; lists count from 0. YAML, TOML and JSON by grammar, the rest by line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from orbit.graph.languages.language import Language, Layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from orbit.graph.facts import FileFacts

KEY_LIMIT = 5_000  # keys kept of one file; lock files have more, and nobody asks for them by key
ROW_LIMIT = 50_000  # keys and list elements looked at
DEPTH_LIMIT = 64  # levels
KEY_ROOM = 200  # characters of one key; longer ones are text that happens to stand before a colon
KEY, ITEM, DOCUMENT, TABLE, ELEMENT = range(5)  # KEY_FORMS

TOML_PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^\s."']+)\s*\.?""")
ENV_LINE = re.compile(rb"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*(=[ \t]*|$)")
INI_SECTION = re.compile(rb"[ \t]*\[([^\]\r\n]+)\]")
INI_KEY = re.compile(rb"([ \t]*)([^\s=:;#\[][^=:\r\n]{0,400}?)[ \t]{0,100}[=:]|([ \t]*)([^\s=:;#\[]+)[ \t]*$")
# A key of block style; bounded, so that no line is slow.
YAML_KEY = re.compile(r"""("(?:[^"\\]|\\.){0,200}"|'[^']{0,200}'|[^\s#&*!|>@`{}\[\],"'%-][^#]{0,200}?)[ \t]{0,50}:(?:[ \t]+(\S?)|$)""")
YAML_DASH = re.compile(r"-[ \t]+")
UTF8_BOM = b"\xef\xbb\xbf"


def unquote(text: str) -> str:
    """A key without its quotes, its escapes read."""
    if len(text) < 2 or text[0] not in "\"'" or text[-1] != text[0]:
        return text
    if text[0] == '"' and "\\" in text:
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            pass
    return text[1:-1]


def toml_parts(text: str) -> list[str]:
    """`a."b.c".d` -> a, b.c, d."""
    return [unquote(part) for part in TOML_PART.findall(text)]


class Tables:
    """Paths of TOML headers: inside an array of tables a header means its last element."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}  # array of tables -> index of its last element

    def path(self, text: str, *, is_element: bool) -> str:
        path = ""
        parts = toml_parts(text)
        for at, part in enumerate(parts):
            path = f"{path}.{part}" if path else part
            if is_element and at == len(parts) - 1:
                self.last[path] = self.last.get(path, -1) + 1
            if path in self.last:
                path = f"{path}.{self.last[path]}"
        return path


def key_paths(kind: str) -> Callable[[FileFacts], None]:
    """The fix-up of a format: from rows of keys and list elements, the outer before the inner, to paths."""
    name_of = {"toml": toml_name, "yaml": yaml_name, "json": json_name}[kind]

    def fix_up(facts: FileFacts) -> None:
        rows = facts.keys[:ROW_LIMIT].tolist()
        ends, prefixes, counts = [len(facts.source) + 1], [""], [0]  # of the rows that are open
        tables, room, left_out = Tables(), KEY_LIMIT, -1
        for (form, start, end, line, name), following in zip(rows, [*(row[1] for row in rows[1:]), end_of(facts)], strict=False):
            while ends[-1] <= start:
                ends.pop()
                prefixes.pop()
                counts.pop()
            if form == ITEM:
                counts[-1] += 1
                if following >= end:  # nothing in it has a name
                    continue
            prefix = prefixes[-1]
            if len(ends) > DEPTH_LIMIT or room == 0 and form != ITEM:
                left_out = start if left_out < 0 else left_out
                if room == 0:
                    break
                continue
            if form == ITEM:
                path = f"{prefix}.{counts[-1] - 1}" if prefix else str(counts[-1] - 1)
            elif form == DOCUMENT:
                path = ""
            else:
                text = facts.text(name)
                path = name_of(text) if form == KEY else tables.path(text, is_element=form == ELEMENT)
                if not path or len(path) > KEY_ROOM or "\n" in path:
                    continue
                if form == KEY and prefix:
                    path = f"{prefix}.{path}"
                facts.add_config(path, kind, line)
                room -= 1
            if following < end:
                ends.append(end)
                prefixes.append(path)
                counts.append(0)
        if left_out < 0 and len(facts.keys) > ROW_LIMIT:
            left_out = int(facts.keys[ROW_LIMIT, 1])
        if left_out >= 0:
            facts.cut(left_out)
        if kind == "yaml" and facts.broken:
            _read_yaml_lines(facts)

    return fix_up


def end_of(facts: FileFacts) -> int:
    """Where the row after the last that is looked at starts."""
    return int(facts.keys[ROW_LIMIT, 1]) if len(facts.keys) > ROW_LIMIT else len(facts.source) + 1


def json_name(text: str) -> str:
    return unquote(text) if "\\" in text else text[1:-1]


def toml_name(text: str) -> str:
    return text if text.replace("-", "_").isidentifier() else ".".join(toml_parts(text))


def yaml_name(text: str) -> str:
    """Empty for what is no name: merge keys, collections and aliases as keys."""
    return "" if text == "<<" or text[:1] in ("[", "{", "*") else unquote(text)


class Frame:
    """An open key or list element of block YAML."""

    __slots__ = ("column", "count", "is_item", "path")

    def __init__(self, column: int, is_item: bool, path: str) -> None:
        self.column, self.is_item, self.path, self.count = column, is_item, path, 0


def _read_yaml_lines(facts: FileFacts) -> None:
    """Keys by line and indentation: templates and broken files lose most of their tree, so the reading that finds more is kept."""
    parsed, facts.configs = facts.configs, []
    frames: list[Frame] = [Frame(-1, False, "")]
    block = -1  # column of the key that holds a block of text
    for number, _, raw in lines_of(facts.source):
        text = raw.decode("utf-8", "replace")
        rest = text.lstrip(" ")
        column = len(text) - len(rest)
        if not rest or rest[0] == "#" or block >= 0 and column > block:
            continue
        block = -1
        if rest.startswith("---"):
            frames = frames[:1]
            frames[0].count = 0
            continue
        while len(frames) < DEPTH_LIMIT and (dash := YAML_DASH.match(rest)):
            while frames[-1].column > column or frames[-1].column == column and frames[-1].is_item:
                frames.pop()
            above = frames[-1]
            frames.append(Frame(column, True, f"{above.path}.{above.count}" if above.path else str(above.count)))
            above.count += 1
            column, rest = column + dash.end(), rest[dash.end() :]
        key = YAML_KEY.match(rest)
        if key is None or len(frames) >= DEPTH_LIMIT or len(facts.configs) >= KEY_LIMIT:
            continue
        while frames[-1].column >= column:
            frames.pop()
        if key[1] != "<<":
            path = f"{frames[-1].path}.{unquote(key[1])}" if frames[-1].path else unquote(key[1])
            frames.append(Frame(column, False, path))
            facts.add_config(path, "yaml", number)
        if key[2] in ("|", ">"):
            block = column
    if len(parsed) > len(facts.configs):
        facts.configs = parsed


def lines_of(source: bytes) -> list[tuple[int, int, bytes]]:
    """(line, start, text) of each line, whatever ends it; a BOM is not part of the first."""
    found, at = [], len(UTF8_BOM) if source.startswith(UTF8_BOM) else 0
    for number, text in enumerate(source[at:].split(b"\n"), 1):
        found.append((number, at, text.rstrip(b"\r")))
        at += len(text) + 1
    return found


def read_env(facts: FileFacts) -> None:
    """NAME=value lines, `export` allowed; a quoted value may go over several lines."""
    inside = 0  # where a quoted value that began on an earlier line ends
    for number, start, text in lines_of(facts.source):
        if start < inside or not text.strip() or text.lstrip().startswith(b"#"):
            continue
        found = ENV_LINE.match(text)
        if found is None:
            facts.reject(start, start + len(text))
            continue
        if len(facts.configs) >= KEY_LIMIT:
            facts.cut(start)
            return
        facts.add_config(found[1].decode(), "env", number)
        quote = text[found.end() : found.end() + 1]
        if quote in (b'"', b"'") and quote not in text[found.end() + 1 :]:
            inside = facts.source.find(quote, start + found.end() + 1)


def read_ini(facts: FileFacts) -> None:
    """Sections and keys; a line indented deeper than its key continues the value, as in Python's configparser."""
    section, indent = "", -1  # indent of the key whose value may go on
    for number, start, text in lines_of(facts.source):
        bare = text.strip()
        if not bare or bare[:1] in (b"#", b";"):
            continue
        depth = len(text) - len(text.lstrip())
        if 0 <= indent < depth:
            continue
        header = INI_SECTION.match(text)
        found = header or INI_KEY.match(text)
        if found is None:
            facts.reject(start, start + len(text))
            continue
        if len(facts.configs) >= KEY_LIMIT:
            facts.cut(start)
            return
        if header:
            section, indent = header[1].strip().decode("utf-8", "replace"), -1
            facts.add_config(section[:KEY_ROOM], "ini", number)
        else:
            key, indent = (found[2] or found[4])[:KEY_ROOM].decode("utf-8", "replace"), depth
            facts.add_config(f"{section}.{key}" if section else key, "ini", number)


def module_of(path: str, layout: Layout) -> str:
    return path


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    return None


LANGUAGES = {
    **{
        name: Language(
            name=name,
            grammar=(f"tree_sitter_{name}", "language"),
            suffixes=suffixes,
            module_of=module_of,
            import_target=import_target,
            fix_up=key_paths(name),
        )
        for name, suffixes in {"yaml": (".yaml", ".yml"), "toml": (".toml",), "json": (".json",)}.items()
    },
    "env": Language(name="env", suffixes=(".env",), filenames=(".env",), module_of=module_of, import_target=import_target, reader=read_env),
    "ini": Language(name="ini", suffixes=(".ini",), module_of=module_of, import_target=import_target, reader=read_ini),
}
