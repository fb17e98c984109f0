"""Runs: what was done, recorded so that a reviewer can follow and verify it."""

from __future__ import annotations

from orbit.runs.run import Run
from orbit.runs.step import Step

__all__ = ["Run", "Step"]
