"""Nested work stays in the tree, with run.started as its only root; what cannot is shown as orphan."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from orbit import Run
from orbit.runs.event import StepSkipped
from orbit.runs.events import MAX_DEPTH, TraceNode, TraceParams, trace_run
from orbit.runs.rundir import RunFolder
from orbit.runs.stream import parse
from orbit.runs.verify import VerifyParams, verify_run

_LABELS = ("activity_name", "worker_index", "state", "iteration", "step_id", "outcome", "collected", "worker_count", "job_name")


def outline(node: TraceNode) -> Any:
    """Type and telling fields of a node, and its children."""
    event = node.event
    label = " ".join([event["event_type"], *(f"{event[key]}" for key in _LABELS if key in event)])
    return (label, [outline(child) for child in node.children]) if node.children else label


def activity(name: str, *inside: Any) -> Any:
    return f"activity.started {name}", [f"activity.finished {name} success", *inside]


def expected() -> Any:
    def worker(step: str, index: int, name: str) -> Any:
        inner = activity(name, activity(f"{name}-leaf"))
        return f"worker.state {index} dispatched {step}", [inner, f"worker.state {index} finished {step}"]

    def fan(step: str, kind: str) -> Any:
        workers = [worker(step, index, f"{kind}-{index}") for index in range(3)]
        return f"fanout.dispatched {step} 3", [f"fanin.joined {step} 3", *workers]

    def step(name: str, *inside: Any) -> Any:
        return f"step.started {name}", [*inside, f"step.finished {name} success"]

    def turn(index: int) -> Any:
        leaves = [activity(f"task-{index}-{part}") for part in range(2)]
        return f"loop.iteration.start {index} tasks", [activity(f"task-{index}", *leaves), f"loop.iteration.end {index} tasks"]

    steps = [
        step("threads", fan("threads", "thread")),
        step("processes", fan("processes", "process")),
        step("plain", activity("handed-over")),
        step("tasks", *(turn(index) for index in range(1, 4))),
    ]
    return "run.started nested", [*steps, "run.finished success"]


def ordered(tree: Any) -> Any:
    return tree if isinstance(tree, str) else (tree[0], sorted((ordered(child) for child in tree[1]), key=str))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_threads_processes_and_tasks_make_one_tree(folder: RunFolder, run_program: Any, method: str) -> None:
    done = run_program("nested.py", folder.workspace.root, method)
    assert done.returncode == 0, done.stderr
    answer = trace_run(folder, TraceParams())
    assert answer.orphans == [] and answer.unreadable == [] and not answer.truncated
    assert [ordered(outline(root)) for root in answer.roots] == [ordered(expected())]
    assert verify_run(folder, VerifyParams()).problems == []


def envelope(folder: RunFolder, *events: dict[str, Any]) -> None:
    """A run whose envelope was written by somebody else."""
    with Run.start(workflow_id="w", root=folder.workspace.root, run_id="r"):
        pass
    lines = [msgspec.json.encode({"event_type": "x", "timestamp": f"2026-01-01T00:00:{number:02d}Z"} | event) for number, event in enumerate(events)]
    folder.run("r").envelope.write_bytes(b"\n".join(lines) + b"\n")


def shape(node: TraceNode) -> Any:
    return [node.event["event_id"], *map(shape, node.children)]


def test_orphans_and_cycles_are_shown_with_their_reason_and_subtrees(folder: RunFolder) -> None:
    envelope(
        folder,
        {"event_id": "root"}, {"event_id": "late", "parent_event_id": "after"}, {"event_id": "after", "parent_event_id": "root"},
        {"event_id": "lost", "parent_event_id": "nobody"}, {"event_id": "below", "parent_event_id": "lost"},
        {"event_id": "b", "parent_event_id": "a"}, {"event_id": "a", "parent_event_id": "b"}, {"event_id": "off", "parent_event_id": "a"},
        {"event_id": "self", "parent_event_id": "self"}, {"event_id": "after", "parent_event_id": "root"},
    )  # fmt: skip
    answer = trace_run(folder, TraceParams())
    assert [shape(node) for node in answer.roots] == [["root", ["after", ["late"]], ["after"]]]
    assert [(node.reason, shape(node)) for node in answer.orphans] == [
        ("missing_parent", ["lost", ["below"]]),
        ("cycle", ["b", ["a", ["off"]]]),
        ("cycle", ["self"]),
    ]
    assert answer.total == 10
    assert msgspec.json.encode(answer) == msgspec.json.encode(trace_run(folder, TraceParams()))


def test_a_tree_deeper_than_json_readers_bear_goes_on_among_the_orphans(folder: RunFolder) -> None:
    envelope(folder, {"event_id": "0"}, *({"event_id": str(n), "parent_event_id": str(n - 1), "timestamp": "2026"} for n in range(1, 2000)))
    answer = trace_run(folder, TraceParams())

    def count(node: TraceNode) -> int:
        return 1 + sum(map(count, node.children))

    assert sum(map(count, answer.roots + answer.orphans)) == answer.total == 2000
    assert {node.reason for node in answer.orphans} == {"depth"} and count(answer.roots[0]) == MAX_DEPTH + 1
    assert parse(msgspec.json.encode(answer)) is not None


def test_a_limited_trace_says_that_it_is_cut(folder: RunFolder) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root) as run:
        for number in range(20):
            run.emit(StepSkipped(step_id="s", reason=str(number)))
    answer = trace_run(folder, TraceParams(limit=5))
    assert (answer.total, answer.truncated, len(answer.roots[0].children)) == (22, True, 4)
