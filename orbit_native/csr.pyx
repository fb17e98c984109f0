"""Adjacency arrays (CSR) of a directed graph of small integers, and breadth-first search over them without the GIL.

Nodes are 0 .. count - 1; what they stand for, and in which order they are numbered, is the caller's business. Edges keep their numbers.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport qsort

FORWARD, BACKWARD = 1, 2           # directions to walk in: bits
NODE, DISTANCE, EDGE, DIRECTION = 0, 1, 2, 3   # columns of a walk


cdef int by_number(const void* one, const void* other) noexcept nogil:
    cdef int32_t a = (<const int32_t*>one)[0], b = (<const int32_t*>other)[0]
    return (a > b) - (a < b)


cdef void fill(const int32_t[::1] heads, const int32_t[::1] tails, int32_t[::1] offsets, int32_t[::1] neighbours, int32_t[::1] edges) noexcept nogil:
    """Count sort of the edges by `heads`; edges of one head stay in their order."""
    cdef Py_ssize_t i, count = heads.shape[0]
    cdef int32_t node, at, running = 0, here
    for i in range(count):
        offsets[heads[i] + 1] += 1
    for i in range(1, offsets.shape[0]):
        offsets[i] += offsets[i - 1]
    for i in range(count):
        node = heads[i]
        at = offsets[node]
        neighbours[at] = tails[i]
        edges[at] = <int32_t>i
        offsets[node] += 1
    for i in range(offsets.shape[0]):     # filling moved each start to the next node's start: move them back
        here = offsets[i]
        offsets[i] = running
        running = here


cdef int32_t spread(
    int32_t[:, ::1] found, int32_t first, int32_t last, const int32_t[::1] offsets, const int32_t[::1] neighbours, const int32_t[::1] edges,
    int32_t[::1] seen, int32_t[::1] via, uint8_t[::1] along, int32_t[::1] fresh, int32_t made, int32_t distance, uint8_t direction,
) noexcept nogil:
    """Neighbours of the nodes found in rows first .. last that nobody saw before go to `fresh`; returns how many are there now."""
    cdef int32_t row, at, node, other
    for row in range(first, last):
        node = found[row, 0]
        for at in range(offsets[node], offsets[node + 1]):
            other = neighbours[at]
            if seen[other] < 0:
                seen[other] = distance
                via[other] = edges[at]
                along[other] = direction
                fresh[made] = other
                made += 1
    return made


cdef class Adjacency:
    """Both directions of a graph, ready to be walked. Never changes, so threads may share it."""
    cdef readonly int32_t node_count
    cdef readonly int32_t edge_count
    cdef int32_t[::1] out_offsets, out_neighbours, out_edges
    cdef int32_t[::1] in_offsets, in_neighbours, in_edges

    def __init__(self, int node_count, sources, targets):
        """`sources` and `targets` give the ends of each edge."""
        cdef const int32_t[::1] heads = np.ascontiguousarray(sources, dtype=np.int32)
        cdef const int32_t[::1] tails = np.ascontiguousarray(targets, dtype=np.int32)
        cdef Py_ssize_t i
        if node_count < 0 or heads.shape[0] != tails.shape[0]:
            raise ValueError("sources and targets differ in length, or there is a negative number of nodes")
        for i in range(heads.shape[0]):
            if not (0 <= heads[i] < node_count and 0 <= tails[i] < node_count):
                raise ValueError(f"edge {i} leads from {heads[i]} to {tails[i]}, expected nodes below {node_count}")
        self.node_count, self.edge_count = node_count, <int32_t>heads.shape[0]
        self.out_offsets, self.in_offsets = np.zeros(node_count + 1, dtype=np.int32), np.zeros(node_count + 1, dtype=np.int32)
        self.out_neighbours, self.in_neighbours = np.empty(heads.shape[0], dtype=np.int32), np.empty(heads.shape[0], dtype=np.int32)
        self.out_edges, self.in_edges = np.empty(heads.shape[0], dtype=np.int32), np.empty(heads.shape[0], dtype=np.int32)
        with nogil:
            fill(heads, tails, self.out_offsets, self.out_neighbours, self.out_edges)
            fill(tails, heads, self.in_offsets, self.in_neighbours, self.in_edges)

    def walk(self, starts, int depth, int cap=-1, int direction=1):
        """Breadth first from the starts: (rows int32[n, 4] of node, distance, edge it was reached by, direction; number of nodes reached).

        The starts are not among the rows. Nearest first, then by node number. The walk ends with the level on which `cap` rows are full;
        all of that level are counted. Negative depth or cap: no limit.
        """
        cdef const int32_t[::1] given = np.unique(np.ascontiguousarray(starts, dtype=np.int32))
        cdef Py_ssize_t i
        for i in range(given.shape[0]):
            if not 0 <= given[i] < self.node_count:
                raise ValueError(f"start {given[i]} is no node, expected one below {self.node_count}")
        rows = np.empty((self.node_count, 4), dtype=np.int32)
        cdef int32_t[:, ::1] found = rows
        cdef int32_t[::1] seen = np.full(self.node_count, -1, dtype=np.int32)
        cdef int32_t[::1] via = np.empty(self.node_count, dtype=np.int32)
        cdef uint8_t[::1] along = np.empty(self.node_count, dtype=np.uint8)
        cdef int32_t[::1] fresh = np.empty(self.node_count, dtype=np.int32)
        cdef int32_t first = 0, last, made, row, reached, distance = 0
        cdef int32_t start_count = <int32_t>given.shape[0]
        with nogil:
            for row in range(start_count):
                found[row, 0], found[row, 1], found[row, 2], found[row, 3] = given[row], 0, -1, 0
                seen[given[row]] = 0
            last = reached = start_count
            while first < last and (depth < 0 or distance < depth) and (cap < 0 or reached - start_count < cap):
                distance += 1
                made = 0
                if direction & 1:
                    made = spread(found, first, last, self.out_offsets, self.out_neighbours, self.out_edges, seen, via, along, fresh, made, distance, 1)
                if direction & 2:
                    made = spread(found, first, last, self.in_offsets, self.in_neighbours, self.in_edges, seen, via, along, fresh, made, distance, 2)
                if made > 1:
                    qsort(&fresh[0], made, sizeof(int32_t), by_number)
                for row in range(made):
                    found[reached + row, 0], found[reached + row, 1] = fresh[row], distance
                    found[reached + row, 2], found[reached + row, 3] = via[fresh[row]], along[fresh[row]]
                reached += made
                first, last = last, reached
        shown = reached - start_count if cap < 0 else min(reached - start_count, cap)
        return rows[start_count:start_count + shown].copy(), reached - start_count
