"""The two file formats other ADR tools share: MADR 4 (front matter) and adr-tools (Nygard's headings).

A file is split into a head (what becomes the envelope) and a body (kept as it is). An export gives back the very head that was read,
as long as reading it again would say what the envelope says; otherwise it writes a new one that carries every field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from orbit.adr.body import HEADING, prose_lines
from orbit.adr.envelope import Envelope, Status, dump_yaml, load_yaml
from orbit.adr.ids import number_of

Format = Literal["madr", "nygard"]
FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n([\s\S]*?)\n?---[ \t]*\r?\n")
TITLE = re.compile(r"^# +(?:(?:ADR[- ]?)?\d+[.:]? +(?:[-\u2014\u2013] +)?)?(.+?)[ \t]*\r?$", re.MULTILINE)
NYGARD_STATUS = re.compile(r"^## +Status[ \t]*\r?\n([\s\S]*?)(?=^## |\Z)", re.MULTILINE)
FILE_LINK = re.compile(r"\]\((?:\./)?0*(\d+)-[^)]*\)|\bADR[- ]?0*(\d+)\b", re.IGNORECASE)
EXTRA = re.compile(r"^<!-- orbit: (.*) -->\r?\n", re.MULTILINE)
STATES: dict[str, Status] = {"accepted": "accepted", "rejected": "deleted", "deprecated": "accepted", "superseded": "superseded", "superceded": "superseded"}
CARRIED = ("owner", "created_at", "accepted_at", "last_updated", "related_features", "related_tasks", "tags", "paths", "legacy_ids")
MADR_HEADINGS = {"context": "## Context and Problem Statement", "decision": "## Decision Outcome", "consequences": "### Consequences"}
PLAIN_HEADINGS = {title.lstrip("# ").lower(): f"## {name.capitalize()}" for name, title in MADR_HEADINGS.items()}


class Head(msgspec.Struct, kw_only=True):
    """What a file's head says. Links are numbers in the same folder; `carried` are envelope fields Orbit itself wrote there."""

    title: str
    status: Status = "proposed"
    word: str = ""
    owner: str | None = None
    date: str | None = None
    supersedes: list[int] = []
    superseded_by: int | None = None
    carried: dict[str, Any] = {}


def split(text: str, format: Format) -> tuple[str, str]:
    """(head, body); put together they are the file, byte for byte."""
    front = FRONT_MATTER.match(text)
    title = TITLE.search(text, front.end() if front else 0)
    end = title.end() + 1 if title else front.end() if front else 0
    if format == "nygard":
        status = NYGARD_STATUS.search(text)
        end = status.end() if status else end
    return text[:end], text[end:]


def guess(text: str) -> Format:
    return "nygard" if not FRONT_MATTER.match(text) and NYGARD_STATUS.search(text) else "madr"


def read_head(head: str, format: Format) -> Head:
    title = TITLE.search(head, match.end() if (match := FRONT_MATTER.match(head)) else 0)
    found = Head(title=title[1] if title else "Untitled")
    if format == "nygard":
        date = re.search(r"^Date: *(\d{4}-\d\d-\d\d)", head, re.MULTILINE)
        found.date = date[1] if date else None
        if extra := EXTRA.search(head):
            found.carried = msgspec.json.decode(extra[1])
        section = NYGARD_STATUS.search(head)
        for line in section[1].splitlines() if section else []:
            _read_status(found, line)
        return found
    front = FRONT_MATTER.match(head)
    fields = load_yaml(front[1], "front matter") if front and front[1].strip() else {}
    _read_status(found, str(fields.get("status") or ""))
    makers = fields.get("decision-makers") or fields.get("deciders")
    found.owner = ", ".join(map(str, makers)) if isinstance(makers, list) else str(makers) if makers else None
    date = re.match(r"\d{4}-\d\d-\d\d", str(fields.get("date") or ""))
    found.date = date[0] if date else None
    orbit = fields.get("orbit")
    if isinstance(orbit, dict):
        found.supersedes = [int(number) for number in orbit.pop("supersedes", [])]
        found.carried = orbit
    return found


def _read_status(head: Head, line: str) -> None:
    """One line of a status: a word, or a link such as `Superseded by [2. x](0002-x.md)`."""
    words = line.strip().strip("{}\"'").lower()
    numbers = [int(match[1] or match[2]) for match in FILE_LINK.finditer(line)]
    if words.startswith(("supersedes", "supercedes")):
        head.supersedes += numbers
        return
    for word, status in STATES.items():
        if words.startswith(word):
            head.word, head.status = word, status
            if status == "superseded" and numbers:
                head.superseded_by = numbers[0]
            return
    if words and not head.word:
        head.word = words.split()[0]


def write_head(envelope: Envelope, files: Mapping[str, str], titles: Mapping[str, str], format: Format) -> str:
    """A new head with every field; `files` and `titles` name the other decisions for links."""
    carried = {name: value for name in CARRIED if (value := getattr(envelope, name))}
    if format == "nygard":
        words = [] if envelope.superseded_by else ["Rejected" if envelope.status == "deleted" else envelope.status.capitalize()]
        links = [("Supersedes", old) for old in envelope.supersedes] + ([("Superseded by", envelope.superseded_by)] if envelope.superseded_by else [])
        words += [f"{word} [{number_of(other)}. {titles.get(other, other)}]({files.get(other, other)})" for word, other in links]
        extra = msgspec.json.encode(carried).decode().replace("--", "-\\u002d")
        return (
            f"# {number_of(envelope.id)}. {envelope.title}\n\nDate: {envelope.created_at[:10]}\n\n<!-- orbit: {extra} -->\n\n## Status\n\n"
            + "\n\n".join(words)
            + "\n\n"
        )
    status = f"superseded by {envelope.superseded_by}" if envelope.superseded_by else "rejected" if envelope.status == "deleted" else envelope.status
    fields: dict[str, Any] = {"status": status, "date": envelope.last_updated[:10], "decision-makers": envelope.owner}
    fields["orbit"] = carried | ({"supersedes": [number_of(old) for old in envelope.supersedes]} if envelope.supersedes else {})
    return f"---\n{dump_yaml(fields)}---\n\n# {envelope.title}\n"


def to_madr(body: str) -> str:
    return "\n" + _retitled(body, lambda title: MADR_HEADINGS.get(title))


def from_madr(body: str) -> str:
    return _retitled(body, lambda title: PLAIN_HEADINGS.get(title)).lstrip("\n")


def _retitled(body: str, choose: Callable[[str], str | None]) -> str:
    lines = []
    for _, line, fenced in prose_lines(body):
        match = None if fenced else HEADING.match(line)
        lines.append((choose(match[2].strip().lower()) if match else None) or line)
    return "\n".join(lines)
