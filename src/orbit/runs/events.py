"""The envelope of a run in time order, each event with the step it belongs to. Reads the file in passes and holds only what it answers."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from orbit.runs.params import StepParams
from orbit.runs.reader import BUDGET, Ancestry, UnreadableLine, records, select_run, select_step, timestamp_of
from orbit.runs.rundir import RunFolder, RunPaths


class EventsParams(StepParams, kw_only=True):
    type: Annotated[str | None, Meta(description="Only this event type; a family ends in a dot, as in `step.`.")] = None
    limit: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="At most this many events, 0 for all; default: as many as fit in 20 kB.")] = None


class EventsAnswer(msgspec.Struct, kw_only=True):
    run_id: str
    events: list[dict[str, Any]]
    total: int
    truncated: bool
    unreadable: list[UnreadableLine]


def list_events(folder: RunFolder, params: EventsParams) -> EventsAnswer:
    paths = select_run(folder, params.run)
    step = select_step(paths, params.step) if params.step is not None else None
    unreadable: list[UnreadableLine] = []
    total = 0

    def matching() -> Iterator[tuple[str, int, dict[str, Any]]]:
        nonlocal total
        for number, event in stream_events(paths, step=step, event_type=params.type, unreadable=unreadable):
            total += 1
            yield timestamp_of(event), number, event

    # file order is nearly time order: events that waited in memory for a failing disk come late
    keyed = heapq.nsmallest(params.limit or 1000, matching(), key=_place) if params.limit != 0 else sorted(matching(), key=_place)
    events = [event for _, _, event in keyed]
    if params.limit is None:
        events = _within_budget(events)
    return EventsAnswer(run_id=paths.run_id, events=events, total=total, truncated=len(events) < total, unreadable=unreadable)


def stream_events(
    paths: RunPaths, *, step: str | None = None, event_type: str | None = None, unreadable: list[UnreadableLine] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and event, in file order, `step_id` added where it follows from an ancestor."""
    ancestry = Ancestry(paths.envelope)
    for number, record in records(paths.envelope, unreadable):
        if event_type is not None and not _is_of_type(str(record.get("event_type")), event_type):
            continue
        step_id = ancestry.step_of(record)
        if step is not None and step_id != step:
            continue
        if step_id is not None:
            record["step_id"] = step_id
        yield number, record


def _place(keyed: tuple[str, int, dict[str, Any]]) -> tuple[str, int]:
    return keyed[0], keyed[1]


def _is_of_type(event_type: str, wanted: str) -> bool:
    return event_type.startswith(wanted) if wanted.endswith(".") else event_type == wanted


def _within_budget(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    left = BUDGET - 500
    for index, event in enumerate(events):
        left -= len(msgspec.json.encode(event)) + 1
        if left < 0:
            return events[: max(index, 1)]
    return events
