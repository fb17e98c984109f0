"""Containment and overlap of spans: who encloses what, which spans a range touches. Spans are half open; each belongs to a file.

Definitions come sorted by (file, start, -end): an enclosing span stands before what it encloses.
"""
from libc.stdint cimport int32_t

import numpy as np

cdef enum:
    NOBODY = -1


cdef void link_parents(const int32_t[::1] files, const int32_t[::1] starts, const int32_t[::1] ends, int32_t[::1] parents) noexcept nogil:
    cdef Py_ssize_t i
    cdef int32_t above
    for i in range(files.shape[0]):
        above = <int32_t>i - 1
        while above >= 0 and (files[above] != files[i] or ends[above] < ends[i] or ends[above] <= starts[i]):
            above = NOBODY if files[above] != files[i] else parents[above]
        parents[i] = above


cdef void find_innermost(const int32_t[::1] files, const int32_t[::1] starts, const int32_t[::1] ends, const int32_t[::1] parents,
                         const int32_t[::1] probe_files, const int32_t[::1] probe_starts, const int32_t[::1] probe_ends,
                         int32_t[::1] found) noexcept nogil:
    cdef Py_ssize_t i, low, high, middle
    cdef int32_t at
    for i in range(probe_files.shape[0]):
        low, high = 0, files.shape[0]
        while low < high:                      # first span that starts after the probe
            middle = (low + high) // 2
            if files[middle] < probe_files[i] or (files[middle] == probe_files[i] and starts[middle] <= probe_starts[i]):
                low = middle + 1
            else:
                high = middle
        at = <int32_t>low - 1
        while at >= 0 and (files[at] != probe_files[i] or ends[at] < probe_ends[i]):
            at = NOBODY if files[at] != probe_files[i] else parents[at]
        found[i] = at


cdef Py_ssize_t list_touching(const int32_t[::1] starts, const int32_t[::1] ends, const int32_t[::1] probe_starts, const int32_t[::1] probe_ends,
                              int32_t[::1] probes, int32_t[::1] spans) noexcept nogil:
    """Count the touching pairs; write them too when room was given."""
    cdef Py_ssize_t i, j, count = 0
    cdef bint write = probes.shape[0] > 0
    for i in range(probe_starts.shape[0]):
        for j in range(starts.shape[0]):
            if starts[j] >= probe_ends[i] and not (starts[j] == probe_starts[i] == probe_ends[i]):
                break
            if ends[j] > probe_starts[i] or (starts[j] <= probe_starts[i] <= ends[j] and probe_starts[i] == probe_ends[i]):
                if write:
                    probes[count], spans[count] = <int32_t>i, <int32_t>j
                count += 1
    return count


def nest(const int32_t[::1] files, const int32_t[::1] starts, const int32_t[::1] ends):
    """For each sorted span the index of the smallest span around it, or -1."""
    parents = np.empty(files.shape[0], dtype=np.int32)
    cdef int32_t[::1] out = parents
    with nogil:
        link_parents(files, starts, ends, out)
    return parents


def innermost(const int32_t[::1] files, const int32_t[::1] starts, const int32_t[::1] ends, const int32_t[::1] parents,
              const int32_t[::1] probe_files, const int32_t[::1] probe_starts, const int32_t[::1] probe_ends):
    """For each probe the index of the smallest span that holds it whole, or -1. `parents` is what nest() gave."""
    found = np.empty(probe_files.shape[0], dtype=np.int32)
    cdef int32_t[::1] out = found
    with nogil:
        find_innermost(files, starts, ends, parents, probe_files, probe_starts, probe_ends, out)
    return found


def touching(const int32_t[::1] starts, const int32_t[::1] ends, const int32_t[::1] probe_starts, const int32_t[::1] probe_ends):
    """Pairs (probe, span) that overlap, in one file, spans sorted by start; an empty probe touches the spans that hold its position."""
    cdef Py_ssize_t count
    cdef int32_t[::1] none = np.empty(0, dtype=np.int32)
    with nogil:
        count = list_touching(starts, ends, probe_starts, probe_ends, none, none)
    probes, spans = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    cdef int32_t[::1] probes_out = probes, spans_out = spans
    if count:
        with nogil:
            list_touching(starts, ends, probe_starts, probe_ends, probes_out, spans_out)
    return probes, spans
