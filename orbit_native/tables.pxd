# Sets and tables over integers, without an object for each.
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, uint32_t

cdef struct Stamp:
    int32_t number
    uint32_t round


cdef struct Entry:
    int32_t first, second, third
    uint32_t used
    PyObject *value


cdef class NumberSet:
    cdef Stamp *stamps
    cdef int32_t *items        # numbers of this round, in order
    cdef uint32_t round
    cdef size_t room, count    # room of both, a power of two; at most half of it is used
    cdef int add(self, int32_t number) except -1
    cdef int add_all(self, const int32_t[::1] numbers) except -1
    cdef int grow(self) except -1
    cdef void clear(self) noexcept


cdef class Table:
    cdef Entry *entries
    cdef size_t room, count    # a power of two, of which at most half is used
    cdef object get(self, int first, int second, int third)
    cdef int put(self, int first, int second, int third, value) except -1
    cdef int grow(self) except -1
    cdef void drop(self) noexcept
    cdef int clear(self) except -1
