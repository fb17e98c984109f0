"""One decision as it lies on disk: a folder `<status>/<ID>` with an envelope and a body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from orbit.adr.body import anchors, digest, missing
from orbit.adr.citations import Citation, citations_in_markdown
from orbit.adr.envelope import Envelope, decode
from orbit.errors import IntegrityError

ENVELOPE, BODY, THREADS = "adr.yaml", "body.md", "review_threads"


class Decision(msgspec.Struct, kw_only=True):
    """What both files say. The folder decides the status; an envelope that disagrees is reported, not believed. [ADR-0006]"""

    folder: str
    envelope: Envelope
    unknown: dict[str, Any]
    body: str
    problems: list[str] = []


class Entry(msgspec.Struct, kw_only=True):
    """What the index keeps of a decision: enough to list and to lint it without opening its files again."""

    folder: str
    envelope: Envelope | None = None
    unknown: list[str] = []
    problems: list[str] = []
    gaps: list[str] = []
    body_digest: str = ""
    citations: list[Citation] = []
    anchors: list[tuple[str, int]] = []
    error: str | None = None

    @property
    def id(self) -> str:
        return self.folder.partition("/")[2]

    @property
    def status(self) -> str:
        return self.folder.partition("/")[0]

    @property
    def title(self) -> str:
        return self.envelope.title if self.envelope else ""


def read_decision(home: Path, folder: str) -> Decision:
    """Raises IntegrityError when the envelope cannot be read. A missing body reads as empty."""
    where = f".orbit/adrs/{folder}/{ENVELOPE}"
    status, _, adr_id = folder.partition("/")
    try:
        envelope, unknown = decode((home / folder / ENVELOPE).read_bytes().decode(), where)
    except FileNotFoundError:
        raise IntegrityError(f"{where}: missing", hint="restore the file from git, or remove the folder") from None
    except UnicodeDecodeError:
        raise IntegrityError(f"{where}: not UTF-8", hint="mend the file") from None
    problems = [f"folder is {adr_id}, envelope says {envelope.id}"] if envelope.id != adr_id else []
    problems += [f"folder is {status}/, envelope says {envelope.status}"] if envelope.status != status else []
    envelope.id, envelope.status = adr_id, status  # type: ignore[assignment]
    body_file = home / folder / BODY
    body = body_file.read_bytes().decode(errors="replace") if body_file.exists() else ""
    return Decision(folder=folder, envelope=envelope, unknown=unknown, body=body, problems=problems)


def summarise(home: Path, folder: str) -> tuple[Entry, str]:
    """The index entry of a folder, and its body."""
    try:
        decision = read_decision(home, folder)
    except IntegrityError as error:
        return Entry(folder=folder, error=error.message), ""
    body = decision.body
    told: dict[str, Any] = {"gaps": missing(body), "body_digest": digest(body), "citations": citations_in_markdown(body), "anchors": anchors(body)}
    return Entry(folder=folder, envelope=decision.envelope, unknown=list(decision.unknown), problems=decision.problems, **told), body
