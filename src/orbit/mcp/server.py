"""The MCP server: carries operations over stdio. One worktree, fixed at the start; ends when its client goes away. Nothing but protocol on stdout."""

from __future__ import annotations

import asyncio
import copy
import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import mcp_types as types
import msgspec
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from orbit.errors import NotFoundError, OrbitError, RefusedError
from orbit.mcp.results import error_body, fit
from orbit.mcp.tools import DEFAULT_PROFILE, Tool, choose
from orbit.operations import Session, perform

PATIENCE_SECONDS = 45.0  # clients give up on a call after 60 s; a sync that takes longer goes on without its caller
REPORT_SECONDS = 0.5
READERS, WAITERS = 4, 8  # threads for questions, and for calls that wait for a sync: waiting takes no reader away
SCHEMAS = "orbit://schema/"
STAGES = {"scan": 0.0, "extract": 0.0, "resolve": 50.0}  # percent done when a stage begins; each takes half


def serve(root: Path | None = None, profile: str = DEFAULT_PROFILE, watch_ms: int = 250) -> None:
    """Answer one client on stdin and stdout until it goes away."""
    session = Session(root, watch_ms)
    service = Service(session, choose(profile))
    try:
        asyncio.run(service.run())
    except Exception as error:
        if not _is_farewell(error):
            raise
    finally:
        service.close()


def instructions(listed: Sequence[str]) -> str:
    """What a client with these tools is told at the start."""
    lines = files("orbit.mcp").joinpath("instructions.md").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("- ") or line.split()[-1] in listed)


class Service:
    """What the server does on each request."""

    def __init__(self, session: Session, tools: dict[str, Tool]) -> None:
        self.session, self.tools = session, tools
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="orbit-read")
        self._waiters = ThreadPoolExecutor(WAITERS, thread_name_prefix="orbit-wait")
        if any(tool.room == "graph" for tool in tools.values()):
            _ = session.graph  # begins to watch, and to sync, before the first question comes

    def close(self) -> None:
        self.session.close()
        for pool in (self._readers, self._waiters):
            pool.shutdown(wait=False, cancel_futures=True)

    async def run(self) -> None:
        """The SDK's server with these tools, on stdin and stdout."""
        server: Server[Any] = Server(
            "orbit",
            version=version("orbit-native"),
            instructions=instructions(list(self.tools)),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_schema,
        )
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    async def list_tools(self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": [tool.advertised() for tool in self.tools.values()]})

    async def list_resources(self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """None but those of the template. A server that did not list them would not be known to have any."""
        return types.ListResourcesResult(resources=[])

    async def list_templates(self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(uri_template=f"{SCHEMAS}{{tool}}", name="schema", description="The whole JSON Schema of a tool's answer.")
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_schema(self, context: ServerRequestContext[Any], params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        tool = self.tools.get(str(params.uri).removeprefix(SCHEMAS))
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"no resource {params.uri}; there is {SCHEMAS}<tool> for {', '.join(self.tools)}")
        text = msgspec.json.encode(tool.full_schema()).decode()
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, mime_type="application/schema+json", text=text)])

    async def call_tool(self, context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        body, is_error = await self._call(context, params.name, params.arguments or {})
        text = msgspec.json.encode(body).decode()
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=body, is_error=is_error)

    async def _call(self, context: ServerRequestContext[Any], name: str, given: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        call = _Call()
        try:
            tool = self.tools.get(name)
            if tool is None:
                raise NotFoundError(f"no tool {name!r}", hint=f"call one of {', '.join(self.tools)}", code="unknown-tool")
            asked, is_sized = tool.read(given, str(self.session.workspace.root))
            pool = self._waiters if tool.operation == "graph.sync" else self._readers
            body = msgspec.to_builtins(await self._perform(context, pool, call, tool.operation, asked))
            if not is_sized:
                fit(body)
            return body, False
        except OrbitError as error:
            return error_body(error, list(self.tools)), True
        except Exception as error:  # what no operation foresaw is an answer, too: the client learns what it was, the log where
            logging.getLogger("orbit.mcp").exception("%s failed", name)
            failure = OrbitError(f"{name} failed: {type(error).__name__}: {error}", hint="check the parameters; the server's log has more")
            return error_body(failure, list(self.tools)), True
        finally:
            call.is_over = True

    async def _perform(self, context: ServerRequestContext[Any], pool: ThreadPoolExecutor, call: _Call, operation: str, asked: dict[str, Any]) -> Any:
        """Run an operation in a thread; meanwhile, tell the client how far it has come."""
        view = copy.copy(self.session)  # the same handles, a progress report of its own
        view.progress = call.note
        work = asyncio.get_running_loop().run_in_executor(pool, perform, view, operation, asked)
        while True:
            done, _ = await asyncio.wait({work}, timeout=REPORT_SECONDS)
            if done:
                return work.result()
            await context.session.report_progress(call.percent(), 100.0, call.said)


class _Call:
    """One call while it runs. `note` is called in a thread; it ends the waiting once nobody waits any more."""

    def __init__(self) -> None:
        self.is_over = False
        self.said = "waiting"
        self._percent = self._reported = 0.0
        self._ends = time.monotonic() + PATIENCE_SECONDS

    def note(self, stage: str, done: int, of: int) -> None:
        self.said = f"{stage} {done} of {of}" if of else stage
        self._percent = STAGES.get(stage, 0.0) + (50.0 * done / of if of else 0.0)
        if self.is_over:
            raise RefusedError("the call was cancelled", code="cancelled")
        if time.monotonic() > self._ends:
            hint = "call orbit_graph_sync again to go on waiting"
            raise RefusedError(f"the sync is still running ({self.said})", hint=hint, code="indexing")

    def percent(self) -> float:
        """Always more than the last time, as the protocol wants it, and less than all."""
        self._reported = max(self._percent, self._reported + (100.0 - self._reported) / 1000)
        return self._reported


def _is_farewell(error: BaseException) -> bool:
    """Did the client close the pipe on us?"""
    inner = getattr(error, "exceptions", None)
    return all(_is_farewell(part) for part in inner) if inner else isinstance(error, BrokenPipeError | ConnectionError)
