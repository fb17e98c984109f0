"""Sets and tables over integers, as the resolver fills and empties them for every file: open addressing, without an object for each number."""
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport int32_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

cdef enum:
    LEAST = 256


cdef inline uint32_t mixed(uint32_t number) noexcept:
    number *= 0x9E3779B1u
    return number ^ number >> 15


cdef class NumberSet:
    """A set of integers from 0 up that is emptied in no time."""

    def __cinit__(self):
        self.round = 1
        self.grow()

    def __dealloc__(self):
        free(self.stamps)
        free(self.items)

    cdef int grow(self) except -1:
        cdef size_t room = 2 * self.room if self.room else LEAST, i
        cdef Stamp *stamps = <Stamp *>calloc(room, sizeof(Stamp))
        cdef int32_t *items = <int32_t *>calloc(room // 2, sizeof(int32_t))
        cdef int32_t *old = self.items
        if not stamps or not items:
            free(stamps)
            free(items)
            raise MemoryError
        free(self.stamps)
        cdef size_t count = self.count
        self.stamps, self.items, self.room, self.count, self.round = stamps, items, room, 0, 1
        for i in range(count):
            self.add(old[i])
        free(old)
        return 0

    cdef int add(self, int32_t number) except -1:
        """Negative numbers stand for nothing: they are left out."""
        cdef size_t mask = self.room - 1, at = mixed(<uint32_t>number) & mask
        if number < 0:
            return 0
        while self.stamps[at].round == self.round:
            if self.stamps[at].number == number:
                return 0
            at = (at + 1) & mask
        self.stamps[at].number, self.stamps[at].round = number, self.round
        self.items[self.count] = number
        self.count += 1
        if 2 * self.count == self.room:
            self.grow()
        return 0

    cdef int add_all(self, const int32_t[::1] numbers) except -1:
        cdef Py_ssize_t i
        for i in range(numbers.shape[0]):
            self.add(numbers[i])
        return 0

    cdef void clear(self) noexcept:
        self.count = 0
        self.round += 1
        if self.round == 0:                    # all rounds are used up: begin again
            memset(self.stamps, 0, self.room * sizeof(Stamp))
            self.round = 1

    def array(self):
        """The numbers, sorted."""
        cdef size_t i
        found = np.empty(self.count, dtype=np.int32)
        cdef int32_t[::1] view = found
        for i in range(self.count):
            view[i] = self.items[i]
        found.sort()
        return found


cdef class Table:
    """Objects by three integers."""

    def __cinit__(self):
        self.grow()

    def __dealloc__(self):
        self.drop()

    cdef void drop(self) noexcept:
        cdef size_t i
        for i in range(self.room):
            if self.entries[i].used:
                Py_DECREF(<object>self.entries[i].value)
        free(self.entries)
        self.entries, self.room, self.count = NULL, 0, 0

    cdef int clear(self) except -1:
        self.drop()
        return self.grow()

    cdef int grow(self) except -1:
        cdef size_t room = 2 * self.room if self.room else LEAST, mask = room - 1, i, at
        cdef Entry *entries = <Entry *>calloc(room, sizeof(Entry))
        if not entries:
            raise MemoryError
        for i in range(self.room):
            if self.entries[i].used:
                at = place(self.entries[i].first, self.entries[i].second, self.entries[i].third) & mask
                while entries[at].used:
                    at = (at + 1) & mask
                entries[at] = self.entries[i]
        free(self.entries)
        self.entries, self.room = entries, room
        return 0

    cdef object get(self, int first, int second, int third):
        """None when there is none."""
        cdef size_t mask = self.room - 1, at = place(first, second, third) & mask
        while self.entries[at].used:
            if self.entries[at].second == second and self.entries[at].first == first and self.entries[at].third == third:
                return <object>self.entries[at].value
            at = (at + 1) & mask
        return None

    cdef int put(self, int first, int second, int third, value) except -1:
        """Keep what was not there before."""
        cdef size_t mask = self.room - 1, at = place(first, second, third) & mask
        while self.entries[at].used:
            at = (at + 1) & mask
        Py_INCREF(value)
        self.entries[at] = Entry(first, second, third, 1, <PyObject *>value)
        self.count += 1
        if 2 * self.count > self.room:
            self.grow()
        return 0


cdef inline uint32_t place(int first, int second, int third) noexcept:
    return mixed(<uint32_t>first * 0x85EBCA77u ^ mixed(<uint32_t>second) ^ <uint32_t>third * 0xC2B2AE3Du)
