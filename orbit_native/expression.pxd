# Canonical text of expressions and types; see expression.pyx.
cdef enum:
    UNKNOWN = -1

cdef int canonical_expression(const char *text, int size, char *out, int room) noexcept nogil
cdef int canonical_type(const char *text, int size, char *out, int room) noexcept nogil
