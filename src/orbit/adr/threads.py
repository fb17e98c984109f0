"""Review threads of a decision, one YAML file each, beside it and moving with it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from orbit.adr.decision import THREADS
from orbit.adr.envelope import dump_yaml, load_yaml
from orbit.adr.journal import Change
from orbit.adr.lifecycle import AdrId
from orbit.audit import now
from orbit.config import actor
from orbit.errors import IntegrityError, NotFoundError, UsageError

if TYPE_CHECKING:
    from orbit.adr.store import AdrStore

ThreadId = Annotated[str, Meta(description="Thread id, as `thread list` shows it.", extra={"cli": {"argument": True}})]
Text = Annotated[str, Meta(description="What you have to say.")]


class Message(msgspec.Struct, kw_only=True):
    message_id: str
    at: str
    by: str
    body: str


class Thread(msgspec.Struct, kw_only=True):
    """A conversation about one decision, anchored to a line of a file or to the decision as a whole."""

    schema_version: int = 1
    thread_id: str
    adr_id: str
    status: Literal["open", "resolved"] = "open"
    path: str | None = None
    line: int | None = None
    created_at: str
    updated_at: str
    messages: list[Message]


class ThreadAddParams(msgspec.Struct, kw_only=True):
    id: AdrId
    body: Text
    path: Annotated[str | None, Meta(description="File it is about.")] = None
    line: Annotated[int, Meta(ge=1, description="Line of that file.")] | None = None


class ThreadListParams(msgspec.Struct, kw_only=True):
    id: AdrId
    status: Annotated[Literal["open", "resolved"] | None, Meta(description="Only these.")] = None


class ThreadResolveParams(msgspec.Struct, kw_only=True):
    id: AdrId
    thread_id: ThreadId


class ThreadReplyParams(ThreadResolveParams, kw_only=True):
    body: Text


class ThreadListAnswer(msgspec.Struct, kw_only=True):
    """Oldest first."""

    adr_id: str
    threads: list[Thread]
    total: int


def add_thread(store: AdrStore, ask: ThreadAddParams) -> Thread:
    if ask.line is not None and ask.path is None:
        raise UsageError("a line needs the --path of its file")
    with store.journal.locked():
        decision = store.load(ask.id)
        message = _message(ask.body)
        thread = Thread(
            thread_id="rt" + message.message_id[2:],
            adr_id=decision.envelope.id,
            path=ask.path,
            line=ask.line,
            created_at=message.at,
            updated_at=message.at,
            messages=[message],
        )
        _save(store, decision.folder, thread)
    return thread


def list_threads(store: AdrStore, ask: ThreadListParams) -> ThreadListAnswer:
    decision = store.load(ask.id)
    threads = [thread for thread in _threads(store, decision.folder) if ask.status in (None, thread.status)]
    return ThreadListAnswer(adr_id=decision.envelope.id, threads=threads, total=len(threads))


def reply_thread(store: AdrStore, ask: ThreadReplyParams) -> Thread:
    """A reply opens a resolved thread again."""
    with store.journal.locked():
        folder, thread = _find(store, ask.id, ask.thread_id)
        message = _message(ask.body)
        thread.messages.append(message)
        thread.status, thread.updated_at = "open", message.at
        _save(store, folder, thread)
    return thread


def resolve_thread(store: AdrStore, ask: ThreadResolveParams) -> Thread:
    with store.journal.locked():
        folder, thread = _find(store, ask.id, ask.thread_id)
        if thread.status == "open":
            thread.status, thread.updated_at = "resolved", now()
            _save(store, folder, thread)
    return thread


def count_threads(store: AdrStore, folder: str) -> dict[str, int]:
    states = [thread.status for thread in _threads(store, folder)]
    return {"open": states.count("open"), "resolved": states.count("resolved")}


def _message(body: str) -> Message:
    if not body.strip():
        raise UsageError("the message is empty")
    nanos = time.time_ns()
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(nanos // 1_000_000_000))
    return Message(message_id=f"rm-{stamp}-{nanos % 1_000_000_000:09d}", at=now(), by=actor(), body=body.strip() + "\n")


def _find(store: AdrStore, adr_id: str, thread_id: str) -> tuple[str, Thread]:
    decision = store.load(adr_id)
    threads = _threads(store, decision.folder)
    for thread in threads:
        if thread.thread_id == thread_id:
            return decision.folder, thread
    raise NotFoundError(
        f"{decision.envelope.id} has no thread {thread_id!r}",
        hint=f"`orbit adr thread list {decision.envelope.id}`",
        candidates=[thread.thread_id for thread in threads],
    )


def _threads(store: AdrStore, folder: str) -> list[Thread]:
    return [_read(path, store.journal.relative(path)) for path in sorted((store.home / folder / THREADS).glob("*.yaml"))]


def _read(path: Path, where: str) -> Thread:
    try:
        return msgspec.convert(load_yaml(path.read_text(encoding="utf-8"), where), Thread)
    except (msgspec.ValidationError, UnicodeDecodeError) as error:
        raise IntegrityError(f"{where}: {error}", hint="mend the file") from None


def _save(store: AdrStore, folder: str, thread: Thread) -> None:
    path = store.home / folder / THREADS / f"{thread.thread_id}.yaml"
    store.journal.commit(Change([store.journal.write_step(path, dump_yaml(msgspec.to_builtins(thread)))]))
