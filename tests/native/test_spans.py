"""Who encloses what, against a model that compares every span with every other."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from orbit_native.spans import innermost, nest, touching


def column(values: list[int]) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    """(file, start, end) of spans that nest properly, sorted as the extractor sorts them: by file, start, then the longest first."""
    rows: set[tuple[int, int, int]] = set()

    def fill(file: int, start: int, end: int, depth: int) -> None:
        cuts = sorted(draw(st.lists(st.integers(start, end), max_size=4, unique=True)))
        for left, right in zip(cuts[::2], cuts[1::2], strict=False):
            rows.add((file, left, right))
            if depth and right - left > 2:
                fill(file, left, right, depth - 1)

    for file in range(draw(st.integers(1, 3))):
        fill(file, 0, 60, 3)
    return sorted(rows, key=lambda row: (row[0], row[1], -row[2]))


def smallest_around(rows: list[tuple[int, int, int]], file: int, start: int, end: int, but: int = -1) -> int:
    """The last of the sorted spans that holds [start, end): the smallest, since spans nest. Of equals, the one before `but`."""
    held = [at for at, (other, left, right) in enumerate(rows) if other == file and left <= start and end <= right and at != but and (but < 0 or at < but)]
    return min(held, key=lambda at: (rows[at][2] - rows[at][1], -at), default=-1)


@given(trees())
def test_a_parent_is_the_smallest_span_around(rows: list[tuple[int, int, int]]) -> None:
    files, starts, ends = (column([row[at] for row in rows]) for at in range(3))
    assert nest(files, starts, ends).tolist() == [smallest_around(rows, *row, but=at) for at, row in enumerate(rows)]


@given(trees(), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60), st.integers(0, 5)), max_size=20))
def test_a_probe_is_held_by_the_innermost_span(rows: list[tuple[int, int, int]], probes: list[tuple[int, int, int]]) -> None:
    probes = sorted((file, start, start + size) for file, start, size in probes)
    files, starts, ends = (column([row[at] for row in rows]) for at in range(3))
    found = innermost(files, starts, ends, nest(files, starts, ends), *(column([probe[at] for probe in probes]) for at in range(3)))
    expected = [smallest_around(rows, *probe) for probe in probes]
    sizes = [[rows[at][2] - rows[at][1] if at >= 0 else -1 for at in given] for given in (found.tolist(), expected)]
    assert sizes[0] == sizes[1]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)), max_size=12), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 8)), max_size=8))
def test_touching_lists_every_overlap_once(spans: list[tuple[int, int]], probes: list[tuple[int, int]]) -> None:
    spans = sorted((start, start + size) for start, size in spans)
    stretches = [(start, start + size) for start, size in probes]
    found = touching(column([a for a, _ in spans]), column([b for _, b in spans]), column([a for a, _ in stretches]), column([b for _, b in stretches]))
    expected = [
        (i, j)
        for i, (left, right) in enumerate(stretches)
        for j, (start, end) in enumerate(spans)
        if (start < right and left < end) or (left == right and start <= left <= end)
    ]
    assert sorted(zip(*(array.tolist() for array in found), strict=True)) == expected
