"""Small repositories in many languages that look real, and random edits of them. The names are few, so that they collide often."""

from __future__ import annotations

from synthetic.edits import Repository
from synthetic.lines import Sheets

__all__ = ["Repository", "Sheets"]
