"""One run: its metadata and, for each step, how it went and what evidence it left."""

from __future__ import annotations

from typing import Any

import msgspec

from orbit.errors import IntegrityError
from orbit.runs.manifest import Artifact, Manifest, Metadata
from orbit.runs.params import StepParams
from orbit.runs.reader import read_manifest, read_metadata, select_run, select_step, state_of, steps_begun
from orbit.runs.rundir import RunFolder, RunPaths


class ShowParams(StepParams, kw_only=True): ...


class StepView(msgspec.Struct, kw_only=True):
    """`termination` is null for a step that has no manifest: it is still going, or was cut short."""

    step_id: str
    opcode: str | None
    termination: str | None
    started_at: str | None
    ended_at: str | None
    evidence_summary: dict[str, Any]
    artifacts: list[Artifact]


class ShowAnswer(Metadata, kw_only=True):
    state: str
    path: str
    steps: list[StepView]


def show_run(folder: RunFolder, params: ShowParams) -> ShowAnswer:
    paths = select_run(folder, params.run)
    metadata = read_metadata(paths)
    if metadata is None:
        raise IntegrityError(f"{paths.run_id}/metadata.json cannot be read", hint="its events may still be: `orbit run events`, `orbit run verify`")
    wanted = select_step(paths, params.step) if params.step is not None else None
    steps = [_view(paths, step_id, begun) for step_id, begun in steps_begun(paths).items() if wanted in (None, step_id)]
    return ShowAnswer(**msgspec.structs.asdict(metadata), state=state_of(metadata), path=f"{folder.label}/{paths.run_id}", steps=steps)


def _view(paths: RunPaths, step_id: str, begun: dict[str, Any]) -> StepView:
    manifest = read_manifest(paths, step_id)
    if manifest is None:
        manifest = Manifest(step_id=step_id, opcode=begun.get("opcode"), started_at=begun.get("timestamp"))
    return StepView(**msgspec.structs.asdict(manifest))
