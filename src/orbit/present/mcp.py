"""Answers about a client's configuration as text: the difference, then one line on what was done."""

from __future__ import annotations

from typing import Any

from orbit.present.text import DIM, GREEN, RED, paint, source


def render(answer: Any, colour: bool) -> str:
    shades = {"+": GREEN, "-": RED}
    shown = "".join(paint(line.rstrip("\n"), shades.get(line[:1], DIM), colour) + "\n" for line in source(answer.diff).splitlines(keepends=True))
    done = "written" if answer.written else "not written" if answer.changed else "nothing to change"
    return f"{shown}{answer.path}: {done}\n" + (f"note: {answer.note}\n" if answer.note else "")
