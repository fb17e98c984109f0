"""Takes over a tree of hand-written `<feature>/4_decisions.md` pages: read all, number all, then link, sweep and regenerate, in one change.

A second run finds its own `legacy_ids` and pages, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from orbit.adr.body import compose, digest
from orbit.adr.envelope import FEATURE, Decision, Envelope, format_id, read_decision, tidy
from orbit.adr.journal import Change
from orbit.adr.legacy import LegacyEntry, LegacyPage, Reference, Sweep, parse_page
from orbit.adr.lifecycle import create
from orbit.adr.render import GENERATED, compose_page
from orbit.adr.store import Store
from orbit.audit import now
from orbit.errors import UsageError
from orbit.model import ARGUMENT

PAGE = "4_decisions.md"
REPORT = "migration-report.md"
TABLES = {  # of the report
    "Imported": ("id", "was", "status", "title"),
    "Validation warnings": ("id", "was", "source", "rule"),
    "Unresolved references": ("where", "text", "why"),
    "Rollups": ("id", "was", "absorbed"),
    "Supersede links": ("old", "new"),
    "Page text not carried over": ("where", "text"),
}


class MigrateParams(msgspec.Struct):
    docs: Annotated[str, Meta(description="Folder of feature folders, such as docs/design.", extra=ARGUMENT)]
    dry_run: Annotated[bool, Meta(description="Write nothing; show the report.")] = False


class MigrateAnswer(msgspec.Struct, kw_only=True):
    """Counts; `report` is the file that was written, `preview` its text in a dry run."""

    imported: int
    skipped: int
    rollups: int
    links: int
    rewritten: int
    unresolved: int
    warnings: int
    report: str | None = None
    preview: str | None = None


def migrate(store: Store, ask: MigrateParams) -> MigrateAnswer:
    docs = (store.workspace.root / ask.docs).resolve()
    if not docs.is_dir() or not docs.is_relative_to(store.workspace.root):
        raise UsageError(f"no folder {ask.docs!r} in this worktree")
    with store.journal.locked():
        return _Migration(store, docs).run(dry_run=ask.dry_run)


class _Migration:
    def __init__(self, store: Store, docs: Path) -> None:
        self.store, self.docs = store, docs
        self.existing = [read_decision(store.home, entry.folder) for entry in store.index.current().entries() if entry.envelope]
        self.local: dict[Reference, list[str]] = {}
        for decision in sorted(self.existing, key=lambda decision: decision.envelope.id):
            for legacy in decision.envelope.legacy_ids:
                feature, _, local_id = legacy.rpartition("/")
                if feature and local_id[:4] == "ADR-" and local_id[4:].isdigit():
                    self.local.setdefault((feature, int(local_id[4:])), []).append(decision.envelope.id)
        self.known = {legacy for decision in self.existing for legacy in decision.envelope.legacy_ids}
        self.fresh: dict[str, tuple[Decision, LegacyEntry]] = {}
        self.folded: dict[str, list[LegacyEntry]] = {}
        self.rows: dict[str, list[tuple[str, ...]]] = {title: [] for title in TABLES}
        self.skipped = 0

    def run(self, *, dry_run: bool) -> MigrateAnswer:
        pages = self._read_pages()
        self._allocate(pages)
        for decision, entry in self.fresh.values():
            self._link(decision.envelope, entry)
        sweep = self._sweep()
        steps = [self.store.journal.write_step(path, text) for path, text in (*self._documents(sweep), *self._pages(pages))]
        self.rows["Unresolved references"] += sweep.unresolved
        change = Change()
        for decision, entry in self.fresh.values():
            envelope = decision.envelope
            create(self.store, change, envelope, decision.body, source=entry.source)
            self.rows["Imported"].append((envelope.id, entry.legacy_id, envelope.status, envelope.title))
            self.rows["Validation warnings"] += [(envelope.id, entry.legacy_id, entry.place, text) for text in envelope.validation_warnings]
            if absorbed := self.folded.get(entry.legacy_id):
                self.rows["Rollups"].append((envelope.id, entry.legacy_id, ", ".join(other.legacy_id for other in absorbed)))
        change.steps += steps
        imported, warnings, unresolved, rollups, links, _ = map(len, self.rows.values())
        counts = {"imported": imported, "skipped": self.skipped, "rollups": rollups, "links": links, "rewritten": sweep.rewritten}
        counts |= {"unresolved": unresolved, "warnings": warnings}
        text = self._report(counts)
        is_written = bool(change.steps) and not dry_run
        if is_written:
            change.steps.append(self.store.journal.write_step(self.store.workspace.root / REPORT, text))
            self.store.journal.commit(change)
        return MigrateAnswer(**counts, report=REPORT if is_written else None, preview=text if dry_run else None)

    def _decisions(self) -> list[Decision]:
        return [*self.existing, *(decision for decision, _ in self.fresh.values())]

    def _read_pages(self) -> dict[str, tuple[Path, LegacyPage]]:
        """Pass one: every page that is still hand-written, by feature."""
        pages = {}
        for path in sorted(self.docs.glob(f"*/{PAGE}")):
            text, feature, where = path.read_bytes().decode(errors="replace"), path.parent.name, self.store.journal.relative(path)
            if GENERATED in text:
                continue
            if FEATURE.fullmatch(feature):
                pages[feature] = (path, parse_page(text, feature, where))
            else:
                self.rows["Unresolved references"].append((f"{where}:1", feature, "folder is not a valid feature name; page left alone"))
        return pages

    def _allocate(self, pages: dict[str, tuple[Path, LegacyPage]]) -> None:
        number = self.store.index.highest()
        for _, page in pages.values():
            by_key = {entry.key: entry for entry in page.entries if not entry.is_folded}
            folded = {entry.key: entry for entry in page.entries if entry.is_folded}
            for entry in page.entries:
                if entry.legacy_id in self.known:
                    self.skipped += 1
                    continue
                if entry.is_folded:
                    rollup = _rollup_of(entry, by_key, folded)
                    if rollup is not None:
                        self.folded.setdefault(rollup.legacy_id, []).append(entry)
                        continue
                    entry.warnings.append("folded into an entry that is not there")
                number += 1
                decision = _decision(entry, format_id(number), page.owner)
                self.fresh[decision.envelope.id] = (decision, entry)
                self.local.setdefault(entry.key, []).append(decision.envelope.id)
        for decision, entry in self.fresh.values():
            for absorbed in self.folded.get(entry.legacy_id, []):
                decision.envelope.legacy_ids.append(absorbed.legacy_id)
                self.local.setdefault(absorbed.key, []).append(decision.envelope.id)

    def _link(self, envelope: Envelope, entry: LegacyEntry) -> None:
        """Pass two: supersede lines become links on both sides. A number means the one in the same feature."""
        pairs = [(entry.key, entry.superseded_by)] if entry.superseded_by else []
        pairs += [(old, entry.key) for old in entry.supersedes]
        for old_key, new_key in pairs:
            old_ids, new_ids = self.local.get(old_key, []), self.local.get(new_key or ("", 0), [])
            if len(old_ids) == len(new_ids) == 1 and old_ids != new_ids and {old_ids[0], new_ids[0]} <= self.fresh.keys():
                self._supersede(self.fresh[old_ids[0]][0].envelope, self.fresh[new_ids[0]][0].envelope)
            elif old_ids != new_ids or not old_ids:
                other = old_key if new_key == entry.key else new_key or ("", 0)
                text = f"{other[0]}/ADR-{other[1]:03d}"
                self.rows["Unresolved references"].append((entry.place, text, f"supersede link of {entry.legacy_id} has no single counterpart"))
        if envelope.status == "superseded" and envelope.superseded_by is None:
            _warn(envelope, "superseded, but by nothing")

    def _supersede(self, old: Envelope, new: Envelope) -> None:
        if old.superseded_by is not None:
            if old.superseded_by != new.id:
                _warn(new, f"{old.id} already names {old.superseded_by} as successor")
            return
        old.status, old.superseded_by = "superseded", new.id
        new.supersedes = tidy([*new.supersedes, old.id])
        if new.status == "proposed":
            new.status, new.accepted_at = "accepted", new.created_at
            _warn(new, "proposed in its page, accepted because it supersedes")
        self.rows["Supersede links"].append((old.id, new.id))

    def _sweep(self) -> Sweep:
        """Pass three: references to old numbers in the new bodies; the documents follow."""
        tasks: dict[str, list[str]] = {}
        for decision in self._decisions():
            for task in decision.envelope.related_tasks:
                tasks.setdefault(task, []).append(decision.envelope.id)
        absorbed = [entry for entries in self.folded.values() for entry in entries]
        sweep = Sweep(self.local, {(entry.feature, entry.local_id) for entry in (*absorbed, *(entry for _, entry in self.fresh.values()))}, tasks)
        for decision, entry in self.fresh.values():
            decision.body = sweep.text(decision.body, entry.feature, entry.source, entry.line)
            if decision.envelope.status in ("accepted", "superseded"):
                decision.envelope.body_digest = digest(decision.body)
        return sweep

    def _documents(self, sweep: Sweep) -> Iterator[tuple[Path, bytes]]:
        for path in sorted(self.docs.rglob("*.md")):
            if path.name == PAGE:
                continue
            inner = path.relative_to(self.docs).parts
            text = path.read_bytes().decode(errors="surrogateescape")
            new = sweep.text(text, inner[0] if len(inner) > 1 else None, self.store.journal.relative(path))
            if new != text:
                yield path, new.encode(errors="surrogateescape")

    def _pages(self, pages: dict[str, tuple[Path, LegacyPage]]) -> Iterator[tuple[Path, bytes]]:
        for feature, (path, page) in pages.items():
            self.rows["Page text not carried over"] += [(f"{self.store.journal.relative(path)}:{line}", text) for line, text in page.leftover]
            members = [decision for decision in self._decisions() if feature in decision.envelope.related_features]
            yield path, compose_page(feature, members, path.read_bytes().decode(errors="replace")).encode()

    def _report(self, counts: dict[str, int]) -> str:
        listed = "".join(f"- {name}: {count}\n" for name, count in counts.items())
        parts = [f"# Migration report\n\nNot for committing: it is out of date with the next edit.\n\n{listed}"]
        for title, head in TABLES.items():
            rows = [head, ("---",) * len(head), *([cell.replace("|", "\\|") for cell in row] for row in self.rows[title])]
            parts.append(f"## {title}\n\n" + ("".join(f"| {' | '.join(row)} |\n" for row in rows) if self.rows[title] else "None.\n"))
        return "\n".join(parts)


def _warn(envelope: Envelope, text: str) -> None:
    envelope.validation_warnings = tidy([*envelope.validation_warnings, text])


def _rollup_of(entry: LegacyEntry, entries: dict[Reference, LegacyEntry], folded: dict[Reference, LegacyEntry]) -> LegacyEntry | None:
    """The entry that absorbed a folded one, also through others that were folded in turn."""
    seen = {entry.key}
    target = entry.superseded_by
    while target in folded and target not in seen:
        seen.add(target)
        target = folded[target].superseded_by
    return entries.get(target) if target is not None else None


def _decision(entry: LegacyEntry, adr_id: str, owner: str | None) -> Decision:
    moment = f"{entry.day}T00:00:00Z" if entry.day else now()
    warnings = [*entry.warnings, *(["accepted without a task"] if entry.status == "accepted" and not entry.tasks else [])]
    envelope = Envelope(
        id=adr_id, title=entry.title, status=entry.status, owner=owner or f"legacy:{entry.feature}", created_at=moment, last_updated=moment,
        accepted_at=moment if entry.status != "proposed" else None, related_features=[entry.feature], related_tasks=entry.tasks,
        legacy_ids=[entry.legacy_id], validation_warnings=warnings,
    )  # fmt: skip
    return Decision(folder="", envelope=envelope, unknown={}, body=entry.body or compose({}))
