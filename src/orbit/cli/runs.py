"""`orbit run`: all are carried as they are but `artifact`, which takes its run first and may leave it out."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import typer

from orbit.cli.commands import JSON, ROOT, add_command, documented
from orbit.cli.output import emit, fail, write
from orbit.errors import OrbitError, UsageError
from orbit.operations import Session, find, perform, room

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

NAMES = typer.Argument(..., metavar="[RUN] STEP ROLE", help="Run id (default: the run that started last), step, and role.", show_default=False)


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
        write(base64.b64decode(answer.content) if answer.encoding == "base64" else answer.content.encode())


for _name in room("run"):
    if _name == "run.artifact":
        app.command("artifact", cls=documented({"names": NAMES.help}), help=find(_name).summary, no_args_is_help=True)(artifact)
    else:
        add_command(app, _name)
