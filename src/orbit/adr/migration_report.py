"""What a migration did and what it left to people, as `migration-report.md`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from orbit.adr.envelope import Envelope
from orbit.adr.legacy_page import LegacyEntry
from orbit.adr.sweep import Unresolved


class Report(msgspec.Struct):
    imported: list[tuple[Envelope, LegacyEntry]] = []
    skipped: int = 0
    rewritten: int = 0
    links: list[tuple[str, str]] = []
    unresolved: list[Unresolved] = []
    rollups: list[tuple[str, str, list[str]]] = []
    leftover: list[tuple[str, int, str]] = []

    def answer_counts(self) -> dict[str, int]:
        return {
            "imported": len(self.imported),
            "skipped": self.skipped,
            "rollups": len(self.rollups),
            "links": len(self.links),
            "rewritten": self.rewritten,
            "unresolved": len(self.unresolved),
            "warnings": sum(len(envelope.validation_warnings) for envelope, _ in self.imported),
        }

    def text(self) -> str:
        counts = "\n".join(f"- {name}: {count}" for name, count in self.answer_counts().items())
        warnings = [
            (envelope.id, entry.legacy_id, f"{entry.source}:{entry.line}", text) for envelope, entry in self.imported for text in envelope.validation_warnings
        ]
        imported = [(envelope.id, entry.legacy_id, envelope.status, envelope.title) for envelope, entry in self.imported]
        unresolved = [(f"{item.file}:{item.line}", item.text, item.reason) for item in self.unresolved]
        parts = [
            f"# Migration report\n\nNot for committing: it is out of date with the next edit.\n\n{counts}\n",
            _table("Imported", ("id", "was", "status", "title"), imported),
            _table("Validation warnings", ("id", "was", "source", "rule"), warnings),
            _table("Unresolved references", ("where", "text", "why"), unresolved),
            _table("Rollups", ("id", "was", "absorbed"), [(adr_id, legacy, ", ".join(absorbed)) for adr_id, legacy, absorbed in self.rollups]),
            _table("Supersede links", ("old", "new"), self.links),
            _table("Page text not carried over", ("where", "text"), [(f"{file}:{line}", text) for file, line, text in self.leftover]),
        ]
        return "\n".join(parts)


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return f"## {title}\n\nNone.\n"
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return f"## {title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)
