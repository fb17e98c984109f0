"""What recording and reading events costs: microseconds an event, and seconds for a hundred thousand of them.

    python bench/run_events.py [EVENTS]

Budgets: below 50 microseconds an event without fsync; 100,000 events listed in under 1 s. Leaves with 1 if one is broken.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from orbit import Run
from orbit.config import Workspace
from orbit.runs.event import FsCallRequest
from orbit.runs.events import EventsParams, TraceParams, list_events, stream_events, trace_run
from orbit.runs.rundir import RunFolder
from orbit.runs.verify import VerifyParams, verify_run

EVENT_BUDGET_US = 50.0
LIST_BUDGET_S = 1.0
ROUND = 5000


def write(root: Path, run_id: str, count: int, fsync: Any) -> list[float]:
    """Microseconds an event, one figure for each round."""
    rounds = []
    with Run.start(workflow_id="bench", root=root, run_id=run_id, fsync=fsync) as run, run.step("only"), run.activity("work"):
        size = min(count, ROUND)
        for start in range(0, count, size):
            began = time.perf_counter()
            for number in range(start, start + size):
                run.emit(FsCallRequest(profile="default", op="read", path=f"src/package/module_{number}.py", allowed=True))
            rounds.append((time.perf_counter() - began) / size * 1e6)
    return rounds


def seconds(question: Callable[[], object], times: int = 3) -> float:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        question()
        took.append(time.perf_counter() - began)
    return min(took)


def main(count: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        runs = RunFolder(Workspace(root))
        plain = write(root, "plain", count, "never")
        synced = write(root, "synced", 200, "event")
        listed = seconds(lambda: list_events(runs, EventsParams(run="plain", limit=0)))
        first = seconds(lambda: list_events(runs, EventsParams(run="plain", limit=50)))
        streamed = seconds(lambda: sum(1 for _ in stream_events(runs.run("plain"))))
        traced = seconds(lambda: trace_run(runs, TraceParams(run="plain")), 1)
        verified = seconds(lambda: verify_run(runs, VerifyParams(run="plain")), 1)
        size = runs.run("plain").envelope.stat().st_size
    print(f"write           {median(plain):8.1f} us an event (median of {len(plain)} rounds, best {min(plain):.1f}, worst {max(plain):.1f})")
    print(f"write + fsync   {median(synced):8.1f} us an event")
    print(f"events, all     {listed:8.2f} s for {count} events ({size / 1e6:.0f} MB)")
    print(f"events, first   {first:8.2f} s for the first 50 of them with the exact total")
    print(f"stream          {streamed:8.2f} s")
    print(f"trace           {traced:8.2f} s")
    print(f"verify          {verified:8.2f} s")
    print(f"peak memory     {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MB")
    broken = [median(plain) > EVENT_BUDGET_US, listed > LIST_BUDGET_S * count / 100_000]
    return int(any(broken))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
