"""Golden outlines: a source in, all its facts as text out, compared whole. `ORBIT_UPDATE=1 pytest` writes them anew; read the difference."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orbit.graph.index.extract import extract, outline
from orbit.graph.languages import language
from orbit_native.names import Names

CORPUS = Path(__file__).parent / "corpus"
CASES = sorted(CORPUS.glob("*/*.src"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_outline_of_source_matches_golden(case: Path) -> None:
    found = outline(extract(language(case.parent.name), case.read_bytes(), Names()))
    golden = case.with_suffix(".outline")
    if os.environ.get("ORBIT_UPDATE"):
        golden.write_text(found, encoding="utf-8", newline="\n")
    assert found == golden.read_text(encoding="utf-8")
