"""Edits and questions for minutes on end: memory, file descriptors and threads of the server stay where they were.

`pytest -m slow tests/mcp/test_soak.py --soak-seconds 600` is the long run. Memory is what the process has for itself, without mapped files. It grows while
caches fill, so the first half of a run is left out; what grows after that is a leak. Allowed is the size of CPython's table of interned strings, 2 MB: it is
made anew now and then, by whichever thread is there, and the allocator keeps the old place for that thread.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from desk import Desk

ALLOWED_KB = 2_500


def _measures(process: int) -> tuple[int, int, int]:
    """Resident kB without mapped files, open files, threads."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines() if ":" in line)
    return int(status["RssAnon"].split()[0]), len(os.listdir(f"/proc/{process}/fd")), int(status["Threads"])


def _server_of(client: int) -> int:
    """The child of this process that serves."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if parent == client and b"mcp" in words:
                return int(entry.name)
    raise AssertionError("no server")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_and_files_stay_flat(repository: Path, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> None:
    seconds = float(request.config.getoption("--soak-seconds"))
    with Desk(repository) as client:
        client.call("graph_sync")
        server, started, rounds = _server_of(os.getpid()), time.monotonic(), 0
        samples: list[tuple[float, int, int, int]] = []
        while (passed := time.monotonic() - started) < seconds:
            for at in range(10):
                (repository / "pkg" / f"churn_{at}.py").write_text(
                    f"from pkg.jobs import load\n\n\ndef churn_{rounds}_{at}():\n    return load({rounds})\n", encoding="utf-8"
                )
            if rounds % 7 == 0:
                (repository / "pkg" / f"churn_{rounds % 10}.py").unlink()
            if rounds % 3 == 0:
                client.call("graph_sync")
            client.call_all([("graph_refs", {"selector": "pkg.jobs.load"}), ("graph_search", {"query": "churn"}), ("graph_overview", {})] * 2)
            client.call("graph_show", selector="nothing_of_this_name")
            samples.append((passed, *_measures(server)))
            rounds += 1
        third, fourth = ([sample for sample in samples if share <= sample[0] / seconds < share + 0.25] for share in (0.5, 0.75))
        report = {name: (max(row[at] for row in third), max(row[at] for row in fourth)) for at, name in ((1, "anonymous_kb"), (2, "files"), (3, "threads"))}
        record_property("soak", {"seconds": seconds, "rounds": rounds, "first_kb": samples[0][1], **report})
        sys.stderr.write(f"soak of {seconds:.0f} s, {rounds} rounds, from {samples[0][1]} kB, third and fourth quarter: {report}\n")
        assert report["files"][1] <= report["files"][0] + 2  # pipes of a git that was running just then
        assert report["threads"][1] <= report["threads"][0] + 1
        assert report["anonymous_kb"][1] <= report["anonymous_kb"][0] + ALLOWED_KB
