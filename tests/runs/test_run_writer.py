"""The run directory as the contract has it: documents, manifests, roles, evidence, refusals."""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orbit import Run
from orbit.errors import NotFoundError, RefusedError, UsageError
from orbit.runs import roles
from orbit.runs.event import StepSkipped
from orbit.runs.reader import read_manifest, records
from orbit.runs.rundir import RunFolder
from orbit.runs.show import ArtifactParams, ShowParams, read_artifact, show_run
from orbit.runs.verify import VerifyParams, verify_run


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    return found


def test_a_run_leaves_the_canonical_directory(folder: RunFolder) -> None:
    with Run.start(workflow_id="release", workflow_version="7", root=folder.workspace.root) as run, run.step("validate", opcode="RUN_VALIDATION") as step:
        step.artifact(role=roles.VALIDATION_REPORT, content={"passed": 12}, required=True, important=True)
        step.summarize("12 tests passed", passed=12)
    paths = folder.run(run.run_id)
    files = sorted(path.relative_to(paths.path).as_posix() for path in paths.path.rglob("*") if path.is_file())
    assert files == ["artifacts/validate/manifest.json", "artifacts/validate/validation_report.json", "events.ndjson", "final-state.txt", "metadata.json"]
    metadata = document(paths.metadata)
    must = {"run_id": run.run_id, "workflow_id": "release", "workflow_version": "7", "artifacts_root": ".orbit/run", "entry_step": "validate"}
    assert must.items() <= metadata.items() and metadata["started_at"] < metadata["ended_at"]
    assert {"last_step_id": "validate", "termination": "completed"}.items() <= metadata.items()
    assert set(metadata["schema_versions"]) == {"metadata", "manifest", "events", "envelope"}
    assert metadata["anchor"]["head"] == run.head
    content = (paths.artifacts / "validate" / "validation_report.json").read_bytes()
    manifest = document(paths.manifest("validate"))
    assert manifest["started_at"] < manifest["ended_at"]
    assert {key: manifest[key] for key in ("step_id", "opcode", "termination", "evidence_summary", "artifacts")} == {
        "step_id": "validate",
        "opcode": "RUN_VALIDATION",
        "termination": "completed",
        "evidence_summary": {
            "outcome": "success", "summary": "12 tests passed", "passed": 12, "roles": {"validation_report": "artifacts/validate/validation_report.json"}
        },
        "artifacts": [
            {
                "role": "validation_report", "path": "artifacts/validate/validation_report.json", "media_type": "application/json",
                "required": True, "important": True, "size": len(content), "sha256": hashlib.sha256(content).hexdigest(),
            }
        ],
    }  # fmt: skip
    thin = [record for _, record in records(paths.events)]
    assert [record["event_type"] for record in thin] == ["step_started", "artifact_recorded", "step_completed"]
    assert all({"timestamp", "run_id", "step_id", "event_type"} <= record.keys() for record in thin)
    assert paths.final_state.read_text().startswith("state: completed\n")


def test_the_reserved_roles_are_those_of_the_contract() -> None:
    expected = "runner_transcript runner_final_response runner_metadata policy_summary validation_report validation_stdout validation_stderr planner_decision"
    assert set(expected.split()) | {"gate_request", "gate_outcome", "workspace_diff", "workspace_status"} == roles.RESERVED


def test_a_required_artifact_that_never_came_is_recorded_as_missing(folder: RunFolder) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root) as run, run.step("plan", requires=(roles.PLANNER_DECISION,)) as step:
        step.artifact(role=roles.RUNNER_TRANSCRIPT, path=step.path / "late.md", required=True)
        step.artifact(role="notes", path=step.path / "never.md")
        (step.path / "late.md").write_text("came after it was announced")
    manifest = read_manifest(run.paths, "plan")
    assert manifest is not None
    assert {artifact.role: (artifact.missing, artifact.required) for artifact in manifest.artifacts} == {
        "runner_transcript": (False, True), "notes": (True, False), "planner_decision": (True, True)
    }  # fmt: skip
    assert manifest.evidence_summary["missing_required"] == ["planner_decision"]
    missing = [(record["role"], record["required"]) for _, record in records(run.paths.events) if record["event_type"] == "artifact_missing"]
    assert missing == [("notes", False), ("planner_decision", True)]
    with pytest.raises(NotFoundError, match="required and is missing") as caught:
        read_artifact(folder, ArtifactParams(step="plan", role="planner_decision"))
    assert caught.value.candidates == ["runner_transcript"]
    assert verify_run(folder, VerifyParams()).ok


def test_a_copied_file_is_cleaned_and_a_binary_one_kept(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("Authorization: Bearer abcdefghijkl\nfine\n")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0token=abcdef")
    with Run.start(workflow_id="w", root=folder.workspace.root) as run, run.step("s") as step:
        step.artifact(role="log", path=tmp_path / "log.txt")
        step.artifact(role="image", path=tmp_path / "image.png")
    log = read_artifact(folder, ArtifactParams(step="s", role="log"))
    assert (log.content, log.media_type) == ("Authorization: [REDACTED_AUTH]\nfine\n", "text/plain")
    assert (run.paths.artifacts / "s" / "image.png").read_bytes() == b"\x89PNG\0token=abcdef"
    assert read_artifact(folder, ArtifactParams(step="s", role="image")).encoding == "base64"


def test_how_steps_and_runs_end_is_told_apart(folder: RunFolder) -> None:
    with pytest.raises(ZeroDivisionError), Run.start(workflow_id="w", root=folder.workspace.root, run_id="r"):
        raise ZeroDivisionError("by zero")
    assert (show_run(folder, ShowParams(run="r")).termination, show_run(folder, ShowParams(run="r")).error) == ("error", "ZeroDivisionError: by zero")
    with Run.start(workflow_id="w", root=folder.workspace.root, run_id="s") as run:
        with run.step("good"):
            pass
        with run.step("bad") as step:
            step.fail("3 tests failed")
        with pytest.raises(KeyError), run.step("worse"):
            raise KeyError("k")
        with pytest.raises(KeyboardInterrupt), run.step("stopped"):
            raise KeyboardInterrupt
    shown = show_run(folder, ShowParams(run="s"))
    assert [(step.step_id, step.termination) for step in shown.steps] == [
        ("good", "completed"),
        ("bad", "failed"),
        ("worse", "error"),
        ("stopped", "cancelled"),
    ]
    assert (shown.state, shown.entry_step, shown.last_step_id) == ("failed", "good", "stopped")
    assert shown.steps[1].evidence_summary["error"] == "3 tests failed"


def test_what_cannot_be_recorded_truthfully_is_refused(folder: RunFolder) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root, run_id="r") as run, run.step("s") as step:
        step.artifact(role="notes", content="x")
        with pytest.raises(RefusedError, match="already has"):
            step.artifact(role="notes", content="y", name="other.txt")
        with pytest.raises(RefusedError, match="already recorded"), run.step("s"):
            pass
        with pytest.raises(UsageError, match="either a path or content"):
            step.artifact(role="empty")
        for name in ("../up", "a/b", "", ".hidden", "x" * 200, "end."):
            with pytest.raises(UsageError, match="not a step id"):
                run.step(name)
        with pytest.raises(TypeError, match="belongs to the process"):
            pickle.dumps(step)
    with pytest.raises(RefusedError, match="exists already"):
        Run.start(workflow_id="w", root=folder.workspace.root, run_id="r")


def test_the_artifacts_root_can_be_configured(folder: RunFolder) -> None:
    (folder.workspace.state / "config.toml").write_text('[runs]\nroot = "evidence/runs"\n')
    with Run.start(workflow_id="w", root=folder.workspace.root) as run:
        pass
    assert document(folder.workspace.root / "evidence/runs" / run.run_id / "metadata.json")["artifacts_root"] == "evidence/runs"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_that_leaves_the_block_does_not_end_the_run(folder: RunFolder) -> None:
    with Run.start(workflow_id="w", root=folder.workspace.root, run_id="r") as run:
        child = os.fork()
        if child == 0:
            run.emit(StepSkipped(step_id="s", reason="from the child"))
            run.__exit__(None, None, None)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert show_run(folder, ShowParams()).state == "running"
        with pytest.raises(RefusedError, match="only the process"):
            run.here().finish()
    found = [record for _, record in records(run.paths.envelope)]
    assert [record["event_type"] for record in found] == ["run.started", "step.skipped", "run.finished"]
    assert len({record["event_id"] for record in found}) == 3 and verify_run(folder, VerifyParams()).ok
