"""A run whose work goes through threads, a process pool and asyncio tasks, three deep. Arguments: root, process start method."""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

from orbit import Run


def in_thread(run: Run, index: int) -> None:
    with run.worker("threads", index), run.activity(f"thread-{index}"), ThreadPoolExecutor(1) as inner:
        inner.submit(run.bind(leaf), f"thread-{index}-leaf").result()


def in_process(index: int) -> int:
    run = Run.current()
    assert run is not None
    with run.worker("processes", index), run.activity(f"process-{index}"), run.executor(ThreadPoolExecutor(2)) as inner:
        inner.submit(leaf, f"process-{index}-leaf").result()
    return index


def with_handle(run: Run) -> None:
    with run.activity("handed-over"):
        pass


def leaf(name: str) -> None:
    run = Run.current()
    assert run is not None
    with run.activity(name):
        pass


async def in_task(run: Run, index: int) -> None:
    with run.iteration("tasks", index):
        await asyncio.sleep(0)
        with run.activity(f"task-{index}"):
            await asyncio.gather(*(asyncio.to_thread(leaf, f"task-{index}-{part}") for part in range(2)))


async def tasks(run: Run) -> None:
    await asyncio.gather(*(in_task(run, index) for index in range(1, 4)))


def main(root: str, method: str) -> None:
    context = multiprocessing.get_context(method)
    with Run.start(workflow_id="nested", root=root, run_id="nested") as run:
        with run.step("threads"), run.fan_out("threads", 3) as tally, run.executor(ThreadPoolExecutor(3)) as threads:
            for future in [threads.submit(in_thread, run, index) for index in range(3)]:
                future.result()
                tally.collected += 1
        with run.step("processes"), run.fan_out("processes", 3) as tally, run.executor(ProcessPoolExecutor(2, mp_context=context)) as pool:
            tally.collected = len(list(pool.map(in_process, range(3))))
        with run.step("plain"), ProcessPoolExecutor(1, mp_context=context) as plain:
            plain.submit(with_handle, run.here()).result()
        with run.step("tasks"):
            asyncio.run(tasks(run))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
