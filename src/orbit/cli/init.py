"""`orbit init`: one command, no group."""

from __future__ import annotations

import typer

from orbit.cli.commands import add_command

app = typer.Typer(rich_markup_mode=None, add_completion=False)
add_command(app, "graph.init")
