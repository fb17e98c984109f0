"""Every query fits its grammar. Loading one checks the names of nodes and fields; here also what only the runtime's analysis sees."""

from __future__ import annotations

import pytest
import tree_sitter_python

from orbit.graph.index.extract import compile_query
from orbit.graph.languages import NAMES, language
from orbit_native.capture import Query

PARSED = [name for name in NAMES if language(name).reader is None]


@pytest.mark.parametrize("only_definitions", [False, True], ids=["all", "definitions"])
@pytest.mark.parametrize("name", PARSED)
def test_every_pattern_of_a_query_can_match_something(name: str, only_definitions: bool) -> None:
    assert compile_query(name, only_definitions, analyse=True).capture_names() == compile_query(name, only_definitions).capture_names()


def test_the_analysis_refuses_a_pattern_that_can_match_nothing() -> None:
    impossible = "(call function: (module)) @call"
    with pytest.raises(ValueError, match="bad structure"):
        Query(tree_sitter_python.language(), impossible, analyse=True)
    assert Query(tree_sitter_python.language(), impossible).capture_names() == ["call", "broken"]
