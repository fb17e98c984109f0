"""Interned strings: the same text has the same id, and comes back as it went in."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_native.names import Names


@given(st.lists(st.binary(max_size=12), max_size=300))
def test_ids_count_up_by_first_appearance(texts: list[bytes]) -> None:
    names, first = Names(), dict[bytes, int]()
    for text in texts:
        first.setdefault(text, len(first))
        assert names.add(text) == first[text]
    assert (len(names), names.texts()) == (len(first), list(first))
    assert names.add_all(texts).tolist() == [first[text] for text in texts]
    assert [names.text(known) for known in range(len(names))] == list(first)


@given(st.lists(st.binary(max_size=9), max_size=60))
def test_packed_holds_all_texts(texts: list[bytes]) -> None:
    names = Names()
    names.add_all(texts)
    blob, offsets = names.packed()
    assert [blob[start:end] for start, end in pairwise(offsets)] == names.texts()


@pytest.mark.parametrize("known", [-1, 1, 1 << 40])
def test_an_id_nobody_gave_is_an_error(known: int) -> None:
    names = Names()
    names.add(b"only")
    with pytest.raises(IndexError):
        names.text(known)


def test_many_texts_keep_their_ids() -> None:
    names = Names()
    assert names.add_all(str(n).encode() for n in range(20000)).tolist() == list(range(20000))
    assert names.add(b"12345") == 12345


@given(st.binary(max_size=60), st.lists(st.tuples(st.integers(-3, 70), st.integers(-3, 70)), max_size=5), st.integers(0, 30))
def test_folded_slices_are_short_and_hold_no_white_space_but_single_spaces(source: bytes, slices: list[tuple[int, int]], room: int) -> None:
    names = Names()
    starts, ends = (np.array([pair[at] for pair in slices], dtype=np.int32) for at in range(2))
    for (start, end), known in zip(slices, names.add_folded(source, starts, ends, room).tolist(), strict=True):
        text = names.text(known)
        whole = re.sub(rb"[ \t\n\r]+", b" ", source[max(start, 0) : max(end, 0)])
        assert len(text) <= room
        assert not re.search(rb"[\t\n\r]|  ", text)
        assert text in whole


def test_folding_cuts_on_a_character() -> None:
    names = Names()
    known = names.add_folded("añb".encode(), np.array([0], np.int32), np.array([4], np.int32), 2)[0]
    assert names.text(int(known)) == b"a"
