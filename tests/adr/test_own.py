"""Orbit keeps its own decisions in its own store, and documents every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orbit.adr import AdrStore
from orbit.operations import room

TOP = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (TOP / "docs/adr.md").exists(), reason="away from the source tree")


def test_our_own_decisions_are_sound_and_cited():
    with AdrStore(TOP) as store:
        answer = store.lint()
        assert [(finding.file, finding.line, finding.message) for finding in answer.errors] == []
        assert answer.adrs > 0
        assert store.decisions_for("src/orbit/adr/journal.py").adrs[0].via == "anchor"


def test_every_command_and_every_finding_is_documented():
    text = (TOP / "docs/adr.md").read_text(encoding="utf-8")
    commands = {name.split(".")[1] for name in room("adr")}
    assert {name for name in commands if f"adr {name}" not in text} == set()
    source = (TOP / "src/orbit/adr/lint.py").read_text(encoding="utf-8")
    codes = {*re.findall(r'_at\(entry, "([a-z-]+)"', source), *re.findall(r'code="([a-z-]+)"', source), "missing-section"}
    assert len(codes) > 10
    assert {code for code in codes if f"`{code}`" not in text} == set()
