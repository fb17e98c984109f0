"""A run in the formats other tools read, as one JSON document per line."""

from __future__ import annotations

import hashlib
import uuid
from calendar import timegm
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import strptime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from orbit.files import temporary
from orbit.runs.event import own_fields
from orbit.runs.reader import Ancestry, RunParams, known_metadata, read_manifest, records, select_run, state_of, steps_begun, timestamp_of
from orbit.runs.rundir import Manifest, Metadata, RunFolder, RunPaths

_INTERNAL, _CLIENT = 1, 3  # SpanKind
_OK, _ERROR = 1, 2  # Status.code
_OPENS = {  # event that opens a span: the field that names it
    "run.started": "job_name", "step.started": "step_id", "activity.started": "activity_name", "fanout.dispatched": "step_id",
    "loop.iteration.start": "iteration", "cli.invocation.started": "provider",
}  # fmt: skip
_CLOSES = frozenset({"step.finished", "activity.finished", "fanin.joined", "loop.iteration.end", "cli.invocation.finished", "worker.state"})
_BATCH = 1000  # spans to a line
Span = dict[str, Any]
PRODUCER = "urn:orbit-native:runs"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_ENDS = {"completed": "COMPLETE", "failed": "FAIL", "error": "FAIL", "timed_out": "FAIL", "cancelled": "ABORT"}
_NAMESPACE = uuid.UUID("6f6e0d2c-2f0b-5f57-9d6d-6f7262697400")  # of the ids derived here


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
    metadata = known_metadata(paths, "without it there is no job to export")
    documents = (_otlp if params.format == "otlp" else _openlineage)(paths, metadata)
    answer = ExportAnswer(run_id=paths.run_id, format=params.format, count=0, output=params.output, documents=[])
    if params.output is None:
        answer.documents = list(documents)
        answer.count = len(answer.documents)
        return answer
    with temporary(Path(params.output)) as beside, beside.open("wb") as file:
        for document in documents:
            file.write(msgspec.json.encode(document) + b"\n")
            answer.count += 1
    return answer


def _otlp(paths: RunPaths, metadata: Metadata) -> Iterator[dict[str, Any]]:
    """OTLP JSON traces: one span per run, step, activity, worker, iteration, command, model call and tool call; the rest are span events.

    One line of JSON per export request and one signal per file, as the file exporter of OpenTelemetry has it. Ids are derived from ours, so that
    exporting twice gives the same bytes.
    """
    resource = {"service.name": "orbit", "host.name": metadata.host, "orbit.run_id": metadata.run_id, "orbit.workflow_id": metadata.workflow_id}
    scope = {"name": "orbit.runs", "version": str(metadata.schema_versions.get("envelope", 1))}
    spans = _spans(paths)
    while batch := list(islice(spans, _BATCH)):
        yield {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [{"scope": scope, "spans": batch}]}]}


def _spans(paths: RunPaths) -> Iterator[Span]:
    """Spans as they close; those still open at the end of the stream close with its last moment and say so."""
    trace_id = hashlib.sha256(paths.run_id.encode()).hexdigest()[:32]
    ancestry = Ancestry(paths.envelope)
    open_spans: dict[str, Span] = {}
    holder: dict[str, str] = {}  # event id -> the span it lies in, for events that are no spans themselves
    last = "0"
    for _, record in records(paths.envelope):
        last = _nanos(record)
        parent = _parent_span(record, holder)
        event_type = str(record.get("event_type"))
        event_id = str(record.get("event_id"))
        if event_type in _OPENS or record.get("state") == "dispatched":
            open_spans[event_id] = _open(record, trace_id, parent, ancestry.step_of(record))
        elif event_type in _CLOSES and parent in open_spans:
            yield _mark(open_spans.pop(parent), record)
        elif event_type == "run.finished" and parent in open_spans:
            _mark(open_spans[parent], record)  # a resumed run finishes more than once
        elif parent in open_spans:
            open_spans[parent]["events"].append({"timeUnixNano": last, "name": event_type, "attributes": _attributes(own_fields(record))})
            holder[event_id] = parent
    yield from _loop_spans(paths, trace_id, holder)
    for span in open_spans.values():
        if span["endTimeUnixNano"] == "0":
            span["endTimeUnixNano"] = last
            span["attributes"] += _attributes({"orbit.unfinished": True})
        yield span


def _parent_span(record: dict[str, Any], holder: dict[str, str]) -> str | None:
    parent = record.get("parent_event_id")
    return holder.get(parent, parent) if isinstance(parent, str) else None


def _open(record: dict[str, Any], trace_id: str, parent: str | None, step_id: str | None) -> Span:
    event_type = str(record["event_type"])
    fields = own_fields(record) | ({"step_id": step_id} if step_id else {})
    attributes = {f"orbit.{key}": value for key, value in fields.items()}
    name = f"{event_type.rsplit('.', 1)[0]} {record.get(_OPENS.get(event_type, ''), '')}".strip()
    if event_type == "cli.invocation.started" and record.get("model"):
        name = f"invoke_agent {record.get('provider')}"
        attributes |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": record.get("provider"), "gen_ai.request.model": record["model"]}
    elif event_type == "cli.invocation.started":
        name = f"exec {record.get('provider')}"
        attributes |= {"process.executable.name": record.get("provider"), "process.command_args": record.get("argv_redacted")}
    elif event_type == "worker.state":
        name = f"worker {record.get('worker_index')}"
    return _span(trace_id, str(record["event_id"]), parent, name, _INTERNAL, _nanos(record), attributes)


def _span(trace_id: str, event_id: str, parent: str | None, name: str, kind: int, start: str, attributes: dict[str, Any]) -> Span:
    span: Span = {"traceId": trace_id, "spanId": _span_id(event_id), "name": name, "kind": kind, "startTimeUnixNano": start, "endTimeUnixNano": "0"}
    if parent is not None:
        span["parentSpanId"] = _span_id(parent)
    return span | {"attributes": _attributes(attributes), "events": [], "status": {}}


def _mark(span: Span, record: dict[str, Any]) -> Span:
    """The span with end time, status and closing fields."""
    span["endTimeUnixNano"] = _nanos(record)
    exit_code = record.get("exit_code")
    failed = record.get("outcome") in ("failed", "error") or record.get("state") == "failed" or exit_code not in (None, 0)
    span["status"] = {"code": _ERROR, "message": str(record.get("error_message") or "")} if failed else {"code": _OK}
    facts: dict[str, Any] = {"orbit.outcome": record.get("outcome"), "process.exit.code": exit_code, "orbit.timed_out": record.get("timed_out")}
    facts["error.type"] = str(record.get("outcome") or record.get("state") or f"exit_{exit_code}") if failed else None
    known = {attribute["key"] for attribute in span["attributes"]}
    span["attributes"] += [attribute for attribute in _attributes(facts) if attribute["key"] not in known]
    return span


def _loop_spans(paths: RunPaths, trace_id: str, holder: dict[str, str]) -> Iterator[Span]:
    """Model calls and tool calls of the low-level sink, by the names the GenAI conventions give them."""
    waiting: dict[tuple[Any, ...], dict[str, Any]] = {}
    for _, record in records(paths.loop):
        kind, session = record.get("event_kind"), record.get("session_id")
        if kind == "http_request":
            waiting["chat", session, record.get("iteration")] = record
        elif kind == "tool_call_requested":
            waiting["tool", session, record.get("tool_use_id")] = record
        elif kind == "http_response" and (asked := waiting.pop(("chat", session, record.get("iteration")), None)):
            usage = record.get("usage") or {}
            facts = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": asked.get("provider"), "gen_ai.request.model": asked.get("model")}
            facts |= {"gen_ai.usage.input_tokens": usage.get("input_tokens"), "gen_ai.usage.output_tokens": usage.get("output_tokens")}
            facts["gen_ai.response.finish_reasons"] = [record["stop_reason"]] if record.get("stop_reason") else None
            yield _pair(asked, record, trace_id, holder, f"chat {asked.get('model')}", _CLIENT, facts, (record.get("http_status") or 0) >= 400)
        elif kind == "tool_call_result" and (asked := waiting.pop(("tool", session, record.get("tool_use_id")), None)):
            name = record.get("tool_name")
            facts = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.id": record.get("tool_use_id")}
            yield _pair(asked, record, trace_id, holder, f"execute_tool {name}", _INTERNAL, facts, record.get("outcome") not in ("success", "ok"))


def _pair(
    asked: dict[str, Any], told: dict[str, Any], trace_id: str, holder: dict[str, str], name: str, kind: int, facts: dict[str, Any], failed: bool
) -> Span:
    facts |= {"gen_ai.conversation.id": asked.get("session_id"), "error.type": str(told.get("outcome") or told.get("http_status")) if failed else None}
    span = _span(trace_id, str(asked.get("hash")), _parent_span(asked, holder), name, kind, _nanos(asked), facts)
    span["endTimeUnixNano"] = _nanos(told)
    span["status"] = {"code": _ERROR} if failed else {"code": _OK}
    return span


def _span_id(event_id: str) -> str:
    return hashlib.sha256(event_id.encode()).hexdigest()[:16]


def _nanos(record: dict[str, Any]) -> str:
    """Nanoseconds since 1970, as a string, as OTLP JSON writes 64-bit numbers."""
    text = timestamp_of(record)
    try:
        whole = timegm(strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))
        fraction = text[20:].rstrip("Z") if text[19:20] == "." else ""
        return str(whole * 1_000_000_000 + int(fraction[:9].ljust(9, "0") or 0))
    except ValueError:
        return "0"


def _attributes(facts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in facts.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value if item is not None]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": _attributes(value)}}
    return {"stringValue": str(value)}


def _openlineage(paths: RunPaths, metadata: Metadata) -> Iterator[dict[str, Any]]:
    """START and one of COMPLETE, FAIL or ABORT, for the run and for each of its steps as a child.

    In time order of each job: the run starts, its steps, the run ends. A run that is still going has no end yet.
    """
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
        facets = {"parent": _facet("ParentRunFacet", "1-2-0", **parent)}
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
    job_type = _facet("JobTypeJobFacet", "2-0-4", processingType="BATCH", integration="ORBIT", jobType="RUN")
    event = {"eventTime": time, "producer": PRODUCER, "schemaURL": SCHEMA, "eventType": kind, "run": {"runId": run_id, "facets": facets}}
    return event | {"job": {**job, "facets": {"jobType": job_type}}, "inputs": [], "outputs": outputs or []}


def _datasets(paths: RunPaths, manifest: Manifest | None) -> list[dict[str, Any]]:
    """Artifacts as datasets, with their digest as the version."""
    found = []
    for artifact in manifest.artifacts if manifest else ():
        if not artifact.missing:
            facets = {"version": _facet("DatasetVersionDatasetFacet", "1-0-1", datasetVersion=f"sha256:{artifact.sha256}")}
            statistics = _facet("OutputStatisticsOutputDatasetFacet", "1-0-2", size=artifact.size, fileCount=1)
            name = f"{paths.folder.label}/{paths.run_id}/{artifact.path}"
            found.append({"namespace": "file", "name": name, "facets": facets, "outputFacets": {"outputStatistics": statistics}})
    return found


def _error(message: str | None) -> dict[str, Any]:
    if not message:
        return {}
    return {"errorMessage": _facet("ErrorMessageRunFacet", "1-0-1", message=message, programmingLanguage="unknown")}


def _facet(name: str, version: str, **fields: Any) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": f"https://openlineage.io/spec/facets/{version}/{name}.json#/$defs/{name}", **fields}


def _uuid(name: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, name))
