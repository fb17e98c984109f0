"""Hand-written `4_decisions.md` pages, one entry per `## ADR-NNN — title`, and references to their numbers.

Lenient: what is odd becomes a warning, nothing is dropped; a reference that could mean two things is reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from orbit.adr.body import compose, missing, prose_lines
from orbit.adr.citations import prose_spans, spliced
from orbit.adr.envelope import Status

FEATURE = r"[a-z0-9]+(?:-[a-z0-9]+)*"
LINK = r"(?:\([^)\s]*4_decisions\.md[^)]*\))?"  # a link to the old page says nothing the citation does not
MENTION = re.compile(
    r"(?P<skip>https?://\S+|\]\([^)]*\)|\[\[[^\]]*\]\])"
    r"|\b(?P<word>[Aa]fter|[Ss]ince|[Ff]ollowing|[Aa]s of)\s+\[(?P<task>T\d[\w-]*)\]"
    rf"|\[(?P<there>{FEATURE})/(?P<there_id>ADR-\d+)\]{LINK}"
    rf"|\[(?P<here_id>ADR-\d+)\]{LINK}"
    rf"|(?<![\w./#\[-])(?P<far>{FEATURE})/(?P<far_id>ADR-\d+)(?!\w|-\w|/)"
    r"|(?<![\w./#\[-])(?P<bare_id>ADR-\d+)(?!\w|-\w|/)"
)
ENTRY = re.compile(r"^## +(ADR-\d+)\s*[\u2014\u2013:-]\s*(.+?)\s*$")
STATUS = re.compile(r"^(?:\*\*)?Status:?(?:\*\*)?:?\s+(.*)$")
SECTION = re.compile(r"^(?:#{2,4} +|\*\*)(Context|Decision|Consequences)\b[.:]?(?:\*\*)?[.:]?\s*(.*)$", re.IGNORECASE)
LINK_LINE = re.compile(r"^\*\*(Supersedes|Superseded by):?\*\*:?\s*(.+)$", re.IGNORECASE)
REFERENCE = re.compile(rf"(?:({FEATURE})/)?(ADR-\d+)")
TASK = re.compile(r"\[(T\d[\w-]*)\]")
MONTH = re.compile(r"\b(\d{4}-\d\d)(-\d\d)?\b")

Reference = tuple[str, int]  # (feature, local number)


class Sweep:
    """One run over many texts: references to old, per-feature numbers become global citations where that needs no guess.

    `local` has what the old numbers have become: more than one id when a page used a number twice. `fresh` holds (feature, id text) of entries
    read in this run: there a long number is local too. `tasks` has the ids of the decisions that name a task.
    """

    def __init__(self, local: Mapping[Reference, list[str]], fresh: set[tuple[str, str]], tasks: Mapping[str, list[str]]) -> None:
        self.local, self.fresh, self.tasks = local, fresh, tasks
        self.rewritten = 0
        self.unresolved: list[tuple[str, str, str]] = []  # where, what, why

    def text(self, text: str, feature: str | None, file: str, line: int | None = None) -> str:
        """`text` rewritten; `line` stands for all of it when it is only part of `file`."""
        changes = []
        for start, end in prose_spans(text):
            for match in MENTION.finditer(text, start, end):
                new, reason = self._answer(match, feature)
                if reason is not None:
                    number = line if line is not None else text.count("\n", 0, match.start()) + 1
                    self.unresolved.append((f"{file}:{number}", match[0], reason))
                if new is not None and new != match[0]:
                    changes.append((*match.span(), new))
        self.rewritten += len(changes)
        return spliced(text, changes)

    def _answer(self, match: re.Match[str], feature: str | None) -> tuple[str | None, str | None]:
        """(replacement, reason why there is none); both None: not a reference to an old number."""
        if match["skip"]:
            return None, None
        if match["task"]:
            ids, task = self.tasks.get(match["task"], []), match["task"]
            if len(ids) == 1:
                return f"{'Per' if match['word'][0].isupper() else 'per'} [{ids[0]}]", None
            return None, f"{task} shipped {', '.join(ids)}" if ids else f"no decision names {task}"
        if far := match["there"] or match["far"]:
            return self._lookup(far, match["there_id"] or match["far_id"])
        local_id = match["here_id"] or match["bare_id"]
        if len(local_id) >= 8 and (feature or "", local_id) not in self.fresh:
            return None, None  # four digits: a global id already
        if feature is None or (feature, int(local_id[4:])) not in self.local:
            others = sorted(f"{other}/{local_id}" for other, number in self.local if number == int(local_id[4:]))
            where = f"{feature} has no {local_id}" if feature else "outside any feature folder"
            return None, f"{where}; say which: {', '.join(others)}" if others else f"{where}, nor has any feature"
        return self._lookup(feature, local_id)

    def _lookup(self, feature: str, local_id: str) -> tuple[str | None, str | None]:
        ids = self.local.get((feature, int(local_id[4:])), [])
        if len(ids) == 1:
            return f"[{ids[0]}]", None
        return None, f"{feature} uses {local_id} for {', '.join(ids)}" if ids else f"{feature} has no {local_id}"


class LegacyEntry(msgspec.Struct, kw_only=True):
    """One entry as it was written; `superseded_by` and `supersedes` are still local references."""

    feature: str
    local_id: str
    title: str
    source: str
    line: int
    status: Status = "proposed"
    is_folded: bool = False
    superseded_by: Reference | None = None
    supersedes: list[Reference] = []
    day: str | None = None
    tasks: list[str] = []
    body: str = ""
    warnings: list[str] = []

    @property
    def key(self) -> Reference:
        return self.feature, int(self.local_id[4:])

    @property
    def place(self) -> str:
        return f"{self.source}:{self.line}"

    @property
    def legacy_id(self) -> str:
        return f"{self.feature}/{self.local_id}"


class LegacyPage(msgspec.Struct, kw_only=True):
    entries: list[LegacyEntry]
    owner: str | None
    leftover: list[tuple[int, str]]  # (line, text) that belongs to no entry


def parse_page(text: str, feature: str, source: str) -> LegacyPage:
    lines = text.replace("\r\n", "\n").split("\n")
    marks = [(number, line) for number, line, fenced in prose_lines("\n".join(lines)) if not fenced and line.startswith("## ")]
    marks = [(number, line) for number, line in marks if ENTRY.match(line) or not SECTION.match(line)]
    entries: list[LegacyEntry] = []
    covered, seen = set[int](), set[Reference]()
    for (start, line), (end, _) in zip(marks, [*marks[1:], (len(lines) + 1, "")], strict=True):
        if match := ENTRY.match(line):
            covered.update(range(start, end))
            entry = _entry(LegacyEntry(feature=feature, local_id=match[1], title=match[2], source=source, line=start), lines[start : end - 1])
            entry.warnings += [f"{entry.local_id} is used twice in this page"] if entry.key in seen else []
            seen.add(entry.key)
            entries.append(entry)
    owner = re.search(r"^owner:\s*(.+?)\s*$", text.split("\n# ")[0], re.MULTILINE) if text.startswith("---") else None
    return LegacyPage(entries=entries, owner=owner[1].strip("'\"") if owner else None, leftover=_leftover(lines, covered))


def _entry(entry: LegacyEntry, lines: list[str]) -> LegacyEntry:
    parts: dict[str, list[str]] = {"": []}
    current, has_status = "", False
    for _, line, fenced in prose_lines("\n".join(lines)):
        status, link, section = (None, None, None) if fenced else (STATUS.match(line), LINK_LINE.match(line), SECTION.match(line))
        if status and not has_status:
            has_status = True
            _read_status(entry, status[1])
        elif link and current == "":
            found = _references(entry.feature, link[2])
            if link[1].lower() == "supersedes":
                entry.supersedes += found
            elif found:
                entry.status, entry.superseded_by = "superseded", found[0]
        elif section and section[1].lower() not in parts:
            current = section[1].lower()
            parts[current] = [section[2]]
        elif line.strip() != "---" or fenced:
            parts[current].append(line)
    if not has_status:
        entry.warnings.append("missing Status line")
    texts = {name: "\n".join(kept).strip() for name, kept in parts.items()}
    if any(texts.values()):
        entry.body = (texts[""] + "\n\n" if texts[""] else "") + compose(texts)
    if entry.is_folded and entry.body:
        entry.is_folded = False
        entry.warnings.append("marked as folded but has a body")
    if not entry.is_folded:
        entry.warnings += missing(entry.body)
    return entry


def _read_status(entry: LegacyEntry, text: str) -> None:
    first, *more = text.split("·")
    word = first.strip().lower()
    if word.startswith("superseded"):
        entry.status, entry.is_folded = "superseded", "(folded)" in word
        entry.superseded_by = next(iter(_references(entry.feature, first)), None)
    elif word.startswith("accepted"):
        entry.status = "accepted"
    elif not word.startswith("proposed"):
        entry.warnings.append(f"unknown status {first.strip()!r} read as proposed")
    for segment in more:
        if segment.strip().lower().startswith("supersedes"):
            entry.supersedes += _references(entry.feature, segment)
    month = MONTH.search(text)
    entry.day = f"{month[1]}{month[2] or '-01'}" if month else None
    entry.tasks = list(dict.fromkeys(TASK.findall(text)))


def _references(feature: str, text: str) -> list[Reference]:
    return [(match[1] or feature, int(match[2][4:])) for match in REFERENCE.finditer(text)]


def _leftover(lines: list[str], covered: set[int]) -> list[tuple[int, str]]:
    """Lines outside entries that a generated page would not say again."""
    found, in_front, in_tasks = [], lines[:1] == ["---"], False
    for number, line in enumerate(lines, 1):
        if in_front:
            in_front = number == 1 or line.strip() != "---"
            continue
        if line.startswith("#"):
            in_tasks = line.strip().lower() == "## task references"
        if number not in covered and line.strip() not in ("", "---") and not line.startswith("# ") and not in_tasks:
            found.append((number, line.strip()))
    return found
