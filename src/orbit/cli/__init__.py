"""The `orbit` command: a root that loads a group of commands only when one of them is asked for."""

from __future__ import annotations

from orbit.cli.app import main

__all__ = ["main"]
