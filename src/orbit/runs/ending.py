"""How a run ended: its steps counted from the stream of all its processes, and the text of final-state.txt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orbit.runs.manifest import Metadata
from orbit.runs.reader import records


class StepTally:
    """Steps in the order they began, each with how it ended, or None."""

    def __init__(self) -> None:
        self.steps: dict[str, str | None] = {}

    def add(self, record: dict[str, Any]) -> None:
        step_id, event_type = record.get("step_id"), record.get("event_type")
        if event_type == "step_started":
            self.steps[str(step_id)] = None
        elif event_type in ("step_completed", "step_failed"):
            self.steps[str(step_id)] = str(record.get("termination"))

    @property
    def first(self) -> str | None:
        return next(iter(self.steps), None)

    @property
    def last(self) -> str | None:
        return next(reversed(self.steps), None)

    @property
    def failed(self) -> list[str]:
        return [step_id for step_id, termination in self.steps.items() if termination not in (None, "completed")]


def tally_steps(events: Path, unwritten: list[dict[str, Any]]) -> StepTally:
    tally = StepTally()
    for _, record in records(events):
        tally.add(record)
    for record in unwritten:
        tally.add(record)
    return tally


def final_state(metadata: Metadata, steps: StepTally, failures: int, first_error: str | None, lost: int | None = None) -> bytes:
    """The terminal state for people and simple scripts: `key: value` lines, the first one `state:`."""
    lost = metadata.events_lost if lost is None else lost
    lines = [f"state: {metadata.termination}", f"run: {metadata.run_id}", f"workflow: {metadata.workflow_id}", f"ended: {metadata.ended_at}"]
    lines.append(f"steps: {len(steps.steps)}")
    lines += [f"failed step: {step_id} ({steps.steps[step_id]})" for step_id in steps.failed]
    lines += [f"unfinished step: {step_id}" for step_id, termination in steps.steps.items() if termination is None]
    lines += [f"error: {metadata.error}"] if metadata.error else []
    lines.append(f"audit: degraded, {lost} events lost, {failures} writes failed ({first_error})" if failures else "audit: complete")
    return ("\n".join(lines) + "\n").encode()
