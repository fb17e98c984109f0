"""`orbit graph`: carries the graph operations."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import typer

from orbit.cli.commands import add_command
from orbit.cli.output import ProgressBar
from orbit.cli.watch import watch
from orbit.operations import room

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False, help="What is in the code: sync it, search it, follow it.")

ORDER = (
    "sync", "search", "show", "refs", "callees", "impact", "trace", "overview", "implementors", "deps", "version", "db-path", "clean", "digest", "why",
    "pack", "history", "picture",
)  # fmt: skip


def _failed(answer: Any) -> int:
    return 7 if answer.failed else 0


add_command(app, "graph.sync", progress=ProgressBar)
for _name in ORDER[1:]:
    if f"graph.{_name}" in room("graph"):
        add_command(
            app,
            f"graph.{_name}",
            progress=ProgressBar if _name == "history" else nullcontext,
            exit_code=_failed if _name == "impact" else None,
            picture="graph.picture" if _name in ("impact", "overview", "picture") else None,
        )
app.command("watch")(watch)
