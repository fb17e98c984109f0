"""Eight processes, each with two threads, append to one run at once. Arguments: root, events per thread."""

from __future__ import annotations

import multiprocessing
import sys
from threading import Thread

from orbit import Run
from orbit.runs.event import StepSkipped


def append(run: Run, writer: int, count: int) -> None:
    def work(thread: int) -> None:
        for number in range(count):
            run.emit(StepSkipped(step_id=f"w{writer}", reason=f"{thread}/{number} " + "y" * (number % 700)))

    threads = [Thread(target=work, args=(thread,)) for thread in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with run.step(f"step-{writer}") as step:
        step.artifact(role="validation_report", content=str(writer))


if __name__ == "__main__":
    with Run.start(workflow_id="many", root=sys.argv[1], run_id="many", fsync="never") as started:
        processes = [multiprocessing.get_context("spawn").Process(target=append, args=(started, writer, int(sys.argv[2]))) for writer in range(8)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
