"""Entries of a pack as Markdown, ready to paste. Also what the budget is measured on, so that what is counted is what is read."""

from __future__ import annotations

import re

from msgspec import UNSET, Struct, UnsetType

_TICKS = re.compile(r"`+")


class PackEntry(Struct, kw_only=True):
    """One selected thing: its source if the budget holds it, else a summary. `lines` is [first, last]; a folder has none."""

    selector: str
    kind: str
    path: str
    lang: str
    lines: tuple[int, int] | None
    signature: str
    source: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET


def entry_markdown(entry: PackEntry) -> str:
    """A heading, where it is, and the source in a fence that its own backticks cannot close."""
    place = entry.path + (f":{entry.lines[0]}-{entry.lines[1]}" if entry.lines else "")
    text = f"### {_code(entry.selector)}\n\n{entry.kind}, {_code(place)}\n\n"
    if entry.source is not UNSET:
        return text + _fenced(entry.source, entry.lang)
    if entry.signature:
        text += _fenced(entry.signature, entry.lang)
    if entry.summary is not UNSET and entry.summary:
        text += _fenced(entry.summary, "")
    return text


def _fenced(text: str, lang: str) -> str:
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{lang}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n\n"


def _code(text: str) -> str:
    """Inline code, whatever backticks the text holds; one line."""
    line = " ".join(text.splitlines())
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"
