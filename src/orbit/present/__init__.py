"""Answers as text for people. The room an answer's type comes from decides which module renders it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, get_type_hints

Renderer = Callable[[Any, bool], str]


def render(answer: Any, *, colour: bool) -> str:
    """Text of an answer, ending in a newline."""
    _, _, room = type(answer).__module__.partition("orbit.")
    text: str = import_module(f"orbit.present.{room.partition('.')[0]}").render(answer, colour)
    return text if text.endswith("\n") else text + "\n"


def by_answer(*renderers: Renderer) -> dict[type, Renderer]:
    """Each under the type that its argument `answer` is annotated with."""
    return {get_type_hints(renderer)["answer"]: renderer for renderer in renderers}
