"""Review threads of a decision, one YAML file each, beside it and moving with it."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from orbit.adr.envelope import THREADS, dump_yaml, load_yaml
from orbit.adr.journal import Change
from orbit.adr.lifecycle import AdrId
from orbit.adr.store import Store
from orbit.audit import now
from orbit.config import actor
from orbit.errors import IntegrityError, NotFoundError, UsageError
from orbit.model import ARGUMENT

ThreadId = Annotated[str, Meta(description="Thread id, as `thread list` shows it.", extra=ARGUMENT)]
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


class ThreadAddParams(msgspec.Struct):
    id: AdrId
    body: Text
    path: Annotated[str | None, Meta(description="File it is about.")] = None
    line: Annotated[int, Meta(ge=1, description="Line of that file.")] | None = None


class ThreadListParams(msgspec.Struct):
    id: AdrId
    status: Annotated[Literal["open", "resolved"] | None, Meta(description="Only these.")] = None


class ThreadResolveParams(msgspec.Struct):
    id: AdrId
    thread_id: ThreadId


class ThreadReplyParams(ThreadResolveParams):
    body: Text


class ThreadListAnswer(msgspec.Struct, kw_only=True):
    """Oldest first."""

    adr_id: str
    threads: list[Thread]
    total: int


def add_thread(store: Store, ask: ThreadAddParams) -> Thread:
    if ask.line is not None and ask.path is None:
        raise UsageError("a line needs the --path of its file")
    with store.journal.locked():
        decision, message = store.load(ask.id), _message(ask.body)
        name, at = "rt" + message.message_id[2:], message.at
        thread = Thread(thread_id=name, adr_id=decision.envelope.id, path=ask.path, line=ask.line, created_at=at, updated_at=at, messages=[message])
        return _save(store, decision.folder, thread)


def list_threads(store: Store, ask: ThreadListParams) -> ThreadListAnswer:
    decision = store.load(ask.id)
    threads = [thread for thread in threads_in(store, decision.folder) if ask.status in (None, thread.status)]
    return ThreadListAnswer(adr_id=decision.envelope.id, threads=threads, total=len(threads))


def reply_thread(store: Store, ask: ThreadReplyParams) -> Thread:
    """A reply opens a resolved thread again."""
    with store.journal.locked():
        folder, thread = _find(store, ask)
        message = _message(ask.body)
        thread.messages.append(message)
        thread.status, thread.updated_at = "open", message.at
        return _save(store, folder, thread)


def resolve_thread(store: Store, ask: ThreadResolveParams) -> Thread:
    with store.journal.locked():
        folder, thread = _find(store, ask)
        if thread.status == "resolved":
            return thread
        thread.status, thread.updated_at = "resolved", now()
        return _save(store, folder, thread)


def threads_in(store: Store, folder: str) -> list[Thread]:
    found = []
    for path in sorted((store.home / folder / THREADS).glob("*.yaml")):
        where = store.journal.relative(path)
        try:
            found.append(msgspec.convert(load_yaml(path.read_text(encoding="utf-8"), where), Thread))
        except (msgspec.ValidationError, UnicodeDecodeError) as error:
            raise IntegrityError(f"{where}: {error}", hint="mend the file") from None
    return found


def _message(body: str) -> Message:
    if not body.strip():
        raise UsageError("the message is empty")
    nanos = time.time_ns()
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(nanos // 1_000_000_000))
    return Message(message_id=f"rm-{stamp}-{nanos % 1_000_000_000:09d}", at=now(), by=actor(), body=body.strip() + "\n")


def _find(store: Store, ask: ThreadResolveParams) -> tuple[str, Thread]:
    decision = store.load(ask.id)
    threads = {thread.thread_id: thread for thread in threads_in(store, decision.folder)}
    if ask.thread_id in threads:
        return decision.folder, threads[ask.thread_id]
    adr_id = decision.envelope.id
    raise NotFoundError(f"{adr_id} has no thread {ask.thread_id!r}", hint=f"`orbit adr thread list {adr_id}`", candidates=threads)


def _save(store: Store, folder: str, thread: Thread) -> Thread:
    path = store.home / folder / THREADS / f"{thread.thread_id}.yaml"
    store.journal.commit(Change([store.journal.write_step(path, dump_yaml(msgspec.to_builtins(thread)))]))
    return thread
