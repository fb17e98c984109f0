"""Exports hold to the published formats: OTLP by the protobuf definitions, OpenLineage by the types of its own client."""

from __future__ import annotations

import json
import typing
from importlib import import_module
from pathlib import Path
from typing import Any

import attr
import pytest
from google.protobuf.json_format import Parse
from openlineage.client.generated import base
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData

from orbit import Run
from orbit.runs.event import CliInvocationFinished, CliInvocationStarted, StepSkipped
from orbit.runs.execute import ExecParams, execute
from orbit.runs.export import ExportParams, export_run
from orbit.runs.rundir import RunFolder
from orbit.runs.transcript import HttpRequest, HttpResponse, ToolCallRequested, ToolCallResult, Usage

FACETS = {
    "parent": "parent_run.ParentRunFacet", "errorMessage": "error_message_run.ErrorMessageRunFacet", "jobType": "job_type_job.JobTypeJobFacet",
    "version": "dataset_version_dataset.DatasetVersionDatasetFacet", "outputStatistics": "output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet",
}  # fmt: skip


@pytest.fixture
def run(folder: RunFolder) -> Run:
    with Run.start(workflow_id="w", root=folder.workspace.root, run_id="r") as run:
        with run.step("agent") as step, run.fan_out("agent", 1), run.worker("agent", 0), run.iteration("agent", 1):
            started = CliInvocationStarted(provider="prov", argv_redacted=["prov"], model="big-1")
            with run.scope(started, lambda *_: CliInvocationFinished(provider="prov", exit_code=0)):
                run.emit(StepSkipped(step_id="agent", reason="a point in time"))
                run.transcribe(HttpRequest(session_id="x", iteration=1, provider="prov", model="big-1", endpoint="/v1"))
                run.transcribe(HttpResponse(session_id="x", iteration=1, http_status=200, stop_reason="end", usage=Usage(input_tokens=11, output_tokens=7)))
                run.transcribe(ToolCallRequested(session_id="x", iteration=1, tool_name="grep", tool_use_id="t1"))
                run.transcribe(ToolCallResult(session_id="x", iteration=1, tool_name="grep", tool_use_id="t1", outcome="error"))
            step.artifact(role="notes", content="n")
        with run.step("bad") as step:
            step.fail("it broke")
    return run


def spans_of(folder: RunFolder, **asked: Any) -> list[Span]:
    found: list[Span] = []
    for document in export_run(folder, ExportParams(format="otlp", **asked)).documents:
        [resource] = Parse(json.dumps(document), TracesData(), ignore_unknown_fields=False).resource_spans
        found += resource.scope_spans[0].spans
    return found


def attributes(span: Span) -> dict[str, Any]:
    return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in span.attributes}


def test_otlp_is_valid_and_its_spans_make_the_tree_of_the_run(folder: RunFolder, run: Run) -> None:
    spans = spans_of(folder)
    names = {span.span_id: span.name for span in spans}
    above = {span.name: names.get(span.parent_span_id) for span in spans}
    assert above == {
        "run w": None, "step agent": "run w", "step bad": "run w", "fanout agent": "step agent", "worker 0": "fanout agent", "loop.iteration 1": "worker 0",
        "invoke_agent prov": "loop.iteration 1", "chat big-1": "invoke_agent prov", "execute_tool grep": "invoke_agent prov",
    }  # fmt: skip
    assert len({span.trace_id for span in spans}) == 1 and len(names) == len(spans)
    assert all(len(span.trace_id) == 24 or len(span.trace_id) == 16 for span in spans)
    assert all(0 < span.start_time_unix_nano <= span.end_time_unix_nano for span in spans)
    by_name = {span.name: span for span in spans}
    assert [(event.name, event.attributes[1].value.string_value) for event in by_name["invoke_agent prov"].events] == [("step.skipped", "a point in time")]
    assert by_name["step bad"].status.code == Status.STATUS_CODE_ERROR and by_name["step bad"].status.message == "it broke"
    assert by_name["run w"].status.code == Status.STATUS_CODE_ERROR and by_name["step agent"].status.code == Status.STATUS_CODE_OK


def test_genai_names_are_those_of_the_conventions(folder: RunFolder, run: Run) -> None:
    found = {span.name: attributes(span) for span in spans_of(folder)}
    chat = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "prov", "gen_ai.request.model": "big-1"}
    assert (chat | {"gen_ai.usage.input_tokens": 11, "gen_ai.usage.output_tokens": 7}).items() <= found["chat big-1"].items()
    assert {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "grep", "error.type": "error"}.items() <= found["execute_tool grep"].items()
    assert {"gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "big-1"}.items() <= found["invoke_agent prov"].items()


def test_ids_are_written_in_hex_as_otlp_json_asks_and_two_exports_are_equal(folder: RunFolder, run: Run) -> None:
    first, second = (export_run(folder, ExportParams(format="otlp")).documents for _ in range(2))
    assert first == second
    span = first[0]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert (len(bytes.fromhex(span["traceId"])), len(bytes.fromhex(span["spanId"]))) == (16, 8)


def test_a_run_cut_short_exports_its_open_spans_as_unfinished(folder: RunFolder) -> None:
    run = Run.start(workflow_id="w", root=folder.workspace.root)
    run.step("s").__enter__()
    assert [(span.name, attributes(span).get("orbit.unfinished")) for span in spans_of(folder)] == [("run w", True), ("step s", True)]
    assert [event["eventType"] for event in export_run(folder, ExportParams(format="openlineage")).documents] == ["START", "START"]


def load(kind: Any, given: Any) -> Any:
    """Build `kind` from JSON, strictly: an unknown key, a missing one or a wrong type fails."""
    if attr.has(kind):
        names = {**vars(typing), **vars(base), **vars(import_module(kind.__module__))}
        known = [field for field in attr.fields(kind) if field.init and field.name in given]
        fields = {field.alias: load(eval(field.type, names) if isinstance(field.type, str) else field.type, given[field.name]) for field in known}
        unknown = set(given) - {field.name for field in attr.fields(kind)}
        assert not unknown, f"{kind.__name__} has no {unknown}"
        return kind(**fields)
    arguments = [part for part in typing.get_args(kind) if part is not type(None)]
    if typing.get_origin(kind) is list:
        return [load(arguments[0], item) for item in given]
    if typing.get_origin(kind) is dict:
        return {name: load(facet_type(name), item) for name, item in given.items()}
    if len(arguments) == 1:
        return load(arguments[0], given)
    if kind is base.EventType:
        return base.EventType(given)
    assert isinstance(given, kind), f"{given!r} is no {kind}"
    return given


def facet_type(name: str) -> Any:
    module, _, kind = FACETS[name].partition(".")
    return getattr(import_module(f"openlineage.client.generated.{module}"), kind)


def lineage(folder: RunFolder) -> list[tuple[str, str]]:
    """Types and jobs of the events, each checked field by field."""
    found = []
    for document in export_run(folder, ExportParams(format="openlineage")).documents:
        plain = {key: value for key, value in json.loads(json.dumps(document)).items() if key not in ("producer", "schemaURL")}
        for where in (plain["run"], plain["job"], *plain["outputs"]):
            for facet, body in [*where["facets"].items(), *where.get("outputFacets", {}).items()]:
                assert body.pop("_producer") == document["producer"] and body.pop("_schemaURL").rpartition("/")[2] == FACETS[facet].partition(".")[2]
        event = load(base.RunEvent, plain)
        assert document["schemaURL"] == event.schemaURL
        found.append((document["eventType"], document["job"]["name"]))
    return found


def test_openlineage_has_one_start_and_one_end_for_the_run_and_each_step(folder: RunFolder, run: Run) -> None:
    assert lineage(folder) == [("START", "w"), ("START", "w.agent"), ("COMPLETE", "w.agent"), ("START", "w.bad"), ("FAIL", "w.bad"), ("FAIL", "w")]
    last = export_run(folder, ExportParams(format="openlineage")).documents[-1]
    assert [output["name"] for output in last["outputs"]] == [".orbit/run/r/artifacts/agent/notes.txt"]


def test_a_cancelled_run_is_aborted(folder: RunFolder) -> None:
    with pytest.raises(KeyboardInterrupt), Run.start(workflow_id="w", root=folder.workspace.root):
        raise KeyboardInterrupt
    assert lineage(folder) == [("START", "w"), ("ABORT", "w")]


def test_an_export_to_a_file_has_one_document_a_line(folder: RunFolder, run: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    answer = export_run(folder, ExportParams(format="openlineage", output=str(target)))
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert answer.count == len(lines) == 6 and answer.documents == []
    assert lines == export_run(folder, ExportParams(format="openlineage")).documents


def test_a_recorded_command_is_exported_as_a_process(folder: RunFolder) -> None:
    execute(folder, ExecParams(command=["sh", "-c", "exit 4"]), cwd=folder.workspace.root)
    found = {span.name: (span.status.code, attributes(span)) for span in spans_of(folder)}
    code, facts = found["exec sh"]
    assert code == Status.STATUS_CODE_ERROR and facts["process.exit.code"] == 4 and facts["error.type"] == "exit_4"
