"""A run in the formats other tools read, as one JSON document per line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from orbit.errors import IntegrityError
from orbit.runs.blobs import temporary
from orbit.runs.export_openlineage import export_openlineage
from orbit.runs.export_otlp import export_otlp
from orbit.runs.params import RunParams
from orbit.runs.reader import read_metadata, select_run
from orbit.runs.rundir import RunFolder


class ExportParams(RunParams, kw_only=True):
    format: Annotated[Literal["otlp", "openlineage"], Meta(description="OTLP JSON traces, or OpenLineage run events.")]
    output: Annotated[str | None, Meta(description="Write the lines to this file instead of answering them.")] = None


class ExportAnswer(msgspec.Struct, kw_only=True):
    run_id: str
    format: str
    count: int  # documents, one per line
    output: str | None
    documents: list[dict[str, Any]]


def export_run(folder: RunFolder, params: ExportParams) -> ExportAnswer:
    paths = select_run(folder, params.run)
    metadata = read_metadata(paths)
    if metadata is None:
        raise IntegrityError(f"{paths.run_id}/metadata.json cannot be read", hint="without it there is no job to export")
    documents = (export_otlp if params.format == "otlp" else export_openlineage)(paths, metadata)
    answer = ExportAnswer(run_id=paths.run_id, format=params.format, count=0, output=params.output, documents=[])
    if params.output is None:
        answer.documents = list(documents)
        answer.count = len(answer.documents)
        return answer
    target = Path(params.output)
    with temporary(target) as beside, beside.open("wb") as file:
        for document in documents:
            file.write(msgspec.json.encode(document) + b"\n")
            answer.count += 1
    return answer
