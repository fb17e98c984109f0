"""`orbit graph` and `orbit init`: carry the graph operations; `orbit graph watch` syncs when files change, and says so, until it is stopped."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import typer

from orbit.cli.commands import JSON, ROOT, add_command
from orbit.cli.output import StatusLine, fail
from orbit.errors import OrbitError
from orbit.operations import Session, room

DEBOUNCE = typer.Option(250, "--debounce-ms", min=10, help="How long files must be quiet before a sync.")


def watch(debounce_ms: int = DEBOUNCE, root: Path | None = ROOT, json: bool = JSON) -> None:
    """Sync whenever files change, until stopped with Ctrl-C; one line for each sync.

    \b
    Examples:

        orbit graph watch

        orbit graph watch --json --debounce-ms 1000
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        session = Session(root, debounce_ms)
        try:
            with StatusLine(as_json=json) as line:
                for outcome in session.graph.syncs():
                    line.show(outcome, _text(outcome))
        except KeyboardInterrupt:
            return
        finally:
            session.close()
    except OrbitError as error:
        fail(error, as_json=json)


def _text(outcome: Any) -> str:
    if isinstance(outcome, OrbitError):
        return f"error: {outcome.message}"
    note = f"; {outcome.message}" if outcome.message else ""
    changes = f"{outcome.files_changed} changed, {outcome.files_removed} removed"
    return f"synced in {outcome.duration_ms} ms: {changes}; {outcome.files_indexed} files, {outcome.symbols} symbols{note}"


app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False, help="What is in the code: sync it, search it, follow it.")

init = typer.Typer(rich_markup_mode=None, add_completion=False)

for _name in room("graph"):
    add_command(init if _name == "graph.init" else app, _name)
app.command("watch")(watch)
