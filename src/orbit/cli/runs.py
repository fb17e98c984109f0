"""`orbit run`: readers, verify, export and prune are carried as they are; `exec` and `artifact` need words of their own."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import typer

from orbit.cli.commands import JSON, ROOT, add_command, documented
from orbit.cli.output import emit, emit_bytes, fail, remark, terminal
from orbit.errors import OrbitError, UsageError
from orbit.operations import Session, find, perform

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

NAMES = typer.Argument(..., metavar="[RUN] STEP ROLE", help="Run id (default: the run that started last), step, and role.", show_default=False)
COMMAND = typer.Argument(..., metavar="-- COMMAND [WORD]...", help="The command and its words.", show_default=False)

add_command(app, "run.list")
add_command(app, "run.show")
add_command(app, "run.events")
add_command(app, "run.trace")
add_command(app, "run.logs")


@app.command("artifact", cls=documented({"names": NAMES.help}), help=find("run.artifact").summary, no_args_is_help=True)
def artifact(
    names: list[str] = NAMES,
    max_bytes: int | None = typer.Option(None, min=0, help="At most this many bytes, 0 for all; default: all, and 16000 with --json.", show_default=False),
    root: Path | None = ROOT,
    json: bool = JSON,
) -> None:
    try:
        if len(names) not in (2, 3):
            raise UsageError("give STEP and ROLE, or RUN, STEP and ROLE", hint="orbit run show lists the steps and their roles")
        asked: dict[str, Any] = dict(zip(("role", "step", "run"), reversed(names), strict=False))
        if max_bytes is not None or not json:
            asked["max_bytes"] = max_bytes or 0
        answer = perform(Session(root), "run.artifact", asked)
    except OrbitError as error:
        fail(error, as_json=json)
    if json:
        emit(answer, as_json=True)
    else:
        emit_bytes(base64.b64decode(answer.content) if answer.encoding == "base64" else answer.content.encode())


add_command(app, "run.verify", exit_code=lambda answer: 0 if answer.ok else 7)


@app.command(
    "exec",
    cls=documented({"command": COMMAND.help}),
    help=find("run.exec").summary,
    no_args_is_help=True,
    context_settings={"allow_interspersed_args": False},
)
def execute(
    command: list[str] = COMMAND,
    workflow: str | None = typer.Option(None, help="Workflow id of a new run; default: the command's name."),
    step: str | None = typer.Option(None, "--step", "-s", help="Step id; default: the command's name, numbered if taken."),
    run: str | None = typer.Option(None, help="Add the step to this run instead of starting one."),
    opcode: str | None = typer.Option(None, help="What kind of step this is; default: RUN_COMMAND."),
    timeout: float | None = typer.Option(None, help="End the command, and all it started, after this many seconds; exit code 124."),
    no_diff: bool = typer.Option(False, "--no-diff", help="Do not record what the command changed in the worktree."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Do not print the line about the recorded run."),
    root: Path | None = ROOT,
    json: bool = JSON,
) -> None:
    given = {"command": command, "workflow": workflow, "step": step, "run": run, "opcode": opcode, "timeout": timeout, "no_diff": no_diff}
    try:
        session = Session(root)
        session.terminal = terminal(as_json=json)
        answer = perform(session, "run.exec", {key: value for key, value in given.items() if value is not None})
    except OrbitError as error:
        fail(error, as_json=json)
    if json:
        emit(answer, as_json=True)
    elif not quiet:
        remark(answer)
    raise SystemExit(answer.exit_code)


add_command(app, "run.export")
add_command(app, "run.prune")
