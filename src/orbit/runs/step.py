"""One step of a run: its folder, its artifacts by role, and the manifest that indexes them."""

from __future__ import annotations

import hashlib
import mimetypes
import os
import shutil
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from orbit.audit import now
from orbit.errors import RefusedError, UsageError
from orbit.files import sha256_of
from orbit.runs.event import Outcome, StepDenied, StepFinished, StepRetry, StepStarted
from orbit.runs.journal import opened
from orbit.runs.redact import RedactingWriter
from orbit.runs.rundir import Artifact, Manifest, checked_name, document

if TYPE_CHECKING:
    from typing_extensions import Self

    from orbit.runs.run import Run

_SUFFIXES = {"application/json": ".json", "text/markdown": ".md", "text/x-diff": ".diff", "text/plain": ".txt"}
TERMINATIONS: dict[str, Outcome] = {"completed": "success", "failed": "failed", "timed_out": "failed", "cancelled": "error", "error": "error"}


class Step:
    """Made by `Run.step`; a context manager. Artifacts are found again by step and role, never by file name."""

    def __init__(self, run: Run, step_id: str, opcode: str, requires: tuple[str, ...]) -> None:
        self.run, self.step_id, self.opcode = run, checked_name("step", step_id), opcode
        self.path = run.paths.artifacts / step_id
        self.event_id = ""
        self._requires = requires
        self._manifest = Manifest(step_id=step_id, opcode=opcode, started_at=None, termination="completed")
        self._error: str | None = None
        self._mutex = threading.Lock()
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        journal = self.run.journal
        with journal.guarded(f"step folder {self.step_id}"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self.path.mkdir()
            except FileExistsError:
                raise RefusedError(f"step {self.step_id!r} is already recorded in {self.run.run_id}", hint="give this attempt an id of its own") from None
        self._manifest.started_at = now()
        journal.note(self.step_id, "step_started", {"opcode": self.opcode})
        self.event_id = self.run.emit(StepStarted(step_id=self.step_id, opcode=self.opcode))
        self.run.note_entry(self.step_id)
        self._exit.enter_context(opened(self.run.journal.token, self.event_id))
        return self

    def artifact(
        self, *, role: str, path: str | Path | None = None, content: Any = None, name: str | None = None, media_type: str | None = None,
        required: bool = False, important: bool = False, blob: str | None = None,
    ) -> Artifact:  # fmt: skip
        """Keep a file, text, bytes, or anything JSON can say, under `role`.

        A file outside the step's folder is copied into it, cleaned of secrets where it is text. A file inside stays as it is. One that is
        not there yet may still come; if it has not when the step ends, the manifest says so.
        """
        if (path is None) == (content is None):
            raise UsageError(f"artifact {role!r} needs either a path or content")
        source = Path(path) if path is not None else None
        media_type = media_type or _media_type(source, content)
        file_name = checked_name("artifact", name or (source.name if source else role + _SUFFIXES.get(media_type, ".bin")))
        target = source if source and source.resolve().parent == self.path.resolve() else self.path / file_name
        artifact = Artifact(role=role, path=f"artifacts/{self.step_id}/{target.name}", media_type=media_type, required=required, important=important, blob=blob)
        with self._mutex:
            if any(known.role == role or known.path == artifact.path for known in self._manifest.artifacts) or target.name == "manifest.json":
                taken = f"step {self.step_id!r} already has an artifact {role!r} or a file {target.name!r}"
                raise RefusedError(taken, hint="roles and file names are unique in a step")
            self._manifest.artifacts.append(artifact)
        with self.run.journal.guarded(f"artifact {role}"):
            self._store(source, content, target)
        self._measure(artifact)
        fields = {"role": role, "path": artifact.path, "media_type": media_type, "size": artifact.size, "sha256": artifact.sha256}
        if artifact.sha256 is not None:
            self.run.journal.note(self.step_id, "artifact_recorded", fields)
        return artifact

    def _store(self, source: Path | None, content: Any, target: Path) -> None:
        redactor = self.run.journal.redactor
        if source is None:
            if not isinstance(content, (str, bytes)):
                content = msgspec.json.format(msgspec.json.encode(redactor.value(msgspec.to_builtins(content))), indent=2)
            target.write_bytes(redactor.bytes(content.encode() if isinstance(content, str) else content))
        elif source.exists() and target is not source:
            with source.open("rb") as file, target.open("wb") as copy:
                is_binary = b"\0" in file.read(8192)
                file.seek(0)
                writer = copy if is_binary else RedactingWriter(copy, redactor)
                shutil.copyfileobj(file, writer, 1 << 20)
                if isinstance(writer, RedactingWriter):
                    writer.finish()

    def _measure(self, artifact: Artifact) -> None:
        """Size and digest as they are now; a file that is not there is marked missing."""
        file = self.run.paths.path / artifact.path
        try:
            artifact.size, artifact.sha256, artifact.missing = file.stat().st_size, sha256_of(file), False
        except OSError:
            artifact.size, artifact.sha256, artifact.missing = None, None, True

    def summarize(self, text: str | None = None, **facts: Any) -> None:
        """Add to the evidence summary: a sentence, and facts an evaluator can compare."""
        self._manifest.evidence_summary |= facts if text is None else {"summary": text, **facts}

    def record(self, event_type: str, **fields: Any) -> None:
        """A thin event of the run directory: gate_requested, gate_resolved, rollback_completed, or one of your own."""
        self.run.journal.note(self.step_id, event_type, fields)

    def retry(self, attempt: int, next_backoff_ms: int) -> None:
        """Attempt number `attempt`, from 1, has failed and another follows."""
        self.run.emit(StepRetry(step_id=self.step_id, attempt=attempt, next_backoff_ms=next_backoff_ms))

    def deny(self, reason: str) -> None:
        self.run.emit(StepDenied(step_id=self.step_id, reason=reason))
        self.fail(reason)

    def fail(self, reason: str, termination: str = "failed") -> None:
        """End as failed without raising."""
        if termination not in TERMINATIONS:
            raise UsageError(f"no termination {termination!r}", hint=f"one of {', '.join(TERMINATIONS)}")
        self._manifest.termination, self._error = termination, reason

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self.fail(f"{type(error).__name__}: {error}", termination_of(error))
        journal, termination = self.run.journal, self._manifest.termination or ""
        outcome = TERMINATIONS[termination]
        self._complete_manifest(outcome)
        content = document(self._manifest)
        journal.write_document(self.path / "manifest.json", content)
        for artifact in self._manifest.artifacts:
            if artifact.missing:
                journal.note(self.step_id, "artifact_missing", {"role": artifact.role, "required": artifact.required})
        ended = {"termination": termination, "manifest_sha256": hashlib.sha256(content).hexdigest()} | ({"error": self._error} if self._error else {})
        journal.note(self.step_id, "step_completed" if termination == "completed" else "step_failed", ended)
        self.run.emit(StepFinished(step_id=self.step_id, outcome=outcome, error_message=self._error))
        self._exit.close()
        journal.flush(fsync=journal.fsync == "step")

    def _complete_manifest(self, outcome: Outcome) -> None:
        artifacts, clean = self._manifest.artifacts, self.run.journal.redactor.value
        for artifact in artifacts:
            self._measure(artifact)
            artifact.required = artifact.required or artifact.role in self._requires
        absent = set(self._requires) - {artifact.role for artifact in artifacts}
        artifacts += [Artifact(role=role, path="", media_type="", required=True, missing=True) for role in self._requires if role in absent]
        roles = {artifact.role: artifact.path for artifact in artifacts if not artifact.missing}
        evidence = {"outcome": outcome, **clean(msgspec.to_builtins(self._manifest.evidence_summary)), "roles": roles}
        missing = [artifact.role for artifact in artifacts if artifact.missing and artifact.required]
        evidence |= {"missing_required": missing} if missing else {}
        evidence |= {"error": clean(self._error)} if self._error else {}
        self._manifest.evidence_summary, self._manifest.ended_at = evidence, now()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"step {self.step_id!r} belongs to the process that began it; hand over the run instead")


def termination_of(error: BaseException) -> str:
    """Being asked to stop is not an error; by name, so that asyncio need not be imported for it."""
    is_stop = isinstance(error, (KeyboardInterrupt, SystemExit)) or type(error).__name__ == "CancelledError"
    return "cancelled" if is_stop else "error"


def _media_type(source: Path | None, content: Any) -> str:
    if source is not None or isinstance(content, bytes):
        return mimetypes.guess_type(os.fspath(source or ""))[0] or "application/octet-stream"
    return "text/plain" if isinstance(content, str) else "application/json"
