"""Where the files of runs are, how runs and steps are named, which run is meant, and what `metadata.json` and `manifest.json` hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from orbit.config import Workspace
from orbit.errors import AmbiguousError, NotFoundError, UsageError

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,118}[A-Za-z0-9_-])?")
REMOVED = "removed.ndjson"  # index rows of pruned runs, in the runs folder
SCHEMA_VERSIONS = {"metadata": 1, "manifest": 1, "events": 1, "envelope": 1}


def checked_name(what: str, name: str) -> str:
    """Run and step ids become file names, so they may hold nothing a path could misread."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"not a {what} id: {name!r}", hint="letters, digits, `.`, `_`, `-`, up to 120, not beginning with `.` or `-`")
    return name


class RunFolder:
    def __init__(self, workspace: Workspace, artifacts_root: Path | None = None) -> None:
        self.workspace = workspace
        configured = artifacts_root or Path(str(workspace.setting("runs", "root", ".orbit/run")))
        self.root = configured if configured.is_absolute() else workspace.root / configured
        self.audit = workspace.state / "state" / "audit"
        self.blobs = self.audit / "blobs"

    @property
    def label(self) -> str:
        """The artifacts root as documents name it: relative to the worktree where it lies inside."""
        inside = self.root.is_relative_to(self.workspace.root)
        return (self.root.relative_to(self.workspace.root) if inside else self.root).as_posix()

    def run(self, run_id: str) -> RunPaths:
        return RunPaths(self, checked_name("run", run_id))

    def run_ids(self) -> list[str]:
        """Every run that left a folder, by name."""
        return [name for name in _folders(self.root) if _NAME.fullmatch(name)]

    def existing(self, run_id: str) -> RunPaths:
        """The run called `run_id`, or the only one whose id begins so."""
        ids = self.run_ids()
        near = [run_id] if run_id in ids else [known for known in ids if known.startswith(run_id)]
        if not near:
            raise NotFoundError(f"no run {run_id!r}", hint="see `orbit run list`", candidates=ids[-5:])
        if len(near) > 1:
            raise AmbiguousError(run_id, near[:20])
        return self.run(near[0])


class RunPaths:
    def __init__(self, folder: RunFolder, run_id: str) -> None:
        self.folder, self.run_id = folder, run_id
        self.path = folder.root / run_id
        self.metadata = self.path / "metadata.json"
        self.final_state = self.path / "final-state.txt"
        self.events = self.path / "events.ndjson"
        self.artifacts = self.path / "artifacts"
        self.envelope = folder.audit / "v2_loop" / f"{run_id}.jsonl"
        self.loop = folder.audit / "loop" / f"{run_id}.jsonl"
        self.blobs = folder.blobs

    def manifest(self, step_id: str) -> Path:
        return self.artifacts / step_id / "manifest.json"

    def step_ids(self) -> list[str]:
        return _folders(self.artifacts)


def _folders(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []


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
