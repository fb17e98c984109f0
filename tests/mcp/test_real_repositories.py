"""The installed server on code that nobody wrote for a test: a clone of this repository, and installed packages."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from desk import ORBIT, Answer, Desk

from orbit.mcp.results import BUDGET_BYTES
from orbit.mcp.tools import TOOLS


class Subject(msgspec.Struct):
    """What to ask for in a repository."""

    type: str
    function: str
    file: str
    folder: str
    command: str

    def questions(self) -> dict[str, dict[str, Any]]:
        """For each tool what to ask."""
        last = self.type.rpartition(".")[2]
        return {
            "graph_sync": {},
            "graph_search": {"query": last},
            "graph_show": {"selector": self.type, "max_bytes": 65536},
            "graph_refs": {"selector": self.type},
            "graph_callees": {"selector": self.function},
            "graph_impact": {"selector": self.type},
            "graph_trace": {"command": self.command},
            "graph_overview": {"scope": f"dir:{self.folder}", "format": "full"},
            "graph_implementors": {"selector": self.type},
            "graph_deps": {"selector": f"dir:{self.folder}"},
            "adr_search": {"query": "one store"},
            "adr_show": {"id": "ADR-0001"},
            "adr_for": {"target": self.file},
            "run_events": {},
        }


SUBJECTS = {
    "own": Subject("orbit.errors.OrbitError", "orbit.operations.perform", "src/orbit/errors.py", "src/orbit", "watch"),
    "click": Subject("click.types.ParamType", "click.core.Command.invoke", "click/types.py", "click", "symbol:click/core.py#Command.invoke"),
    "pydantic": Subject(
        "pydantic.main.BaseModel", "pydantic.main.BaseModel.model_construct", "pydantic/main.py", "pydantic", "symbol:pydantic/main.py#model_construct"
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=list(SUBJECTS))
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, make_real: Callable[[Path, str], Path]) -> Iterator[tuple[Desk, Subject]]:
    name: str = request.param
    root, subject = make_real(tmp_path_factory.mktemp(name) / name, name), SUBJECTS[name]
    decision = ["adr", "add", "--title", "One store", "--owner", "ana", "--feature", "storage", "--path", subject.file]
    for arguments in ([*decision, "--root", str(root)], ["run", "exec", "--root", str(root), "--", "true"]):
        subprocess.run([ORBIT, *arguments], check=True, capture_output=True)
    with Desk(root, "--tools", "all") as client:
        assert client.call("graph_sync")["files_indexed"] > 10
        yield client, subject


def test_every_tool_has_a_question_here() -> None:
    assert {f"orbit_{name}" for name in SUBJECTS["own"].questions()} == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("tool", list(SUBJECTS["own"].questions()))
def test_an_answer_keeps_its_schemas_and_its_budget_and_is_that_of_the_command_line(real: tuple[Desk, Subject], tool: str) -> None:
    client, subject = real
    asked = subject.questions()[tool]
    answer = _checked(client, tool, asked)
    assert len(answer.text.encode()) <= BUDGET_BYTES or "max_bytes" in asked
    _check_says_something(tool, answer)
    if tool not in ("graph_sync", "adr_show"):  # one tells how long it took; of the other this repository has more than one
        room, _, verb = tool.partition("_")
        words = [word for name, value in asked.items() for word in ([str(value)] if name in _PLACES else [f"--{name.replace('_', '-')}", str(value)])]
        done = subprocess.run([ORBIT, room, verb, *words, "--root", str(client.root), "--json"], check=True, capture_output=True, text=True)
        assert answer == json.loads(done.stdout)


def _checked(client: Desk, tool: str, asked: dict[str, Any]) -> Answer:
    """An answer that keeps the schema declared for it, and the whole one."""
    listed = {one.name: one for one in client.do(client.session.list_tools()).tools}[f"orbit_{tool}"]
    full = json.loads(client.do(client.session.read_resource(f"orbit://schema/orbit_{tool}")).contents[0].text)
    answer = client.call(tool, **asked)
    assert not answer.is_error, answer
    jsonschema.validate(asked, listed.input_schema)
    for schema in (listed.output_schema, full):
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(dict(answer), schema)
    assert json.loads(answer.text) == answer
    return answer


_PLACES = ("query", "selector", "command", "scope", "id", "target")


def _check_says_something(tool: str, answer: Answer) -> None:
    lists = {
        "graph_search": "matches", "graph_refs": "refs", "graph_callees": "callees", "graph_impact": "touched", "graph_overview": "files",
        "graph_implementors": "implementors", "graph_deps": "imports", "adr_for": "adrs", "run_events": "events", "adr_search": "matches",
    }  # fmt: skip
    if tool in lists:
        assert answer[lists[tool]]
    if tool == "graph_trace":
        assert answer["root"]["children"]
    if tool.startswith("graph_") and tool != "graph_sync":
        assert answer["fresh"]


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("graph_search", {"query": "zzzzzz"}),
        ("graph_search", {"query": "file", "limit": 0}),
        ("graph_show", {"selector": "{file}", "max_bytes": 10, "decisions": True}),
        ("graph_refs", {"selector": "{file}", "confidence": "fuzzy"}),
        ("graph_impact", {"worktree": True}),
        ("graph_impact", {"diff": "HEAD"}),
        ("graph_impact", {"selector": "{file}", "decisions": True, "direction": "both"}),
        ("graph_trace", {"command": "no such command"}),
        ("graph_overview", {}),
        ("graph_implementors", {"selector": "{type}", "limit": 1}),
    ],
)
def test_an_odd_answer_keeps_its_schemas_too(real: tuple[Desk, Subject], tool: str, asked: dict[str, Any]) -> None:
    client, subject = real
    filled = {name: value.format(file=subject.file, type=subject.type) if isinstance(value, str) else value for name, value in asked.items()}
    assert len(_checked(client, tool, filled).text.encode()) <= BUDGET_BYTES


def test_a_stale_answer_keeps_its_schemas_too(real_repository: Path) -> None:
    with Desk(real_repository, "--debounce-ms", "60000") as client:
        client.call("graph_sync")
        for path in (real_repository / "click").glob("*.py"):
            path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        for tool, asked in SUBJECTS["click"].questions().items():
            if tool.startswith("graph_") and tool != "graph_sync":
                answer = _checked(client, tool, asked)
                assert not answer["fresh"], tool
                assert answer["stale_files"], tool
                assert len(answer.text.encode()) <= BUDGET_BYTES or "max_bytes" in asked


def test_a_declared_default_is_what_happens_without_it(real: tuple[Desk, Subject]) -> None:
    client, subject = real
    questions = {**subject.questions(), "graph_show": {"selector": f"file:{subject.file}"}}
    for listed in client.do(client.session.list_tools()).tools:
        declared = {name: found["default"] for name, found in listed.input_schema["properties"].items() if "default" in found}
        asked = questions[listed.name.removeprefix("orbit_")]
        if listed.name != "orbit_graph_sync":
            assert client.call(listed.name, **{**declared, **asked}) == client.call(listed.name, **asked), listed.name


def test_eight_requests_at_once_are_answered_as_one_by_one(real: tuple[Desk, Subject]) -> None:
    client, subject = real
    calls = [(tool, asked) for tool, asked in subject.questions().items() if tool != "graph_sync"][:8]
    assert client.call_all(calls) == [client.call(tool, **asked) for tool, asked in calls]


def test_a_symbol_is_found_by_all_the_names_agents_give_it(real: tuple[Desk, Subject]) -> None:
    client, subject = real
    name, file = subject.type.rpartition(".")[2], subject.file
    wanted = client.call("graph_show", selector=subject.type)["selector"]
    for asked in (
        {"selector": f"symbol:{file}#{name}"},
        {"selector": f"{file}#{name}"},
        {"selector": f"{file}::{name}"},
        {"path": file, "symbol": name},
        {"file": file, "name": name},
        {"symbol": [subject.type]},
        {"selector": wanted},
        {"selector": f"symbol:{client.root}/{file}#{name}"},
    ):
        assert client.call("graph_show", **asked).get("selector") == wanted, asked


def test_edits_of_real_code_end_with_the_graph_of_a_full_build(tmp_path: Path, real_repository: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=real_repository, check=True, capture_output=True)

    def digest(root: Path) -> str:
        done = subprocess.run([ORBIT, "graph", "digest", "--root", str(root), "--json"], check=True, capture_output=True, text=True)
        return str(json.loads(done.stdout)["digest"])

    def full_build(name: str) -> str:
        copy = tmp_path / name
        subprocess.run(["cp", "-r", str(real_repository), str(copy)], check=True)
        subprocess.run(["rm", "-rf", str(copy / ".orbit")], check=True)
        subprocess.run([ORBIT, "graph", "sync", "--root", str(copy)], check=True, capture_output=True)
        return digest(copy)

    with Desk(real_repository, "--debounce-ms", "50") as client:
        client.call("graph_sync")
        for path in sorted((real_repository / "click").glob("*.py")):
            path.rename(path.with_name(f"old_{path.name}"))
        assert client.call("graph_sync")["files_removed"] > 10
        assert digest(real_repository) == full_build("renamed")
        git("checkout", "-qb", "renamed")
        git("add", "-A")
        git("commit", "-qm", "renamed")
        git("checkout", "-q", "main")
        client.call("graph_sync")
        assert digest(real_repository) == full_build("switched")
        subprocess.run(["rm", "-rf", str(real_repository / "click")], check=True)
        assert client.call("graph_sync")["files_indexed"] == 0
        assert digest(real_repository) == full_build("removed")


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "most_ms"), [("graph_search", 15), ("graph_refs", 20)])
def test_a_warm_call_is_quick(real: tuple[Desk, Subject], tool: str, most_ms: float, record_property: Callable[[str, object], None]) -> None:
    """Wall time at the client, so this needs a machine that does nothing else."""
    client, subject = real
    took = []
    for _ in range(220):
        started = time.perf_counter()
        client.call(tool, **subject.questions()[tool])
        took.append((time.perf_counter() - started) * 1000)
    took = sorted(took[20:])
    record_property("ms", {"repository": client.root.name, "tool": tool, "median": took[100], "p95": took[190]})
    assert took[190] < most_ms
