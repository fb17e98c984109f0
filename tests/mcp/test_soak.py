"""Edits and questions for minutes on end: memory, file descriptors and threads of the server stay where they were.

`pytest -m slow tests/mcp/test_soak.py --soak-seconds 600` is the long run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from desk import Desk

WARM_UP_SHARE = 0.2


def _measures(process: int) -> tuple[int, int, int]:
    """Resident kB, open files, threads."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines() if ":" in line)
    return int(status["VmRSS"].split()[0]), len(os.listdir(f"/proc/{process}/fd")), int(status["Threads"])


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
            time.sleep(0.05)
        warm = [sample for sample in samples if sample[0] >= seconds * WARM_UP_SHARE]
        third = len(warm) // 3
        early, late = warm[:third], warm[-third:]
        report = {name: (max(row[at] for row in early), max(row[at] for row in late)) for at, name in ((1, "rss_kb"), (2, "files"), (3, "threads"))}
        record_property("soak", {"seconds": seconds, "rounds": rounds, **report})
        sys.stderr.write(f"soak of {seconds:.0f} s, {rounds} rounds, early and late: {report}\n")
        assert report["files"][1] <= report["files"][0] + 2
        assert report["threads"][1] <= report["threads"][0] + 1
        assert report["rss_kb"][1] <= report["rss_kb"][0] * 1.1
