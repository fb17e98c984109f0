"""One artifact, found by step and role through the manifest; never by file name."""

from __future__ import annotations

import base64
import hashlib
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from orbit.errors import IntegrityError, NotFoundError
from orbit.runs.reader import read_manifest, select_run, select_step
from orbit.runs.rundir import RunFolder

_MORE = "`orbit run verify` tells what else changed"


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
    step_id = select_step(paths, params.step)
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
        raise IntegrityError(f"{found.path} is {'not what was recorded' if content is not None else 'recorded but gone'}", hint=_MORE)
    shown = content[: params.max_bytes] if params.max_bytes else content
    encoding, text = _as_text(shown)
    return ArtifactAnswer(
        run_id=paths.run_id,
        step_id=step_id,
        path=f"{folder.label}/{paths.run_id}/{found.path}",
        **{name: getattr(found, name) for name in ("role", "media_type", "required", "important", "sha256")},
        size=len(content),
        encoding=encoding,
        content=text,
        truncated=len(shown) < len(content),
    )


def _as_text(content: bytes) -> tuple[Literal["utf-8", "base64"], str]:
    try:
        return "utf-8", content.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start > 0 and len(content) - error.start < 4 and b"\0" not in content:  # a cut in the middle of the last character
            return "utf-8", content[: error.start].decode("utf-8")
        return "base64", base64.b64encode(content).decode()
