"""Where `[ADR-0042]` is cited: Markdown prose, and comments of source files. Code spans, fences and string literals only mention it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from orbit.adr.body import prose_lines
from orbit.adr.envelope import CITATION

MARKDOWN = (".md", ".markdown", ".mdx")
PLAIN = (".txt", ".rst", ".adoc")
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
STRINGS = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
# One scanner per family: group 1 is a comment, anything else that matches is skipped.
SLASHES = re.compile(rf"(//[^\n]*|/\*[\s\S]*?(?:\*/|\Z))|{STRINGS}|`(?:\\.|[^`\\])*`")
LETTERS = re.compile(r"(//[^\n]*|/\*[\s\S]*?(?:\*/|\Z))|\"(?:\\.|[^\"\\\n])*\"|'(?:\\[^'\n]+|[^'\\\n])'|`[^`]*`")  # ' is a letter, or a lifetime
HASHES = re.compile(rf"(#[^\n]*)|{STRINGS}")
PYTHON = re.compile(
    rf"(#[^\n]*|^[ \t]*[rRuU]?(?:\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)))|[rRbBfFuU]*(?:\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|{STRINGS})", re.MULTILINE
)
DASHES = re.compile(rf"(--[^\n]*|/\*[\s\S]*?(?:\*/|\Z))|{STRINGS}")
MARKUP = re.compile(r"(<!--[\s\S]*?(?:-->|\Z))")
SEMICOLONS = re.compile(r"(;[^\n]*)|\"(?:\\.|[^\"\\])*\"")
SUFFIXES = {
    PYTHON: "py pyi pyx pxd",
    SLASHES: "js jsx mjs cjs ts tsx mts cts php css scss dart groovy gradle",
    LETTERS: "c h cc cpp hpp cs go java kt kts rs swift scala proto zig m mm",
    HASHES: "sh bash zsh rb yaml yml toml mk cmake pl r jl ex exs tf dockerfile makefile cfg conf ps1 nix",
    DASHES: "sql lua hs elm ada",
    MARKUP: "html htm xml svg vue svelte",
    SEMICOLONS: "scm lisp clj el asm ini",
}
FAMILIES = {suffix: scanner for scanner, suffixes in SUFFIXES.items() for suffix in suffixes.split()}


class Citation(msgspec.Struct, frozen=True):
    id: str
    line: int
    start: int
    end: int


def citations_in(path: str, text: str) -> list[Citation]:
    """Citations in a file's prose or comments, by its name; a file of unknown kind has none."""
    name = path.rpartition("/")[2].lower()
    if name.endswith(MARKDOWN):
        return citations_in_markdown(text)
    if name.endswith(PLAIN):
        return _found(text, [(0, len(text))])
    scanner = FAMILIES.get(name.rpartition(".")[2])
    if scanner is None:
        return []
    comments = [match.span(1) for match in scanner.finditer(text) if match[1] is not None]
    return _found(text, [span for start, end in comments for span in _outside_code(text, start, end)])


def citations_in_markdown(text: str) -> list[Citation]:
    return _found(text, list(prose_spans(text, "[ADR-")))


def prose_spans(text: str, mark: str = "") -> Iterator[tuple[int, int]]:
    """Stretches of Markdown outside fences and code spans, never across a line end; only of lines that hold `mark`."""
    offset = 0
    for _, line, fenced in prose_lines(text):
        if not fenced and mark in line:
            yield from _outside_code(text, offset, offset + len(line))
        offset += len(line) + 1


def _outside_code(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for span in CODE_SPAN.finditer(text, start, end):
        yield start, span.start()
        start = span.end()
    yield start, end


def spliced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """`text` with (start, end, new) put in, in order of place."""
    parts, at = [], 0
    for start, end, new in changes:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _found(text: str, spans: list[tuple[int, int]]) -> list[Citation]:
    found, line, counted = [], 1, 0
    for start, end in spans:
        for match in CITATION.finditer(text, start, end):
            line += text.count("\n", counted, match.start())
            counted = match.start()
            found.append(Citation(match[1], line, match.start(), match.end()))
    return found
