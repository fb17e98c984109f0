"""The check of rooms finds what it is there to find."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / ".ci" / "rooms.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="away from the source tree")


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("rooms", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PACKAGE", tmp_path / "orbit")
    monkeypatch.setattr(module, "NATIVE", tmp_path / "orbit_native")
    return module


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("orbit/cli/graph.py", 'QUERY = "SELECT name FROM symbols"'),
        ("orbit/cli/graph.py", 'QUERY = f"INSERT OR REPLACE INTO files VALUES ({marks})"'),
        ("orbit/graph/languages/go.py", "from orbit_native import capture"),
        ("orbit/graph/languages/go.py", "import orbit_native.capture as capture"),
        ("orbit/graph/query/refs.py", "print(1)"),
        ("orbit/graph/index/sync.py", "import sys; sys.stderr.write('')"),
        ("orbit/graph/index/sync.py", "raise SystemExit(1)"),
        ("orbit/runs/writer.py", "import os; home = os.environ['HOME']"),
        ("orbit/runs/writer.py", "from orbit.adr.store import AdrStore"),
        ("orbit/graph/utils.py", ""),
        ("orbit_native/spans.pyx", "import msgspec"),
        ("orbit_native/spans.pyx", "from orbit.model import Symbol"),
        ("orbit_native/spans.pyx", "    cimport libc.stdlib, apsw"),
        ("orbit_native/spans.pyx", "text = open(path).read()"),
        ("orbit_native/spans.pyx", "import os"),
    ],
)
def test_a_line_in_the_wrong_room_is_found(rooms: ModuleType, tmp_path: Path, path: str, line: str) -> None:
    _write(tmp_path / path, line)
    assert len([*rooms.native_violations(), *rooms.python_violations()]) == 1


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("orbit/graph/store/writer.py", 'QUERY = "SELECT name FROM symbols"'),
        ("orbit/cli/graph.py", '"""SELECT is a word that may be explained."""'),
        ("orbit/cli/graph.py", 'HELP = "Select a symbol; update what changed"'),
        ("orbit/graph/index/extract.py", "from orbit_native import capture"),
        ("orbit/cli/output.py", "print(1)"),
        ("orbit/config.py", "import os; home = os.environ['HOME']"),
        ("orbit/runs/writer.py", "from orbit.adr import AdrStore"),
        ("orbit_native/hashing.pyx", "import os, stat"),
        ("orbit_native/spans.pyx", "from libc.stdlib cimport malloc"),
        ("orbit_native/spans.pyx", "import numpy as np"),
        ("orbit_native/spans.pyx", "# a path such as `self.store(db).open(x)`"),
    ],
)
def test_a_line_in_its_own_room_passes(rooms: ModuleType, tmp_path: Path, path: str, line: str) -> None:
    _write(tmp_path / path, line)
    assert [*rooms.native_violations(), *rooms.python_violations()] == []


def _write(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(line + "\n", encoding="utf-8")
