# The interner that capture writes into while it holds no GIL.
from libc.stdint cimport int32_t, uint32_t, uint64_t


cdef struct Slot:
    uint64_t hash
    int32_t id     # -1: free


cdef class Names:
    cdef char *blob            # all strings, one after another
    cdef uint32_t *offsets     # start of string i; offsets[count] is the end of the last
    cdef Slot *slots
    cdef size_t blob_size, blob_room, count, room, slot_count

    cdef int32_t put(self, const char *text, size_t size) noexcept nogil
    cdef int grow_slots(self) noexcept nogil
