"""Which runs there are; one run with its steps and what evidence they left; one artifact, found by step and role, never by file name."""

from __future__ import annotations

import base64
import hashlib
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from orbit.errors import IntegrityError, NotFoundError
from orbit.runs.reader import StepParams, known_metadata, read_manifest, read_metadata, records, select_run, select_step, state_of, steps_begun
from orbit.runs.rundir import REMOVED, Manifest, Metadata, RunFolder


class ListParams(msgspec.Struct, kw_only=True):
    workflow: Annotated[str | None, Meta(description="Only runs of this workflow.")] = None
    state: Annotated[str | None, Meta(description="Only runs in this state: running, success, failed, timeout, cancelled, interrupted, unreadable.")] = None
    limit: Annotated[int, Meta(ge=0, description="At most this many runs; 0 for all.")] = 50


class RunRow(msgspec.Struct, kw_only=True):
    run_id: str
    workflow_id: str | None
    state: str
    started_at: str | None
    ended_at: str | None
    steps: int


class ListAnswer(msgspec.Struct, kw_only=True):
    runs: list[RunRow]
    total: int
    truncated: bool
    removed: int  # runs pruned from here, of which an index row is left


def list_runs(folder: RunFolder, params: ListParams) -> ListAnswer:
    """Newest first; runs whose metadata cannot be read come last and are shown, not skipped."""
    rows = []
    for paths in map(folder.run, folder.run_ids()):
        metadata = read_metadata(paths)
        known = {name: getattr(metadata, name, None) for name in ("workflow_id", "started_at", "ended_at")}
        rows.append(RunRow(run_id=paths.run_id, state=state_of(metadata), steps=len(paths.step_ids()), **known))
    rows = [row for row in rows if params.workflow in (None, row.workflow_id) and params.state in (None, row.state)]
    rows.sort(key=lambda row: (row.started_at or "", row.run_id), reverse=True)
    kept = rows[: params.limit] if params.limit else rows
    return ListAnswer(runs=kept, total=len(rows), truncated=len(kept) < len(rows), removed=sum(1 for _ in records(folder.root / REMOVED)))


ShowParams = StepParams


class ShowAnswer(Metadata, kw_only=True):
    """A step that is still going, or was cut short, has no `termination`."""

    state: str
    path: str
    steps: list[Manifest]


def show_run(folder: RunFolder, params: ShowParams) -> ShowAnswer:
    paths = select_run(folder, params.run)
    metadata = known_metadata(paths, "its events may still be: `orbit run events`, `orbit run verify`")
    wanted = select_step(paths, params.step)
    steps = [
        read_manifest(paths, step_id) or Manifest(step_id=step_id, opcode=begun.get("opcode"), started_at=begun.get("timestamp"))
        for step_id, begun in steps_begun(paths).items()
        if wanted in (None, step_id)
    ]
    return ShowAnswer(**msgspec.structs.asdict(metadata), state=state_of(metadata), path=f"{folder.label}/{paths.run_id}", steps=steps)


class ArtifactParams(msgspec.Struct, kw_only=True):
    step: str
    role: str
    run: str | None = None
    max_bytes: Annotated[int, Meta(ge=0, description="At most this many bytes of content; 0 for all.")] = 16000


class ArtifactAnswer(msgspec.Struct, kw_only=True):
    run_id: str
    step_id: str
    role: str
    path: str  # relative to the worktree where it lies inside
    media_type: str
    required: bool
    important: bool
    size: int
    sha256: str
    encoding: Literal["utf-8", "base64"]
    content: str
    truncated: bool


def read_artifact(folder: RunFolder, params: ArtifactParams) -> ArtifactAnswer:
    paths = select_run(folder, params.run)
    step_id = select_step(paths, params.step) or ""
    manifest = read_manifest(paths, step_id)
    if manifest is None:
        raise NotFoundError(f"step {step_id!r} has no manifest", hint="it is still going, or was cut short; see `orbit run events`")
    found = next((artifact for artifact in manifest.artifacts if artifact.role == params.role), None)
    if found is None or found.missing:
        present = sorted(artifact.role for artifact in manifest.artifacts if not artifact.missing)
        said = f"artifact {params.role!r} of step {step_id!r} " + ("was required and is missing" if found is not None else "is not recorded")
        raise NotFoundError(said, hint="roles of this step are listed by `orbit run show`", candidates=present)
    file = paths.path / found.path
    if not file.resolve().is_relative_to(paths.path.resolve()):
        raise IntegrityError(f"the manifest of {step_id!r} points outside the run: {found.path}")
    content = file.read_bytes() if file.is_file() else None
    if content is None or hashlib.sha256(content).hexdigest() != found.sha256:
        said = "not what was recorded" if content is not None else "recorded but gone"
        raise IntegrityError(f"{found.path} is {said}", hint="`orbit run verify` tells what else changed")
    shown = content[: params.max_bytes] if params.max_bytes else content
    encoding, text = _as_text(shown)
    told: dict[str, Any] = {name: getattr(found, name) for name in ("role", "media_type", "required", "important", "sha256")}
    told |= {"run_id": paths.run_id, "step_id": step_id, "path": f"{folder.label}/{paths.run_id}/{found.path}"}
    return ArtifactAnswer(**told, size=len(content), encoding=encoding, content=text, truncated=len(shown) < len(content))


def _as_text(content: bytes) -> tuple[Literal["utf-8", "base64"], str]:
    try:
        return "utf-8", content.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start > 0 and len(content) - error.start < 4 and b"\0" not in content:  # a cut in the middle of the last character
            return "utf-8", content[: error.start].decode("utf-8")
        return "base64", base64.b64encode(content).decode()
