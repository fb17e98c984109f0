"""`orbit adr`: carries the decision operations."""

from __future__ import annotations

import typer

from orbit.cli.commands import add_command
from orbit.operations import room

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Why it is so: decisions kept in git.")
thread = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Review threads of a decision.")

app.add_typer(thread, name="thread")
for _name in room("adr"):
    add_command(thread if _name.startswith("adr.thread.") else app, _name)
