"""What recorded commands printed, step by step. A blob that is gone or changed is said so in its place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from orbit.errors import OrbitError
from orbit.runs import roles
from orbit.runs.blobs import BlobStore
from orbit.runs.events import stream_events
from orbit.runs.params import StepParams
from orbit.runs.reader import read_manifest, select_run, select_step, steps_begun
from orbit.runs.rundir import RunFolder, RunPaths

_ROLES = {"stdout": roles.VALIDATION_STDOUT, "stderr": roles.VALIDATION_STDERR}


class LogsParams(StepParams, kw_only=True):
    max_bytes: Annotated[int, Meta(ge=0, description="Of each stream only the last bytes, this many; 0 for all.")] = 8000


class LogRecord(msgspec.Struct, kw_only=True):
    step_id: str | None
    stdout: str | None
    stderr: str | None
    exit_code: int | None
    provider: str | None = None
    stdout_blob_ref: str | None = None
    stderr_blob_ref: str | None = None
    truncated: bool = False
    problems: list[str] = []


class LogsAnswer(msgspec.Struct, kw_only=True):
    run_id: str
    records: list[LogRecord]
    total: int
    truncated: bool


def read_logs(folder: RunFolder, params: LogsParams) -> LogsAnswer:
    paths = select_run(folder, params.run)
    wanted = select_step(paths, params.step) if params.step is not None else None
    found = [_from_event(paths, event, params.max_bytes) for _, event in stream_events(paths, step=wanted, event_type="cli.invocation.finished")]
    told = {record.step_id for record in found}
    for step_id in steps_begun(paths):
        if wanted in (None, step_id) and step_id not in told and (record := _from_manifest(paths, step_id, params.max_bytes)):
            found.append(record)
    return LogsAnswer(run_id=paths.run_id, records=found, total=len(found), truncated=any(record.truncated for record in found))


def _from_event(paths: RunPaths, event: dict[str, Any], max_bytes: int) -> LogRecord:
    refs = {stream: ref for stream in _ROLES if isinstance(ref := event.get(f"{stream}_blob_ref"), str)}
    named: dict[str, Any] = {f"{stream}_blob_ref": ref for stream, ref in refs.items()}
    record = LogRecord(
        step_id=event.get("step_id"), stdout=None, stderr=None, exit_code=event.get("exit_code"), provider=event.get("provider"), problems=[], **named
    )
    blobs = BlobStore(paths.blobs)
    for stream, ref in refs.items():
        _fill(record, stream, partial(blobs.get, ref), max_bytes)
    return record


def _from_manifest(paths: RunPaths, step_id: str, max_bytes: int) -> LogRecord | None:
    """Steps recorded through the Python API keep their output as artifacts of the reserved roles."""
    manifest = read_manifest(paths, step_id)
    held = {artifact.role: artifact.path for artifact in manifest.artifacts if not artifact.missing} if manifest else {}
    files = {stream: paths.path / held[role] for stream, role in _ROLES.items() if role in held}
    if manifest is None or not files:
        return None
    record = LogRecord(step_id=step_id, stdout=None, stderr=None, exit_code=manifest.evidence_summary.get("exit_code"), problems=[])
    for stream, file in files.items():
        _fill(record, stream, file.read_bytes, max_bytes)
    return record


def _fill(record: LogRecord, stream: str, read: Callable[[], bytes], max_bytes: int) -> None:
    try:
        content = read()
    except (OrbitError, OSError) as error:
        record.problems.append(f"{stream}: {error.message if isinstance(error, OrbitError) else error.strerror}")
        return
    if max_bytes and len(content) > max_bytes:
        content, record.truncated = content[-max_bytes:], True
    setattr(record, stream, content.decode("utf-8", "replace"))
