"""`orbit graph` and `orbit init`: carry the graph operations; `orbit graph watch` syncs when files change, and says so, until it is stopped."""

from __future__ import annotations

import signal
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer

from orbit.cli.commands import JSON, ROOT, add_command
from orbit.cli.output import ProgressBar, StatusLine, fail
from orbit.errors import OrbitError
from orbit.operations import Session

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
ORDER = (
    "sync", "search", "show", "refs", "callees", "impact", "trace", "overview", "implementors", "deps", "version", "db-path", "clean", "digest", "why",
    "pack", "history", "picture",
)  # fmt: skip

for _name in ORDER:
    add_command(
        app,
        f"graph.{_name}",
        progress=ProgressBar if _name in ("sync", "history") else nullcontext,
        exit_code=(lambda answer: 7 if answer.failed else 0) if _name == "impact" else None,
        picture="graph.picture" if _name in ("impact", "overview", "picture") else None,
    )
app.command("watch")(watch)
add_command(init, "graph.init")
