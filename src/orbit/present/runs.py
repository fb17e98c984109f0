"""Runs as text for people: tables, trees, and plain words about what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from orbit.present import Renderer, by_answer
from orbit.present.text import GREEN, RED, paint, table, tree
from orbit.runs import events, execute, export, prune, show, verify
from orbit.runs.event import own_fields
from orbit.runs.reader import UnreadableLine
from orbit.runs.rundir import Manifest

_GOOD = frozenset({"success", "completed"})


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    return table([head, *(["" if value is None else str(value) for value in row] for row in rows)]).rstrip("\n")


def _paint(text: str, state: str | None, colour: bool) -> str:
    return paint(text, GREEN if state in _GOOD else RED, colour and state != "running")


def _unreadable(lines: list[UnreadableLine]) -> list[str]:
    return [f"{line.file}:{line.line}: {line.reason}" for line in lines]


def _list(answer: show.ListAnswer, colour: bool) -> str:
    if not answer.runs:
        return "no runs" + (f"; {answer.removed} were pruned" if answer.removed else "; record one: orbit run exec -- COMMAND")
    rows = [(run.run_id, run.workflow_id, run.state, run.started_at, _duration(run.started_at, run.ended_at), run.steps) for run in answer.runs]
    lines = _table(("RUN", "WORKFLOW", "STATE", "STARTED", "TOOK", "STEPS"), rows).split("\n")
    text = "\n".join([lines[0], *(_paint(line, run.state, colour) for line, run in zip(lines[1:], answer.runs, strict=True))])
    return text + (f"\n{len(answer.runs)} of {answer.total} runs; --limit 0 for all" if answer.truncated else "")


def _duration(start: str | None, end: str | None) -> str:
    try:
        return _seconds((datetime.fromisoformat((end or "").rstrip("Z")) - datetime.fromisoformat((start or "").rstrip("Z"))).total_seconds())
    except ValueError:
        return ""  # not over yet, or no time


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _show(answer: show.ShowAnswer, colour: bool) -> str:
    lines = [f"{answer.run_id}  {_paint(answer.state, answer.state, colour)}", f"workflow  {answer.workflow_id} (version {answer.workflow_version})"]
    lines.append(f"time      {answer.started_at} to {answer.ended_at or 'now'}  {_duration(answer.started_at, answer.ended_at)}".rstrip())
    lines.append(f"folder    {answer.path}")
    lines += [f"error     {answer.error}"] if answer.error else []
    lines += [f"lost      {answer.events_lost} events could not be written"] if answer.events_lost else []
    lines.append(f"head      {answer.anchor.head} ({answer.anchor.events} events)" if answer.anchor else "head      none: not anchored")
    for step in answer.steps:
        lines += ["", *_step(step, colour)]
    return "\n".join(lines)


def _step(step: Manifest, colour: bool) -> list[str]:
    state = step.termination or "not ended"
    lines = [f"step {step.step_id}  {step.opcode or ''}  {_paint(state, state, colour)}  {_duration(step.started_at, step.ended_at)}".rstrip()]
    facts = {key: value for key, value in step.evidence_summary.items() if key not in ("roles", "outcome") and value is not None}
    lines += [f"  {key}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}" for key, value in facts.items()]
    rows = []
    for artifact in step.artifacts:
        flags = " ".join(flag for flag in ("required", "important") if getattr(artifact, flag))
        rows.append((f"  {artifact.role}", "MISSING" if artifact.missing else artifact.size, flags, artifact.path))
    return lines + ([_table(("  ROLE", "SIZE", "FLAGS", "PATH"), rows)] if rows else [])


def _summary(event: dict[str, Any]) -> str:
    """The body in a few words."""
    parts = []
    for key, value in own_fields(event).items():
        if key not in ("step_id", "ts", "streams") and value is not None and not key.endswith("sha256"):
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            limit = 15 if key.endswith("_ref") or key == "previous_head" else 60
            parts.append(f"{key}={text if len(text) <= limit else text[: limit - 3] + '...'}")
    return " ".join(parts).replace("\n", " ")


def _events(answer: events.EventsAnswer, colour: bool) -> str:
    rows = [(event.get("timestamp") or event.get("ts"), event.get("step_id"), event.get("event_type"), _summary(event)) for event in answer.events]
    lines = [_table(("TIME", "STEP", "EVENT", "SUMMARY"), rows)] if rows else ["no events"]
    lines += [f"{len(answer.events)} of {answer.total} events; --limit 0 for all"] if answer.truncated else []
    return "\n".join(lines + _unreadable(answer.unreadable))


def _trace(answer: events.TraceAnswer, colour: bool) -> str:
    lines: list[str] = []
    for root in answer.roots:
        lines += tree(root, _node)
    for orphan in answer.orphans:
        lines += tree(orphan, _node, f"orphan ({orphan.reason}) ")
    lines += [f"first {len(lines)} of {answer.total} events"] if answer.truncated else []
    return "\n".join(lines + _unreadable(answer.unreadable)) or "no events"


def _node(node: events.TraceNode) -> str:
    name = f"{node.event.get('event_type')} {node.event.get('step_id') or ''}".strip()
    return f"{name}  {_summary(node.event)}".rstrip()


def _logs(answer: events.LogsAnswer, colour: bool) -> str:
    return "\n".join(map(_log, answer.records)) or "no recorded output"


def _log(record: events.LogRecord) -> str:
    lines = [f"== {record.step_id}: exit {record.exit_code}" + (" (last part of the output; --max-bytes 0 for all)" if record.truncated else "")]
    for name in ("stdout", "stderr"):
        text = getattr(record, name)
        if text:
            lines += [f"-- {name}", text.rstrip("\n")]
    return "\n".join(lines + [f"-- {problem}" for problem in record.problems])


def _verify(answer: verify.VerifyAnswer, colour: bool) -> str:
    if answer.ok:
        counted = f"{answer.events} events, {answer.artifacts} artifacts, {answer.blobs} blobs unchanged"
        return f"{_paint('ok', 'success', colour)}  {answer.run_id}: {counted}\nhead  {answer.head}"
    rows = [(problem.kind, problem.file, problem.line, problem.message) for problem in answer.problems]
    return f"{_paint('not ok', 'failed', colour)}  {answer.run_id}: {len(rows)} problems\n" + _table(("KIND", "FILE", "LINE", "WHAT"), rows)


def _exec(answer: execute.ExecAnswer, colour: bool) -> str:
    how = "timed out" if answer.timed_out else f"ended by {answer.signal}" if answer.signal else f"exit {answer.exit_code}"
    text = f"{answer.run_id} {answer.step_id}: {_paint(how, answer.state, colour)} in {_seconds(answer.duration_ms / 1000)}\nhead {answer.head or 'none'}"
    return text + (f"\naudit degraded: {answer.events_lost} events lost, {answer.writes_failed} writes failed" if answer.writes_failed else "")


def _export(answer: export.ExportAnswer, colour: bool) -> str:
    if answer.output is not None:
        return f"{answer.count} lines written to {answer.output}"
    return "\n".join(msgspec.json.encode(document).decode() for document in answer.documents)


def _prune(answer: prune.PruneAnswer, colour: bool) -> str:
    verb = "would remove" if answer.dry_run else "removed"
    rows = [(run.run_id, run.workflow_id, run.state, run.started_at, run.bytes) for run in answer.removed]
    text = _table(("RUN", "WORKFLOW", "STATE", "STARTED", "BYTES"), rows) + "\n" if rows else ""
    return f"{text}{verb} {len(rows)} runs, {answer.bytes} bytes; {answer.kept} kept" + (f"; index in {answer.index}" if rows else "")


RENDERERS: dict[type, Renderer] = by_answer(_list, _show, _events, _trace, _logs, _verify, _exec, _export, _prune)
RENDERERS[show.ArtifactAnswer] = lambda answer, _: answer.content


def render(answer: Any, colour: bool) -> str:
    return RENDERERS[type(answer)](answer, colour)
