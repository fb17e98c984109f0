"""Answers about a client's configuration as text: the difference, then one line on what was done."""

from __future__ import annotations

from typing import Any

from orbit.present.text import DIM, GREEN, RED, paint, source


def _install(answer: Any, colour: bool) -> str:
    lines = source(answer.diff).splitlines(keepends=True)
    shown = "".join(paint(line.rstrip("\n"), _shade(line), colour) + "\n" for line in lines)
    done = "written" if answer.written else "not written" if answer.changed else "nothing to change"
    return f"{shown}{answer.path}: {done}\n" + (f"note: {answer.note}\n" if answer.note else "")


def _shade(line: str) -> int:
    return GREEN if line.startswith("+") else RED if line.startswith("-") else DIM


class _ByName(dict[Any, Any]):
    def __missing__(self, answer: type) -> Any:
        return {"InstallAnswer": _install}[answer.__name__]


RENDERERS = _ByName()
