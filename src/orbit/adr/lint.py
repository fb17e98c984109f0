"""Whether the decisions are sound and what cites them is true. Fast enough to run before every commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from orbit.adr.citations import Citation, citations_in
from orbit.adr.envelope import BODY, ENVELOPE, FEATURE
from orbit.adr.globs import matches_any
from orbit.adr.governing import is_alive
from orbit.adr.index import Entry
from orbit.adr.store import Store
from orbit.adr.worktree import citing, collisions, files, files_with, holds
from orbit.errors import UsageError
from orbit.model import ARGUMENT

MARK = "[ADR-"


class LintParams(msgspec.Struct, kw_only=True):
    paths: Annotated[list[str], Meta(description="Files or folders whose citations to check; default: all.", extra=ARGUMENT)] = []
    against: Annotated[str | None, Meta(description="Also find numbers this revision gave to other decisions.")] = None
    format: Annotated[Literal["text", "json", "github"], Meta(description="github: annotations for a workflow run.")] = "text"


class Finding(msgspec.Struct, kw_only=True):
    file: str
    line: int
    code: str
    message: str


class LintAnswer(msgspec.Struct, kw_only=True):
    """Ordered by file, line and code."""

    errors: list[Finding]
    warnings: list[Finding]
    adrs: int
    files: int
    format: str = "text"


Found = Iterator[tuple[bool, Finding]]  # (is an error, what)


def lint(store: Store, ask: LintParams) -> LintAnswer:
    entries = store.index.current().entries()
    cited = _files_to_check(store, ask.paths)
    found = [*_decisions(store, entries), *_links(entries), *_citations(store, entries, cited), *_globs(store, entries)]
    if ask.against is not None:
        found += _collisions(store, entries, ask.against)
    findings = sorted(found, key=lambda pair: (pair[1].file, pair[1].line, pair[1].code, pair[1].message))
    errors, warnings = ([finding for is_error, finding in findings if is_error is wanted] for wanted in (True, False))
    return LintAnswer(errors=errors, warnings=warnings, adrs=len(entries), files=len(cited), format=ask.format)


def _files_to_check(store: Store, wanted: list[str]) -> list[str]:
    root = store.workspace.root
    for name in wanted:
        if not (root / name).exists():
            raise UsageError(f"no such file or folder: {name}")
    names = set(filter(None, map(store.workspace.relative, wanted)))
    if not wanted or any((root / name).is_dir() for name in names):
        listed = [path for path in files_with(root, MARK) if not wanted or any(name in (path, ".") or path.startswith(name + "/") for name in names)]
    else:
        listed = sorted(name for name in names if holds(root / name, MARK))
    return citing(store.workspace, listed)


def _at(entry: Entry, code: str, message: str, leaf: str = ENVELOPE, line: int = 1) -> Finding:
    return Finding(file=f".orbit/adrs/{entry.folder}/{leaf}", line=line, code=code, message=message)


def _decisions(store: Store, entries: list[Entry]) -> Found:
    """Each decision by itself."""
    folders: dict[str, set[str]] = {}
    for entry in entries:
        folders.setdefault(entry.id, set()).add(entry.folder)
    for entry in entries:
        envelope = entry.envelope
        if others := ", ".join(sorted(folders[entry.id] - {entry.folder})):
            yield True, _at(entry, "duplicate-id", f"{entry.id} is also {others}; `orbit adr renumber {entry.folder}` one of them")
        if envelope is None:
            yield True, _at(entry, "unreadable", entry.error or "")
            continue
        for problem in entry.problems:
            yield True, _at(entry, "misplaced", problem)
        for name in entry.unknown:
            yield False, _at(entry, "unknown-field", f"unknown field {name!r} (kept)")
        for feature in envelope.related_features:
            if not FEATURE.fullmatch(feature):
                yield False, _at(entry, "feature-name", f"invalid feature name {feature!r}")
        if entry.status == "deleted":
            continue
        if envelope.body_digest and entry.body_digest != envelope.body_digest:
            message = f"the body of {entry.id} was edited after it was accepted; restore it and use `orbit adr update {entry.id} --addendum`"
            yield True, _at(entry, "edited-body", message, BODY)
        if entry.status == "superseded":
            continue
        for gap in entry.gaps:
            yield False, _at(entry, "missing-cost" if "Cost" in gap else "missing-section", gap, BODY)
        for anchor, line in entry.anchors:
            if not is_alive(store.workspace.root, anchor, store.code):
                yield entry.status == "accepted", _at(entry, "dead-anchor", f"{anchor} no longer exists", BODY, line)


def _links(entries: list[Entry]) -> Found:
    """Supersede links exist on both sides."""
    by_id = {entry.id: entry.envelope for entry in entries if entry.envelope}
    for entry in entries:
        envelope = entry.envelope
        if envelope is None:
            continue
        said = []
        for old_id in envelope.supersedes:
            if old_id not in by_id:
                said.append(f"supersedes {old_id}, which does not exist")
            elif by_id[old_id].superseded_by != entry.id:
                said.append(f"supersedes {old_id}, which does not say so; `orbit adr supersede {old_id} {entry.id}`")
        if (new_id := envelope.superseded_by) is not None:
            if new_id not in by_id:
                said.append(f"superseded by {new_id}, which does not exist")
            elif entry.id not in by_id[new_id].supersedes:
                said.append(f"superseded by {new_id}, which does not say so")
            elif entry.status != "superseded":
                said.append(f"superseded by {new_id}, but its status is {entry.status}")
        for message in said:
            yield True, _at(entry, "one-sided-link", message)
        if new_id is None and entry.status == "superseded":
            yield False, _at(entry, "no-successor", "superseded, but by nothing")


def _citations(store: Store, entries: list[Entry], cited: list[str]) -> Found:
    by_id = {entry.id: entry for entry in entries}
    for path in cited:
        yield from _judge(path, citations_in(path, (store.workspace.root / path).read_bytes().decode(errors="replace")), by_id)
    for entry in entries:
        if entry.status in ("proposed", "accepted"):
            superseded = set(entry.envelope.supersedes) if entry.envelope else set()
            yield from _judge(f".orbit/adrs/{entry.folder}/{BODY}", [citation for citation in entry.citations if citation.id not in superseded], by_id)


def _judge(path: str, citations: list[Citation], by_id: dict[str, Entry]) -> Found:
    for citation in citations:
        entry, code = by_id.get(citation.id), "unresolved-citation"
        if entry is None:
            said = "is not a decision in this store"
        elif entry.status == "deleted":
            said = "was deleted before it was accepted"
        elif entry.status == "superseded":
            code, said = "superseded-citation", f"is superseded by {entry.envelope and entry.envelope.superseded_by or 'nothing'}"
        else:
            continue
        yield code == "unresolved-citation", Finding(file=path, line=citation.line, code=code, message=f"[{citation.id}] {said}")


def _globs(store: Store, entries: list[Entry]) -> Found:
    live = [(entry, glob) for entry in entries if entry.status in ("proposed", "accepted") and entry.envelope for glob in entry.envelope.paths]
    present = files(store.workspace.root) if live else []
    matched = {glob: matches_any(glob, present) for glob in {glob for _, glob in live}}
    for entry, glob in live:
        if not matched[glob]:
            yield False, _at(entry, "dead-path", f"path glob {glob!r} matches no file")


def _collisions(store: Store, entries: list[Entry], revision: str) -> Found:
    ours = {entry.id: (entry.envelope.created_at, entry.envelope.title) for entry in entries if entry.envelope}
    theirs = collisions(store.workspace.root, ours, revision)
    for entry in entries:
        if entry.id in theirs:
            said = f"{entry.id} is {theirs[entry.id]!r} in {revision}; `orbit adr renumber {entry.id} --against {revision}` before merging"
            yield True, _at(entry, "taken-number", said)
