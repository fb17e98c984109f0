"""How a run ended: its steps from the stream of all its processes, and the text of final-state.txt."""

from __future__ import annotations

from itertools import chain

from orbit.runs.journal import Journal
from orbit.runs.manifest import Metadata
from orbit.runs.reader import records


def steps_of(journal: Journal) -> dict[str, str | None]:
    """Steps in the order they began, each with how it ended, or None; also those a failing disk has not taken yet."""
    steps: dict[str, str | None] = {}
    for record in chain((record for _, record in records(journal.paths.events)), journal.events.unwritten):
        step_id, event_type = str(record.get("step_id")), record.get("event_type")
        if event_type == "step_started":
            steps[step_id] = None
        elif event_type in ("step_completed", "step_failed"):
            steps[step_id] = str(record.get("termination"))
    return steps


def final_state(metadata: Metadata, steps: dict[str, str | None], journal: Journal) -> bytes:
    """The terminal state for people and simple scripts: `key: value` lines, the first one `state:`."""
    lines = [f"state: {metadata.termination}", f"run: {metadata.run_id}", f"workflow: {metadata.workflow_id}", f"ended: {metadata.ended_at}"]
    lines.append(f"steps: {len(steps)}")
    lines += [f"failed step: {step_id} ({termination})" for step_id, termination in steps.items() if termination not in (None, "completed")]
    lines += [f"unfinished step: {step_id}" for step_id, termination in steps.items() if termination is None]
    lines += [f"error: {metadata.error}"] if metadata.error else []
    degraded = f"degraded, {journal.unwritten} events lost, {journal.failures} writes failed ({journal.first_error})"
    lines.append(f"audit: {degraded if journal.failures else 'complete'}")
    return ("\n".join(lines) + "\n").encode()
