"""Import and export of folders that other ADR tools read: MADR 4 and adr-tools. A file that comes in and goes out again is the same file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from orbit.adr import formats
from orbit.adr.body import digest, missing
from orbit.adr.decision import Decision, read_decision
from orbit.adr.envelope import Envelope, Origin, check, tidy
from orbit.adr.formats import CARRIED, Format, Head
from orbit.adr.ids import format_id, number_of
from orbit.adr.journal import Change
from orbit.adr.lifecycle import create, transition
from orbit.audit import now
from orbit.config import actor
from orbit.errors import IntegrityError, RefusedError, UsageError

if TYPE_CHECKING:
    from orbit.adr.store import AdrStore

FILE = re.compile(r"0*(\d+)-.+\.md")


class ImportParams(msgspec.Struct, kw_only=True):
    folder: Annotated[str, Meta(description="Folder of NNNN-title.md files.", extra={"cli": {"argument": True}})]
    related_features: Annotated[list[str], Meta(description="Feature of all of them; default: cross-cutting.", extra={"cli": {"flag": "--feature"}})] = []
    format: Annotated[Literal["auto", "madr", "nygard"], Meta(description="What the files are; auto looks at each.")] = "auto"


class ImportAnswer(msgspec.Struct, kw_only=True):
    """file -> id of what came in; files that were here already; what could not be said in an envelope."""

    imported: dict[str, str]
    skipped: list[str]
    warnings: list[str]


class ExportParams(msgspec.Struct, kw_only=True):
    folder: Annotated[str, Meta(description="Folder to write to.", extra={"cli": {"argument": True}})]
    format: Annotated[Literal["madr", "nygard"], Meta(description="Form of the files.")] = "madr"


class ExportAnswer(msgspec.Struct, kw_only=True):
    written: list[str]


def import_folder(store: AdrStore, ask: ImportParams) -> ImportAnswer:
    """Numbers are kept where they are free. All files or none."""
    folder = (store.workspace.root / ask.folder).resolve()
    if not folder.is_dir():
        raise UsageError(f"no folder {ask.folder!r}")
    origin = folder.relative_to(store.workspace.root).as_posix() if folder.is_relative_to(store.workspace.root) else folder.name
    with store.journal.locked():
        answer = ImportAnswer(imported={}, skipped=[], warnings=[])
        ids = _numbers(store, folder, origin, answer)
        fresh = [_read(folder / file, adr_id, f"{origin}/{file}", ask) for file, adr_id in answer.imported.items()]
        for decision, head in fresh:
            _link(decision, head, ids, answer)
        _mirror([decision.envelope for decision, _ in fresh], answer)
        change = Change()
        for decision, _ in fresh:
            check(decision.envelope)
            change.steps += create(store, decision.envelope, decision.body)
            change.rows.append(transition(decision.envelope, None, source=decision.folder))
        store.journal.commit(change)
    return answer


def _numbers(store: AdrStore, folder: Path, origin: str, answer: ImportAnswer) -> dict[int, str]:
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
        if f"{origin}/{name}" in known:
            answer.skipped.append(name)
            ids[number] = known[f"{origin}/{name}"]
            continue
        adr_id = format_id(number)
        if number == 0 or adr_id in taken:
            highest += 1
            adr_id = format_id(highest)
        taken.add(adr_id)
        ids[number] = answer.imported[name] = adr_id
    return ids


def _read(path: Path, adr_id: str, legacy: str, ask: ImportParams) -> tuple[Decision, Head]:
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not UTF-8") from None
    form: Format = formats.guess(text) if ask.format == "auto" else ask.format
    raw_head, body = formats.split(text, form)
    try:
        head = formats.read_head(raw_head, form)
    except IntegrityError as error:
        raise UsageError(f"{path.name}: {error.message}", hint="mend the file, or move it elsewhere") from None
    day = f"{head.date}T00:00:00Z" if head.date else now()
    settled = head.status in ("accepted", "superseded")
    fields: dict[str, Any] = {
        "owner": head.owner or actor(),
        "created_at": day,
        "last_updated": day,
        "accepted_at": day if settled else None,
        "related_features": tidy(ask.related_features) or ["cross-cutting"],
    }
    fields |= {name: value for name, value in head.carried.items() if name in CARRIED}
    envelope = msgspec.convert(fields | {"id": adr_id, "title": head.title, "status": head.status}, Envelope)
    envelope.legacy_ids = tidy([*envelope.legacy_ids, legacy])
    if head.carried:  # Orbit wrote this file, so its body goes back to Orbit's own headings and the head holds nothing else
        body = formats.from_madr(body)
    else:
        envelope.origin = Origin(format=form, file=path.name, head=raw_head)
    envelope.validation_warnings = missing(body) if settled else []
    if head.word == "deprecated":
        envelope.validation_warnings.append("deprecated where it came from, without a successor")
    envelope.body_digest = digest(body) if settled else None
    return Decision(folder=legacy, envelope=envelope, unknown={}, body=body), head


def _link(decision: Decision, head: Head, ids: dict[int, str], answer: ImportAnswer) -> None:
    for number in [*head.supersedes, *([head.superseded_by] if head.superseded_by is not None else [])]:
        if number not in ids:
            answer.warnings.append(f"{decision.folder}: links to {number}, which is not in the folder")
    decision.envelope.supersedes = tidy(ids[number] for number in head.supersedes if number in ids)
    decision.envelope.superseded_by = ids.get(head.superseded_by) if head.superseded_by is not None else None


def _mirror(fresh: list[Envelope], answer: ImportAnswer) -> None:
    """The other half of links that the folder states on one side only."""
    by_id = {envelope.id: envelope for envelope in fresh}
    for envelope in by_id.values():
        new = by_id.get(envelope.superseded_by or "")
        if new is not None:
            new.supersedes = tidy([*new.supersedes, envelope.id])
    for envelope in by_id.values():
        for old_id in list(envelope.supersedes):
            old = by_id.get(old_id)
            if old is not None and old.superseded_by is None:
                old.superseded_by, old.status = envelope.id, "superseded"
            elif old is None or old.superseded_by != envelope.id:
                envelope.supersedes.remove(old_id)
                answer.warnings.append(f"{envelope.id} claims to supersede {old_id}, which says otherwise")


def export_folder(store: AdrStore, ask: ExportParams) -> ExportAnswer:
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
    if origin is not None and origin.format == form and _still_says(envelope, formats.read_head(origin.head, form), files):
        return origin.head + decision.body
    head = formats.write_head(envelope, files, titles, form)
    return head + (formats.to_madr(decision.body) if form == "madr" else decision.body)


def _still_says(envelope: Envelope, head: Head, files: dict[str, str]) -> bool:
    """Whether a head that came in still tells what the envelope tells."""

    def number(adr_id: str) -> int | None:
        match = FILE.fullmatch(files.get(adr_id, ""))
        return int(match[1]) if match else None

    linked = number(envelope.superseded_by) if envelope.superseded_by else None
    told = (head.title, head.status, head.superseded_by)
    mirrored = head.superseded_by is None and envelope.status == "superseded" and linked is not None
    return (mirrored or told == (envelope.title, envelope.status, linked)) and not (envelope.related_tasks or envelope.tags or envelope.paths)
