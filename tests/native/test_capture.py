"""The parser and the query, fed with anything: no bytes break them, and spans stay inside the source."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import tree_sitter_c
import tree_sitter_python
import tree_sitter_typescript
from hypothesis import given, settings
from hypothesis import strategies as st

from orbit_native.capture import COLUMNS, HAS_ERRORS, PARSE_TIMED_OUT, Query
from orbit_native.names import Names

PYTHON = Query(tree_sitter_python.language(), "(function_definition name: (identifier) @name) @define.function (call function: (_) @receiver) @call")
C = Query(
    tree_sitter_c.language(),
    "(function_definition declarator: (_) @name) @define.function (call_expression function: (_) @receiver arguments: (_) @args) @call",
)
TYPESCRIPT = Query(tree_sitter_typescript.language_typescript(), "(class_declaration name: (_) @name) @define.class (identifier) @ref.use")
WORDS = [
    "def f(x):\n", "  return g(x)\n",
    "int main() {", "}", "class A {", "(", ")", "\x00", "é", '"', "'''", "/*", "*/", "#", "\\\n", "`${", "a.b(c)", ";", "\r\n",
    "\ufeff",
]  # fmt: skip
COLUMN = {name: at for at, name in enumerate(COLUMNS)}


def check(query: Query, source: bytes) -> None:
    names = Names()
    status, rows = query.capture(source, names)
    assert rows.shape[1] == len(COLUMNS)
    heads = len(query.capture_names())
    for row in rows.tolist():
        assert 0 <= row[COLUMN["head"]] < heads
        assert 0 <= row[COLUMN["start"]] <= row[COLUMN["end"]] <= len(source) + 1  # a missing token may stand after a newline that was added
        assert 0 <= row[COLUMN["line"]] <= row[COLUMN["end_line"]]
        assert row[COLUMN["name"]] < len(names)
    again = Names()
    assert query.capture(source, again)[1].tolist() == rows.tolist()
    assert again.texts() == names.texts()
    assert query.parse(source) & HAS_ERRORS == status & HAS_ERRORS


@pytest.mark.parametrize("query", [PYTHON, C, TYPESCRIPT], ids=["python", "c", "typescript"])
@settings(deadline=None)
@given(source=st.one_of(st.binary(max_size=400), st.lists(st.sampled_from(WORDS), max_size=40).map(lambda words: "".join(words).encode())))
def test_any_bytes_are_captured_inside_the_source(query: Query, source: bytes) -> None:
    check(query, source)


@pytest.mark.parametrize("query", [PYTHON, C, TYPESCRIPT], ids=["python", "c", "typescript"])
def test_real_sources_with_random_damage_are_captured(query: Query) -> None:
    choose, whole = random.Random(3), Path(__file__).read_bytes()
    for _ in range(20):
        source = bytearray(whole)
        for _ in range(choose.randint(1, 30)):
            source[choose.randrange(len(source))] = choose.randrange(256)
        check(query, bytes(source[: choose.randrange(len(source))]))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("(no_such_node) @x", "node type"), ("(call", "syntax"), ("(call nope: (_) @x)", "field"), ('((call) @a (#match? @a "x"))', "not a test")],
)
def test_a_wrong_query_says_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Query(tree_sitter_python.language(), text)


def test_a_spent_budget_is_reported() -> None:
    source = b"x = [" + b"(1, [2, {3: 4}]), " * 60000
    status, rows = PYTHON.capture(source, Names(), 0.001)
    assert status & PARSE_TIMED_OUT
    assert len(rows) == 0
