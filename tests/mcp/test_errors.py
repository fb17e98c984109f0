"""What a client gets when it asks for something that is not there, not allowed, or not ready: a code, a sentence, and what to call next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from desk import Desk

from orbit.mcp.tools import choose

OUTSIDE = "outside-the-worktree-0f3a"


@pytest.mark.parametrize(
    ("tool", "sent", "code", "next_step"),
    [
        ("graph_refs", {"selector": "Nightli"}, "symbol-not-found", "Nightly"),
        ("graph_refs", {"selector": "zzzzzz"}, "symbol-not-found", "orbit_graph_sync"),
        ("graph_show", {"selector": "run"}, "ambiguous", "candidates"),
        ("graph_show", {"selector": "file:pkg/nope.py"}, "file-not-found", ""),
        ("graph_deps", {"selector": "dir:nowhere"}, "folder-not-found", ""),
        ("graph_refs", {"selector": "dir:pkg"}, "invalid-input", "orbit_graph_overview dir:pkg"),
        ("graph_refs", {}, "invalid-input", "selector"),
        ("graph_refs", {"selector": "load", "colour": "red"}, "invalid-input", "parameters of orbit_graph_refs: selector"),
        ("graph_refs", {"selector": ["load", "run"]}, "invalid-input", "once for each"),
        ("graph_refs", {"selector": "load", "kind": "friendship"}, "invalid-input", "parameters"),
        ("graph_refs", {"selector": "load", "limit": -1}, "invalid-input", "parameters"),
        ("graph_refs", {"selector": {"a": 1}}, "invalid-input", "parameters"),
        ("graph_refs", {"selector": "function:load"}, "selector-syntax", "symbol:<path>"),
        ("graph_overview", {"workspace_path": "/"}, "invalid-input", "leave out"),
        ("graph_rename", {}, "unknown-tool", "orbit_graph_search"),
        ("adr_show", {"id": "ADR-9999"}, "not-found", ""),
        ("run_events", {"run": "nope"}, "not-found", ""),
    ],
)
def test_an_error_has_a_code_and_says_what_to_do_next(desk: Desk, tool: str, sent: dict[str, Any], code: str, next_step: str) -> None:
    answer = desk.call(tool, **sent)
    error = answer.error
    assert error["code"] == code
    assert error["message"]
    assert next_step in error["hint"]
    assert not any(listed.replace("_", " ") in error["hint"] for listed in choose("all"))
    assert json.loads(answer.text) == answer


def test_an_ambiguous_name_lists_selectors_that_work(desk: Desk) -> None:
    candidates = desk.call("graph_show", selector="run").error["candidates"]
    assert len(candidates) == 2
    assert [desk.call("graph_show", selector=candidate)["selector"] for candidate in candidates] == candidates


@pytest.fixture
def secret(desk: Desk, tmp_path: Path) -> Iterator[Path]:
    """A file outside, with links to it and to its folder inside the worktree."""
    path = tmp_path / "secret.py"
    path.write_text(f"def stolen():\n    return {OUTSIDE!r}\n", encoding="utf-8")
    for name, target in (("link.py", path), ("linked", tmp_path)):
        if not (desk.root / name).is_symlink():
            os.symlink(target, desk.root / name)
    desk.call("graph_sync")
    yield path
    for name in ("link.py", "linked"):
        (desk.root / name).unlink()


@pytest.mark.parametrize(
    "template",
    [
        "../{name}", "file:../{name}", "file:pkg/../../{name}", "{absolute}", "file:{absolute}", "dir:..", "dir:/", "symbol:../{name}#stolen",
        "symbol:{absolute}#stolen", "file:link.py", "file:linked/secret.py", "linked/secret.py", "symbol:link.py#stolen", "file:pkg/jobs.py\0{absolute}",
        "file:C:\\secret.py", "file:..\\{name}", "file:pkg/\udcff.py", "~/{name}", "file://{absolute}", "dir:linked", "stolen",
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["graph_show", "graph_refs", "graph_callees", "graph_implementors", "graph_deps", "graph_overview", "adr_for"])
def test_nothing_outside_the_worktree_is_read(desk: Desk, secret: Path, tool: str, template: str) -> None:
    asked = template.format(name=os.path.relpath(secret, desk.root.parent), absolute=secret).encode("utf-8", "replace").decode()
    answer = desk.call(tool, selector=asked)
    assert OUTSIDE not in answer.text
    assert answer.is_error or tool == "adr_for", answer


@pytest.mark.parametrize("run", ["../../../secret", "/etc", "..", "a\0b", "linked"])
def test_a_run_is_looked_for_among_the_runs_only(desk: Desk, secret: Path, run: str) -> None:
    assert desk.call("run_events", run=run).is_error


@pytest.mark.parametrize("sent", [{"id": "../../x"}, {"id": "\0"}, {"id": 3}, {"id": ""}])
def test_a_decision_is_looked_for_among_the_decisions_only(desk: Desk, sent: dict[str, Any]) -> None:
    assert desk.call("adr_show", **sent).is_error
