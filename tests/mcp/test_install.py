"""One entry goes into a client's configuration and comes out again; everything else stays byte for byte."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from desk import ORBIT

from orbit.config import Workspace
from orbit.errors import NotFoundError, RefusedError
from orbit.mcp.install import find_place, install, uninstall

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLIENTS = ("claude", "codex", "cursor", "vscode")
JSON_TEXTS = [
    "{}",
    "{ }\n",
    '{"mcpServers": {}}',
    '{\n  "mcpServers": {\n  }\n}\n',
    '{\n\t"other": [1, {"a": "}"}],\n\t"mcpServers": {\n\t\t"x": {"command": "y"}\n\t}\n}',
    '{\r\n    "mcpServers": {\r\n        "x": {}\r\n    },\r\n    "z": "\\u00e9 // no comment"\r\n}\r\n',
    '// first\n{\n  /* { */\n  "mcpServers": {\n    "x": {}, // last\n  },\n}\n',
    '\ufeff{"servers": {"a": {"b": [1,2,[]]}}, "mcpServers": {"q": null}}',
]
TOML_TEXTS = ["", 'model = "x"\n', 'model = "x"', '# c\n\n[mcp_servers.other]\ncommand = "a"\n\n[last]\nx = [\n  1,\n]\n', 'a = 1\r\n[b]\r\nc = "é"\r\n']


@pytest.fixture(autouse=True)
def _home(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))


def place_of(root: Path, client: str) -> Path:
    return find_place(Workspace(root), client).path


def entry_in(root: Path, client: str) -> Any:
    text = place_of(root, client).read_text(encoding="utf-8")
    return tomllib.loads(text)["mcp_servers"]["orbit"] if client == "codex" else json.loads(text)["servers" if client == "vscode" else "mcpServers"]["orbit"]


@pytest.mark.parametrize("client", CLIENTS)
def test_where_there_is_no_file_one_is_made_and_removed_again(repository: Path, client: str) -> None:
    path = place_of(repository, client)
    had_folder = path.parent.exists()
    answer = install(repository, client)
    assert (answer.changed, answer.written) == (True, True)
    assert entry_in(repository, client)["args"][0] == "mcp"
    assert not install(repository, client).changed
    uninstall(repository, client)
    assert not path.exists()
    assert path.parent.exists() == had_folder


def test_the_entry_is_what_each_client_reads(repository: Path) -> None:
    for client in CLIENTS:
        install(repository, client)
    there = ["mcp", "--root", "${workspaceFolder}"]
    assert {client: entry_in(repository, client) for client in CLIENTS} == {
        "claude": {"type": "stdio", "command": "orbit", "args": ["mcp"]},
        "codex": {"command": "orbit", "args": ["mcp"]},
        "cursor": {"type": "stdio", "command": "orbit", "args": there},
        "vscode": {"type": "stdio", "command": "orbit", "args": there},
    }


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude", '{\n  "mcpServers": {\n    "x": {} // kept\n  }\n}\n'),
        ("claude", '{\r\n  "mcpServers": {\r\n    "x": {}, /* kept */\r\n  },\r\n}\r\n'),
        ("vscode", '{"servers": {"x": {"a": [1]}}, "inputs": []}'),
        ("codex", 'a = 1\r\n\r\n[mcp_servers.x]\r\ncommand = "y"\r\n'),
    ],
)
def test_without_a_memory_of_it_the_entry_is_taken_out_to_the_byte(repository: Path, client: str, text: str) -> None:
    path = place_of(repository, client)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    install(repository, client)
    shutil.rmtree(repository / ".orbit" / "state" / "mcp")
    uninstall(repository, client)
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("client", "before", "after"),
    [
        ("codex", "a = 1\r\n", "\r\n# of later\r\n[later]\r\nx = 1\r\n"),
        ("codex", "", "\n[later]\n"),
        ("claude", '{"mcpServers": {"x": 1, // of x\n', ' /* of y */ "y": 2}}'),
        ("claude", '{"mcpServers": {/* first */', '"y": 2}}'),
        ("claude", '{"mcpServers": {"x": 1', "\n}}"),
    ],
)
def test_what_was_written_around_the_entry_stays(repository: Path, client: str, before: str, after: str) -> None:
    entry = '[mcp_servers.orbit]\ncommand = "orbit"\nargs = [\n  "mcp",\n]\n' if client == "codex" else '"orbit": {"command": "orbit"}'
    path, newline = place_of(repository, client), "\r\n" if "\r\n" in before else "\n"
    path.parent.mkdir(exist_ok=True)
    if client == "claude":
        entry = f", {entry}" if before.endswith("1") else f"{entry}," if after.endswith("2}}") else entry
    path.write_bytes((before + entry.replace("\n", newline) + after).encode())
    uninstall(repository, client)
    assert path.read_bytes() == (before.rstrip("\n") if client == "claude" else before).encode() + after.encode()


def test_an_entry_is_taken_out_with_the_tables_inside_it_or_not_at_all(repository: Path) -> None:
    path = place_of(repository, "codex")
    path.parent.mkdir()
    path.write_text('[mcp_servers.orbit]\ncommand = "orbit"\n\n[mcp_servers.orbit.env]\nA = "b"\n\n[mcp_servers.orbital]\n', encoding="utf-8")
    uninstall(repository, "codex")
    assert path.read_text(encoding="utf-8") == "\n[mcp_servers.orbital]\n"
    path.write_text('mcp_servers = {orbit = {command = "orbit"}}\n', encoding="utf-8")
    with pytest.raises(RefusedError):
        uninstall(repository, "codex")


@pytest.mark.parametrize("text", JSON_TEXTS)
@pytest.mark.parametrize("client", ["claude", "cursor", "vscode"])
def test_a_json_file_gets_one_entry_and_is_restored_to_the_byte(repository: Path, client: str, text: str) -> None:
    path = place_of(repository, client)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(0o600)
    install(repository, client)
    after = path.read_bytes().decode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert _is_with_something_put_in(text, after)
    if "/" not in text and not text.startswith("\ufeff"):
        before, now = json.loads(text), json.loads(after)
        section = now["servers" if client == "vscode" else "mcpServers"]
        assert section.pop("orbit")["command"] == "orbit"
        assert {key: value for key, value in now.items() if value} == {key: value for key, value in before.items() if value}
    uninstall(repository, client)
    assert path.read_bytes() == text.encode()


def _is_with_something_put_in(text: str, after: str) -> bool:
    """Is `after` the text with one piece more, and at most spaces less in an empty object?"""
    start = next((at for at, (one, other) in enumerate(zip(text, after, strict=False)) if one != other), len(text))
    rest = text[start:].lstrip()
    return after.endswith((rest, text[start:]))


@pytest.mark.parametrize("text", TOML_TEXTS)
def test_a_toml_file_gets_one_table_and_is_restored_to_the_byte(repository: Path, text: str) -> None:
    path = place_of(repository, "codex")
    path.parent.mkdir()
    path.write_bytes(text.encode())
    install(repository, "codex")
    after = path.read_bytes().decode()
    assert after.startswith(text)
    assert tomllib.loads(after)["mcp_servers"]["orbit"] == {"command": "orbit", "args": ["mcp"]}
    uninstall(repository, "codex")
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("client", CLIENTS)
def test_after_other_edits_only_the_entry_is_taken_out(repository: Path, client: str) -> None:
    install(repository, client)
    path = place_of(repository, client)
    text = path.read_text(encoding="utf-8")
    if client == "codex":
        path.write_text(text + '\n[later]\nx = 1\n', encoding="utf-8")
    else:
        held = json.loads(text)
        held["later"] = 1
        path.write_text(json.dumps(held), encoding="utf-8")
    uninstall(repository, client)
    left = path.read_text(encoding="utf-8")
    assert "later" in left
    assert "orbit" not in left


@pytest.mark.parametrize("client", CLIENTS)
def test_a_dry_run_shows_the_difference_and_writes_nothing(repository: Path, client: str) -> None:
    for verb in ("install", "uninstall"):
        path = place_of(repository, client)
        before = path.read_bytes() if path.exists() else None
        done = subprocess.run([ORBIT, "mcp", verb, "--client", client, "--dry-run", "--root", str(repository)], capture_output=True, text=True, check=True)
        assert ("+" if verb == "install" else "-") in done.stdout
        assert "not written" in done.stdout
        assert (path.read_bytes() if path.exists() else None) == before
        install(repository, client)


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 3}', '{"a" 1}', "{} {}", '{"mcpServers": {"orbit": {"command": "mine"}}}'])
def test_a_file_that_cannot_be_added_to_is_left_alone(repository: Path, text: str) -> None:
    path = place_of(repository, "claude")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RefusedError):
        install(repository, "claude")
    assert path.read_text(encoding="utf-8") == text


def test_what_is_not_there_cannot_be_taken_out(repository: Path) -> None:
    with pytest.raises(NotFoundError):
        uninstall(repository, "claude")
