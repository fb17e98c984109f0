"""Answers about decisions as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from orbit.adr import exchange, governing, lifecycle, lint, listing, migrate, renumber, store, threads
from orbit.adr import render as pages
from orbit.adr.envelope import Envelope
from orbit.present import Renderer, by_answer
from orbit.present.text import paint, table

COLOURS = {"accepted": 32, "proposed": 33, "superseded": 90, "deleted": 90, "error": 31, "warning": 33, "open": 33, "resolved": 32}

FIELDS = {
    "owner": "owner", "created": "created_at", "accepted": "accepted_at", "updated": "last_updated", "features": "related_features", "tasks": "related_tasks",
    "tags": "tags", "paths": "paths", "supersedes": "supersedes", "formerly": "legacy_ids", "superseded by": "superseded_by",
}  # fmt: skip


def _paint(word: str, colour: bool) -> str:
    return paint(word, COLOURS.get(word, 0), colour and word in COLOURS)


def _table(rows: Sequence[Sequence[str]], colour: bool) -> str:
    return table([[_paint(cell, colour) for cell in row] for row in rows])


def _envelope(answer: Envelope, colour: bool) -> str:
    rows = [("status", _paint(answer.status, colour))]
    for title, field in FIELDS.items():
        value = getattr(answer, field)
        rows += [(title, value if isinstance(value, str) else ", ".join(value))] if value else []
    return f"{answer.id}  {answer.title}\n" + table(rows)


def _show(answer: listing.ShowAnswer, colour: bool) -> str:
    threads = f"threads: {answer.threads['open']} open, {answer.threads['resolved']} resolved\n" if any(answer.threads.values()) else ""
    return f"{_envelope(answer, colour)}\n{answer.body.strip()}\n\n{threads}{_warnings(answer.warnings, colour)}".rstrip() + "\n"


def _list(answer: listing.ListAnswer, colour: bool) -> str:
    if answer.format == "json":
        return msgspec.json.encode(answer).decode()
    if answer.page is not None:
        return answer.page
    rows = [(adr.id, adr.status, adr.owner, adr.last_updated[:10], ",".join(adr.related_features), adr.title) for adr in answer.adrs]
    more = f"{len(rows)} of {answer.total}; --limit shows more\n" if answer.truncated else ""
    broken = "".join(f"unreadable: {folder}\n" for folder in answer.unreadable)
    return (_table(rows, colour) or "no decisions\n") + more + broken


def _search(answer: listing.SearchAnswer, colour: bool) -> str:
    blocks = [f"{match.id}  {_paint(match.status, colour)}  {match.title}  ({match.score:g})\n    {match.snippet}\n" for match in answer.matches]
    note = f"note: {answer.note}\n" if answer.note else ""
    return "".join(blocks) + f"{answer.total} by {answer.mode}\n{note}"


def _thread(answer: threads.Thread, colour: bool) -> str:
    where = f"  {answer.path}:{answer.line}" if answer.line else f"  {answer.path}" if answer.path else ""
    messages = "".join(
        f"  {message.by}, {message.at[:16]}\n" + "".join(f"    {line}\n" for line in message.body.strip().split("\n")) for message in answer.messages
    )
    return f"{answer.thread_id}  {_paint(answer.status, colour)}{where}\n{messages}"


def _threads(answer: threads.ThreadListAnswer, colour: bool) -> str:
    return "\n".join(_thread(thread, colour) for thread in answer.threads) or f"{answer.adr_id} has no such threads\n"


def _lint(answer: lint.LintAnswer, colour: bool) -> str:
    if answer.format == "json":
        return msgspec.json.encode(answer).decode()
    kinds = [("error", answer.errors), ("warning", answer.warnings)]
    if answer.format == "github":
        return "".join(_annotation(kind, finding) for kind, findings in kinds for finding in findings) or "\n"
    lines = [f"{finding.file}:{finding.line}: {_paint(kind, colour)} [{finding.code}] {finding.message}\n" for kind, findings in kinds for finding in findings]
    return "".join(lines) + f"{answer.adrs} decisions, {answer.files} files that cite: {len(answer.errors)} errors, {len(answer.warnings)} warnings\n"


def _annotation(kind: str, finding: lint.Finding) -> str:
    def escape(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    file = escape(finding.file).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} file={file},line={finding.line},title={finding.code}::{escape(finding.message)}\n"


def _for(answer: governing.ForAnswer, colour: bool) -> str:
    rows = [(adr.id, adr.status, adr.title, "; ".join(adr.reasons)) for adr in answer.adrs]
    return _table(rows, colour) or f"no decision governs {answer.target}\n"


def _renumber(answer: renumber.RenumberAnswer, colour: bool) -> str:
    return f"{answer.old_id} is now {answer.new_id}: {answer.citations} citations in {len(answer.files)} files rewritten\n" + _lines(answer.files)


def _migrate(answer: migrate.MigrateAnswer, colour: bool) -> str:
    names = ("imported", "skipped", "rollups", "links", "rewritten", "unresolved", "warnings")
    counts = ", ".join(f"{name} {getattr(answer, name)}" for name in names) + "\n"
    return counts + (f"report: {answer.report}\n" if answer.report else "") + (f"\n{answer.preview}" if answer.preview else "")


def _import(answer: exchange.ImportAnswer, colour: bool) -> str:
    head = f"imported {len(answer.imported)}, already here {len(answer.skipped)}\n"
    return head + _lines(f"{adr_id}  {file}" for file, adr_id in answer.imported.items()) + _warnings(answer.warnings, colour)


def _render(answer: pages.RenderAnswer, colour: bool) -> str:
    lines = [f"differs: {path}" for path in answer.differs] + [f"wrote: {path}" for path in answer.written]
    return "".join(f"{line}\n" for line in lines) + f"{len(answer.unchanged)} pages unchanged\n"


def _warnings(texts: Iterable[str], colour: bool) -> str:
    return "".join(f"{_paint('warning', colour)}: {text}\n" for text in texts)


def _lines(values: Iterable[str]) -> str:
    return "".join(f"  {value}\n" for value in values)


RENDERERS: dict[type, Renderer] = by_answer(_envelope, _show, _list, _search, _thread, _threads, _lint, _for, _migrate, _renumber, _import, _render) | {
    lifecycle.AddAnswer: lambda answer, _: f"{answer.id}  {answer.path}\n",
    lifecycle.SupersedeAnswer: lambda answer, _: f"{answer.old.id} {answer.old.title!r} is superseded by {answer.new.id} {answer.new.title!r}\n",
    exchange.ExportAnswer: lambda answer, _: f"wrote {len(answer.written)} files\n" + _lines(answer.written),
    store.ReindexAnswer: lambda answer, _: f"{answer.adrs} decisions indexed in {answer.path}\n",
}


def render(answer: Any, colour: bool) -> str:
    return RENDERERS[type(answer)](answer, colour)
