"""Low-level events of an agent loop (sessions, model calls, tool calls): the sink beside the envelope. Bodies of messages are blobs."""

from __future__ import annotations

import msgspec


class LoopEvent(msgspec.Struct, kw_only=True, tag_field="event_kind"):
    session_id: str


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class SessionSpawn(LoopEvent, tag="session_spawn"):
    provider: str
    model: str
    task_id: str | None = None
    audit_tag: str | None = None


class SessionClose(LoopEvent, tag="session_close"):
    reason: str


class HttpRequest(LoopEvent, tag="http_request"):
    iteration: int
    provider: str
    model: str
    endpoint: str
    body_sha256: str | None = None


class HttpResponse(LoopEvent, tag="http_response"):
    iteration: int
    http_status: int
    stop_reason: str | None = None
    usage: Usage = Usage()
    body_sha256: str | None = None


class ToolCallRequested(LoopEvent, tag="tool_call_requested"):
    iteration: int
    tool_name: str
    tool_use_id: str
    input_sha256: str | None = None


class ToolCallResult(LoopEvent, tag="tool_call_result"):
    iteration: int
    tool_name: str
    tool_use_id: str
    outcome: str
    output_sha256: str | None = None
    duration_ms: int = 0


class IterationBoundary(LoopEvent, tag="iteration_boundary"):
    iteration: int
    continues: bool


class PolicyDenial(LoopEvent, tag="policy_denial"):
    tool_name: str
    reason: str


LOOP_EVENTS: dict[str, type[LoopEvent]] = {str(kind.__struct_config__.tag): kind for kind in LoopEvent.__subclasses__()}
