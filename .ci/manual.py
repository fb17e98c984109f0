"""Write docs/cli.md from the commands themselves; with --check, only say whether it is up to date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from orbit.cli.app import app

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
HEAD = """\
# The command line

Every command takes `--root DIR` (worktree to act on; default: the one that holds the current folder) and `--json` (answer with one JSON document).
The answer is on stdout, everything else on stderr. Exit codes: 0 done, 1 unexpected, 2 usage or invalid input, 3 not found, 4 ambiguous,
5 no graph yet, 6 refused, 7 integrity check failed.

Paths start at the root of the worktree; `./a.py` and `../b.py` at the current folder.

`orbit --install-completion` sets up completion for your shell.

This page is made by `python .ci/manual.py` from the commands themselves.
"""


def leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands below a group, in the order of their help."""
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = command.make_context(path[-1], [], resilient_parsing=True)
    for name in command.list_commands(context):
        yield from leaves(command.get_command(context, name), (*path, name))


def describe(path: tuple[str, ...], command: Any) -> str:
    """One section of the page."""
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and param.name not in ("root", "json", "help")]
    usage = " ".join([*path, *(f"{_name(param)}" for param in arguments)])
    lines = [f"## `{usage}`", "", *_text(command.help or ""), ""]
    for param in arguments:
        lines.append(f"- `{_name(param)}`: {getattr(param, 'help', None) or ''}")
    for param in options:
        choices = getattr(param.type, "choices", None)
        value = "|".join(str(getattr(choice, "value", choice)) for choice in choices) if choices else "" if param.is_flag else param.type.name.upper()
        shown = getattr(param, "show_default", None)
        default = f" Default: `{shown}`." if isinstance(shown, str) else ""
        lines.append(f"- `{', '.join(param.opts)}{' ' + value if value else ''}`: {param.help or ''}{default}")
    return "\n".join(lines).rstrip() + "\n"


def _name(param: Any) -> str:
    name = param.name.upper().replace("_", "-") + ("..." if param.nargs == -1 else "")
    return name if param.required else f"[{name}]"


def _text(text: str) -> list[str]:
    body, _, examples = text.partition("\b\nExamples:")
    lines = [body.strip()]
    if examples.strip():
        lines += ["", "```console", *(f"$ {line.strip()}" for line in examples.split("\n") if line.strip()), "```"]
    return lines


def manual() -> str:
    """The whole page."""
    return HEAD + "\n" + "\n".join(describe(path, command) for path, command in leaves(get_command(app), ("orbit",)))


def main() -> int:
    text = manual()
    if "--check" in sys.argv:
        is_same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        print("docs/cli.md is up to date" if is_same else "docs/cli.md is out of date; run python .ci/manual.py")
        return 0 if is_same else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
