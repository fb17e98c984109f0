"""What a client gets when it asks for something that is not there, not allowed, or not ready: a code, a sentence, and what to call next."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from desk import Desk

from orbit.mcp.tools import TOOLS, Tool, choose

GUIDE = Path(__file__).resolve().parent.parent.parent / "docs" / "agents.md"
OUTSIDE = "outside-the-worktree-0f3a"


CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("graph_refs", {"selector": "ParamTipe"}, "symbol-not-found", "ParamType"),
    ("graph_refs", {"selector": "zzzzzz"}, "symbol-not-found", "orbit_graph_sync"),
    ("graph_show", {"selector": "convert"}, "ambiguous", "candidates"),
    ("graph_show", {"selector": "file:click/nope.py"}, "file-not-found", ""),
    ("graph_show", {"selector": "module:clik"}, "module-not-found", "module:click"),
    ("graph_show", {"selector": "command:nothing"}, "command-not-found", ""),
    ("graph_deps", {"selector": "dir:nowhere"}, "folder-not-found", ""),
    ("graph_refs", {"selector": "dir:click"}, "invalid-input", "orbit_graph_overview dir:click"),
    ("graph_refs", {"selector": "click/"}, "invalid-input", "orbit_graph_overview dir:click"),
    ("graph_refs", {}, "invalid-input", "selector"),
    ("graph_refs", {"selector": "echo", "colour": "red"}, "invalid-input", "parameters of orbit_graph_refs: selector"),
    ("graph_refs", {"selector": ["echo", "run"]}, "invalid-input", "once for each"),
    ("graph_refs", {"selector": "echo", "kind": "friendship"}, "invalid-input", "kind: call, extends"),
    ("graph_refs", {"selector": "echo", "limit": -1}, "invalid-input", "parameters"),
    ("graph_refs", {"selector": {"a": 1}}, "invalid-input", "parameters"),
    ("graph_refs", {"selector": "function:echo"}, "selector-syntax", "symbol:<path>"),
    ("graph_search", {}, "invalid-input", "query"),
    ("graph_search", {"query": " "}, "invalid-input", "query"),
    ("graph_search", {"query": "echo", "lang": "cobol"}, "language-not-found", "python"),
    ("graph_impact", {}, "invalid-input", "orbit_graph_impact diff HEAD~1"),
    ("graph_impact", {"diff": "no-such-branch"}, "revision-not-found", "HEAD~1"),
    ("graph_impact", {"diff": "--output=stolen"}, "invalid-input", "HEAD~1"),
    ("graph_overview", {"workspace_path": "/"}, "invalid-input", "leave out"),
    ("graph_rename", {}, "unknown-tool", "orbit_graph_search"),
    ("adr_search", {"query": ""}, "invalid-input", "query"),
    ("adr_show", {"id": "ADR-9999"}, "not-found", ""),
    ("run_events", {"run": "nope"}, "not-found", ""),
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, make_real: Callable[[Path, str], Path]) -> Iterator[Desk]:
    """A client whose server has indexed a real repository."""
    with Desk(make_real(tmp_path_factory.mktemp("errors") / "work", "click"), "--tools", "all") as client:
        assert client.call("graph_sync")["files_indexed"] > 10
        yield client


@pytest.mark.parametrize(("tool", "sent", "code", "next_step"), CASES)
def test_an_error_has_a_code_and_says_what_to_do_next(desk: Desk, tool: str, sent: dict[str, Any], code: str, next_step: str) -> None:
    answer = desk.call(tool, **sent)
    error = answer.error
    assert error["code"] == code
    assert error["message"]
    assert next_step in error["hint"]
    assert not any(listed.replace("_", " ") in error["hint"] for listed in choose("all"))
    assert json.loads(answer.text) == answer


def test_every_code_of_the_guide_is_provoked() -> None:
    if not GUIDE.exists():
        pytest.skip("away from the source tree")
    rows = GUIDE.read_text(encoding="utf-8").partition("| code | meaning |")[2].partition("\n\n")[0]
    told = {code for row in rows.splitlines() for code in re.findall(r"`([a-z-]+)`", row.split("|")[1] if row.count("|") > 2 else "")}
    assert told == {code for _, _, code, _ in CASES} | {"indexing", "file-gone", "not-writable"}  # in tests of their own


def test_a_file_that_is_gone_is_said_to_be(real_repository: Path) -> None:
    with Desk(real_repository, "--debounce-ms", "60000") as client:
        client.call("graph_sync")
        (real_repository / "click/types.py").unlink()
        error = client.call("graph_show", selector="click.types.ParamType").error
        assert (error["code"], "orbit_graph_sync" in error["hint"]) == ("file-gone", True)


def test_a_graph_that_cannot_be_written_is_said_to_be(real_repository: Path) -> None:
    (real_repository / ".orbit").write_text("in the way", encoding="utf-8")
    with Desk(real_repository) as client:
        for tool, asked in (("graph_sync", {}), ("graph_search", {"query": "echo"})):
            error = client.call(tool, **asked).error
            assert (error["code"], "permissions" in error["hint"]) == ("not-writable", True)


def test_an_ambiguous_name_lists_selectors_that_work(desk: Desk) -> None:
    candidates = desk.call("graph_show", selector="get_usage").error["candidates"]
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
        "../{name}", "file:../{name}", "file:click/../../{name}", "{absolute}", "file:{absolute}", "dir:..", "dir:/", "symbol:../{name}#stolen",
        "symbol:{absolute}#stolen", "file:link.py", "file:linked/secret.py", "linked/secret.py", "symbol:link.py#stolen", "file:click/core.py\0{absolute}",
        "file:C:\\secret.py", "file:..\\{name}", "file:click/\udcff.py", "~/{name}", "file://{absolute}", "dir:linked", "stolen",
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.spellings and tool.operation not in ("adr.show", "run.events")], ids=lambda tool: tool.name)
def test_nothing_outside_the_worktree_is_read(desk: Desk, secret: Path, tool: Tool, template: str) -> None:
    asked = template.format(name=os.path.relpath(secret, desk.root.parent), absolute=secret).encode("utf-8", "replace").decode()
    answer = desk.call(tool.name, **{tool.spellings[0]: asked})
    assert OUTSIDE not in answer.text
    assert answer.is_error or tool.operation in ("graph.search", "adr.search", "adr.for") or answer["root"] is None, answer


@pytest.mark.parametrize("run", ["../../../secret", "/etc", "..", "a\0b", "linked"])
def test_a_run_is_looked_for_among_the_runs_only(desk: Desk, secret: Path, run: str) -> None:
    assert desk.call("run_events", run=run).is_error


@pytest.mark.parametrize("sent", [{"id": "../../x"}, {"id": "\0"}, {"id": 3}, {"id": ""}])
def test_a_decision_is_looked_for_among_the_decisions_only(desk: Desk, sent: dict[str, Any]) -> None:
    assert desk.call("adr_show", **sent).is_error
