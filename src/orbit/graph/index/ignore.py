"""Gitignore syntax, as git itself reads it: patterns to regular expressions, and files of patterns to a verdict on a path.

Works on bytes, as git does: `?` is one byte. Case matters. Reads no files; whoever walks the tree hands over their contents.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

# Folders that hardly ever hold what a repository is about. The lowest of all rules: any .orbitignore may negate them.
DEFAULT_PATTERNS = (".orbit/", "node_modules/", "target/", "dist/", "build/", ".venv/", "venv/", "__pycache__/", "*.egg-info/")
DEFAULT_SOURCE = "default"

_SPECIAL = frozenset(b"*?[\\")
_NEVER = b"(?!)"
_CLASSES = {
    b"alnum": b"0-9A-Za-z", b"alpha": b"A-Za-z", b"blank": rb" \t", b"cntrl": rb"\x00-\x1f\x7f", b"digit": b"0-9", b"graph": b"!-~",
    b"lower": b"a-z", b"print": b" -~", b"punct": rb"!-/:-@\[-`{-~", b"space": rb" \t\n\r\f\v", b"upper": b"A-Z", b"xdigit": b"0-9A-Fa-f",
}  # fmt: skip


class Rule(msgspec.Struct, frozen=True):
    """One line of an ignore file."""

    line: int
    pattern: str  # as written
    is_negated: bool
    is_folder_only: bool
    is_basename: bool  # no slash inside: matches a name at any depth
    expression: bytes
    literal: bytes  # what a path must start with to match; empty for basenames


class Rules:
    """The lines of one ignore file, asked as four expressions: for names and for paths, of folders and of files."""

    def __init__(self, rules: list[Rule]) -> None:
        self._rules = rules
        self._names, self._paths = _Either(rules, is_basename=True), _Either(rules, is_basename=False)
        self.file_names = [rule.expression for rule in rules if rule.is_basename and not rule.is_folder_only]
        self.file_literals = tuple({rule.literal for rule in rules if not rule.is_basename and not rule.is_folder_only})

    def last_match(self, path: bytes, is_folder: bool) -> Rule | None:
        """The last rule that matches a path given relative to the ignore file's folder."""
        by_name = self._names.find(path[path.rfind(b"/") + 1 :], is_folder)
        by_path = self._paths.find(path, is_folder)
        last = max(by_name, by_path)
        return self._rules[last] if last >= 0 else None


class _Either:
    """Some of the rules of a file as one alternation, last rule first, so that the first branch to match is the rule that counts."""

    def __init__(self, rules: list[Rule], *, is_basename: bool) -> None:
        mine = [(index, rule) for index, rule in enumerate(rules) if rule.is_basename == is_basename][::-1]
        self._folders, self._folder_indexes = self._compile(mine)
        self._files, self._file_indexes = self._compile([(index, rule) for index, rule in mine if not rule.is_folder_only])

    @staticmethod
    def _compile(rules: list[tuple[int, Rule]]) -> tuple[re.Pattern[bytes] | None, list[int]]:
        if not rules:
            return None, []
        return re.compile(b"|".join(b"(" + rule.expression + b")" for _, rule in rules), re.DOTALL), [-1, *(index for index, _ in rules)]

    def find(self, text: bytes, is_folder: bool) -> int:
        pattern, indexes = (self._folders, self._folder_indexes) if is_folder else (self._files, self._file_indexes)
        match = pattern.fullmatch(text) if pattern is not None else None
        return indexes[match.lastindex or 0] if match else -1


@lru_cache(maxsize=1024)
def compile_rules(text: bytes) -> Rules:
    """The rules of an ignore file's content."""
    rules = []
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        rule = _read_line(number, line)
        if rule is not None:
            rules.append(rule)
    return Rules(rules)


class Verdict(msgspec.Struct, frozen=True):
    """Why a path is left out: the rule, and the ignore file it stands in (relative to the root)."""

    source: str
    rule: Rule

    def __str__(self) -> str:
        return f"{self.source}:{self.rule.line}:{self.rule.pattern}"


class FileTest(msgspec.Struct, frozen=True):
    """A quick no for the files of one folder: no name in it that `names` does not match can be ignored, unless rules for paths may match there."""

    names: re.Pattern[bytes] | None
    may_match_paths: bool

    def may_match(self, path: bytes) -> bool:
        return self.may_match_paths or self.names is not None and self.names.fullmatch(path, path.rfind(b"/") + 1) is not None


class _Scope(msgspec.Struct):
    """One ignore file where it lies."""

    source: str
    depth: int  # bytes of a path before the part its patterns see
    rules: Rules


class IgnoreTree:
    """The ignore files of one name in a tree. Folders are entered parents first, each with the content of its own ignore file, if it has one."""

    def __init__(self, name: str, defaults: bytes = b"", source: str = DEFAULT_SOURCE) -> None:
        self.name = name
        self.sources: list[str] = []  # ignore files in use, as entered
        self._scopes: dict[bytes, list[_Scope]] = {}  # folder -> what applies to its entries, nearest first
        self._excluded: dict[bytes, Verdict] = {}  # folder -> why
        self._defaults = [_Scope(source, 0, compile_rules(defaults))] if defaults else []
        self._name_tests: dict[bytes, re.Pattern[bytes]] = {}  # by expression

    def enter(self, folder: bytes, content: bytes | None) -> Verdict | None:
        """Judge a folder (the root is b"") whose parent was entered before; its own ignore file speaks only of what it holds."""
        if folder:
            verdict = self.judge(folder, is_folder=True)
            if verdict is not None:
                self._excluded[folder] = verdict
                return verdict
        scopes = self._scopes[folder[: max(folder.rfind(b"/"), 0)]] if folder else self._defaults
        if content is not None:
            prefix = folder + b"/" if folder else b""
            source = (prefix + self.name.encode()).decode("utf-8", "surrogateescape")
            scopes = [_Scope(source, len(prefix), compile_rules(content)), *scopes]
            self.sources.append(source)
        self._scopes[folder] = scopes
        return None

    def excluded(self, folder: bytes) -> Verdict | None:
        """Why an entered folder is left out."""
        return self._excluded.get(folder)

    def file_test(self, folder: bytes) -> FileTest:
        """What spares `judge` for most files of an entered folder that is not excluded."""
        names: list[bytes] = []
        prefix = folder + b"/" if folder else b""
        may_match_paths = False
        for scope in self._scopes[folder]:
            names += scope.rules.file_names
            inner = prefix[scope.depth :]
            may_match_paths = may_match_paths or any(literal.startswith(inner) or inner.startswith(literal) for literal in scope.rules.file_literals)
        if not names:
            return FileTest(None, may_match_paths)
        expression = b"|".join(names)
        if expression not in self._name_tests:
            self._name_tests[expression] = re.compile(expression, re.DOTALL)
        return FileTest(self._name_tests[expression], may_match_paths)

    def judge(self, path: bytes, is_folder: bool = False) -> Verdict | None:
        """Why a path is left out, or None. Its folder has been entered."""
        parent = path[: max(path.rfind(b"/"), 0)]
        above = self._excluded.get(parent)
        if above is not None:
            return above
        for scope in self._scopes[parent]:
            rule = scope.rules.last_match(path[scope.depth :], is_folder)
            if rule is not None:
                return None if rule.is_negated else Verdict(scope.source, rule)
        return None


def _read_line(number: int, line: bytes) -> Rule | None:
    line = line.removesuffix(b"\r")
    if not line or line.startswith(b"#"):
        return None
    pattern = _without_trailing_spaces(line)
    written = pattern.decode("utf-8", "surrogateescape")
    is_negated = pattern.startswith(b"!")
    pattern = pattern[1:] if is_negated else pattern
    is_folder_only = pattern.endswith(b"/")
    pattern = pattern[:-1] if is_folder_only else pattern
    if not pattern:
        return None
    is_basename = b"/" not in pattern
    if is_basename:
        return Rule(number, written, is_negated, is_folder_only, is_basename, _translate(pattern, is_path=False), b"")
    literal, rest = _split_literal(pattern.removeprefix(b"/"))
    return Rule(number, written, is_negated, is_folder_only, is_basename, re.escape(literal) + _translate(rest, is_path=True), literal)


def _without_trailing_spaces(line: bytes) -> bytes:
    """Git's rule: spaces at the end go, unless a backslash stands before the first of them."""
    at, end = 0, None
    while at < len(line):
        if line[at : at + 1] == b" ":
            end = at if end is None else end
        else:
            if line[at : at + 1] == b"\\":
                at += 1
                if at >= len(line):
                    return line
            end = None
        at += 1
    return line if end is None else line[:end]


def _split_literal(pattern: bytes) -> tuple[bytes, bytes]:
    """Git compares what stands before the first special byte literally and gives only the rest to its matcher, where `**` then counts as leading."""
    end = next((at for at, byte in enumerate(pattern) if byte in _SPECIAL), len(pattern))
    return pattern[:end], pattern[end:]


def _translate(pattern: bytes, is_path: bool) -> bytes:
    any_one, any_run = (b"[^/]", b"[^/]*") if is_path else (b".", b".*")
    parts: list[bytes] = []
    at = 0
    while at < len(pattern):
        byte = pattern[at : at + 1]
        at += 1
        if byte == b"?":
            parts.append(any_one)
        elif byte == b"*":
            start = at - 1
            while pattern[at : at + 1] == b"*":
                at += 1
            after = pattern[at:]
            is_leading = start == 0 or pattern[start - 1 : start] == b"/"
            if is_path and at - start > 1 and is_leading and (not after or after.startswith((b"/", b"\\/"))):
                if after.startswith(b"/"):
                    parts.append(b"(?:.*/)?")
                    at += 1
                else:
                    parts.append(b".*")
            else:
                parts.append(any_run)
        elif byte == b"[":
            group, at = _bracket(pattern, at)
            parts.append(b"(?!/)" + group if is_path else group)
        elif byte == b"\\":
            if at == len(pattern):
                return _NEVER
            parts.append(re.escape(pattern[at : at + 1]))
            at += 1
        else:
            parts.append(re.escape(byte))
    return b"".join(parts)


def _bracket(pattern: bytes, at: int) -> tuple[bytes, int]:
    """The set that starts behind a `[`, and where it ends; one that never ends matches nothing."""
    is_negated = pattern[at : at + 1] in (b"!", b"^") and at < len(pattern)
    at += is_negated
    members: list[bytes] = []
    previous = -1  # last single byte, where a range may start
    is_first = True
    while is_first or pattern[at : at + 1] != b"]":
        is_first = False
        if at >= len(pattern):
            return _NEVER, at
        byte = pattern[at]
        if byte == ord("-") and previous >= 0 and at + 1 < len(pattern) and pattern[at + 1] != ord("]"):
            at += 1
            if pattern[at] == ord("\\"):
                at += 1
                if at >= len(pattern):
                    return _NEVER, at
            if previous <= pattern[at]:
                members.append(_byte(previous) + b"-" + _byte(pattern[at]))
            previous = -1
        elif byte == ord("[") and pattern[at + 1 : at + 2] == b":":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                return _NEVER, len(pattern)
            if end - at >= 3 and pattern[end - 1] == ord(":"):
                named = _CLASSES.get(pattern[at + 2 : end - 1])
                if named is None:
                    return _NEVER, len(pattern)
                members.append(named)
                previous, at = -1, end
            else:
                members.append(_byte(byte))
                previous = byte
        else:
            if byte == ord("\\"):
                at += 1
                if at >= len(pattern):
                    return _NEVER, at
                byte = pattern[at]
            members.append(_byte(byte))
            previous = byte
        at += 1
    if not members:
        return (b"." if is_negated else _NEVER), at + 1
    return b"[" + (b"^" if is_negated else b"") + b"".join(members) + b"]", at + 1


def _byte(value: int) -> bytes:
    return b"\\x%02x" % value
