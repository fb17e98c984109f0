"""The documents of a run directory: `metadata.json` and each step's `manifest.json`."""

from __future__ import annotations

from typing import Any

import msgspec

SCHEMA_VERSIONS = {"metadata": 1, "manifest": 1, "events": 1, "envelope": 1}


class StreamAnchor(msgspec.Struct, frozen=True):
    """The end of one stream: how many lines, and the hash of the last."""

    count: int
    head: str


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """Where the chain ended when the run did. `head` is the envelope's, which commits to the other streams."""

    head: str
    events: int
    streams: dict[str, StreamAnchor] = {}


class Metadata(msgspec.Struct, kw_only=True):
    run_id: str
    workflow_id: str
    workflow_version: str
    started_at: str
    artifacts_root: str
    entry_step: str | None = None
    ended_at: str | None = None
    last_step_id: str | None = None
    termination: str | None = None
    schema_versions: dict[str, int] = msgspec.field(default_factory=lambda: dict(SCHEMA_VERSIONS))
    actor: str = ""
    host: str = ""
    pid: int = 0
    retry_source_run_id: str | None = None
    error: str | None = None
    events_lost: int = 0
    anchor: Anchor | None = None


class Artifact(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`path` is relative to the run directory. `missing`: it was required or announced, and was not there when the step ended."""

    role: str
    path: str
    media_type: str
    required: bool = False
    important: bool = False
    size: int | None = None
    sha256: str | None = None
    blob: str | None = None
    missing: bool = False


class Manifest(msgspec.Struct, kw_only=True):
    step_id: str
    opcode: str | None
    started_at: str | None
    ended_at: str | None = None
    termination: str | None = None
    evidence_summary: dict[str, Any] = {}
    artifacts: list[Artifact] = []


def document(content: Metadata | Manifest) -> bytes:
    """Readable, and the same bytes for the same content. `required` is always written: the contract asks for it."""
    plain = msgspec.to_builtins(content)
    for artifact in plain.get("artifacts", ()):
        artifact.setdefault("required", False)
    return msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n"
