"""Questions on a graph of 100,000 symbols. Processor time of this thread is measured, so that a busy machine does not decide."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from orbit.graph import Graph

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, make_large: Callable[[Path, int, int], None]) -> Graph:
    root = tmp_path_factory.mktemp("large")
    make_large(root, 2000, 49)
    graph = Graph.open(root)
    assert graph.sync().symbols > 100_000
    return graph


def p95(ask: Callable[[str], Any], texts: Iterable[str]) -> float:
    """Milliseconds."""
    spent = []
    for text in texts:
        started = time.thread_time()
        ask(text)
        spent.append((time.thread_time() - started) * 1000)
    return sorted(spent)[int(len(spent) * 0.95)]


def test_questions_keep_to_their_time(large: Graph) -> None:
    choose = random.Random(5)
    matches = large.search("cache", kind="symbol", limit=3000).matches
    some = [match for match in choose.sample(matches, 200) if match.symbol_kind == "function"]  # type: ignore[union-attr]
    names = [match.name for match in some]  # type: ignore[union-attr]
    queries = [*names[:60], *(name[:9] for name in names[60:90]), *(" ".join(name.split("_")[:2]) for name in names[90:120]), "CacheQueue", "nothing_like_it"]
    selectors = [match.selector for match in some]  # type: ignore[union-attr]
    assert p95(large.search, queries) < 5
    assert p95(large.refs, selectors) < 10
    assert p95(large.callees, selectors) < 10
