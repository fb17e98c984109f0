"""A failing disk never fails the program: what could not be written is counted, kept as long as there is hope, and said at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orbit import Run
from orbit.runs.event import StepSkipped
from orbit.runs.events import EventsParams, list_events
from orbit.runs.rundir import RunFolder
from orbit.runs.show import ShowParams, show_run
from orbit.runs.verify import VerifyParams, verify_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits and devices of POSIX")


def account(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["finished"] == 2, "the program itself came to its end"
    return told


def test_a_file_that_may_not_grow_loses_the_rest_and_says_how_much(folder: RunFolder, run_program: Any) -> None:
    done = run_program("starved.py", folder.workspace.root, "limit")
    told = account(done)
    events = list_events(folder, EventsParams(limit=0))
    assert told["lost"] > 150 and events.total + told["lost"] >= 206 and events.unreadable == []
    assert f"{told['lost']} audit events lost" in done.stderr
    state = folder.run("r").final_state.read_text()
    assert f"audit: degraded, {told['lost']} events lost" in state and ("File too large" in state or "No space left" in state)
    shown = show_run(folder, ShowParams())
    assert (shown.anchor, shown.events_lost) == (None, told["lost"])
    assert {problem.kind for problem in verify_run(folder, VerifyParams()).problems} >= {"truncated"}


def test_a_read_only_folder_records_nothing_and_the_program_finishes(tmp_path: Path, run_program: Any) -> None:
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.getuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o001)  # the user we become must get this far
    root = tmp_path / "sealed"
    (root / ".orbit").mkdir(parents=True)
    (root / ".orbit").chmod(0o555)
    root.chmod(0o555)
    done = run_program("starved.py", root, "readonly")
    told = account(done)
    assert (told["lost"], told["head"]) == (207 + 6, None), "all of the envelope and of the thin stream"
    assert "Permission denied" in told["error"] and "213 audit events lost" in done.stderr
    assert list((root / ".orbit").iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system with no room: 256 kB."""
    mounted = tmp_path / "disk"
    mounted.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(mounted)], capture_output=True, check=False).returncode:
        pytest.skip("may not mount")
    yield mounted
    subprocess.run(["umount", str(mounted)], check=True)


def test_a_full_disk_is_survived_and_told_in_the_final_state(small_disk: Path, run_program: Any) -> None:
    (small_disk / ".orbit").mkdir()
    run = Run.start(workflow_id="w", root=small_disk, run_id="before", fsync="never")
    run.finish()
    with (small_disk / "filler").open("wb") as filler:
        filler.write(b"\0" * (os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize - 40_000))
    told = account(run_program("starved.py", small_disk, "full"))
    assert told["lost"] > 50 and "No space left" in told["error"]
    assert f"degraded, {told['lost']} events lost" in (small_disk / ".orbit/run/r/final-state.txt").read_text()
    from orbit.config import Workspace

    there = RunFolder(Workspace(small_disk))
    assert list_events(there, EventsParams(run="r", limit=0)).unreadable == [], "no half lines"
    assert verify_run(there, VerifyParams(run="before")).ok


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_events_wait_in_memory_and_are_written_when_the_disk_recovers(folder: RunFolder, caplog: pytest.LogCaptureFixture) -> None:
    envelope = folder.run("r").envelope
    envelope.parent.mkdir(parents=True)
    envelope.symlink_to("/dev/full")
    with Run.start(workflow_id="w", root=folder.workspace.root, run_id="r") as run:
        for number in range(5):
            run.emit(StepSkipped(step_id="s", reason=str(number)))
        assert len(run.journal.envelope.unwritten) == 6 and run.journal.envelope.failures == 6
        run.journal.envelope.close()
        envelope.unlink()
    reasons = [event["reason"] for event in list_events(folder, EventsParams(type="step.skipped", limit=0)).events]
    assert reasons == ["0", "1", "2", "3", "4"]
    answer = verify_run(folder, VerifyParams())
    assert answer.ok and answer.anchored, answer.problems
    assert [event["failures"] for event in list_events(folder, EventsParams(type="telemetry.persist_failed")).events] == [6]
    assert "0 events lost, 6 writes failed (No space left on device)" in folder.run("r").final_state.read_text()
    assert "stay in memory" in caplog.text
