"""Whether a run is what was recorded: its streams, metadata, final state, manifests, artifacts and blobs. Tamper-evident, no more:
whoever can rewrite every file can rewrite the anchor too, unless the head was kept elsewhere and is given here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from orbit.errors import UsageError
from orbit.runs.blobs import BlobStore, sha256_of
from orbit.runs.chain import digest_of, parse
from orbit.runs.history import Problem, find_problems
from orbit.runs.manifest import Metadata, StreamAnchor
from orbit.runs.params import RunParams
from orbit.runs.reader import named_blobs, read_manifest, read_metadata, records, select_run, state_of
from orbit.runs.rundir import RunFolder, RunPaths

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class VerifyParams(RunParams, kw_only=True):
    anchor: Annotated[Hash | None, Meta(description="A head of this run kept elsewhere; it must be part of the history.")] = None


class VerifyAnswer(msgspec.Struct, kw_only=True):
    run_id: str
    ok: bool
    state: str
    events: int
    head: str
    anchored: bool
    artifacts: int  # files compared with their digest
    blobs: int
    problems: list[Problem]


def verify_run(folder: RunFolder, params: VerifyParams) -> VerifyAnswer:
    paths = select_run(folder, params.run)
    metadata = read_metadata(paths)
    check = _Check(paths, metadata, params.anchor)
    problems = [*check.streams(), *check.documents(), *check.steps(), *check.blobs()]
    return VerifyAnswer(
        run_id=paths.run_id,
        ok=not problems,
        state=state_of(metadata),
        events=check.end.count,
        head=check.end.head,
        anchored=bool(metadata and metadata.anchor),
        artifacts=check.artifacts,
        blobs=len(check.refs),
        problems=problems,
    )


class _Check:
    def __init__(self, paths: RunPaths, metadata: Metadata | None, pinned: str | None) -> None:
        self.paths, self.metadata, self.pinned = paths, metadata, pinned
        self.artifacts = 0
        self.refs = named_blobs(paths)
        self.closing: dict[str, Any] = {}

    def streams(self) -> Iterator[Problem]:
        paths = self.paths
        anchor = self.metadata.anchor if self.metadata else None
        self.end, found = find_problems(paths.envelope, StreamAnchor(anchor.events, anchor.head) if anchor else None, pinned=self.pinned)
        yield from found
        last: dict[str, Any] = {}
        for _, record in records(paths.envelope):
            last = record
            self.closing = record if record.get("event_type") == "run.finished" else self.closing
        if anchor is None:
            line = self.end.count or None
            said = "the run is still going, or was cut short" if last.get("event_type") != "run.finished" else "metadata.json has lost it, or events were lost"
            yield Problem(kind="truncated", file=paths.envelope.name, line=line, message=f"no anchor says that line {self.end.count} is the end: {said}")
        sealed = self.closing.get("streams", {})
        for name, path in (("events", paths.events), ("loop", paths.loop)):
            if isinstance(sealed.get(name), dict) or path.exists():
                known = sealed.get(name) if anchor is not None else None
                yield from find_problems(path, msgspec.convert(known, StreamAnchor) if known else None)[1]

    def documents(self) -> Iterator[Problem]:
        """metadata.json and final-state.txt against the digests in the closing event."""
        expected = self.closing.get("metadata_sha256")
        try:
            document = parse(self.paths.metadata.read_bytes())
        except OSError:
            document = None
        if document is None:
            yield Problem(kind="missing", file="metadata.json", message="metadata.json is gone or cannot be read")
        elif expected and document.get("termination") and digest_of(document, without="anchor") != expected:
            yield Problem(kind="changed", file="metadata.json", message="metadata.json is not what the run ended with")
        yield from self._file(self.paths.final_state, self.closing.get("final_state_sha256"), "final-state.txt")

    def steps(self) -> Iterator[Problem]:
        for number, record in records(self.paths.events):
            step_id = str(record.get("step_id"))
            if record.get("event_type") in ("step_completed", "step_failed"):
                manifest = self.paths.manifest(step_id)
                yield from self._file(manifest, record.get("manifest_sha256"), f"artifacts/{step_id}/manifest.json", number)
                yield from self._artifacts(step_id)

    def _artifacts(self, step_id: str) -> Iterator[Problem]:
        manifest = read_manifest(self.paths, step_id)
        for artifact in manifest.artifacts if manifest else ():
            if not artifact.missing:
                self.artifacts += 1
                yield from self._file(self.paths.path / artifact.path, artifact.sha256, artifact.path)

    def _file(self, path: Path, digest: Any, name: str, line: int | None = None) -> Iterator[Problem]:
        if not isinstance(digest, str):
            return
        said = f" (recorded in line {line} of events.ndjson)" if line else ""
        try:
            if sha256_of(path) != digest:
                yield Problem(kind="changed", file=name, line=line, message=f"{name} is not what was recorded{said}")
        except OSError:
            yield Problem(kind="missing", file=name, line=line, message=f"{name} is gone{said}")

    def blobs(self) -> Iterator[Problem]:
        store = BlobStore(self.paths.blobs)
        for ref, line in sorted(self.refs.items()):
            where = f" (named in line {line})" if line else ""
            try:
                if not store.is_intact(ref):
                    yield Problem(kind="changed", file=f"blobs/{ref[:2]}/{ref}", line=line, message=f"blob {ref} does not hold what its name says{where}")
            except (OSError, UsageError):
                yield Problem(kind="missing", file=f"blobs/{ref[:2]}/{ref}", line=line, message=f"blob {ref} is gone{where}")
