"""Markdown: sections by their headings, links and fenced code as strings, `[ADR-0001]` and task ids as references."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from orbit.graph.languages.language import Language, Layout

if TYPE_CHECKING:
    from orbit.graph.facts import Definition, FileFacts

STRING_ROOM = 200  # bytes kept of a string
STRING_LEAST = 6  # bytes; shorter ones are not worth finding
TASK = r"(?:ADR-[0-9]{3,8}|T[0-9]{8}-[0-9]{1,8})"
# In order of what swallows what: escapes, code spans, links, the end of links around images, definitions of links, bracketed ids.
# Every part is bounded, so that no text is slow.
INLINE = re.compile(
    rb"\\[\[\]`]"
    rb"|(?P<ticks>`+)(?P<code>[^`](?:(?:[^\n]|\n(?![ \t]*\n)){0,2000}?[^`])?)(?P=ticks)(?!`)"
    rb"|`+"
    rb"|\[(?P<text>[^\[\]]{0,500})\]\([ ]*<?(?P<url>[^()\s<>]{1,2000}(?:\([^()\s]{0,200}\)[^()\s<>]{0,500})?)>?(?:\s[^()\n]{0,300})?\)"
    rb"|\]\([ ]*<?(?P<outer>[^()\s<>]{1,2000})>?[ ]*\)"
    rb"|^[ ]{0,3}\[(?P<label>[^\[\]\n]{1,200})\]:[ \t]*<?(?P<target>[^\s<>]{1,2000})"
    rb"|\[(?P<ids>" + TASK.encode() + rb"(?:[,; ]+" + TASK.encode() + rb"){0,20})\]",
    re.MULTILINE,
)
IDS = re.compile(TASK.encode())
CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
MARKUP = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|<[^<>]*>|[`*~]+|(?<!\w)_+|_+(?!\w)")
NOT_IN_SLUG = re.compile(r"[^\w\- ]")
LEVELS = {f"h{level}": level for level in range(1, 7)}


def plain(text: str) -> str:
    """A heading as it is read: no markup, one line."""
    return " ".join(MARKUP.sub(lambda found: found[1] or "", text).split())


def slug(text: str) -> str:
    """The anchor GitHub gives a heading, before it counts repeats."""
    return NOT_IN_SLUG.sub("", text.lower()).replace(" ", "-") or "section"


def fix_up(facts: FileFacts) -> None:
    """Sections from headings, then what the lines say."""
    _nest_sections(facts)
    _read_lines(facts)


def _nest_sections(facts: FileFacts) -> None:
    """A section goes from its heading to the next of the same or a higher level; those in quotes and lists are no sections."""
    quoted = _merged([(mark.start, mark.end) for mark in facts.marks if "quote" in mark.flags])
    begins = [start for start, _ in quoted]
    kept = []
    for found in facts.definitions:
        around = bisect_right(begins, found.start) - 1
        if around < 0 or quoted[around][1] <= found.start:
            kept.append(found)
    facts.definitions = kept
    open_sections: list[tuple[int, int]] = []  # (level, index), outermost first
    last_line = facts.source.count(b"\n") + (not facts.source.endswith(b"\n"))
    for index, found in enumerate(kept):
        level = min(LEVELS[flag] for flag in found.flags if flag in LEVELS)
        while open_sections and open_sections[-1][0] >= level:
            _close(kept[open_sections.pop()[1]], found.start, found.line - 1)
        found.parent = open_sections[-1][1] if open_sections else -1
        open_sections.append((level, index))
        stop = facts.source.find(b"\n", max(found.name_start, found.start))
        found.body = stop if stop >= 0 else len(facts.source)
        found.name = plain(CLOSING.sub("", found.name) if facts.source[found.start : found.start + 4].lstrip().startswith(b"#") else found.name)
        found.local = slug(found.name)
    for _, index in open_sections:
        _close(kept[index], len(facts.source), last_line)


def _close(section: Definition, end: int, line: int) -> None:
    section.end, section.end_line = end, max(line, section.line)


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those inside others left out."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or end > found[-1][1]:
            found.append((start, end))
    return found


def _read_lines(facts: FileFacts) -> None:
    """Strings and references, in order of position; the scope is the section they stand in."""
    source = facts.source
    sections = [found.start for found in facts.definitions]
    code = _merged([(mark.start, mark.end) for mark in facts.marks if "code" in mark.flags])
    text = _blanked(source, code)
    line, counted = 1, 0
    strings: list[tuple[int, int, int]] = []  # (start, text, line)
    refs = []
    for mark in facts.marks:
        if "body" in mark.flags and (kept := _notable(source[mark.start : mark.end])):
            strings.append((mark.start, facts.id(kept), mark.line))
    for found in INLINE.finditer(text):
        if not found.lastgroup or found.lastgroup in ("ticks", "code"):
            continue
        line += source.count(b"\n", counted, found.start())
        counted = found.start()
        if found["url"] or found["target"] or found["outer"]:
            words = (found["text"], found["url"]) if found["url"] else (found["label"], found["target"]) if found["target"] else (found["outer"],)
            if kept := _notable(b" ".join(words)):
                strings.append((found.start(), facts.id(kept), line))
        at, inside = (found.start("ids"), found["ids"]) if found["ids"] else (found.start("text"), found["text"] or b"")
        for one in IDS.finditer(inside):
            if found["ids"] or one[0] == inside.strip():
                row = line + source.count(b"\n", counted, at + one.start())
                refs.append(facts.ref("use", one[0].decode(), at + one.start(), row, scope=bisect_right(sections, at + one.start()) - 1))
    strings.sort()
    facts.add_strings((kept, row, bisect_right(sections, start) - 1) for start, kept, row in strings)
    facts.add_refs(refs)


def _blanked(source: bytes, spans: list[tuple[int, int]]) -> bytes:
    """The source with these spans blank, every position kept."""
    parts, at = [], 0
    for start, end in spans:
        if start >= at:
            parts += [source[at:start], b"\n" * (end - start)]
            at = end
    return b"".join([*parts, source[at:]])


def _notable(text: bytes) -> str:
    """A string worth keeping, white space folded and cut; empty when it is too short or says nothing."""
    kept = " ".join(text[: 8 * STRING_ROOM].decode("utf-8", "replace").split())
    kept = kept.encode()[:STRING_ROOM].decode("utf-8", "ignore").rstrip()
    return kept if len(kept.encode()) >= STRING_LEAST and any(letter.isalnum() for letter in kept) else ""


def module_of(path: str, layout: Layout) -> str:
    return path


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    return None


LANGUAGES = {
    "markdown": Language(
        name="markdown",
        grammar=("tree_sitter_markdown", "language"),
        suffixes=(".md", ".markdown"),
        separator="#",
        module_of=module_of,
        import_target=import_target,
        fix_up=fix_up,
    )
}
