"""The notation of selectors: what it accepts, what it refuses, and that writing it loses nothing."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit.errors import SelectorSyntaxError
from orbit.graph.selector import Selector, guess_path, normalise, parse
from orbit.model import SYMBOL_KINDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("symbol:src/a.py#run", Selector("symbol", "src/a.py", "run")),
        ("symbol:src/a.py#run:function", Selector("symbol", "src/a.py", "run", "function")),
        ("symbol:a.rs#<Foo as Runnable>::run#2:method", Selector("symbol", "a.rs", "<Foo as Runnable>::run#2", "method")),
        ("symbol:a.rs#a::b", Selector("symbol", "a.rs", "a::b")),
        ("symbol:a.rs#tests::test", Selector("symbol", "a.rs", "tests::test")),
        ("symbol:a.rs#tests::test:test", Selector("symbol", "a.rs", "tests::test", "test")),
        ("symbol:a.py#run:later", Selector("symbol", "a.py", "run:later")),
        ("symbol:README.md#Note: this:section", Selector("symbol", "README.md", "Note: this", "section")),
        ("symbol:a.rb#A#b:method", Selector("symbol", "a.rb", "A#b", "method")),
        ("symbol:./src\\x//../a.py#run", Selector("symbol", "src/a.py", "run")),
        ("file:src/a.py", Selector("file", "src/a.py")),
        ("  file:-a b.py", Selector("file", "-a b.py")),
        ("file:a#b.py", Selector("file", "a#b.py")),
        ("file:./:a.py", Selector("file", ":a.py")),
        ("file::open", Selector("name", name="file::open")),
        ("dir:.", Selector("dir", ".")),
        ("dir:src/..", Selector("dir", ".")),
        ("dir:src/", Selector("dir", "src")),
        ("module:orbit_core::scheduler", Selector("module", name="orbit_core::scheduler")),
        ("command: task add ", Selector("command", name="task add")),
        (" run ", Selector("name", name="run")),
        ("a::b::c", Selector("name", name="a::b::c")),
        ("module::run", Selector("name", name="module::run")),
        ("flask.helpers.url_for", Selector("name", name="flask.helpers.url_for")),
        ("example.org/m/pkg.Type.Method", Selector("name", name="example.org/m/pkg.Type.Method")),
    ],
)
def test_accepted_text_parses_to_its_fields(text: str, expected: Selector) -> None:
    assert parse(text) == expected
    assert parse(str(expected)) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"), ("  ", "empty"), ("file:", "empty"), ("dir: ", "empty"), ("module:", "nothing follows"), ("command: ", "nothing follows"),
        ("symbol:a.py", "joined by `#`"), ("symbol:#f", "path is empty"), ("symbol:a.py#", "name is empty"), ("symbol:a.py#:function", "name is empty"),
        ("file:.", "not a file"), ("symbol:src/..#f", "not a file"), ("file:../a.py", "leaves"), ("dir:a/../..", "leaves"), ("file:..\\a.py", "leaves"),
        ("file:/etc/passwd", "leaves"), ("file:C:\\a.py", "leaves"), ("file:./C:/a.py", "leaves"), ("file:a\0.py", "NUL"), ("na\0me", "NUL"),
        ("File:a.py", "perhaps `file:`"), ("symbols:a.py#f", "perhaps `symbol:`"), ("function:run", "perhaps `symbol:`"), ("path:a.py", "perhaps `file:`"),
    ],
)  # fmt: skip
def test_refused_text_says_why_and_what_to_type(text: str, reason: str) -> None:
    with pytest.raises(SelectorSyntaxError, match=reason) as caught:
        parse(text)
    assert ("--root" if reason == "leaves" else "symbol:<path>#<name>[:<kind>]") in (caught.value.hint or "")
    assert caught.value.exit_code == 2


def test_an_absolute_path_below_the_root_becomes_relative() -> None:
    root = PurePosixPath("/srv/tree")
    assert parse("file:/srv/tree/src/a.py", root).path == "src/a.py"
    assert parse("dir:/srv/tree", root).path == "."
    assert parse("symbol:/srv/tree//a.py#f", root) == Selector("symbol", "a.py", "f")
    for outside in ("dir:/srv/treehouse", "file:/srv/tree/../b.py", "dir:/work"):
        with pytest.raises(SelectorSyntaxError, match="leaves"):
            parse(outside, root)


def test_a_bare_path_is_a_name_with_a_guess_beside_it() -> None:
    guesses = {text: guess_path(parse(text)) for text in ("src/a.py", "a.py:12:3", "src/", ".", "run", "Foo.bar_baz_long", "a::b", "../x.py")}
    assert {text: guess and str(guess) for text, guess in guesses.items()} == {
        "src/a.py": "file:src/a.py", "a.py:12:3": "file:a.py", "src/": "dir:src", ".": "dir:.",
        "run": None, "Foo.bar_baz_long": None, "a::b": None, "../x.py": None,
    }  # fmt: skip
    assert guess_path(parse("file:a.py")) is None


pieces = ["a", "B", "_", "é", "\udcff", "/", "\\", ".", "..", ":", "::", "#", "<", ">", " ", "\n", '"', "-", "test", "method", "C:", "file:"]
texts = st.lists(st.sampled_from(pieces) | st.characters(), max_size=12).map("".join)
file_names = st.text(st.characters(exclude_characters="/\\\0#"), min_size=1)
parts_of_paths = file_names.filter(lambda part: part.strip() and part not in (".", "..") and part[1:2] != ":")
prefixes = st.sampled_from(["", "symbol:", "symbol:a#", "file:", "dir:", "module:", "command:"])


@given(prefixes, texts)
def test_any_text_either_round_trips_or_is_refused(prefix: str, text: str) -> None:
    try:
        selector = parse(prefix + text)
    except SelectorSyntaxError:
        return
    assert parse(str(selector)) == selector
    if selector.path:
        assert normalise(selector.path) == selector.path
        assert not {"..", ""} & set(selector.path.split("/"))


@given(st.lists(parts_of_paths, min_size=1), texts, st.sampled_from(SYMBOL_KINDS))
def test_a_selector_with_a_kind_is_read_back_whatever_its_name(parts: list[str], name: str, kind: str) -> None:
    name = name.rstrip(":\0").replace("\0", "")
    if name.strip():
        selector = Selector("symbol", "/".join(parts), name, kind)
        assert parse(str(selector)) == selector
