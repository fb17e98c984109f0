"""Decisions (ADRs) kept as files in git: written under rules, found fast, checked against the code they govern."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any, TypeVar

import msgspec

from orbit.adr import exchange, governing, lifecycle, lint, listing, migrate, render, renumber, threads
from orbit.adr.store import Code, Place, Store
from orbit.errors import UsageError

__all__ = ["AdrStore", "Code", "Place"]

Answer = TypeVar("Answer", bound=msgspec.Struct)


def _method(function: Callable[[Any, Any], Answer], *positional: str) -> Callable[..., Answer]:
    """A question of the room as a method: the first arguments by place, all by the names of the fields of its params."""
    params: type[msgspec.Struct] = function.__globals__[function.__annotations__["ask"]]
    named = [name for name in params.__struct_fields__ if name not in positional]
    places = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in positional]
    signature = Signature([*places, *(Parameter(name, Parameter.KEYWORD_ONLY) for name in named)])

    def ask(self: AdrStore, *values: Any, **given: Any) -> Answer:
        try:
            asked = msgspec.convert(signature.bind_partial(*values, **given).arguments, params, strict=True)
        except msgspec.ValidationError as error:
            raise UsageError(str(error)) from None
        return function(self, asked)

    ask.__doc__ = function.__doc__ or params.__doc__
    return ask


class AdrStore(Store):
    """The decisions of one worktree: the public Python API. Arguments are the fields of the params structs, results the answer structs."""

    add = _method(lifecycle.add)
    update = _method(lifecycle.update, "id")
    supersede = _method(lifecycle.supersede, "old_id", "new_id")
    show = _method(listing.show, "id")
    list = _method(listing.list_adrs)
    search = _method(listing.search, "query")
    thread_add = _method(threads.add_thread, "id", "body")
    thread_list = _method(threads.list_threads, "id")
    thread_reply = _method(threads.reply_thread, "id", "thread_id", "body")
    thread_resolve = _method(threads.resolve_thread, "id", "thread_id")
    lint = _method(lint.lint)
    decisions_for = _method(governing.decisions_for, "target")
    renumber = _method(renumber.renumber, "old_id", "new_id")
    migrate = _method(migrate.migrate, "docs")
    import_folder = _method(exchange.import_folder, "folder")
    export_folder = _method(exchange.export_folder, "folder")
    render = _method(render.render)

    def governing(self, path: str, *, selector: str | None = None, place: Place | None = None) -> Sequence[governing.Governing]:
        """What governs a path, for a caller that knows the file, and for a symbol its lines."""
        return governing.governing(self, path, selector=selector, place=place)
