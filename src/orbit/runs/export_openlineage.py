"""A run as OpenLineage run events: START and one of COMPLETE, FAIL or ABORT, for the run and for each of its steps as a child."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from orbit.runs.manifest import Manifest, Metadata
from orbit.runs.reader import read_manifest, state_of, steps_begun, timestamp_of
from orbit.runs.rundir import RunPaths

PRODUCER = "urn:orbit-native:runs"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS = "https://openlineage.io/spec/facets/"
_ENDS = {"completed": "COMPLETE", "failed": "FAIL", "error": "FAIL", "timed_out": "FAIL", "cancelled": "ABORT"}
_NAMESPACE = uuid.UUID("6f6e0d2c-2f0b-5f57-9d6d-6f7262697400")  # of the ids derived here


def export_openlineage(paths: RunPaths, metadata: Metadata) -> Iterator[dict[str, Any]]:
    """In time order of each job: the run starts, its steps, the run ends. A run that is still going has no end yet."""
    job = {"namespace": "orbit", "name": metadata.workflow_id}
    run_id = _uuid(metadata.run_id)
    yield _event("START", metadata.started_at, run_id, {}, job)
    outputs: list[dict[str, Any]] = []
    parent = {"run": {"runId": run_id}, "job": dict(job)}
    last = metadata.started_at
    for step_id, begun in steps_begun(paths).items():
        manifest = read_manifest(paths, step_id)
        made = _datasets(paths, manifest)
        outputs += made
        started = timestamp_of(begun) or (manifest.started_at if manifest else None) or metadata.started_at
        child = {"namespace": "orbit", "name": f"{metadata.workflow_id}.{step_id}"}
        facets = {"parent": _facet("1-2-0/ParentRunFacet.json#/$defs/ParentRunFacet", **parent)}
        step_uuid = _uuid(f"{metadata.run_id}/{step_id}")
        yield _event("START", started, step_uuid, facets, child)
        if manifest is not None and manifest.ended_at:
            facets = facets | _error(manifest.evidence_summary.get("error"))
            yield _event(_ENDS.get(manifest.termination or "", "ABORT"), manifest.ended_at, step_uuid, facets, child, made)
        last = max(last, (manifest.ended_at if manifest else None) or started)
    state = state_of(metadata)
    if state != "running":
        ending = _ENDS.get(metadata.termination or "", "ABORT")
        message = metadata.error or ("the run was cut short" if state == "interrupted" else None)
        yield _event(ending, metadata.ended_at or last, run_id, _error(message), job, outputs)


def _event(kind: str, time: str, run_id: str, facets: dict[str, Any], job: dict[str, Any], outputs: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    job_type = _facet("2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet", processingType="BATCH", integration="ORBIT", jobType="RUN")
    return {
        "eventTime": time,
        "producer": PRODUCER,
        "schemaURL": SCHEMA,
        "eventType": kind,
        "run": {"runId": run_id, "facets": facets},
        "job": {**job, "facets": {"jobType": job_type}},
        "inputs": [],
        "outputs": outputs or [],
    }


def _datasets(paths: RunPaths, manifest: Manifest | None) -> list[dict[str, Any]]:
    """Artifacts as datasets, with their digest as the version."""
    found = []
    for artifact in manifest.artifacts if manifest else ():
        if not artifact.missing:
            facets = {"version": _facet("1-0-1/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet", datasetVersion=f"sha256:{artifact.sha256}")}
            statistics = _facet("1-0-2/OutputStatisticsOutputDatasetFacet.json#/$defs/OutputStatisticsOutputDatasetFacet", size=artifact.size, fileCount=1)
            name = f"{paths.folder.label}/{paths.run_id}/{artifact.path}"
            found.append({"namespace": "file", "name": name, "facets": facets, "outputFacets": {"outputStatistics": statistics}})
    return found


def _error(message: str | None) -> dict[str, Any]:
    if not message:
        return {}
    return {"errorMessage": _facet("1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet", message=message, programmingLanguage="unknown")}


def _facet(schema: str, **fields: Any) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": _FACETS + schema, **fields}


def _uuid(name: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, name))
