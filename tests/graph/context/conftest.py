"""A small worktree under git, with tests and decisions around one package."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orbit.graph import Graph

FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": '''\
"""Prices."""


def net(price: float) -> float:
    return price / 1.2


def gross(price: float) -> float:
    return price * 1.2


class Basket:
    def __init__(self) -> None:
        self.items: list[float] = []

    def total(self) -> float:
        return sum(gross(item) for item in self.items)
''',
    "shop/till.py": '''\
from shop.prices import Basket, net


def ring(basket: Basket) -> float:
    return net(basket.total())
''',
    "tests/test_prices.py": '''\
from shop.prices import Basket, gross


def test_gross():
    assert gross(1) > 1


class TestBasket:
    def test_total(self):
        assert Basket().total() == 0
''',
    "tests/test_till.py": '''\
from shop.prices import Basket
from shop.till import ring


def test_ring():
    assert ring(Basket()) == 0
''',
    "docs/words.md": "# Words\n\nA word with ```` four backticks.\n\n## More\n\nText.\n",
    "notes.xyz": "not indexed\n",
}

Commit = Callable[..., str]


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def commit(repository: Path, git: Callable[..., str]) -> Commit:
    """Writes files and commits them; returns the commit."""

    def run(message: str, files: dict[str, str] | None = None, cwd: Path = repository) -> str:
        write(cwd, files or {})
        git("add", "-A", cwd=cwd)
        git("commit", "-q", "--allow-empty", "-m", message, cwd=cwd)
        return git("rev-parse", "HEAD", cwd=cwd)

    return run


@pytest.fixture
def shop(repository: Path, commit: Commit) -> Path:
    commit("Open the shop [T20260101-1]", FILES)
    return repository


@pytest.fixture
def graph(shop: Path) -> Iterator[Graph]:
    with Graph.open(shop) as opened:
        opened.sync()
        yield opened
