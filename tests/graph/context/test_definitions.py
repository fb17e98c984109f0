"""The short way to the definitions of a source gives those of the long way: names in the history are names in the graph."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from orbit.graph.index.extract import extract, kernel
from orbit.graph.index.history import WITHOUT_SYMBOLS
from orbit.graph.languages import find, language
from orbit_native.capture import Past
from orbit_native.names import Names

TESTS = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for path in [*TESTS.rglob("*"), *(TESTS.parent / "src").rglob("*.py")] if path.is_file() and "__pycache__" not in path.parts)

SAMPLES = [path for path in SOURCES if path.suffix == ".src" and language(path.parent.name).reader is None]


def named_language(path: Path) -> str | None:
    """By its name, or for the samples of a language (`corpus/<language>/<case>.src`) by its folder."""
    return find(path.name) or (path.parent.name if path.suffix == ".src" else None)


@pytest.mark.parametrize("lang", sorted({name for path in SOURCES if (name := named_language(path)) is not None}))
def test_definitions_alone_are_the_definitions_of_a_whole_extraction(lang: str) -> None:
    count = 0
    for path in SOURCES:
        if named_language(path) != lang:
            continue
        source = path.read_bytes()
        whole, short = (extract(language(lang), source, Names(), 30.0, only_definitions=only) for only in (False, True))
        rows = [[(d.local, d.kind, d.line, d.end_line) for d in facts.definitions] for facts in (whole, short)]
        assert rows[0] == rows[1], path
        count += len(rows[0])
    assert (count == 0) == (lang in WITHOUT_SYMBOLS) or count == 0


@pytest.mark.native
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_version_parsed_after_another_has_the_rows_of_one_parsed_alone(path: Path) -> None:
    """The samples have broken sources among them, and the edits break others."""
    query, _ = kernel(path.parent.name, only_definitions=True)
    draw, past = random.Random(path.stem), Past()
    lines = path.read_bytes().splitlines(keepends=True)
    for _ in range(40):
        source = b"".join(lines)
        alone, after = Names(), Names()
        status, rows = query.capture(source, alone)
        again, same = query.capture(source, after, past=past)
        assert (status, rows.tolist()) == (again, same.tolist()), source
        assert alone.texts() == after.texts()
        at = draw.randrange(len(lines) + 1)
        lines[at : at + draw.choice((0, 0, 1, 3))] = draw.sample(lines, draw.choice((0, 1, 1, 4)) if len(lines) > 4 else 0)
