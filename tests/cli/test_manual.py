"""No command is undocumented."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from orbit.cli.app import GROUPS
from orbit.operations import ROOMS, room

TOP = Path(__file__).resolve().parents[2]
SCRIPT = TOP / ".ci" / "manual.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="away from the source tree")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("manual", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_commands_say(script: ModuleType) -> None:
    assert (TOP / "docs/cli.md").read_text(encoding="utf-8") == script.manual(), "run python .ci/manual.py"


def test_every_command_and_option_says_what_it_is_for(script: ModuleType) -> None:
    from typer.main import get_command

    for path, command in script.leaves(get_command(script.app), ("orbit",)):
        assert command.help, path
        assert [param.name for param in command.params if param.name != "help" and not getattr(param, "help", None)] == [], path


def test_every_operation_of_the_graph_has_a_command_and_an_example(script: ModuleType) -> None:
    assert set(ROOMS) <= set(GROUPS)
    page = script.manual()
    for name, operation in room("graph").items():
        assert f"`orbit {'init' if name == 'graph.init' else name.replace('.', ' ')}" in page
        assert operation.examples, name
