"""How people and programs name a part of the graph. Reads and writes the notation; whether the part exists is for the caller to find out.

    symbol:<path>#<name>[:<kind>]   file:<path>   dir:<path>   module:<qualified>   command:<name>   or a bare (qualified) name

A prefix ends in a single colon: `file::open` is a bare name. `symbol:` splits at the first `#`. The last `:` starts a kind only if a
known kind follows it and it is not the second half of a `::`.
`str(parse(text))` parses to the same selector.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal

import msgspec

from orbit.errors import SelectorSyntaxError
from orbit.model import SYMBOL_KIND_CODES, SYMBOL_KINDS

SelectorKind = Literal["symbol", "file", "dir", "module", "command", "name"]

_PREFIXED = re.compile(r"\s*(symbol|file|dir|module|command):(?!:)(.*)", re.DOTALL)
_MISTAKEN = re.compile(r"([A-Za-z_]+):(?!:)")  # `File:a.py`, `function:run`: meant as a prefix, and none of ours
_MEANT = {
    **dict.fromkeys(SYMBOL_KINDS, "symbol"), "path": "file", "folder": "dir", "directory": "dir", "cmd": "command", "sym": "symbol",
    **{prefix: prefix for prefix in ("symbol", "file", "dir", "module", "command")},
}  # fmt: skip
_DRIVE = re.compile(r"[A-Za-z]:/")
_POSITION = re.compile(r"(:\d+(-\d+)?)+$")  # `a.py:12:3`, as compilers and editors write it
_FILE_NAME = re.compile(r".*[^/.]\.[A-Za-z0-9]{1,8}")


class Selector(msgspec.Struct, frozen=True):
    """A parsed selector. Fields that its kind does not use are empty."""

    kind: SelectorKind
    path: str = ""
    name: str = ""
    symbol_kind: str = ""

    def __str__(self) -> str:
        if self.kind == "name":
            return self.name
        path = f"./{self.path}" if self.path.startswith(":") else self.path  # `file::x` would be a bare name
        if self.kind == "symbol":
            return f"symbol:{path}#{self.name}" + (f":{self.symbol_kind}" if self.symbol_kind else "")
        return f"{self.kind}:{path}" if path else f"{self.kind}:{' ' * self.name.startswith(':')}{self.name}"


def parse(text: str, root: PurePath | None = None) -> Selector:
    """The selector that `text` writes. With a root, absolute paths below it are taken as relative to it."""
    if "\0" in text:
        raise SelectorSyntaxError(text, "it holds a NUL character")
    match = _PREFIXED.fullmatch(text)
    if match is None:
        return _parse_bare(text)
    kind, rest = match[1], match[2]
    if kind == "symbol":
        return _parse_symbol(text, rest, root)
    if kind == "file":
        return Selector("file", path=_file_path(text, rest, root))
    if kind == "dir":
        return Selector("dir", path=normalise(rest, root, selector=text))
    name = rest.strip()
    if not name:
        raise SelectorSyntaxError(text, f"nothing follows `{kind}:`")
    return Selector("module" if kind == "module" else "command", name=name)


def normalise(path: str, root: PurePath | None = None, *, selector: str = "") -> str:
    """A path relative to the worktree, with `/` and without `.`, `..` or doubled slashes; the worktree itself is `.`."""
    text = selector or path
    if "\0" in path:
        raise SelectorSyntaxError(text, "the path holds a NUL character")
    if not path.strip():
        raise SelectorSyntaxError(text, "the path is empty")
    path = path.replace("\\", "/")
    if path.startswith("/") or _DRIVE.match(path):
        path = _below(root, path, text)
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise SelectorSyntaxError(text, "the path leaves the worktree")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if parts and _DRIVE.match(f"{parts[0]}/"):  # `./C:/x` must not turn into a drive
        raise SelectorSyntaxError(text, "the path leaves the worktree")
    return "/".join(parts) or "."


def guess_path(selector: Selector) -> Selector | None:
    """For a bare name that may be a path someone typed: the `file:` or `dir:` selector it would be. The caller knows whether that exists."""
    if selector.kind != "name":
        return None
    path = _POSITION.sub("", selector.name)
    is_folder = path.endswith(("/", "\\")) or path in (".", "..")
    if not (is_folder or "/" in path or "\\" in path or _FILE_NAME.fullmatch(path)):
        return None
    try:
        path = normalise(path)
    except SelectorSyntaxError:
        return None
    return Selector("dir" if is_folder or path == "." else "file", path=path)


def _parse_bare(text: str) -> Selector:
    name = text.strip()
    if not name:
        raise SelectorSyntaxError(text, "it is empty")
    mistaken = _MISTAKEN.match(name)
    if mistaken:
        word = mistaken[1].lower()
        meant = _MEANT.get(word) or _MEANT.get(word.removesuffix("s"))
        if meant:
            raise SelectorSyntaxError(text, f"`{mistaken[1]}:` is no prefix; perhaps `{meant}:`")
    return Selector("name", name=name)


def _parse_symbol(text: str, rest: str, root: PurePath | None) -> Selector:
    path, hash_sign, name = rest.partition("#")
    if not hash_sign:
        raise SelectorSyntaxError(text, "a symbol needs a path and a name, joined by `#`")
    kind = ""
    head, colon, tail = name.rpartition(":")
    if colon and not head.endswith(":") and tail in SYMBOL_KIND_CODES:
        name, kind = head, tail
    if not name.strip():
        raise SelectorSyntaxError(text, "the name is empty")
    return Selector("symbol", path=_file_path(text, path, root), name=name, symbol_kind=kind)


def _file_path(text: str, path: str, root: PurePath | None) -> str:
    path = normalise(path, root, selector=text)
    if path == ".":
        raise SelectorSyntaxError(text, "the path names the worktree, not a file; `dir:.` is the whole tree")
    return path


def _below(root: PurePath | None, path: str, text: str) -> str:
    """An absolute path as one relative to the root; `..` is resolved by the caller, so it may not stand before the end of the root."""
    prefix = root.as_posix().rstrip("/") if root is not None else ""
    if root is None or not f"{path}/".startswith(f"{prefix}/"):
        raise SelectorSyntaxError(text, "the path leaves the worktree")
    return path[len(prefix) :] or "."
