"""The decisions of one worktree: the public Python API. Arguments are the fields of the params structs, results the answer structs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from orbit.adr import exchange, governing, lifecycle, lint, listing, migrate, render, renumber, threads
from orbit.adr.decision import ENVELOPE, Decision, read_decision
from orbit.adr.envelope import STATUSES, format_id, is_id
from orbit.adr.governing import Code, Place
from orbit.adr.index import Index
from orbit.adr.journal import Journal
from orbit.config import Workspace
from orbit.errors import AmbiguousError, IntegrityError, NotFoundError, UsageError

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


class ReindexAnswer(msgspec.Struct, kw_only=True):
    adrs: int
    path: str


class AdrStore:
    """`.orbit/adrs` of a worktree. Cheap to make; opens its index on the first question.

    `code` is whoever can tell where symbols are; without it, anchors are checked as far as their files.
    """

    def __init__(self, root: Path | str | Workspace | None = None, code: Code | None = None) -> None:
        self.workspace = root if isinstance(root, Workspace) else Workspace.find(Path(root) if root is not None else None)
        self.home = self.workspace.state / "adrs"
        self.journal = Journal(self.workspace)
        self.index = Index(self.home, self.journal)
        self.code = code

    def close(self) -> None:
        self.index.close()

    def __enter__(self) -> AdrStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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

    def reindex(self) -> ReindexAnswer:
        """Build the index again from the files."""
        return ReindexAnswer(adrs=self.index.rebuild(), path=".orbit/adrs/index.sqlite")

    def folder_of(self, reference: str) -> str:
        """The folder `<status>/<ID>` of a decision named by its id, its number, or that folder."""
        self.journal.settle()
        status, _, name = reference.removeprefix(".orbit/adrs/").rstrip("/").rpartition("/")
        adr_id = format_id(int(name)) if name.isascii() and name.isdigit() else name.upper()
        homes = [status] if status else sorted(STATUSES)
        found = [f"{home}/{adr_id}" for home in homes if is_id(adr_id) and home in STATUSES and (self.home / home / adr_id / ENVELOPE).exists()]
        if not found:
            hint = "`orbit adr list` shows what there is; for a number from before a migration use `--legacy-id`"
            raise NotFoundError(f"no decision {reference!r}", hint=hint)
        if len(found) > 1:
            raise AmbiguousError(adr_id, found)
        return found[0]

    def load(self, reference: str) -> Decision:
        """Both files of a decision, never halfway through somebody's change."""
        with suppress(IntegrityError, NotFoundError):  # perhaps it is being moved: look again when that is done
            decision = read_decision(self.home, self.folder_of(reference))
            if not decision.problems:
                return decision
        self.journal.settle()
        return read_decision(self.home, self.folder_of(reference))
