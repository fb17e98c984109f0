"""Import and export of folders that other ADR tools read: MADR 4 and adr-tools. A file that comes in and goes out again is the same file.

A file is split into a head (what becomes the envelope) and a body (kept as it is). An export gives back the very head that was read, as long as
the decision has not been changed since; otherwise it writes a new one that carries every field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from orbit.adr.body import HEADING, digest, missing, prose_lines
from orbit.adr.envelope import Decision, Envelope, Origin, Status, check, dump_yaml, format_id, load_yaml, number_of, read_decision, tidy
from orbit.adr.journal import Change
from orbit.adr.lifecycle import create
from orbit.adr.store import Store
from orbit.audit import now
from orbit.config import actor
from orbit.errors import IntegrityError, RefusedError, UsageError
from orbit.model import ARGUMENT

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
FILE = re.compile(r"0*(\d+)-.+\.md")


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


def read_head(head: str, format: Format) -> Head:
    front = FRONT_MATTER.match(head)
    title = TITLE.search(head, front.end() if front else 0)
    found = Head(title=title[1] if title else "Untitled")
    if format == "nygard":
        date = re.search(r"^Date: *(\d{4}-\d\d-\d\d)", head, re.MULTILINE)
        extra, section = EXTRA.search(head), NYGARD_STATUS.search(head)
        found.carried = msgspec.json.decode(extra[1]) if extra else {}
        for line in section[1].splitlines() if section else []:
            _read_status(found, line)
    else:
        fields = load_yaml(front[1], "front matter") if front and front[1].strip() else {}
        date = re.match(r"(\d{4}-\d\d-\d\d)", str(fields.get("date") or ""))
        _read_status(found, str(fields.get("status") or ""))
        makers = fields.get("decision-makers") or fields.get("deciders")
        found.owner = ", ".join(map(str, makers)) if isinstance(makers, list) else str(makers) if makers else None
        if isinstance(orbit := fields.get("orbit"), dict):
            found.supersedes = [int(number) for number in orbit.pop("supersedes", [])]
            found.carried = orbit
    found.date = date[1] if date else None
    return found


def _read_status(head: Head, line: str) -> None:
    """One line of a status: a word, or a link such as `Superseded by [2. x](0002-x.md)`."""
    words = line.strip().strip("{}\"'").lower()
    numbers = [int(match[1] or match[2]) for match in FILE_LINK.finditer(line)]
    if words.startswith(("supersedes", "supercedes")):
        head.supersedes += numbers
    elif word := next((word for word in STATES if words.startswith(word)), None):
        head.word, head.status = word, STATES[word]
        head.superseded_by = numbers[0] if numbers and head.status == "superseded" else head.superseded_by
    elif words and not head.word:
        head.word = words.split()[0]


def write_head(envelope: Envelope, files: Mapping[str, str], titles: Mapping[str, str], format: Format) -> str:
    """A new head with every field; `files` and `titles` name the other decisions for links."""
    carried = {name: value for name in CARRIED if (value := getattr(envelope, name))}
    if format == "nygard":
        words = [] if envelope.superseded_by else ["Rejected" if envelope.status == "deleted" else envelope.status.capitalize()]
        links = [("Supersedes", old) for old in envelope.supersedes] + ([("Superseded by", envelope.superseded_by)] if envelope.superseded_by else [])
        words += [f"{word} [{number_of(other)}. {titles.get(other, other)}]({files.get(other, other)})" for word, other in links]
        extra = msgspec.json.encode(carried).decode().replace("--", "-\\u002d")
        parts = [f"# {number_of(envelope.id)}. {envelope.title}", f"Date: {envelope.created_at[:10]}", f"<!-- orbit: {extra} -->", "## Status", *words]
        return "\n\n".join(parts) + "\n\n"
    status = f"superseded by {envelope.superseded_by}" if envelope.superseded_by else "rejected" if envelope.status == "deleted" else envelope.status
    fields: dict[str, Any] = {"status": status, "date": envelope.last_updated[:10], "decision-makers": envelope.owner}
    fields["orbit"] = carried | ({"supersedes": [number_of(old) for old in envelope.supersedes]} if envelope.supersedes else {})
    return f"---\n{dump_yaml(fields)}---\n\n# {envelope.title}\n"


def _retitled(body: str, names: Mapping[str, str]) -> str:
    """`body` with its headings exchanged."""
    lines = []
    for _, line, fenced in prose_lines(body):
        match = None if fenced else HEADING.match(line)
        lines.append(names.get(match[2].strip().lower(), line) if match else line)
    return "\n".join(lines)


class ImportParams(msgspec.Struct):
    folder: Annotated[str, Meta(description="Folder of NNNN-title.md files.", extra=ARGUMENT)]
    related_features: Annotated[list[str], Meta(description="Feature of all of them; default: cross-cutting.", extra={"cli": {"flag": "--feature"}})] = []
    format: Annotated[Literal["auto", "madr", "nygard"], Meta(description="What the files are; auto looks at each.")] = "auto"


class ImportAnswer(msgspec.Struct, kw_only=True):
    """file -> id of what came in; files that were here already; what could not be said in an envelope."""

    imported: dict[str, str]
    skipped: list[str]
    warnings: list[str]


class ExportParams(msgspec.Struct):
    folder: Annotated[str, Meta(description="Folder to write to.", extra=ARGUMENT)]
    format: Annotated[Literal["madr", "nygard"], Meta(description="Form of the files.")] = "madr"


class ExportAnswer(msgspec.Struct, kw_only=True):
    written: list[str]


def import_folder(store: Store, ask: ImportParams) -> ImportAnswer:
    """Numbers are kept where they are free. All files or none."""
    folder = (store.workspace.root / ask.folder).resolve()
    if not folder.is_dir():
        raise UsageError(f"no folder {ask.folder!r}")
    origin = store.workspace.relative(folder) or folder.name
    with store.journal.locked():
        answer = ImportAnswer(imported={}, skipped=[], warnings=[])
        ids = _numbers(store, folder, origin, answer)
        fresh = [_read(folder / file, adr_id, f"{origin}/{file}", ask) for file, adr_id in answer.imported.items()]
        for decision, head in fresh:
            linked = [number for number in (*head.supersedes, head.superseded_by) if number is not None]
            answer.warnings += [f"{decision.folder}: links to {number}, which is not in the folder" for number in linked if number not in ids]
            decision.envelope.supersedes = tidy(ids[number] for number in head.supersedes if number in ids)
            decision.envelope.superseded_by = ids.get(head.superseded_by) if head.superseded_by is not None else None
        _mirror([decision.envelope for decision, _ in fresh], answer)
        change = Change()
        for decision, _ in fresh:
            check(decision.envelope)
            create(store, change, decision.envelope, decision.body, source=decision.folder)
        store.journal.commit(change)
    return answer


def _numbers(store: Store, folder: Path, origin: str, answer: ImportAnswer) -> dict[int, str]:
    """Number in the folder -> id here, and in `answer` which files are new; a number that is taken moves behind all others."""
    entries = store.index.current().entries()
    taken = {entry.id for entry in entries}
    known = {legacy: entry.id for entry in entries if entry.envelope for legacy in entry.envelope.legacy_ids}
    files = {path.name: FILE.fullmatch(path.name) for path in sorted(folder.glob("*.md"))}
    highest = max([store.index.highest(), *(int(match[1]) for match in files.values() if match)])
    ids: dict[int, str] = {}
    for name, match in files.items():
        if match is None:
            answer.warnings.append(f"{name}: not named NNNN-title.md, left out")
            continue
        number = int(match[1])
        ids[number] = known.get(f"{origin}/{name}") or format_id(number)
        if f"{origin}/{name}" in known:
            answer.skipped.append(name)
            continue
        if number == 0 or ids[number] in taken:
            highest += 1
            ids[number] = format_id(highest)
        taken.add(ids[number])
        answer.imported[name] = ids[number]
    return ids


def _read(path: Path, adr_id: str, legacy: str, ask: ImportParams) -> tuple[Decision, Head]:
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not UTF-8") from None
    looks: Format = "nygard" if not FRONT_MATTER.match(text) and NYGARD_STATUS.search(text) else "madr"
    form = looks if ask.format == "auto" else ask.format
    raw_head, body = split(text, form)
    try:
        head = read_head(raw_head, form)
    except IntegrityError as error:
        raise UsageError(f"{path.name}: {error.message}", hint="mend the file, or move it elsewhere") from None
    day = f"{head.date}T00:00:00Z" if head.date else now()
    settled = head.status in ("accepted", "superseded")
    fields: dict[str, Any] = {"owner": head.owner or actor(), "created_at": day, "last_updated": day, "accepted_at": day if settled else None}
    fields["related_features"] = tidy(ask.related_features) or ["cross-cutting"]
    fields |= {name: value for name, value in head.carried.items() if name in CARRIED}
    envelope = msgspec.convert(fields | {"id": adr_id, "title": head.title, "status": head.status}, Envelope)
    envelope.legacy_ids = tidy([*envelope.legacy_ids, legacy])
    if head.carried:  # Orbit wrote this file, so its body goes back to Orbit's own headings and the head holds nothing else
        body = _retitled(body, PLAIN_HEADINGS).lstrip("\n")
    else:
        envelope.origin = Origin(format=form, file=path.name, head=raw_head)
    envelope.validation_warnings = missing(body) if settled else []
    if head.word == "deprecated":
        envelope.validation_warnings.append("deprecated where it came from, without a successor")
    envelope.body_digest = digest(body) if settled else None
    return Decision(folder=legacy, envelope=envelope, unknown={}, body=body), head


def _mirror(fresh: list[Envelope], answer: ImportAnswer) -> None:
    """The other half of links that the folder states on one side only."""
    by_id = {envelope.id: envelope for envelope in fresh}
    for envelope in by_id.values():
        if new := by_id.get(envelope.superseded_by or ""):
            new.supersedes = tidy([*new.supersedes, envelope.id])
    for envelope in by_id.values():
        for old_id in list(envelope.supersedes):
            old = by_id.get(old_id)
            if old is not None and old.superseded_by is None:
                old.superseded_by, old.status = envelope.id, "superseded"
            elif old is None or old.superseded_by != envelope.id:
                envelope.supersedes.remove(old_id)
                answer.warnings.append(f"{envelope.id} claims to supersede {old_id}, which says otherwise")


def export_folder(store: Store, ask: ExportParams) -> ExportAnswer:
    """Every decision as one file; nothing is overwritten that differs and was not exported before."""
    folder = store.workspace.root / ask.folder
    decisions = [read_decision(store.home, entry.folder) for entry in reversed(store.index.current().entries()) if entry.envelope]
    files = {decision.envelope.id: _file_name(decision.envelope) for decision in decisions}
    titles = {decision.envelope.id: decision.envelope.title for decision in decisions}
    texts = {files[decision.envelope.id]: _export(decision, files, titles, ask.format) for decision in decisions}
    for name, text in texts.items():
        path = folder / name
        if path.exists() and path.read_bytes() != text.encode():
            raise RefusedError(f"{ask.folder}/{name} exists and is different", hint="export to an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    return ExportAnswer(written=[f"{ask.folder.rstrip('/')}/{name}" for name in texts])


def _file_name(envelope: Envelope) -> str:
    if envelope.origin is not None:
        return envelope.origin.file
    slug = re.sub(r"[^a-z0-9]+", "-", envelope.title.lower()).strip("-")
    return f"{number_of(envelope.id):04d}-{slug or 'decision'}.md"


def _export(decision: Decision, files: dict[str, str], titles: dict[str, str], form: Format) -> str:
    envelope = decision.envelope
    origin = envelope.origin
    if origin is not None and origin.format == form and envelope.last_updated == envelope.created_at:  # not changed since it came in
        return origin.head + decision.body
    head = write_head(envelope, files, titles, form)
    return head + ("\n" + _retitled(decision.body, MADR_HEADINGS) if form == "madr" else decision.body)
