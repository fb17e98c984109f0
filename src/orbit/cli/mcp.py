"""`orbit mcp`: starts the server, and puts it into the configuration of a client. The server's room is loaded by name, on use."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import typer

from orbit.cli.commands import JSON, ROOT
from orbit.cli.output import emit, fail
from orbit.errors import OrbitError, RefusedError

app = typer.Typer(rich_markup_mode=None, add_completion=False, help="Serve agents over MCP (stdio), or set a client up to do so.")

TOOLS = typer.Option("graph", "--tools", help="graph, adr, run, all, or names of tools separated by commas.")
DEBOUNCE = typer.Option(250, "--debounce-ms", min=10, help="How long files must be quiet before a sync in the background.")
DRY_RUN = typer.Option(False, "--dry-run", help="Show the difference and write nothing.")


class Client(str, Enum):
    claude = "claude"
    codex = "codex"
    cursor = "cursor"
    vscode = "vscode"


CLIENT = typer.Option(..., "--client", help="Whose configuration.")


@app.callback(invoke_without_command=True)
def serve(context: typer.Context, tools: str = TOOLS, debounce_ms: int = DEBOUNCE, root: Path | None = ROOT) -> None:
    """Serve one client on stdin and stdout; ends when the client goes away."""
    if context.invoked_subcommand is not None:
        return
    if find_spec("mcp") is None:
        raise RefusedError("the MCP server needs the `mcp` extra, which is not installed", hint="pip install 'orbit-native[mcp,watch]'", code="no-mcp")
    import_module("orbit.mcp.server").serve(root, tools, debounce_ms)


def _add(verb: str, text: str) -> None:
    @app.command(verb, help=text)
    def edit(client: Client = CLIENT, dry_run: bool = DRY_RUN, root: Path | None = ROOT, json: bool = JSON) -> None:
        try:
            answer = getattr(import_module("orbit.mcp.install"), verb)(root, client.value, dry_run=dry_run)
        except OrbitError as error:
            fail(error, as_json=json)
        emit(answer, as_json=json)


_add("install", "Put one entry for Orbit into a client's configuration.")
_add("uninstall", "Take that entry out again; the file is then as it was.")
