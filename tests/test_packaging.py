"""The package as it is installed, and the settings that have to agree with each other."""

from __future__ import annotations

import sys
from importlib.metadata import distribution, entry_points
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TOP = Path(__file__).resolve().parent.parent


def settings() -> dict[str, Any]:
    return tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_development_environment_has_what_a_build_asks_for() -> None:
    project = settings()
    names = {requirement for requirement in project["build-system"]["requires"] if not requirement.startswith("pip")}
    assert names == {requirement for requirement in project["dependency-groups"]["build"] if not requirement.startswith("pip")}


def test_the_command_is_orbit() -> None:
    (script,) = (found for found in entry_points(group="console_scripts") if found.name == "orbit")
    assert script.value == "orbit.cli:main"


def test_both_packages_say_that_they_are_typed() -> None:
    import orbit
    import orbit_native

    for package in (orbit, orbit_native):
        assert package.__file__ is not None
        assert Path(package.__file__).with_name("py.typed").is_file()


@pytest.mark.parametrize("name", ["tree-sitter", "pydantic"])
def test_what_must_not_be_needed_at_run_time_is_not_required(name: str) -> None:
    required = [line for line in distribution("orbit-native").requires or [] if "extra ==" not in line]
    assert not [line for line in required if line.replace(">", " ").replace("=", " ").split()[0] == name]
