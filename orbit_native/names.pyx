"""Interning: equal byte strings get equal small integers, in order of first appearance."""
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy

import numpy as np

cdef enum:
    NO_ID = -1
    FREE = -1
    NO_MEMORY = -2


cdef inline uint64_t hash_text(const char *text, size_t size) noexcept nogil:
    # FNV-1a over 8-byte words with a final mix: names are short, and no attacker gains from a collision here.
    cdef uint64_t value = <uint64_t>0xcbf29ce484222325ULL ^ size
    cdef uint64_t word
    while size >= 8:
        memcpy(&word, text, 8)
        value = (value ^ word) * <uint64_t>0x9E3779B97F4A7C15ULL
        value ^= value >> 29
        text += 8
        size -= 8
    word = 0
    memcpy(&word, text, size)
    value = (value ^ word) * <uint64_t>0x9E3779B97F4A7C15ULL
    return value ^ (value >> 32)


cdef class Names:
    """A set of byte strings, each known by the integer it got when first seen."""

    def __cinit__(self):
        self.slot_count = 1024
        self.room, self.blob_room = 512, 8192
        self.slots = <Slot *>calloc(self.slot_count, sizeof(Slot))
        self.offsets = <uint32_t *>calloc(self.room + 1, sizeof(uint32_t))
        self.blob = <char *>malloc(self.blob_room)
        if not self.slots or not self.offsets or not self.blob:
            raise MemoryError
        cdef size_t i
        for i in range(self.slot_count):
            self.slots[i].id = FREE

    def __dealloc__(self):
        free(self.slots)
        free(self.offsets)
        free(self.blob)

    cdef int32_t put(self, const char *text, size_t size) noexcept nogil:
        """The id of `text`, new or known; NO_MEMORY if it cannot be stored."""
        cdef uint64_t hashed = hash_text(text, size)
        cdef size_t mask = self.slot_count - 1, at = hashed & mask, room
        cdef int32_t known
        cdef void *grown
        while self.slots[at].id != FREE:
            known = self.slots[at].id
            if self.slots[at].hash == hashed and self.offsets[known + 1] - self.offsets[known] == size \
                    and memcmp(self.blob + self.offsets[known], text, size) == 0:
                return known
            at = (at + 1) & mask
        if self.count == self.room:
            grown = realloc(self.offsets, (2 * self.room + 1) * sizeof(uint32_t))
            if not grown:
                return NO_MEMORY
            self.offsets = <uint32_t *>grown
            self.room *= 2
        if self.blob_size + size > self.blob_room:
            room = 2 * (self.blob_room + size)
            grown = realloc(self.blob, room)
            if not grown:
                return NO_MEMORY
            self.blob = <char *>grown
            self.blob_room = room
        memcpy(self.blob + self.blob_size, text, size)
        self.blob_size += size
        self.slots[at].hash = hashed
        self.slots[at].id = <int32_t>self.count
        self.count += 1
        self.offsets[self.count] = <uint32_t>self.blob_size
        if 2 * self.count > self.slot_count and self.grow_slots() != 0:
            return NO_MEMORY
        return <int32_t>(self.count - 1)

    cdef int grow_slots(self) noexcept nogil:
        cdef size_t wider = 2 * self.slot_count, mask = wider - 1, i, at
        cdef Slot *fresh = <Slot *>malloc(wider * sizeof(Slot))
        if not fresh:
            return NO_MEMORY
        for i in range(wider):
            fresh[i].id = FREE
        for i in range(self.slot_count):
            if self.slots[i].id != FREE:
                at = self.slots[i].hash & mask
                while fresh[at].id != FREE:
                    at = (at + 1) & mask
                fresh[at] = self.slots[i]
        free(self.slots)
        self.slots, self.slot_count = fresh, wider
        return 0

    def __len__(self):
        return self.count

    def add(self, bytes text):
        """The id of one string."""
        cdef int32_t known = self.put(text, len(text))
        if known < 0:
            raise MemoryError
        return known

    def add_all(self, texts):
        """The ids of many strings, as an array."""
        return np.array([self.add(text) for text in texts], dtype=np.int32)

    def add_packed(self, bytes blob not None, const uint32_t[::1] offsets not None, const unsigned char[::1] wanted not None):
        """The ids of those strings that are wanted, of what another set gave with packed(), as an array; -1 for the others."""
        cdef Py_ssize_t count = offsets.shape[0] - 1, i
        ids = np.empty(count, dtype=np.int32)
        cdef int32_t[::1] out = ids
        cdef const char *text = blob
        cdef bint full = False
        with nogil:
            for i in range(count):
                if not wanted[i]:
                    out[i] = NO_ID
                    continue
                out[i] = self.put(text + offsets[i], offsets[i + 1] - offsets[i])
                if out[i] < 0:
                    full = True
                    break
        if full:
            raise MemoryError
        return ids

    def text(self, Py_ssize_t known):
        """The string with this id."""
        if not 0 <= known < <Py_ssize_t>self.count:
            raise IndexError(known)
        return self.blob[self.offsets[known]:self.offsets[known + 1]]

    def word(self, Py_ssize_t known):
        """The string with this id as text, what is no UTF-8 replaced; empty for -1."""
        if known == NO_ID:
            return ""
        if not 0 <= known < <Py_ssize_t>self.count:
            raise IndexError(known)
        return PyUnicode_DecodeUTF8(self.blob + self.offsets[known], self.offsets[known + 1] - self.offsets[known], "replace")

    def add_word(self, str text not None):
        """The id of a text."""
        cdef bytes raw = text.encode("utf-8", "replace")
        cdef int32_t known = self.put(raw, len(raw))
        if known < 0:
            raise MemoryError
        return known

    def texts(self):
        """All strings, by id."""
        cdef size_t i
        return [self.blob[self.offsets[i]:self.offsets[i + 1]] for i in range(self.count)]

    def packed(self):
        """All strings as (blob, offsets): what crosses a process boundary."""
        offsets = np.empty(self.count + 1, dtype=np.uint32)
        cdef uint32_t[::1] view = offsets
        memcpy(&view[0], self.offsets, (self.count + 1) * sizeof(uint32_t))
        return self.blob[:self.blob_size], offsets

    def add_folded(self, bytes source not None, const int32_t[::1] starts, const int32_t[::1] ends, Py_ssize_t room=200):
        """Intern slices of `source` with white space folded to single spaces, cut after `room` bytes on a character."""
        ids = np.empty(starts.shape[0], dtype=np.int32)
        cdef int32_t[::1] out = ids
        cdef const char *text = source
        cdef Py_ssize_t i, size = len(source)
        cdef char *folded = <char *>malloc(room + 1)
        if not folded:
            raise MemoryError
        with nogil:
            for i in range(starts.shape[0]):
                out[i] = self.put(folded, fold(text, max(starts[i], 0), min(ends[i], <int32_t>size), folded, room))
        free(folded)
        return ids


cdef size_t fold(const char *text, int32_t start, int32_t end, char *out, Py_ssize_t room) noexcept nogil:
    cdef Py_ssize_t used = 0
    cdef int32_t i
    cdef char c
    for i in range(start, end):
        c = text[i]
        if c == b' ' or c == b'\t' or c == b'\n' or c == b'\r':
            if used == 0 or out[used - 1] == b' ':
                continue
            c = b' '
        if used == room:
            while used and (<unsigned char>out[used - 1] & 0xC0) == 0x80:
                used -= 1
            if used and <unsigned char>out[used - 1] >= 0xC0:
                used -= 1
            break
        out[used] = c
        used += 1
    while used and (out[used - 1] == b' ' or out[used - 1] == b'=' or out[used - 1] == b'{' or out[used - 1] == b':'):
        used -= 1
    return used
