"""The root command: lists the groups without importing them, and turns every error into a message and an exit code."""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
import typer
from typer.core import TyperGroup
from typer.main import get_command

from orbit.cli.output import fail, speak_any_name
from orbit.config import spare_threads
from orbit.errors import OrbitError, UsageError

# name -> (module, the typer app in it, one line of help)
GROUPS = {
    "init": ("orbit.cli.graph", "init", "Prepare a worktree: the .orbit folder and an .orbitignore."),
    "graph": ("orbit.cli.graph", "app", "What is in the code: sync it, search it, follow it."),
    "adr": ("orbit.cli.adr", "app", "Why it is so: decisions kept in git."),
    "run": ("orbit.cli.runs", "app", "What was done: recorded runs and their evidence."),
    "mcp": ("orbit.cli.mcp", "app", "Serve agents over MCP, or set a client up to do so."),
}


class LazyGroup(TyperGroup):
    """Commands whose modules are imported on use, so that `orbit graph refs` never pays for the rest."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*GROUPS, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in GROUPS:
            module, held, command_help = GROUPS[cmd_name]
            if cmd_name != "run":  # what runs there keeps the environment it was given
                spare_threads()
            command = get_command(getattr(import_module(module), held))
            command.name, command.short_help = cmd_name, command_help
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
    speak_any_name()
    as_json = "--json" in sys.argv
    try:
        code = app(prog_name="orbit", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except click.ClickException as error:
        fail(_as_usage_error(error), as_json=as_json)
    except OrbitError as error:
        fail(error, as_json=as_json)
    except RecursionError as error:
        fail(UsageError(f"input is nested too deeply: {error}"), as_json=as_json)
    except (KeyboardInterrupt, click.Abort):
        raise SystemExit(130) from None
    raise SystemExit(code if isinstance(code, int) else 0)


def _as_usage_error(error: click.ClickException) -> UsageError:
    """What click says about a command line, in our own form, with the command that was meant."""
    context = getattr(error, "ctx", None)
    hint = f"see `{context.command_path} --help`" if context is not None else "see `orbit --help`"
    typed = next((argument for argument in sys.argv[1:] if repr(argument) in error.format_message()), None)
    near: list[str] = []
    if isinstance(error, click.NoSuchOption):
        near = list(error.possibilities or [])
        if context is not None and isinstance(context.command, click.Group) and error.option_name in ("--root", "--json"):
            hint = f"{error.option_name} goes behind the command: `{context.command_path} COMMAND {error.option_name}`"
    elif typed is not None and context is not None and isinstance(context.command, click.Group):
        near = get_close_matches(typed, context.command.list_commands(context))
    if "unexpected extra argument" in error.format_message():
        hint = f"words that belong together need quotes; {hint}"
    if near:
        hint = f"did you mean {' or '.join(near)}? {hint}"
    message = re.sub(r" \(env var: '[^']*'\)", "", error.format_message().partition(" Did you mean")[0])
    return UsageError(" ".join(message.split()).rstrip("."), hint=hint)
