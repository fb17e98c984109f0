"""Killed writers, many writers: the readers work, nothing acknowledged is lost, no line is mixed, no number is missing."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from orbit import Run
from orbit.runs.event import StepSkipped
from orbit.runs.events import EventsParams, list_events
from orbit.runs.reader import records
from orbit.runs.rundir import RunFolder
from orbit.runs.verify import VerifyParams, verify_run


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("count", [300, pytest.param(1500, marks=pytest.mark.slow)])
def test_runs_killed_at_random_moments_leave_readable_files_and_the_next_run_is_unharmed(folder: RunFolder, run_program: Any, count: int) -> None:
    done = run_program("killed.py", folder.workspace.root, count, 20261118)
    assert done.returncode == 0, done.stderr
    tally = json.loads(done.stdout)
    assert tally["unexpected"] == []
    assert (tally["killed"], tally["lost"], tally["next"]) == (count, 0, True)
    assert tally["found"] >= tally["told"] > count, "the runs were busy when they died"


def test_eight_processes_append_whole_lines_without_holes(folder: RunFolder, run_program: Any) -> None:
    done = run_program("appending.py", folder.workspace.root, 150)
    assert done.returncode == 0, done.stderr
    found = [record for _, record in records(folder.run("many").envelope)]
    assert [record["seq"] for record in found] == list(range(1, len(found) + 1))
    assert len({record["event_id"] for record in found}) == len(found)
    assert Counter(record["event_type"] for record in found) == {
        "step.skipped": 2400,
        "step.started": 8,
        "step.finished": 8,
        "run.started": 1,
        "run.finished": 1,
    }
    answer = verify_run(folder, VerifyParams())
    assert (answer.ok, answer.artifacts, answer.events) == (True, 8, len(found)), answer.problems


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_torn_tail_is_closed_off_and_the_chain_goes_on_behind_it(folder: RunFolder, cut: int) -> None:
    path = _two_events(folder)
    path.write_bytes(path.read_bytes()[:-cut])
    with Run.resume("r", root=folder.workspace.root, fsync="never"):
        pass
    answer = list_events(folder, EventsParams(run="r", limit=0))
    torn = [] if cut == 1 else [(answer.unreadable[0].file, answer.unreadable[0].line)]
    assert [(line.file, line.line) for line in answer.unreadable] == torn
    assert [event["seq"] for event in answer.events] == list(range(1, len(answer.events) + 1))
    assert {problem.kind for problem in verify_run(folder, VerifyParams(run="r")).problems} == (set() if cut == 1 else {"unreadable"})


def _two_events(folder: RunFolder) -> Path:
    run = Run.start(workflow_id="w", root=folder.workspace.root, run_id="r", fsync="never")
    run.emit(StepSkipped(step_id="s", reason="one"))
    run.emit(StepSkipped(step_id="s", reason="two"))
    run.journal.close()
    return run.paths.envelope
