"""Plain pieces of text answers are made of: colour, columns, trees. Knows no answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

BOLD, DIM, RED, GREEN, YELLOW, CYAN = 1, 2, 31, 32, 33, 36
CONFIDENCE_COLOURS = {"exact": GREEN, "import_resolved": GREEN, "same_module": CYAN, "fuzzy_name": YELLOW}
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def paint(text: str, code: int, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour and text else text


def table(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Columns aligned with two spaces between; the last one runs free."""
    if not rows:
        return ""
    widths = [max(_width(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
        lines.append((indent + "  ".join([*cells, row[-1]])).rstrip())
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """One line without control characters: a file name or signature must not steer the terminal."""
    return "".join(character if character.isprintable() else " " if character.isspace() else f"\\x{ord(character):02x}" for character in " ".join(text.split()))


def source(text: str) -> str:
    """Source for a terminal: lines and tabs stay, other control characters are written out."""
    return "".join(sign if sign in "\n\t" or not unicodedata.category(sign).startswith("C") else "" if sign == "\r" else f"\\x{ord(sign):02x}" for sign in text)


def tree(node: Any, text_of: Callable[[Any], str], lead: str = "", below: str = "") -> list[str]:
    """Lines of a node and its `children`; `lead` stands before the first, `below` before the others."""
    lines = [lead + text_of(node)]
    for place, child in enumerate(node.children):
        is_last = place == len(node.children) - 1
        lines += tree(child, text_of, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  "))
    return lines


def _width(cell: str) -> int:
    bare = _ESCAPE.sub("", cell)
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in bare) if not bare.isascii() else len(bare)
