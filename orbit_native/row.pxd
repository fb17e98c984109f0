"""One row of a capture: what capture() writes and arrange() reads. The order is that of capture.COLUMNS."""
from libc.stdint cimport int32_t

cdef struct Row:
    int32_t head
    int32_t start
    int32_t end
    int32_t line
    int32_t end_line
    int32_t name_start
    int32_t name_end
    int32_t name_line
    int32_t name
    int32_t receiver
    int32_t type
    int32_t value
    int32_t alias
    int32_t path
    int32_t argc
    int32_t body
