"""Rows into tables: what wins where patterns overlap, and which definition holds what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orbit_native.arrange import CLASSES, arrange

pytestmark = pytest.mark.native

HEADS = {"define": 0, "outer": 1, "call": 2, "ref": 3, "string": 4, "import": 5}
KINDS = np.array([CLASSES.index("define" if name == "outer" else name) for name in HEADS], dtype=np.int32)


def row(head: str, start: int, end: int, name: tuple[int, int] | None = None) -> list[int]:
    name_start, name_end = name or (-1, -1)
    return [HEADS[head], start, end, 0, 0, name_start, name_end, 0, 7 if name else -1, *[-1] * 7]


def tables(*rows: list[int]) -> Any:
    numbers = np.arange(len(HEADS), dtype=np.int32)
    outer = np.array([name == "outer" for name in HEADS], dtype=np.uint8)
    given = np.array(rows, dtype=np.int32).reshape(-1, 16)
    return arrange(given, KINDS, numbers, np.zeros(len(HEADS), dtype=np.int32), outer, np.zeros(len(HEADS), dtype=np.uint8), True)


def test_definitions_nest_and_hold_what_stands_in_them() -> None:
    definitions, parents, refs, *_ = tables(row("call", 12, 15, (12, 14)), row("define", 10, 20, (11, 12)), row("define", 0, 50, (1, 2)))
    assert definitions[:, 1].tolist() == [0, 10]
    assert parents.tolist() == [-1, 0]
    assert refs[:, 6].tolist() == [1]


def test_a_name_is_defined_once_and_does_not_refer_to_itself() -> None:
    definitions, _, refs, *_ = tables(row("outer", 0, 9, (1, 2)), row("define", 0, 9, (1, 2)), row("ref", 1, 2, (1, 2)))
    assert definitions[:, 0].tolist() == [HEADS["define"]]
    assert len(refs) == 0


def test_the_pattern_written_first_wins_a_reference() -> None:
    _, _, refs, *_ = tables(row("ref", 5, 8, (5, 8)), row("call", 5, 9, (5, 8)))
    assert refs[:, 0].tolist() == [HEADS["call"]]


def test_what_counts_outside_functions_only_is_dropped_inside() -> None:
    definitions, *_ = tables(row("define", 0, 50, (1, 2)), row("outer", 10, 20, (11, 12)))
    assert definitions[:, 0].tolist() == [HEADS["define"]]


def test_strings_of_imports_are_no_strings() -> None:
    strings = tables(row("import", 0, 20), row("string", 10, 18), row("string", 30, 40))[4]
    assert len(strings) == 1


def test_a_name_the_parser_made_up_states_nothing() -> None:
    definitions, *_ = tables(row("define", 0, 9, (3, 3)))
    assert len(definitions) == 0


def test_no_rows_give_empty_tables() -> None:
    assert [len(table) for table in tables()] == [0] * 8
