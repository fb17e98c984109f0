"""Forks busy runs and kills each at a random moment; then reads what is left. Arguments: root, how many, seed. Prints a JSON tally."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys
import time
from pathlib import Path

from orbit import Run
from orbit.config import Workspace
from orbit.runs.event import StepSkipped
from orbit.runs.events import EventsParams, LogsParams, TraceParams, list_events, read_logs, trace_run
from orbit.runs.rundir import RunFolder
from orbit.runs.show import ListParams, ShowParams, list_runs, show_run
from orbit.runs.verify import VerifyParams, verify_run


def busy(root: str, run_id: str, acknowledged: int) -> None:
    """Events, steps and artifacts without end; after each event its number goes down the pipe."""
    with Run.start(workflow_id="busy", root=root, run_id=run_id, fsync="never") as run:
        written = 1
        for turn in range(10**6):
            with run.step(f"step-{turn}") as step:
                written += 1
                for number in range(5):
                    run.emit(StepSkipped(step_id=step.step_id, reason="x" * (number * 200)))
                    written += 1
                    os.write(acknowledged, struct.pack("I", written))
                step.artifact(role="validation_report", content={"turn": turn})
            written += 1


def kill_one(root: str, run_id: str, delay: float) -> int:
    """How many events the run had been told were written when it died."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        busy(root, run_id, send)
    os.close(send)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    told = 0
    while part := os.read(receive, 4 * 16384):
        told = struct.unpack("I", part[-4:])[0]
    os.close(receive)
    return told


def main(root: str, count: int, seed: int) -> None:
    chance = random.Random(seed)
    folder = RunFolder(Workspace(Path(root)))
    tally = {"killed": 0, "told": 0, "found": 0, "lost": 0, "torn": 0, "unexpected": []}
    for number in range(count):
        run_id = f"run-{number}"
        told = kill_one(root, run_id, chance.random() ** 2 * 0.03)
        tally["killed"] += 1
        if not folder.run(run_id).path.is_dir():
            continue
        events = list_events(folder, EventsParams(run=run_id, limit=0))
        tally["told"] += told
        tally["found"] += events.total
        tally["lost"] += max(0, told - events.total)
        tally["torn"] += len(events.unreadable)
        kinds = {problem.kind for problem in verify_run(folder, VerifyParams(run=run_id)).problems}
        if not kinds <= {"truncated", "unreadable", "missing"} or "truncated" not in kinds:
            tally["unexpected"].append([run_id, sorted(kinds)])
        if number % 20 == 0 and not any(row.run_id == run_id for row in list_runs(folder, ListParams(limit=0)).runs):
            tally["unexpected"].append([run_id, "not listed"])
        if trace_run(folder, TraceParams(run=run_id)).orphans:
            tally["unexpected"].append([run_id, "orphans"])
        if folder.run(run_id).metadata.exists():
            state = show_run(folder, ShowParams(run=run_id)).state
            read_logs(folder, LogsParams(run=run_id))
            if state != "interrupted":
                tally["unexpected"].append([run_id, state])
            if number % 10 == 0:
                with Run.resume(run_id, root=root) as again, again.step("after"):
                    pass
                if list_events(folder, EventsParams(run=run_id, limit=0)).total < events.total + 4:
                    tally["unexpected"].append([run_id, "not resumed"])
    with Run.start(workflow_id="next", root=root, run_id="next") as run, run.step("whole"):
        pass
    tally["next"] = verify_run(folder, VerifyParams(run="next")).ok
    print(json.dumps(tally))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
