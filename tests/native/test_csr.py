"""Breadth-first search over adjacency arrays, against the plainest search there is."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_native.csr import BACKWARD, FORWARD, Adjacency

NODES = 12
directions = st.sampled_from([FORWARD, BACKWARD, FORWARD | BACKWARD])
edges_of = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=40)


def search(edges: list[tuple[int, int]], starts: set[int], depth: int, cap: int, direction: int) -> tuple[list[tuple[int, int]], int]:
    """(node, distance) nearest first, then by number, and how many were reached until the level that filled the cap."""
    seen, level, found, distance = set(starts), set(starts), list[tuple[int, int]](), 0
    while level and (depth < 0 or distance < depth) and (cap < 0 or len(found) < cap):
        distance += 1
        fresh = {b for a, b in edges if direction & FORWARD and a in level} | {a for a, b in edges if direction & BACKWARD and b in level}
        level = fresh - seen
        seen |= level
        found += [(node, distance) for node in sorted(level)]
    return (found if cap < 0 else found[:cap]), len(found)


@given(edges_of, st.sets(st.integers(0, NODES - 1), max_size=3), st.integers(-1, 5), st.integers(-1, 8), directions)
def test_a_walk_is_a_breadth_first_search(edges: list[tuple[int, int]], starts: set[int], depth: int, cap: int, direction: int) -> None:
    graph = Adjacency(NODES, [a for a, _ in edges], [b for _, b in edges])
    rows, reached = graph.walk(sorted(starts), depth, cap, direction)
    assert ([(node, distance) for node, distance, _, _ in rows.tolist()], reached) == search(edges, starts, depth, cap, direction)


@given(edges_of, st.sets(st.integers(0, NODES - 1), min_size=1, max_size=3))
def test_each_row_names_the_edge_it_was_reached_by(edges: list[tuple[int, int]], starts: set[int]) -> None:
    rows, _ = Adjacency(NODES, [a for a, _ in edges], [b for _, b in edges]).walk(sorted(starts), -1, -1, FORWARD | BACKWARD)
    distances = {**dict.fromkeys(starts, 0), **{node: distance for node, distance, _, _ in rows.tolist()}}
    for node, distance, edge, direction in rows.tolist():
        near, far = edges[edge] if direction == FORWARD else edges[edge][::-1]
        assert far == node
        assert distances[near] == distance - 1


def test_an_empty_graph_has_nothing_to_walk() -> None:
    rows, reached = Adjacency(0, [], []).walk([], 3)
    assert (rows.shape, reached) == ((0, 4), 0)


@pytest.mark.parametrize(("count", "sources", "targets"), [(2, [0], [2]), (2, [-1], [0]), (2, [0, 1], [0]), (-1, [], []), (0, [0], [0])])
def test_edges_that_lead_nowhere_are_refused(count: int, sources: list[int], targets: list[int]) -> None:
    with pytest.raises(ValueError, match=r"edge|length"):
        Adjacency(count, sources, targets)


@pytest.mark.parametrize("start", [-1, 3, 1 << 30])
def test_starts_that_are_no_nodes_are_refused(start: int) -> None:
    with pytest.raises(ValueError, match="start"):
        Adjacency(3, [0], [1]).walk([start], 1)


def test_threads_may_share_a_graph() -> None:
    choose = np.random.default_rng(1)
    graph = Adjacency(5000, choose.integers(0, 5000, 20000), choose.integers(0, 5000, 20000))
    alone, found = graph.walk([7], 6)[0].tolist(), []
    threads = [threading.Thread(target=lambda: found.append(graph.walk([7], 6)[0].tolist() == alone)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8
