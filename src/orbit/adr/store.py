"""The decisions of one worktree: the public Python API. Arguments are the fields of the params structs, results the answer structs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from orbit.adr import exchange, governing, lifecycle, lint, listing, migrate, render, renumber, threads
from orbit.adr.code import Code, Place
from orbit.adr.decision import ENVELOPE, Decision, read_decision
from orbit.adr.envelope import STATUSES, Envelope
from orbit.adr.ids import format_id, is_id
from orbit.adr.index import Index
from orbit.adr.journal import Journal
from orbit.config import Workspace
from orbit.errors import AmbiguousError, IntegrityError, NotFoundError, UsageError

Params = TypeVar("Params", bound=msgspec.Struct)


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

    def add(self, **given: Any) -> lifecycle.AddAnswer:
        """A new proposed decision: title, owner, related_features and what else `AddParams` has."""
        return lifecycle.add(self, _params(lifecycle.AddParams, given))

    def update(self, id: str, **given: Any) -> Envelope:
        """Change fields, sections or status; see `UpdateParams`."""
        return lifecycle.update(self, _params(lifecycle.UpdateParams, {"id": id, **given}))

    def supersede(self, old_id: str, new_id: str) -> lifecycle.SupersedeAnswer:
        """Retire `old_id` in favour of the accepted `new_id`; both sides or none."""
        return lifecycle.supersede(self, lifecycle.SupersedeParams(old_id=old_id, new_id=new_id))

    def show(self, id: str | None = None, *, legacy_id: str | None = None) -> listing.ShowAnswer:
        return listing.show(self, listing.ShowParams(id=id, legacy_id=legacy_id))

    def list(self, **given: Any) -> listing.ListAnswer:
        """Filters and limit as in `ListParams`."""
        return listing.list_adrs(self, _params(listing.ListParams, given))

    def search(self, query: str, **given: Any) -> listing.SearchAnswer:
        return listing.search(self, _params(listing.SearchParams, {"query": query, **given}))

    def thread_add(self, id: str, body: str, *, path: str | None = None, line: int | None = None) -> threads.Thread:
        return threads.add_thread(self, threads.ThreadAddParams(id=id, body=body, path=path, line=line))

    def thread_list(self, id: str, **given: Any) -> threads.ThreadListAnswer:
        return threads.list_threads(self, _params(threads.ThreadListParams, {"id": id, **given}))

    def thread_reply(self, id: str, thread_id: str, body: str) -> threads.Thread:
        return threads.reply_thread(self, threads.ThreadReplyParams(id=id, thread_id=thread_id, body=body))

    def thread_resolve(self, id: str, thread_id: str) -> threads.Thread:
        return threads.resolve_thread(self, threads.ThreadResolveParams(id=id, thread_id=thread_id))

    def lint(self, **given: Any) -> lint.LintAnswer:
        return lint.lint(self, _params(lint.LintParams, given))

    def decisions_for(self, target: str) -> governing.ForAnswer:
        """What governs a path or selector."""
        return governing.decisions_for(self, governing.ForParams(target=target))

    def governing(self, path: str, *, selector: str | None = None, place: Place | None = None) -> Sequence[governing.Governing]:
        """The same for a caller that knows the file, and for a symbol its lines."""
        return governing.governing(self, path, selector=selector, place=place)

    def renumber(self, old_id: str, new_id: str | None = None, *, against: str | None = None) -> renumber.RenumberAnswer:
        return renumber.renumber(self, renumber.RenumberParams(old_id=old_id, new_id=new_id, against=against))

    def migrate(self, docs: str, *, dry_run: bool = False) -> migrate.MigrateAnswer:
        return migrate.migrate(self, migrate.MigrateParams(docs=docs, dry_run=dry_run))

    def import_folder(self, folder: str, **given: Any) -> exchange.ImportAnswer:
        """Take over a MADR or adr-tools folder; see `ImportParams`."""
        return exchange.import_folder(self, _params(exchange.ImportParams, {"folder": folder, **given}))

    def export_folder(self, folder: str, **given: Any) -> exchange.ExportAnswer:
        return exchange.export_folder(self, _params(exchange.ExportParams, {"folder": folder, **given}))

    def render(self, **given: Any) -> render.RenderAnswer:
        return render.render(self, _params(render.RenderParams, given))

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
        try:
            decision = read_decision(self.home, self.folder_of(reference))
            if not decision.problems:
                return decision
        except (IntegrityError, NotFoundError):
            pass  # perhaps it is being moved: look again when that is done
        self.journal.settle()
        return read_decision(self.home, self.folder_of(reference))


def _params(kind: type[Params], given: dict[str, Any]) -> Params:
    try:
        return msgspec.convert(given, kind, strict=True)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from None
