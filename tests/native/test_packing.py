"""Tables as bytes: whatever goes in comes out, small differences are short, and what is no table is an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from orbit_native.packing import pack, unpack

TABLES = arrays(np.int32, array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=12))


@given(TABLES)
def test_a_table_comes_back_as_it_went_in(table: Any) -> None:
    if table.shape[1]:
        assert unpack(pack(table), table.shape[1]).tolist() == table.tolist()


@given(TABLES)
def test_columns_of_a_wider_table_pack_as_a_table_of_their_own(table: Any) -> None:
    assert pack(table[::2, 1:]) == pack(np.ascontiguousarray(table[::2, 1:]))


def test_numbers_that_count_up_take_a_byte_each() -> None:
    assert len(pack(np.arange(1 << 20, (1 << 20) + 1000, dtype=np.int32).reshape(-1, 1))) == 1003


@given(st.binary(max_size=40), st.integers(-1, 4))
def test_bytes_that_are_no_table_are_an_error_and_all_others_a_table(packed: bytes, columns: int) -> None:
    try:
        table = unpack(packed, columns)
    except ValueError:
        return
    assert table.shape[1] == columns
    assert sum(byte < 0x80 for byte in packed) == table.size


@pytest.mark.parametrize("packed", [b"\x80", b"\x01\x80", b"\x80\x80\x80\x80\x80\x80\x01"])
def test_a_number_that_does_not_end_is_an_error(packed: bytes) -> None:
    with pytest.raises(ValueError, match="no table"):
        unpack(packed, 1)
