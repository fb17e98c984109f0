"""A small worktree with every form a question may meet, and a large one made by rule."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orbit.graph import Graph

FILES = {
    "pkg/__init__.py": "",
    "pkg/shapes.py": '''\
"""Shapes."""


class Shape:
    """What has an area."""

    def area(self) -> float:
        raise NotImplementedError


class Circle(Shape):
    def __init__(self, radius: float) -> None:
        self.radius = radius

    def area(self) -> float:
        return square(self.radius) * 3


class Box(Shape):
    def area(self) -> float:
        return square(2)


def square(value: float) -> float:
    return value * value


def parseHttpHeader(text: str) -> str:
    return text.strip()


def parse_header_line(text: str) -> str:
    return parseHttpHeader(text)
''',
    "pkg/app.py": '''\
from pkg.shapes import Circle, square
from pkg import shapes
import os


def total(radius: float) -> float:
    """The grand total."""
    circle = Circle(radius)
    return circle.area() + square(1) + shapes.square(2)


def report(thing, path):
    print("the total is printed here")
    thing.area()
    return os.path.join(path, "out")
''',
    "pkg/other.py": "def square(side):\n    return side\n",
    "tests/test_shapes.py": '''\
from pkg.shapes import square


def test_square():
    assert square(2) == 4


def square_twice(value):
    return square(square(value))
''',
    "web/view.ts": '''\
export interface Drawable { draw(): void }
export class Canvas implements Drawable { draw(): void { paint(1); } }
export function paint(level: number): number { return level; }
''',
    "settings.toml": '[server]\nretry_limit = 3\nname = "total"\n',
    "odd dir/we'ird_%.py": "def lonely():\n    return 1\n",
    "odd_dir/plain.py": "def lonelier():\n    return 1\n",
}
WORDS = (
    "get", "set", "load", "save", "parse", "render", "open", "close", "start", "stop", "user", "order", "item", "price", "cart", "token", "cache", "queue",
    "event", "route", "field", "value", "index", "node", "tree", "path", "file", "name", "list", "count", "state", "frame", "batch", "merge", "split",
    "check", "build", "match",
)  # fmt: skip


# Few words are in many names and many words in few, as in real code.
VOCABULARY = (*WORDS, *(first + second for first in ("ba", "di", "fo", "gu", "ke", "lo", "mi", "pa", "ru", "so", "te", "vu") for second in WORDS))
WEIGHTS = [20] * len(WORDS) + [2] * (len(VOCABULARY) - len(WORDS))


@pytest.fixture(scope="session")
def _small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("small")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", "-b", "main", "--template="], cwd=root, check=True)
    with Graph.open(root) as graph:
        graph.sync()
    return root


@pytest.fixture
def graph(_small: Path) -> Iterator[Graph]:
    """The synced small worktree; not to be changed."""
    with Graph.open(_small) as opened:
        yield opened


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Graph]:
    """A worktree of the test's own, synced."""
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", "-b", "main", "--template="], cwd=tmp_path, check=True)
    with Graph.open(tmp_path) as opened:
        opened.sync()
        yield opened


@pytest.fixture(scope="session")
def make_large() -> Callable[[Path, int, int], None]:
    """Writes so many Python files with so many functions each, which call each other by rule."""
    return write_large


def write_large(root: Path, files: int, functions: int) -> None:
    choose = random.Random(7)
    names: list[list[str]] = []
    (root / "service").mkdir(parents=True)
    (root / "service/__init__.py").touch()
    for number in range(files):
        folder = root / "service" / f"area_{number % 40:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
        mine = ["_".join([*choose.choices(VOCABULARY, WEIGHTS, k=3), str(at)]) for at in range(functions)]
        names.append(mine)
        lines = [f'"""Part {number}."""', "from service.area_00.part_0 import hub"] if number else ["def hub(value):", "    return value"]
        for known in sorted({choose.randrange(number) for _ in range(3)} if number else ()):
            lines.append(f"from service.area_{known % 40:02}.part_{known} import {names[known][0]}")
        lines.append(f"class {choose.choice(WORDS).title()}{choose.choice(WORDS).title()}{number}:")
        lines.append("    def get(self):\n        return hub(1)")
        for at, name in enumerate(mine):
            lines.append(f"def {name}(value, thing):\n    thing.get()\n    hub('{name} {choose.choice(WORDS)}')\n    return {mine[at - 1]}(value, thing)")
        (folder / f"part_{number}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
