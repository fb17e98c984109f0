"""An MCP client for tests: the SDK's own, over stdio, against the installed console script. Its loop runs in a thread, so tests stay plain functions."""

from __future__ import annotations

import asyncio
import os
import sysconfig
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TextIO

from mcp import ClientSession, StdioServerParameters, stdio_client

ORBIT = str(Path(sysconfig.get_path("scripts")) / ("orbit.exe" if os.name == "nt" else "orbit"))


class Answer(dict[str, Any]):
    """Structured content, and whether it is an error."""

    def __init__(self, result: Any) -> None:
        super().__init__(result.structured_content or {})
        self.is_error: bool = result.is_error
        self.text: str = result.content[0].text

    @property
    def error(self) -> dict[str, Any]:
        assert self.is_error, self
        found: dict[str, Any] = self["error"]
        return found


class Desk:
    """A client with one server; use as a context manager."""

    def __init__(self, root: Path, *options: str, stderr: TextIO | None = None, **environment: str) -> None:
        self.root, self.options, self.environment = root, options, {**os.environ, **environment}
        self.stderr = stderr
        self.loop = asyncio.new_event_loop()
        self.session: ClientSession
        self.hello: Any
        self._ready, self._leave = threading.Event(), asyncio.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._live())
        except BaseException as failure:
            self._failure = failure
        finally:
            self._ready.set()
            self.loop.close()

    async def _live(self) -> None:
        parameters = StdioServerParameters(command=ORBIT, args=["mcp", "--root", str(self.root), *self.options], env=self.environment)
        more = {} if self.stderr is None else {"errlog": self.stderr}
        async with stdio_client(parameters, **more) as (incoming, outgoing), ClientSession(incoming, outgoing) as self.session:
            self.hello = await self.session.initialize()
            self._ready.set()
            await self._leave.wait()

    def __enter__(self) -> Desk:
        self._thread.start()
        assert self._ready.wait(60)
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._leave.set)
        self._thread.join(20)

    def do(self, work: Coroutine[Any, Any, Any], timeout: float = 60) -> Any:
        """The result of a coroutine, run in the client's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)

    def call(self, tool: str, progress: Callable[..., Any] | None = None, **arguments: Any) -> Answer:
        name = tool if tool.startswith("orbit_") else f"orbit_{tool}"
        return Answer(self.do(self.session.call_tool(name, arguments, progress_callback=progress)))

    def call_all(self, calls: list[tuple[str, dict[str, Any]]]) -> list[Answer]:
        """All at the same time."""

        async def gathered() -> list[Any]:
            return await asyncio.gather(*(self.session.call_tool(f"orbit_{tool}", arguments) for tool, arguments in calls))

        return [Answer(result) for result in self.do(gathered())]
