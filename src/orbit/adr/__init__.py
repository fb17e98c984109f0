"""Decisions (ADRs) kept as files in git: written under rules, found fast, checked against the code they govern."""

from __future__ import annotations

from orbit.adr.governing import Code, Place
from orbit.adr.store import AdrStore

__all__ = ["AdrStore", "Code", "Place"]
