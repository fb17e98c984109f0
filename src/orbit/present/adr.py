"""Answers about decisions as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from orbit.adr.envelope import Envelope
from orbit.adr.exchange import ExportAnswer, ImportAnswer
from orbit.adr.governing import ForAnswer
from orbit.adr.lifecycle import AddAnswer, SupersedeAnswer
from orbit.adr.lint import Finding, LintAnswer
from orbit.adr.listing import ListAnswer, SearchAnswer, ShowAnswer
from orbit.adr.migrate import MigrateAnswer
from orbit.adr.render import RenderAnswer
from orbit.adr.renumber import RenumberAnswer
from orbit.adr.store import ReindexAnswer
from orbit.adr.threads import Thread, ThreadListAnswer

COLOURS = {"accepted": 32, "proposed": 33, "superseded": 90, "deleted": 90, "error": 31, "warning": 33, "open": 33, "resolved": 32}


def _paint(word: str, colour: bool, width: int = 0) -> str:
    padded = word.ljust(width)
    return f"\x1b[{COLOURS[word]}m{padded}\x1b[0m" if colour and word in COLOURS else padded


def _table(rows: Sequence[Sequence[str]], colour: bool) -> str:
    """Columns aligned with two spaces between; the last one runs free."""
    if not rows:
        return ""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = ["  ".join(_paint(cell, colour, width) for cell, width in zip(row[:-1], widths, strict=False)) + "  " + row[-1] for row in rows]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _envelope(answer: Envelope, colour: bool) -> str:
    fields = [
        ("status", answer.status),
        ("owner", answer.owner),
        ("created", answer.created_at),
        ("accepted", answer.accepted_at or ""),
        ("updated", answer.last_updated),
    ]
    lists = {
        "features": answer.related_features,
        "tasks": answer.related_tasks,
        "tags": answer.tags,
        "paths": answer.paths,
        "supersedes": answer.supersedes,
        "formerly": answer.legacy_ids,
    }
    fields += [(name, ", ".join(values)) for name, values in lists.items()]
    fields.append(("superseded by", answer.superseded_by or ""))
    return f"{answer.id}  {answer.title}\n" + _table([(name, value) for name, value in fields if value], False).replace(
        answer.status, _paint(answer.status, colour), 1
    )


def _show(answer: ShowAnswer, colour: bool) -> str:
    threads = f"threads: {answer.threads['open']} open, {answer.threads['resolved']} resolved\n" if any(answer.threads.values()) else ""
    warnings = "".join(f"{_paint('warning', colour)}: {text}\n" for text in answer.warnings)
    return f"{_envelope(answer, colour)}\n{answer.body.strip()}\n\n{threads}{warnings}".rstrip() + "\n"


def _list(answer: ListAnswer, colour: bool) -> str:
    if answer.format == "json":
        return msgspec.json.encode(answer).decode()
    if answer.page is not None:
        return answer.page
    rows = [(adr.id, adr.status, adr.owner, adr.last_updated[:10], ",".join(adr.related_features), adr.title) for adr in answer.adrs]
    more = f"{len(rows)} of {answer.total}; --limit shows more\n" if answer.truncated else ""
    broken = "".join(f"unreadable: {folder}\n" for folder in answer.unreadable)
    return (_table(rows, colour) or "no decisions\n") + more + broken


def _search(answer: SearchAnswer, colour: bool) -> str:
    blocks = [f"{match.id}  {_paint(match.status, colour)}  {match.title}  ({match.score:g})\n    {match.snippet}\n" for match in answer.matches]
    note = f"note: {answer.note}\n" if answer.note else ""
    return "".join(blocks) + f"{answer.total} by {answer.mode}\n{note}"


def _supersede(answer: SupersedeAnswer, colour: bool) -> str:
    return f"{answer.old.id} {answer.old.title!r} is superseded by {answer.new.id} {answer.new.title!r}\n"


def _thread(answer: Thread, colour: bool) -> str:
    where = f"  {answer.path}:{answer.line}" if answer.line else f"  {answer.path}" if answer.path else ""
    messages = "".join(
        f"  {message.by}, {message.at[:16]}\n" + "".join(f"    {line}\n" for line in message.body.strip().split("\n")) for message in answer.messages
    )
    return f"{answer.thread_id}  {_paint(answer.status, colour)}{where}\n{messages}"


def _threads(answer: ThreadListAnswer, colour: bool) -> str:
    return "\n".join(_thread(thread, colour) for thread in answer.threads) or f"{answer.adr_id} has no such threads\n"


def _lint(answer: LintAnswer, colour: bool) -> str:
    if answer.format == "json":
        return msgspec.json.encode(answer).decode()
    kinds = [("error", answer.errors), ("warning", answer.warnings)]
    if answer.format == "github":
        return "".join(_annotation(kind, finding) for kind, findings in kinds for finding in findings) or "\n"
    lines = [f"{finding.file}:{finding.line}: {_paint(kind, colour)} [{finding.code}] {finding.message}\n" for kind, findings in kinds for finding in findings]
    return "".join(lines) + f"{answer.adrs} decisions, {answer.files} files that cite: {len(answer.errors)} errors, {len(answer.warnings)} warnings\n"


def _annotation(kind: str, finding: Finding) -> str:
    def escape(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    file = escape(finding.file).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} file={file},line={finding.line},title={finding.code}::{escape(finding.message)}\n"


def _for(answer: ForAnswer, colour: bool) -> str:
    rows = [(adr.id, adr.status, adr.title, "; ".join(adr.reasons)) for adr in answer.adrs]
    return _table(rows, colour) or f"no decision governs {answer.target}\n"


def _renumber(answer: RenumberAnswer, colour: bool) -> str:
    return f"{answer.old_id} is now {answer.new_id}: {answer.citations} citations in {len(answer.files)} files rewritten\n" + _lines(answer.files)


def _migrate(answer: MigrateAnswer, colour: bool) -> str:
    names = ("imported", "skipped", "rollups", "links", "rewritten", "unresolved", "warnings")
    counts = ", ".join(f"{name} {getattr(answer, name)}" for name in names) + "\n"
    return counts + (f"report: {answer.report}\n" if answer.report else "") + (f"\n{answer.preview}" if answer.preview else "")


def _exchange(answer: ImportAnswer | ExportAnswer, colour: bool) -> str:
    if isinstance(answer, ImportAnswer):
        notes = "".join(f"{_paint('warning', colour)}: {text}\n" for text in answer.warnings)
        return (
            f"imported {len(answer.imported)}, already here {len(answer.skipped)}\n"
            + _lines(f"{adr_id}  {file}" for file, adr_id in answer.imported.items())
            + notes
        )
    return f"wrote {len(answer.written)} files\n" + _lines(answer.written)


def _render(answer: RenderAnswer, colour: bool) -> str:
    lines = [f"differs: {path}" for path in answer.differs] + [f"wrote: {path}" for path in answer.written]
    return "".join(f"{line}\n" for line in lines) + f"{len(answer.unchanged)} pages unchanged\n"


def _lines(values: Iterable[str]) -> str:
    return "".join(f"  {value}\n" for value in values)


RENDERERS: dict[type, Callable[[Any, bool], str]] = {
    AddAnswer: lambda answer, _: f"{answer.id}  {answer.path}\n",
    Envelope: _envelope,
    ShowAnswer: _show,
    ListAnswer: _list,
    SearchAnswer: _search,
    SupersedeAnswer: _supersede,
    Thread: _thread,
    ThreadListAnswer: _threads,
    LintAnswer: _lint,
    ForAnswer: _for,
    RenumberAnswer: _renumber,
    MigrateAnswer: _migrate,
    ImportAnswer: _exchange,
    ExportAnswer: _exchange,
    RenderAnswer: _render,
    ReindexAnswer: lambda answer, _: f"{answer.adrs} decisions indexed in {answer.path}\n",
}
