"""Nothing secret reaches a file: not through events, artifacts, output, arguments, nor in two halves."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit import Run
from orbit.runs.event import CliInvocationStarted, StepSkipped, ToolDenied
from orbit.runs.redact import RedactingWriter, Redactor
from orbit.runs.rundir import RunFolder
from orbit.runs.transcript import HttpRequest

CLEAN = Redactor(
    {"MY_TOKEN": "s3cr3t-value", "DB_PASSWORD": "s3cr3t-value-longer", "SESSION_ON": "true", "EDITOR": "vi-editor", "SIGNING_KEY": "k4y!"}, "/home/ann"
)

CASES = {
    "export X=s3cr3t-value-longer;": "export X=[REDACTED_ENV];",
    "say s3cr3t-value.": "say [REDACTED_ENV].",
    "k4y! true vi-editor": "[REDACTED_ENV] true vi-editor",
    "Authorization: Bearer abc.def-ghi\nnext": "Authorization: [REDACTED_AUTH]\nnext",
    "curl -H 'X-Api-Key: 12345'": "curl -H 'X-Api-Key: [REDACTED_AUTH]'",
    '{"authorization": "Basic QWxhZGRpbg==", "n": 1}': '{"authorization": "[REDACTED_AUTH]", "n": 1}',
    '{"access_token":"a\\"b"}': '{"access_token":"[REDACTED_AUTH]"}',
    "used bearer abcdefgh12345678 here": "used bearer [REDACTED_AUTH] here",
    "password=hunter2 user=ann": "password=[REDACTED_AUTH] user=ann",
    "GITHUB_TOKEN='a b c' x": "GITHUB_TOKEN=[REDACTED_AUTH] x",
    "tool --api-key abc123 -v": "tool --api-key [REDACTED_AUTH] -v",
    "https://ann:pass@example.org/x": "https://ann:[REDACTED_AUTH]@example.org/x",
    "key sk-abcdefghijklmnopqrstuv!": "key [REDACTED_API_KEY]!",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789": "[REDACTED_API_KEY]",
    "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef": "jwt [REDACTED_API_KEY]",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter": "[REDACTED_API_KEY]\nafter",
    "/home/ann/project and /home/anna and /home/ann": "~/project and /home/anna and ~",
    "the monkey took a token gesture at basic speed": "the monkey took a token gesture at basic speed",
    "tokens=5 keyboard=us 12:30 a://b": "tokens=5 keyboard=us 12:30 a://b",
}


@pytest.mark.parametrize("text", CASES, ids=range(len(CASES)))
def test_secrets_go_and_the_rest_stays(text: str) -> None:
    assert CLEAN.text(text) == CASES[text]
    assert CLEAN.bytes(b"\xff" + text.encode()) == b"\xff" + CASES[text].encode()


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
def test_a_stream_is_cleaned_the_same_however_it_is_cut(size: int) -> None:
    whole = "\n".join(CASES).encode() + b"\nno end s3cr3t-value"
    target = io.BytesIO()
    writer = RedactingWriter(target, CLEAN)
    for start in range(0, len(whole), size):
        writer.write(whole[start : start + size])
    writer.finish()
    assert target.getvalue() == CLEAN.bytes(whole)


@given(st.text(), st.text())
def test_a_secret_in_any_text_is_gone(before: str, after: str) -> None:
    assert "s3cr3t-value" not in CLEAN.text(f"{before}s3cr3t-value{after}")


def test_arguments_after_a_secret_flag_are_hidden() -> None:
    assert CLEAN.argv(["login", "--password", "hunter2", "--token=abc", "-v", "--api-key", "--next"]) == [
        "login", "--password", "[REDACTED_AUTH]", "--token=[REDACTED_AUTH]", "-v", "--api-key", "--next"
    ]  # fmt: skip


def test_fields_with_a_secret_name_are_hidden_whatever_they_hold() -> None:
    assert CLEAN.value({"token": "plain", "n": {"client_secret": "x", "input_tokens": 7}, "l": [1, "s3cr3t-value"]}) == {
        "token": "[REDACTED_AUTH]", "n": {"client_secret": "[REDACTED_AUTH]", "input_tokens": 7}, "l": [1, "[REDACTED_ENV]"]
    }  # fmt: skip


def test_no_file_of_a_run_holds_a_secret(folder: RunFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "tiger-lily-42")
    monkeypatch.setenv("HOME", str(folder.workspace.root))
    (tmp_path / "report.txt").write_text("tiger-lily-42 in a file\n")
    with Run.start(workflow_id="w", root=folder.workspace.root) as run, run.step("s") as step:
        run.emit(StepSkipped(step_id="s", reason="saw tiger-lily-42"))
        run.emit(ToolDenied(tool_name="t", reason='{"x-api-key": "tiger-lily-42"}'))
        run.emit(CliInvocationStarted(provider="p", argv_redacted=["p", "tiger-lily-42", "undecodable \udc80"]))
        run.transcribe(HttpRequest(session_id="tiger-lily-42", iteration=1, provider="p", model="m", endpoint="/"))
        run.journal.put_blob(b"tiger-lily-42")
        step.artifact(role="one", content="tiger-lily-42")
        step.artifact(role="two", content={"deep": ["tiger-lily-42"]})
        step.artifact(role="three", path=tmp_path / "report.txt")
        step.record("gate_requested", reason="tiger-lily-42")
        step.summarize("tiger-lily-42", fact="tiger-lily-42")
        step.fail("tiger-lily-42 leaked")
    files = [path for path in folder.workspace.state.rglob("*") if path.is_file()]
    assert len(files) > 8
    assert [path.name for path in files if b"tiger-lily-42" in path.read_bytes()] == []
    assert b'"workspace_path":"~"' in run.paths.envelope.read_bytes()
