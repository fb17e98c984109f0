"""Full names of commands: with the groups they hang on."""

from __future__ import annotations

from orbit.graph.index.texts import Texts
from orbit.graph.store.writer import SYMBOL_SHIFT, Writer


def name_commands(writer: Writer, texts: Texts) -> None:
    """Compose full names: a command hangs on the group whose handler its group expression names."""
    rows = list(writer.commands())
    by_handler: dict[tuple[int, str], int] = {}
    for row in rows:
        command, _, _, _, handler, _, _, _ = row
        if handler != -1:
            by_handler.setdefault((command >> SYMBOL_SHIFT, texts.text(handler)), command)
    by_id = {row[0]: row for row in rows}

    def full(command: int, depth: int) -> str:
        _, name, _, _, _, grouped, _, _ = by_id[command]
        around = by_handler.get((command >> SYMBOL_SHIFT, texts.text(grouped))) if grouped != -1 else None
        return f"{full(around, depth + 1)} {name}" if around is not None and around != command and depth < 8 else name

    for row in rows:
        name = full(row[0], 0)
        if name != row[2]:
            writer.name_command(row[0], name)
