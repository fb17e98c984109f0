"""The root command: lists the groups without importing them, and turns every error into a message and an exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from orbit.cli.output import fail
from orbit.errors import OrbitError, UsageError

# name -> (module that holds a typer `app`, one line of help)
GROUPS = {
    "init": ("orbit.cli.init", "Prepare a worktree: the .orbit folder and an .orbitignore."),
    "graph": ("orbit.cli.graph", "What is in the code: sync it, search it, follow it."),
    "adr": ("orbit.cli.adr", "Why it is so: decisions kept in git."),
    "run": ("orbit.cli.runs", "What was done: recorded runs and their evidence."),
    "mcp": ("orbit.cli.mcp", "Serve agents over MCP, or set a client up to do so."),
}


class LazyGroup(TyperGroup):
    """Commands whose modules are imported on use, so that `orbit graph refs` never pays for the rest."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*GROUPS, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in GROUPS:
            module, summary = GROUPS[cmd_name]
            command = get_command(import_module(module).app)
            command.name, command.short_help = cmd_name, summary
            return command
        return super().get_command(ctx, cmd_name)


HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(cls=LazyGroup, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=HELP)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"orbit {version('orbit-native')}")
        raise typer.Exit


@app.callback()
def root(version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version and leave.")) -> None:
    """Ask a repository what is in the code, why it is so, and what was done to it."""


def main() -> None:
    """Entry point of the `orbit` command."""
    try:
        app()
    except OrbitError as error:
        fail(error, as_json="--json" in sys.argv)
    except RecursionError as error:
        fail(UsageError(f"input is nested too deeply: {error}"), as_json="--json" in sys.argv)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
