"""Canonical forms: a table of what expressions and types become, and laws for anything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_native.expression import canonical

EXPRESSIONS = {
    "x": "x",
    "self.store(db)[0].open(x)": "self.store()[].open()",
    "self.store(db)[0].open(x)?": "self.store()[].open()",
    "new Foo<Bar>(x)": "Foo()",
    "Foo { a: 1 }": "Foo()",
    "(x as T).y": ":T.y",
    '"text"': '""',
    "a.b.c": "a.b.c",
    "a::b::c()": "a.b.c()",
    "a?.b": "a.b",
    " a . b ( ) ": "a.b()",
    "await load()": "load()",
    "&x": "x",
    "*x": "x",
    "f(g(h(1)), [2, (3)])": "f()",
    "a + b": None,
    "a if b else c": None,
    "lambda: x": None,
    "": None,
}
TYPES = {
    "Foo": "Foo",
    'Optional["Foo"]': "Optional<Foo>",
    "&'a mut [u8]": "[]<u8>",
    "Foo | None": "Foo",
    "List<Foo>": "List<Foo>",
    "Dict[str, Foo]": "Dict<str,Foo>",
    "a.b.Foo": "a.b.Foo",
    "a::b::Foo": "a.b.Foo",
    "*Foo": "Foo",
    "&Foo": "Foo",
    "Foo[]": "[]<Foo>",
    "[]Foo": "[]<Foo>",
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_become_paths(text: str) -> None:
    found = canonical(text.encode())
    assert (found.decode() if found is not None else None) == EXPRESSIONS[text]


@pytest.mark.parametrize("text", TYPES)
def test_types_keep_their_arguments(text: str) -> None:
    found = canonical(text.encode(), is_type=True)
    assert (found.decode() if found is not None else None) == TYPES[text]


PIECES = [
    "a", "self", "Foo", ".", "::", "(", ")", "[", "]", "{", "}", "<", ">", ",", " ", "new ", "await ", "as ", "|", "&", "*", "?", "!",
    "'", '"', "\\", "é", "0", "->", "\n",
]  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(pieces, st.booleans())
def test_a_form_is_plain_text_without_spaces(text: str, is_type: bool) -> None:
    found = canonical(text.encode(), is_type=is_type)
    if found is not None:
        assert found
        assert len(found) <= 256
        assert not set(found.decode()) & set(" \n\t")


@given(st.binary(max_size=600), st.booleans())
def test_no_bytes_break_it(text: bytes, is_type: bool) -> None:
    assert canonical(text, is_type=is_type) == canonical(text, is_type=is_type)


@pytest.mark.parametrize("opening", ["(", "[", "<", "{", "a(", "a[", "Foo<", "&", "*", "'", '"', "a.", "a::"])
@pytest.mark.parametrize("is_type", [False, True])
def test_deep_nesting_ends(opening: str, is_type: bool) -> None:
    canonical(opening.encode() * 20000, is_type=is_type)
