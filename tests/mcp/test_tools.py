"""What the tools cost, which there are, and what they take for what is meant."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from desk import ORBIT, Desk

from orbit.mcp.tools import choose


@pytest.fixture(scope="module", autouse=True)
def _recorded(desk: Desk) -> None:
    decision = ["adr", "add", "--title", "One store", "--owner", "ana", "--feature", "storage", "--path", "pkg/store.py"]
    subprocess.run([ORBIT, *decision, "--root", str(desk.root)], check=True, capture_output=True)


def test_sync_says_what_it_did(desk: Desk) -> None:
    assert {"mode", "files_indexed", "files_changed", "files_removed", "symbols", "refs", "duration_ms", "db"} <= desk.call("graph_sync").keys()


def test_graph_tools_are_annotated_as_read_only(desk: Desk) -> None:
    assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in desk.do(desk.session.list_tools()).tools)


def test_the_default_profile_costs_at_most_1500_tokens(repository: Path) -> None:
    with Desk(repository) as client:
        listed = client.do(client.session.list_tools())
        assert [tool.name for tool in listed.tools] == list(choose("graph"))
        assert len(listed.model_dump_json(by_alias=True, exclude_unset=True)) <= 6000
        assert len(client.hello.instructions.split()) < 200


def test_the_server_says_that_it_has_resources_and_lists_their_template(desk: Desk) -> None:
    assert desk.hello.capabilities.resources is not None
    assert desk.do(desk.session.list_resources()).resources == []
    assert [one.uri_template for one in desk.do(desk.session.list_resource_templates()).resource_templates] == ["orbit://schema/{tool}"]


@pytest.mark.parametrize(
    ("profile", "names"),
    [
        ("adr", ["orbit_adr_search", "orbit_adr_show", "orbit_adr_for"]),
        ("run", ["orbit_run_events"]),
        ("graph_refs, orbit_graph_search", ["orbit_graph_search", "orbit_graph_refs"]),
        ("graph.show,run", ["orbit_graph_show", "orbit_run_events"]),
    ],
)
def test_a_profile_chooses_tools(profile: str, names: list[str]) -> None:
    assert list(choose(profile)) == names


@pytest.mark.parametrize(
    ("tool", "sent", "meant"),
    [
        ("graph_refs", {"symbol": "load"}, {"selector": "load"}),
        ("graph_refs", {"selector": ["load"]}, {"selector": "load"}),
        ("graph_refs", {"name": "load", "kind": "CALL", "limit": "5"}, {"selector": "load", "kind": "call", "limit": 5}),
        ("graph_refs", {"selector": "load", "confidence": "fuzzy_name", "kind": None}, {"selector": "load", "confidence": "fuzzy"}),
        ("graph_refs", {"name": "load", "kind": "calls", "top_k": 2}, {"selector": "load", "kind": "call", "limit": 2}),
        ("graph_refs", {"file": "pkg/jobs.py", "name": "load"}, {"selector": "symbol:pkg/jobs.py#load"}),
        ("graph_show", {"selector": "pkg/jobs.py::Base.run"}, {"selector": "symbol:pkg/jobs.py#Base.run"}),
        ("graph_show", {"selector": "store.py"}, {"selector": "file:pkg/store.py"}),
        ("graph_search", {"q": "load", "limit": 3.0}, {"query": "load", "limit": 3}),
        ("graph_search", {"query": ["load"], "kind": ["symbol"]}, {"query": "load", "kind": "symbol"}),
        ("graph_show", {"path": "pkg/jobs.py"}, {"selector": "file:pkg/jobs.py"}),
        ("graph_deps", {"path": "pkg/cli.py"}, {"selector": "file:pkg/cli.py"}),
        ("graph_overview", {"path": "pkg"}, {"scope": "dir:pkg"}),
        ("graph_overview", {"workspace_path": "."}, {}),
        ("adr_search", {"q": "store"}, {"query": "store"}),
        ("adr_for", {"path": "pkg/store.py"}, {"target": "pkg/store.py"}),
    ],
)
def test_what_agents_send_is_taken_as_meant(desk: Desk, tool: str, sent: dict[str, Any], meant: dict[str, Any]) -> None:
    answer = desk.call(tool, **sent)
    assert not answer.is_error, answer
    assert answer == desk.call(tool, **meant)


def test_the_guide_quotes_the_instructions_the_server_sends(desk: Desk) -> None:
    guide = Path(__file__).resolve().parent.parent.parent / "docs" / "agents.md"
    if not guide.exists():
        pytest.skip("away from the source tree")
    quoted = "\n".join(line.removeprefix(">").removeprefix(" ") for line in guide.read_text(encoding="utf-8").splitlines() if line.startswith(">"))
    assert quoted.strip() == desk.hello.instructions.strip()
