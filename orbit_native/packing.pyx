"""Tables of integers as short byte strings: column by column, each number as its difference to the one above, seven bits to a byte."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, uint8_t, uint32_t

import numpy as np

cdef enum:
    LONGEST = 5                                  # bytes of one number
    CUT_OFF = -1


cdef inline uint8_t *put(uint8_t *at, int32_t difference) noexcept nogil:
    cdef uint32_t left = (<uint32_t>difference << 1) ^ <uint32_t>(difference >> 31)      # small ones first, whatever their sign
    while left >= 0x80:
        at[0] = <uint8_t>(left | 0x80)
        left >>= 7
        at += 1
    at[0] = <uint8_t>left
    return at + 1


cdef Py_ssize_t unpack_into(int32_t[:, ::1] table, const uint8_t *text, Py_ssize_t size) noexcept nogil:
    """How many bytes it took, or CUT_OFF."""
    cdef Py_ssize_t row, column, at = 0
    cdef uint32_t left, last
    cdef int shift
    for column in range(table.shape[1]):
        last = 0
        for row in range(table.shape[0]):
            left, shift = 0, 0
            while True:
                if at == size or shift == 7 * LONGEST:
                    return CUT_OFF
                left |= <uint32_t>(text[at] & 0x7F) << shift
                shift += 7
                at += 1
                if text[at - 1] < 0x80:
                    break
            last += (left >> 1) ^ (0 - (left & 1))
            table[row, column] = <int32_t>last
    return at


def pack(const int32_t[:, :] table not None):
    """A table as bytes."""
    cdef Py_ssize_t row, column, rows = table.shape[0], columns = table.shape[1]
    scratch = PyBytes_FromStringAndSize(NULL, LONGEST * rows * columns)
    cdef uint8_t *start = <uint8_t *>PyBytes_AS_STRING(scratch)
    cdef uint8_t *at = start
    cdef uint32_t last
    with nogil:
        for column in range(columns):
            last = 0
            for row in range(rows):
                at = put(at, <int32_t>(<uint32_t>table[row, column] - last))
                last = <uint32_t>table[row, column]
    return scratch[:at - start]


def unpack(bytes packed not None, Py_ssize_t columns):
    """The table of so many columns again."""
    cdef Py_ssize_t size = len(packed), count = 0, used, at
    cdef const uint8_t *text = <const uint8_t *>PyBytes_AS_STRING(packed)
    for at in range(size):
        count += text[at] < 0x80                 # the last byte of a number
    if columns < 1 or count % columns:
        raise ValueError(f"{count} numbers are no table of {columns} columns")
    table = np.empty((count // columns, columns), dtype=np.int32)
    cdef int32_t[:, ::1] view = table
    with nogil:
        used = unpack_into(view, text, size)
    if used != size:
        raise ValueError(f"{size} bytes are no table of {columns} columns")
    return table
