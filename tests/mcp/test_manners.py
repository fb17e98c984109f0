"""How the server behaves as a process: leaves with its client, keeps stdout clean, survives nonsense, shares a worktree, stays within its budget."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from desk import ORBIT, Desk

BUDGET = 20_000
HELLO = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}  # fmt: skip

NONSENSE = (
    b"garbage\n", b"\n", b"{}\n", b"[]\n", b'{"jsonrpc":"2.0"\n', b"\xff\xfe\x00\n", b'{"jsonrpc":"2.0","id":7,"method":"no/such"}\n', b"x" * 100_000 + b"\n",
)  # fmt: skip


class Pipe:
    """A server at the end of two pipes, for what a well-behaved client would never send."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen([ORBIT, "mcp", "--root", str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self, number: int) -> Any:
        """The answer with this id; everything before it must be protocol, too."""
        assert self.process.stdout is not None
        while True:
            message = json.loads(self.process.stdout.readline())
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message

    def begin(self) -> None:
        self.send(HELLO)
        assert self.receive(0)["result"]["serverInfo"]["name"] == "orbit"
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, number: int, tool: str, **arguments: Any) -> Any:
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        return self.receive(number)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for end in (self.process.stdin, self.process.stdout):
            if end is not None:
                with contextlib.suppress(BrokenPipeError):
                    end.close()


@pytest.fixture
def pipe(real_repository: Path) -> Any:
    server = Pipe(real_repository)
    yield server
    server.close()


def test_garbage_on_stdin_is_answered_or_passed_over(pipe: Pipe) -> None:
    pipe.begin()
    for nonsense in NONSENSE:
        pipe.send(nonsense)
    pipe.send({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"arguments": 3}})
    assert "error" in pipe.receive(8)
    assert pipe.call(9, "orbit_graph_sync")["result"]["isError"] is False
    assert pipe.call(10, "orbit_graph_search", query="ParamType")["result"]["structuredContent"]["total"] > 0


def test_the_server_leaves_when_its_client_closes_the_pipe(pipe: Pipe) -> None:
    pipe.begin()
    assert pipe.process.stdin is not None
    pipe.process.stdin.close()
    assert pipe.process.wait(10) == 0


def test_the_server_leaves_when_nobody_reads_any_more(pipe: Pipe) -> None:
    pipe.begin()
    assert pipe.process.stdout is not None
    pipe.process.stdout.close()

    def sends_in_vain() -> bool:
        with contextlib.suppress(BrokenPipeError):
            pipe.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        return pipe.process.poll() is not None

    assert _until(sends_in_vain, 20)
    assert pipe.process.returncode == 0


def test_the_server_leaves_when_its_client_is_killed(real_repository: Path) -> None:
    program = f"""
import subprocess, sys, time
server = subprocess.Popen([{ORBIT!r}, "mcp", "--root", {str(real_repository)!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
print(server.pid, flush=True)
time.sleep(600)
"""
    client = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    server = int(client.stdout.readline())
    client.kill()
    client.wait()
    client.stdout.close()
    assert _until(lambda: not _is_alive(server), 20)


def test_the_server_leaves_in_the_middle_of_its_first_sync(tmp_path: Path, make_large: Callable[[Path, int], Path]) -> None:
    server = Pipe(make_large(tmp_path / "large", 300))
    try:
        server.begin()
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "orbit_graph_sync", "arguments": {"full": True}}})
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(10) == 0
    finally:
        server.close()


@pytest.fixture(scope="module")
def make_large(make_repository: Callable[[Path], Path]) -> Callable[[Path, int], Path]:
    """A repository with so many files more, each with a class and calls to all names of the one before."""

    def make(root: Path, count: int) -> Path:
        make_repository(root)
        (root / "many").mkdir()
        for number in range(count):
            body = "".join(f"    def method_{at}(self):\n        return target_{number}_{at}(shared_name(self.method_{at}))\n" for at in range(20))
            (root / "many" / f"file_{number}.py").write_text(f"from pkg.jobs import load\n\nclass Many_{number}:\n{body}", encoding="utf-8")
        callers = "".join(f"def caller_with_a_rather_long_name_{at}():\n    return load(None)\n\n\n" for at in range(300))
        (root / "callers.py").write_text(f"from pkg.jobs import load\n\n\n{callers}", encoding="utf-8")
        return root

    return make


def test_questions_before_the_first_index_say_so_and_sync_reports_progress(tmp_path: Path, make_large: Callable[[Path, int], Path]) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    with Desk(make_large(tmp_path / "large", 2000)) as client:
        early = client.call("graph_search", query="load")
        assert early.error["code"] == "indexing"
        assert "orbit_graph_sync" in early.error["hint"]
        assert client.call("graph_sync", progress=note)["files_indexed"] > 2000
        assert client.call("graph_search", query="load")["total"] > 0
        rising = [progress for progress, _, _ in seen]
        assert rising and rising == sorted(set(rising)) and all(total == 100 for _, total, _ in seen)
        _check_budgets(client)


def _check_budgets(client: Desk) -> None:
    for tool, asked in (
        ("graph_refs", {"selector": "pkg.jobs.load"}),
        ("graph_overview", {"format": "full"}),
        ("graph_show", {"selector": "file:callers.py"}),
        ("graph_search", {"query": "caller", "kind": "symbol"}),
        ("graph_callees", {"selector": "file:callers.py"}),
        ("graph_deps", {"selector": "dir:."}),
    ):
        answer = client.call(tool, **asked)
        assert not answer.is_error, answer
        assert len(answer.text.encode()) <= BUDGET, tool
        assert answer["truncated"], tool
    whole = client.call("graph_refs", selector="pkg.jobs.load", limit=10_000)
    assert len(whole["refs"]) == whole["total"] > 600
    assert not client.call("graph_show", selector="file:callers.py", max_bytes=100_000)["truncated"]


def test_a_cancelled_call_leaves_the_server_well(real_repository: Path) -> None:
    with Desk(real_repository) as client:
        before = client.call("graph_sync")

        async def abandon(tool: str, asked: dict[str, Any]) -> None:
            call = asyncio.ensure_future(client.session.call_tool(tool, asked))
            await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

        for _ in range(5):
            client.do(abandon("orbit_graph_sync", {"full": True}))
            client.do(abandon("orbit_graph_refs", {"selector": "ParamType"}))
        after = client.call("graph_sync")
        assert [after[name] for name in ("files_indexed", "symbols", "refs")] == [before[name] for name in ("files_indexed", "symbols", "refs")]
        assert client.call("graph_refs", selector="ParamType")["total"] > 10


def test_three_servers_on_one_worktree_agree(repository: Path) -> None:
    with Desk(repository) as first, Desk(repository) as second, Desk(repository) as third:
        clients = (first, second, third)
        for number in range(3):
            source = f"from pkg.jobs import load\n\n\ndef fresh_{number}():\n    return load(None)\n"
            (repository / "pkg" / f"new_{number}.py").write_text(source, encoding="utf-8")
            clients[number % 3].call("graph_sync")
            answers = [client.call("graph_refs", selector="pkg.jobs.load") for client in clients]
            assert answers[0] == answers[1] == answers[2]
            assert answers[0]["total"] == 5 + 2 * (number + 1)


def test_without_its_sdk_the_server_says_how_to_get_it(repository: Path, tmp_path: Path) -> None:
    hide = "import importlib.util as u, sys; find = u.find_spec; u.find_spec = lambda name, package=None: None if name in ({names}) else find(name, package)\n"
    for name, wanted in (("mcp", "orbit-native[mcp,watch]"), ("watchfiles", "orbit-native[watch]")):
        program = hide.format(names=f"{name!r},") + f"sys.argv = ['orbit', 'mcp', '--root', {str(repository)!r}]\nfrom orbit.cli import main\nmain()"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 6
        assert f"pip install '{wanted}'" in done.stderr
        assert done.stdout == ""


def test_an_unknown_tool_name_at_the_start_is_refused(repository: Path) -> None:
    done = subprocess.run([ORBIT, "mcp", "--tools", "grahp", "--root", str(repository)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 2
    assert "orbit_graph_search" in done.stderr


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(is_so: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
