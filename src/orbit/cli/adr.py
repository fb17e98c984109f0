"""`orbit adr`: carries the decision operations."""

from __future__ import annotations

import typer

from orbit.cli.commands import add_command
from orbit.errors import IntegrityError

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Why it is so: decisions kept in git.")
thread = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Review threads of a decision.")

for _name in ("add", "show", "list", "update", "supersede", "search"):
    add_command(app, f"adr.{_name}")
app.add_typer(thread, name="thread")
for _name in ("add", "list", "reply", "resolve"):
    add_command(thread, f"adr.thread.{_name}")
add_command(app, "adr.lint", exit_code=lambda answer: IntegrityError.exit_code if answer.errors else 0)
for _name in ("for", "renumber", "migrate", "import", "export"):
    add_command(app, f"adr.{_name}")
add_command(app, "adr.render", exit_code=lambda answer: IntegrityError.exit_code if answer.differs else 0)
add_command(app, "adr.reindex")
