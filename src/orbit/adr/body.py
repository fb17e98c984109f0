"""The prose of a decision: Context, Decision, Consequences with a `Cost:` bullet, and addenda once it is accepted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping

SECTIONS = ("context", "decision", "consequences")
# MADR's names for the same sections are read as well; such bodies are kept as they are.
HEADINGS = {"context and problem statement": "context", "decision outcome": "decision"}
HEADING = re.compile(r"^(#{2,6})[ \t]+(.+?)[ \t#]*$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
COST = re.compile(r"^\s*[-*]\s+[-*\s]*Cost\b[*\s]*:", re.MULTILINE)
# Code spans may hold any selector; without backticks only `symbol:` is unlikely to be an ordinary word such as file:line.
ANCHOR = re.compile(
    r"`(symbol:[^`\s][^`\n]*#[^`\n]+|(?:file|dir):[^`\s]*[./][^`\s]*|module:[^`\s]+)`|(?<![\w`:])(symbol:[^\s`#]+#[^\s`<>\[\](),]*[^\s`<>\[\](),.;:])"
)
ADDENDUM = "## Addendum"


def compose(sections: Mapping[str, str]) -> str:
    """A body with the three sections in order; an absent one is an empty section to be filled in."""
    texts = {name: sections.get(name, "").strip() for name in SECTIONS}
    return "\n".join(f"## {name.capitalize()}\n" + (f"\n{text}\n" if text else "") for name, text in texts.items())


def prose_lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """(line number, line, inside a fenced block) for each line."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line) if "```" in line or "~~~" in line else None
        yield number, line, bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""


def _extents(body: str) -> dict[str, tuple[int, int | None]]:
    """Line index of each section's heading, and where it ends: at the next heading of its level or above, at another section, or not at all."""
    marks = []
    for number, text, fenced in prose_lines(body):
        if not fenced and (match := HEADING.match(text)):
            title = match[2].strip().lower()
            marks.append((number - 1, len(match[1]), HEADINGS.get(title, title)))
    found: dict[str, tuple[int, int | None]] = {}
    for at, (line, level, name) in enumerate(marks):
        if name in SECTIONS:
            end = next((other for other, depth, title in marks[at + 1 :] if depth <= level or title in SECTIONS), None)
            found.setdefault(name, (line, end))
    return found


def sections(body: str) -> dict[str, str]:
    """Text under each of the three headings."""
    lines, found = body.split("\n"), dict.fromkeys(SECTIONS, "")
    return found | {name: "\n".join(lines[line + 1 : end]).strip() for name, (line, end) in _extents(body).items()}


def replace_sections(body: str, changes: Mapping[str, str]) -> str:
    """`body` with some sections' text exchanged; everything else keeps its bytes."""
    for name, text in changes.items():
        lines, found = body.split("\n"), _extents(body)
        if name in found:
            line, end = found[name]
            tail = ["", *lines[end:]] if end is not None else [""]
            body = "\n".join([*lines[: line + 1], "", text.strip(), *tail])
        else:
            body = f"{body.rstrip()}\n\n## {name.capitalize()}\n\n{text.strip()}\n".lstrip("\n")
    return body


def missing(body: str) -> list[str]:
    """Which rules of a complete decision `body` does not meet, as sentences."""
    found = sections(body)
    gaps = [f"missing {name.capitalize()} section" for name in SECTIONS if not found[name]]
    if found["consequences"] and not COST.search(found["consequences"]):
        gaps.append("Consequences missing labeled Cost bullet")
    return gaps


def digest(body: str) -> str:
    """Fingerprint of what was accepted: all before the first addendum, blind to line endings and trailing blank lines."""
    lines = body.replace("\r\n", "\n").split("\n")
    cut = next((number - 1 for number, line, fenced in prose_lines("\n".join(lines)) if not fenced and line.startswith(ADDENDUM)), len(lines))
    return "sha256:" + hashlib.sha256("\n".join(lines[:cut]).rstrip().encode()).hexdigest()


def anchors(body: str) -> list[tuple[str, int]]:
    """(selector, line) of each code selector named in the body."""
    prose = [(number, line) for number, line, fenced in prose_lines(body) if not fenced]
    return [(match[1] or match[2], number) for number, line in prose for match in ANCHOR.finditer(line)]
