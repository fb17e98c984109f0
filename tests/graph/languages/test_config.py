"""Configuration files and tables: limits, and that they are said."""

from __future__ import annotations

import json

import pytest

from orbit.graph.facts import FileFacts
from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit.graph.languages.config import DEPTH_LIMIT, KEY_LIMIT
from orbit.graph.languages.tables import COLUMN_LIMIT, READ_LIMIT
from orbit_native.capture import HAS_ERRORS, TOO_MANY_MATCHES
from orbit_native.names import Names


def take(name: str, source: bytes) -> FileFacts:
    return extract(language(name), source, Names())


@pytest.mark.parametrize(
    ("name", "row"), [("json", b'"key%d": 1,\n'), ("yaml", b"key%d: 1\n"), ("toml", b"key%d = 1\n"), ("env", b"key%d=1\n"), ("ini", b"key%d=1\n")]
)
def test_a_file_with_too_many_keys_keeps_the_first_and_says_so(name: str, row: bytes) -> None:
    source = b"".join(row % number for number in range(KEY_LIMIT + 10))
    if name == "json":
        source = b"{\n" + source + b'"last": 1}\n'
    facts = take(name, source)
    assert len(facts.configs) == KEY_LIMIT
    assert facts.configs[-1].key == f"key{KEY_LIMIT - 1}"
    assert facts.configs[-1].line == KEY_LIMIT + (name == "json")
    assert facts.status == TOO_MANY_MATCHES
    assert facts.broken == [(source.index(b"key%d" % KEY_LIMIT) - (name == "json"), len(source))]


def test_a_list_of_many_numbers_costs_no_keys() -> None:
    facts = take("json", json.dumps({"numbers": list(range(20_000)), "after": 1}).encode())
    assert [found.key for found in facts.configs] == ["numbers", "after"]
    assert facts.status == 0


def test_a_very_long_list_is_cut_and_says_so() -> None:
    facts = take("json", json.dumps({"numbers": [1] * 60_000, "after": 1}).encode())
    assert [found.key for found in facts.configs] == ["numbers"]
    assert facts.status == TOO_MANY_MATCHES
    assert len(facts.broken) == 1


def test_keys_below_the_depth_limit_are_left_out_and_it_is_said() -> None:
    facts = take("json", b'{"a":' * 200 + b"1" + b"}" * 200)
    assert [found.key for found in facts.configs] == [".".join("a" * depth) for depth in range(1, DEPTH_LIMIT + 1)]
    assert facts.status == TOO_MANY_MATCHES


@pytest.mark.parametrize("name", ["yaml", "toml", "json", "env", "ini", "csv", "tsv", "markdown"])
def test_such_files_have_their_path_for_a_module_and_import_nothing(name: str) -> None:
    table = language(name)
    assert table.module_of("docs/a.x", None) == "docs/a.x"  # type: ignore[arg-type]
    assert table.import_target("x", "docs/a.x", "docs/a.x", None) is None  # type: ignore[arg-type]


def test_a_table_is_read_no_further_than_its_limits() -> None:
    wide = take("csv", b",".join(b"c%d" % number for number in range(COLUMN_LIMIT + 5)) + b"\n1\n")
    assert len(wide.definitions) == COLUMN_LIMIT
    assert wide.status == TOO_MANY_MATCHES
    long = take("csv", b"a," + b" " * READ_LIMIT + b"\n1,2\n")
    assert [found.name for found in long.definitions] == ["a"]
    assert long.status & (HAS_ERRORS | TOO_MANY_MATCHES)
    assert long.broken


def test_only_the_first_row_names_columns() -> None:
    source = b'a,"b\nc",d\n' + b"1,2,3\n" * 1000
    facts = take("csv", source)
    assert [(found.name, source[found.start : found.end], found.line, found.end_line) for found in facts.definitions] == [
        ("a", b"a", 1, 1), ("b c", b"b\nc", 1, 2), ("d", b"d", 2, 2),
    ]  # fmt: skip
