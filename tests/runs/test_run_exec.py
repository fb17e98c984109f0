"""`orbit run exec`: the command behaves as if alone, and everything about it is on record."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from orbit import Run
from orbit.audit import CommandLog
from orbit.config import Workspace
from orbit.runs.events import EventsParams, LogsParams, list_events, read_logs
from orbit.runs.execute import ExecParams, execute
from orbit.runs.rundir import RunFolder
from orbit.runs.show import ArtifactParams, ShowParams, read_artifact, show_run
from orbit.runs.verify import VerifyParams, verify_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands of POSIX")


def runs_of(root: Path) -> RunFolder:
    return RunFolder(Workspace(root))


def test_output_is_passed_through_and_kept_and_the_exit_code_returned(repository: Path, orbit: Any) -> None:
    done = orbit(repository, "run", "exec", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (done.returncode, done.stdout) == (3, "out\n")
    folder = runs_of(repository)
    shown = show_run(folder, ShowParams())
    assert done.stderr.splitlines()[0] == "err" and str(shown.anchor and shown.anchor.head) in done.stderr
    [record] = read_logs(folder, LogsParams()).records
    assert (record.step_id, record.stdout, record.stderr, record.exit_code) == ("sh", "out\n", "err\n", 3)
    [step] = shown.steps
    assert {artifact.role for artifact in step.artifacts} == {"validation_stdout", "validation_stderr", "workspace_diff", "workspace_status"}
    assert (shown.state, step.termination, step.evidence_summary["exit_code"], step.evidence_summary["workspace"]) == ("failed", "failed", 3, "unchanged")
    assert verify_run(folder, VerifyParams()).problems == []


def test_the_diff_shows_what_the_command_did_and_only_that(repository: Path) -> None:
    folder = runs_of(repository)
    (repository / "a.txt").write_text("one\nmine\n")
    (repository / "untracked.txt").write_text("mine\n")
    index = (repository / ".git" / "index").read_bytes()
    objects = sorted(path.name for path in (repository / ".git" / "objects").rglob("*"))
    execute(folder, ExecParams(command=["sh", "-c", "echo two >> a.txt; echo new > b.txt; rm untracked.txt"]), cwd=repository)
    diff = read_artifact(folder, ArtifactParams(step="sh", role="workspace_diff")).content
    changed = [line for line in diff.splitlines() if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))]
    assert changed == ["+two", "+new", "-mine"]
    status = read_artifact(folder, ArtifactParams(step="sh", role="workspace_status")).content
    assert status.splitlines()[2:] == [" M a.txt", "?? b.txt"]
    assert (repository / ".git" / "index").read_bytes() == index
    assert sorted(path.name for path in (repository / ".git" / "objects").rglob("*")) == objects


def test_the_diff_is_of_this_worktree_whatever_git_variables_a_hook_has_set(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere.index"))
    execute(runs_of(repository), ExecParams(command=["sh", "-c", "echo new > b.txt"]), cwd=repository)
    assert "+new" in read_artifact(runs_of(repository), ArtifactParams(step="sh", role="workspace_diff")).content.splitlines()
    assert not (tmp_path / "elsewhere.index").exists()


def test_without_git_the_step_says_that_the_workspace_is_not_recorded(folder: RunFolder) -> None:
    execute(folder, ExecParams(command=["true"]), cwd=folder.workspace.root)
    [step] = show_run(folder, ShowParams()).steps
    assert step.evidence_summary["workspace"] == "not recorded" and {artifact.role for artifact in step.artifacts} == {"validation_stdout", "validation_stderr"}


def test_a_time_limit_ends_the_command_and_all_it_started(folder: RunFolder) -> None:
    started = time.monotonic()
    answer = execute(folder, ExecParams(command=["sh", "-c", "echo before; sleep 50 & sleep 50"], timeout=0.3, no_diff=True), cwd=folder.workspace.root)
    assert time.monotonic() - started < 30
    assert (answer.exit_code, answer.timed_out, answer.state) == (124, True, "failed")
    finished = list_events(folder, EventsParams(type="cli.invocation.finished")).events[0]
    assert (finished["timed_out"], finished["exit_code"]) == (True, 124) and 250 < finished["duration_ms"] < 30_000
    assert read_logs(folder, LogsParams()).records[0].stdout == "before\n"
    assert show_run(folder, ShowParams()).steps[0].termination == "timed_out"


def test_a_background_process_that_keeps_the_pipe_does_not_keep_us(folder: RunFolder) -> None:
    started = time.monotonic()
    answer = execute(folder, ExecParams(command=["sh", "-c", "sleep 40 & echo done"], no_diff=True), cwd=folder.workspace.root)
    assert answer.exit_code == 0 and time.monotonic() - started < 30
    assert "cut" in show_run(folder, ShowParams()).steps[0].evidence_summary["output"]


@pytest.mark.parametrize(("command", "code"), [("no-such-command-anywhere", 127), ("/etc", 126)])
def test_a_command_that_cannot_start_is_recorded_too(folder: RunFolder, command: str, code: int) -> None:
    answer = execute(folder, ExecParams(command=[command], step="s"), cwd=folder.workspace.root)
    assert (answer.exit_code, answer.state) == (code, "failed") and command in str(answer.error)
    assert verify_run(folder, VerifyParams()).problems == []


def test_signals_are_passed_on_and_the_end_is_recorded(folder: RunFolder) -> None:
    program = "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    command = [sys.executable, "-c", "from orbit.cli import main; main()", "run", "exec", "--no-diff", "--", "sh", "-c", program]
    process = subprocess.Popen(command, cwd=folder.workspace.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (7, b"caught\n")
    assert read_logs(folder, LogsParams()).records[0].stdout == "ready\ncaught\n"
    answer = execute(folder, ExecParams(command=["sh", "-c", "kill -KILL $$"], no_diff=True), cwd=folder.workspace.root)
    assert (answer.exit_code, answer.signal) == (137, "SIGKILL")


def test_several_commands_become_steps_of_one_run(repository: Path, orbit: Any) -> None:
    first = json.loads(orbit(repository, "run", "exec", "--json", "--workflow", "ci", "--", "echo", "one").stdout)
    for words in (["echo", "two"], ["--step", "lint", "--", "sh", "-c", "exit 2"]):
        orbit(repository, "run", "exec", "--run", first["run_id"], *words)
    folder = runs_of(repository)
    shown = show_run(folder, ShowParams())
    assert [(step.step_id, step.termination) for step in shown.steps] == [("echo", "completed"), ("echo-2", "completed"), ("lint", "failed")]
    assert (shown.run_id, shown.workflow_id, shown.state, shown.last_step_id) == (first["run_id"], "ci", "failed", "lint")
    assert verify_run(folder, VerifyParams(anchor=first["head"])).problems == []
    refused = orbit(repository, "run", "exec", "--run", first["run_id"], "--step", "lint", "--", "true")
    assert refused.returncode == 6 and "already recorded" in refused.stderr
    assert orbit(repository, "run", "exec", "--step", "../x", "--", "true").returncode == 2
    assert show_run(folder, ShowParams()) == shown, "a refusal leaves no trace in the run, and no run"


def test_commands_recorded_into_one_run_at_the_same_time_each_get_a_step(folder: RunFolder) -> None:
    Run.start(workflow_id="w", root=folder.workspace.root, run_id="r").finish()
    asked = ExecParams(command=["sh", "-c", "echo $$"], run="r", no_diff=True)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: execute(folder, asked, cwd=folder.workspace.root), range(4)))
    assert {answer.step_id for answer in answers} == {"sh", "sh-2", "sh-3", "sh-4"}
    shown = show_run(folder, ShowParams())
    assert len(shown.steps) == 4 and len({record.stdout for record in read_logs(folder, LogsParams()).records}) == 4
    assert verify_run(folder, VerifyParams()).problems == []


def test_secrets_of_the_environment_reach_the_terminal_but_no_file(repository: Path, orbit: Any) -> None:
    done = orbit(
        repository, "run", "exec", "--", "sh", "-c", "echo $API_TOKEN; echo $API_TOKEN > leak.txt", "--password", "hunter22", env={"API_TOKEN": "grey-heron-9"}
    )
    assert done.stdout == "grey-heron-9\n"
    files = [path for path in (repository / ".orbit").rglob("*") if path.is_file()]
    assert len(files) > 8 and [path for path in files if b"grey-heron-9" in path.read_bytes() or b"hunter22" in path.read_bytes()] == []
    [row] = CommandLog(Workspace(repository)).rows()
    assert row.command == "run.exec" and row.arguments["command"][-2:] == ["--password", "[REDACTED_AUTH]"]


def test_the_graph_is_compared_before_and_after_when_there_is_one(folder: RunFolder) -> None:
    digests = iter(["aaa", "bbb"])
    execute(folder, ExecParams(command=["true"]), graph_digest=lambda: next(digests), cwd=folder.workspace.root)
    evidence = show_run(folder, ShowParams()).steps[0].evidence_summary
    assert (evidence["graph_digest_before"], evidence["graph_digest_after"]) == ("aaa", "bbb")


def test_large_output_on_both_streams_is_kept_whole(folder: RunFolder) -> None:
    program = "import sys\nfor n in range(20000): print('o' * 50); print('e' * 50, file=sys.stderr)"
    execute(folder, ExecParams(command=[sys.executable, "-c", program], step="big"), cwd=folder.workspace.root)
    for role, letter in (("validation_stdout", "o"), ("validation_stderr", "e")):
        answer = read_artifact(folder, ArtifactParams(step="big", role=role, max_bytes=0))
        assert answer.content == (letter * 50 + "\n") * 20000


def test_a_full_disk_does_not_change_the_command(folder: RunFolder, orbit: Any) -> None:
    paths = folder.audit
    paths.parent.mkdir(parents=True)
    paths.write_text("a file where a folder should be")
    (folder.workspace.root / ".orbit" / "run").write_text("likewise")
    done = orbit(folder.workspace.root, "run", "exec", "--", "sh", "-c", "echo fine; exit 5")
    assert (done.returncode, done.stdout) == (5, "fine\n")
    assert "audit degraded" in done.stderr and "lost" in done.stderr
    assert os.listdir(folder.workspace.root) == [".orbit"]
