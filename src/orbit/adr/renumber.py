"""Gives a decision another number: folder, envelope, links and every citation follow, in one change. [ADR-0007]"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from orbit.adr.body import digest
from orbit.adr.citations import citations_in, spliced
from orbit.adr.envelope import BODY, THREADS, Decision, Envelope, format_id, is_id, number_of, tidy
from orbit.adr.journal import Change, Step, Write
from orbit.adr.lifecycle import AdrId, rewrite
from orbit.adr.store import Store
from orbit.adr.worktree import citing, files_with, ids_at
from orbit.audit import CommandRow, now
from orbit.errors import RefusedError, UsageError
from orbit.git import ask
from orbit.model import ARGUMENT

HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


class RenumberParams(msgspec.Struct):
    old_id: AdrId
    new_id: Annotated[str | None, Meta(description="The new id; default: the next free number, here and in --against.", extra=ARGUMENT)] = None
    against: Annotated[str | None, Meta(description="Revision that keeps the old number: only citations on lines it does not have are rewritten.")] = None


class RenumberAnswer(msgspec.Struct, kw_only=True):
    old_id: str
    new_id: str
    path: str
    citations: int
    files: list[str]


def renumber(store: Store, ask: RenumberParams) -> RenumberAnswer:
    """The old id stays in `legacy_ids`, so it is found by `--legacy-id` and never given out again."""
    with store.journal.locked():
        decision = store.load(ask.old_id)
        old_id = decision.envelope.id
        new_id = _free_id(store, ask)
        if sum(entry.id == old_id for entry in store.index.entries()) > 1 and ask.against is None:
            hint = "name with --against the revision whose decision keeps the number, such as HEAD^1 after a merge"
            raise RefusedError(f"another decision keeps {old_id}, so its citations must be told apart", hint=hint)
        status = decision.envelope.status
        row = CommandRow(command="adr.renumber", adr_id=new_id, from_status=status, to_status=status, arguments={"old_id": old_id})
        work = _Renaming(store, decision, new_id, ask.against)
        store.journal.commit(Change([*work.decisions(), *work.threads(), *work.documents()], [row]))
    return RenumberAnswer(old_id=old_id, new_id=new_id, path=f".orbit/adrs/{status}/{new_id}", citations=work.count, files=work.files)


def _free_id(store: Store, ask: RenumberParams) -> str:
    taken = {entry.id for entry in store.index.current().entries()}
    if ask.against is not None:
        taken |= ids_at(store.workspace.root, ask.against).keys()
    new_id = ask.new_id or format_id(max([store.index.highest(), *map(number_of, taken)]) + 1)
    if not is_id(new_id) or format_id(number_of(new_id)) != new_id:
        raise UsageError(f"{new_id!r} is not an ADR id", hint="ids look like ADR-0042")
    if new_id in taken:
        raise RefusedError(f"{new_id} is taken", hint="leave the new id out to get the next free one")
    return new_id


class _Renaming:
    """One decision's way to another number: the steps, and what they touched."""

    def __init__(self, store: Store, decision: Decision, new_id: str, against: str | None) -> None:
        self.store, self.decision, self.new_id, self.against = store, decision, new_id, against
        self.old_id = decision.envelope.id
        self.files: list[str] = []
        self.count = 0

    def decisions(self) -> Iterator[Step]:
        """The decision itself, links to it, and citations in bodies."""
        own = {*self.decision.envelope.supersedes, *filter(None, [self.decision.envelope.superseded_by])}
        for entry in self.store.index.entries():
            if (after := entry.envelope) is None:
                continue
            is_itself = entry.folder == self.decision.folder
            if is_itself:
                after = msgspec.structs.replace(after, id=self.new_id, legacy_ids=tidy([*after.legacy_ids, self.old_id]), last_updated=now())
            elif self.against is None or entry.id in own:
                after = self._relinked(after)
            cites = any(citation.id == self.old_id for citation in entry.citations)
            if after is entry.envelope and not cites:
                continue
            before = self.store.load(entry.folder)
            body = self._rewritten(f".orbit/adrs/{entry.folder}/{BODY}", before.body, every_line=is_itself) if cites else before.body
            if body != before.body and after.body_digest == digest(before.body):
                after = msgspec.structs.replace(after, body_digest=digest(body))
            if after != before.envelope or body != before.body:
                yield from rewrite(self.store, before, after, body)

    def threads(self) -> Iterator[Write]:
        for path in sorted((self.store.home / self.decision.folder / THREADS).glob("*.yaml")):
            text = path.read_text(encoding="utf-8").replace(f"adr_id: {self.old_id}\n", f"adr_id: {self.new_id}\n", 1)
            yield self.store.journal.write_step(self.store.home / self.decision.envelope.status / self.new_id / THREADS / path.name, text, path)

    def documents(self) -> Iterator[Write]:
        """Citations in documents and source comments."""
        root = self.store.workspace.root
        for path in citing(self.store.workspace, files_with(root, f"[{self.old_id}]")):
            text = (root / path).read_bytes().decode(errors="surrogateescape")
            new = self._rewritten(path, text)
            if new != text:
                yield self.store.journal.write_step(root / path, new.encode(errors="surrogateescape"))

    def _relinked(self, envelope: Envelope) -> Envelope:
        if self.old_id not in (*envelope.supersedes, envelope.superseded_by):
            return envelope
        supersedes = [self.new_id if linked == self.old_id else linked for linked in envelope.supersedes]
        superseded_by = self.new_id if envelope.superseded_by == self.old_id else envelope.superseded_by
        return msgspec.structs.replace(envelope, supersedes=supersedes, superseded_by=superseded_by)

    def _rewritten(self, path: str, text: str, *, every_line: bool = False) -> str:
        ours = None if every_line or self.against is None else _own_lines(self.store.workspace.root, path, self.against)
        found = [cited for cited in citations_in(path, text) if cited.id == self.old_id and (ours is None or cited.line in ours)]
        self.count += len(found)
        self.files += [path] if found else []
        return spliced(text, ((cited.start, cited.end, f"[{self.new_id}]") for cited in found))


def _own_lines(root: Path, path: str, revision: str) -> set[int]:
    """Lines of the file as it is now that `revision` does not have."""
    if ask(root, "cat-file", "-e", f"{revision}:./{path}") is None:
        return set(range(1, (root / path).read_bytes().count(b"\n") + 2))
    diff = ask(root, "diff", "-U0", "--no-color", "--no-ext-diff", revision, "--", path) or b""
    hunks = [(int(match[1]), int(match[2] or 1)) for match in HUNK.finditer(diff)]
    return {line for first, count in hunks for line in range(first, first + count)}
