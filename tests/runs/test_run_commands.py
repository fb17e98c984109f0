"""The commands: same shape as the Python API, stable JSON, exit codes, audit rows for writers only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orbit import Run
from orbit.audit import CommandLog
from orbit.cli.commands import find
from orbit.config import Workspace
from orbit.operations import Session, perform, room
from orbit.present.runs import RENDERERS
from orbit.runs.rundir import RunFolder


@pytest.fixture
def recorded(folder: RunFolder) -> RunFolder:
    with Run.start(workflow_id="w", root=folder.workspace.root, run_id="r") as run, run.step("s") as step:
        step.artifact(role="notes", content="content\n")
        step.artifact(role="validation_stdout", content="printed\n")
    return folder


QUESTIONS = [
    ("run.list", {}, ["list"]), ("run.show", {"step": "s"}, ["show", "-s", "s"]), ("run.events", {"run": "r", "limit": 3}, ["events", "r", "--limit", "3"]),
    ("run.trace", {}, ["trace"]), ("run.logs", {}, ["logs"]), ("run.artifact", {"step": "s", "role": "notes"}, ["artifact", "s", "notes"]),
    ("run.verify", {}, ["verify"]), ("run.export", {"format": "otlp"}, ["export", "--format", "otlp"]), ("run.prune", {"keep": 5}, ["prune", "--keep", "5"]),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "given", "words"), QUESTIONS, ids=lambda value: value if isinstance(value, str) else "")
def test_the_command_line_answers_what_the_operation_answers(recorded: RunFolder, orbit: Any, operation: str, given: dict[str, Any], words: list[str]) -> None:
    done = orbit(recorded.workspace.root, "run", *words, "--json")
    assert done.returncode == 0, done.stderr
    answer = perform(Session(recorded.workspace.root), operation, given)
    assert json.loads(done.stdout) == json.loads(msgspec.json.encode(answer))
    assert msgspec.convert(json.loads(done.stdout), find(operation).answer) == answer
    text = orbit(recorded.workspace.root, "run", *words)
    assert text.returncode == 0 and text.stdout.strip() and "Struct" not in text.stdout


def test_every_operation_has_a_question_here_and_a_renderer() -> None:
    assert {operation for operation, _, _ in QUESTIONS} | {"run.exec"} == set(room("run"))
    assert {operation.answer for operation in room("run").values()} == set(RENDERERS)


PAGE = Path(__file__).parents[2] / "docs" / "runs.md"


@pytest.mark.skipif(not PAGE.exists(), reason="away from the source tree")
def test_every_command_and_option_is_documented() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, operation in room("run").items():
        assert f"`orbit {name.replace('.', ' ')} " in page
        fields = [field.name for field in msgspec.structs.fields(operation.params) if field.name not in ("run", "step", "command", "role")]
        row = next(line for line in page.splitlines() if line.startswith(f"| `orbit {name.replace('.', ' ')} "))
        assert [field for field in fields if f"--{field.replace('_', '-')}" not in row] == [], name


def test_writing_commands_leave_an_audit_row_and_reading_ones_do_not(recorded: RunFolder, orbit: Any) -> None:
    root = recorded.workspace.root
    for words in (["list"], ["show"], ["events"], ["trace"], ["logs"], ["verify"], ["artifact", "s", "notes"], ["export", "--format", "otlp"]):
        assert orbit(root, "run", *words).returncode == 0
    assert list(CommandLog(Workspace(root)).rows()) == []
    orbit(root, "run", "exec", "--", "false")
    orbit(root, "run", "prune")
    orbit(root, "run", "prune", "--keep", "9")
    rows = [(row.command, row.status, row.exit_code) for row in CommandLog(Workspace(root)).rows()]
    assert rows == [("run.exec", "success", 0), ("run.prune", "failure", 2), ("run.prune", "success", 0)]


def test_artifact_gives_the_bytes_of_a_run_step_and_role(recorded: RunFolder, orbit: Any) -> None:
    assert orbit(recorded.workspace.root, "run", "artifact", "r", "s", "notes").stdout == "content\n"
    cut = json.loads(orbit(recorded.workspace.root, "run", "artifact", "s", "notes", "--max-bytes", "3", "--json").stdout)
    assert (cut["content"], cut["size"], cut["truncated"]) == ("con", 8, True)
    assert orbit(recorded.workspace.root, "run", "artifact", "s").returncode == 2
    none = orbit(recorded.workspace.root, "run", "artifact", "s", "nothing", "--json")
    assert none.returncode == 3 and json.loads(none.stderr)["error"]["candidates"] == ["notes", "validation_stdout"]


def test_verify_leaves_with_seven_and_names_the_place(recorded: RunFolder, orbit: Any) -> None:
    path = recorded.run("r").envelope
    path.write_bytes(path.read_bytes().replace(b'"job_name":"w"', b'"job_name":"v"'))
    done = orbit(recorded.workspace.root, "run", "verify", "--json")
    assert done.returncode == 7
    answer = json.loads(done.stdout)
    assert not answer["ok"] and answer["problems"][0] == {
        "kind": "edited", "file": "r.jsonl", "line": 1, "message": "line 1 (event 1) is not what its hash was made of"
    }  # fmt: skip
    assert orbit(recorded.workspace.root, "run", "verify", "--anchor", "xyz").returncode == 2


def test_questions_about_nothing_are_told_apart(tmp_path: Path, folder: RunFolder, orbit: Any) -> None:
    assert json.loads(orbit(tmp_path, "run", "list", "--json").stdout) == {"runs": [], "total": 0, "truncated": False, "removed": 0}
    none = orbit(tmp_path, "run", "show")
    assert (none.returncode, none.stdout) == (3, "") and "orbit run exec" in none.stderr
    unknown = orbit(tmp_path, "run", "events", "nope", "--json")
    assert unknown.returncode == 3 and json.loads(unknown.stderr)["error"]["code"] == "not-found"
    assert orbit(tmp_path, "run", "events", "../../etc").returncode == 3
    for run_id in ("same-1", "same-2"):
        Run.start(workflow_id="w", root=tmp_path, run_id=run_id).finish()
    several = orbit(tmp_path, "run", "show", "same", "--json")
    assert several.returncode == 4 and json.loads(several.stderr)["error"]["candidates"] == ["same-1", "same-2"]
