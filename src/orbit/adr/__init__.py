"""Decisions (ADRs) kept as files in git: written under rules, found fast, checked against the code they govern."""

from __future__ import annotations

from collections.abc import Sequence

from orbit.adr import exchange, governing, lifecycle, lint, listing, migrate, render, renumber, threads
from orbit.adr.store import Code, Place, Store
from orbit.asking import as_method

__all__ = ["AdrStore", "Code", "Place"]


class AdrStore(Store):
    """The decisions of one worktree: the public Python API. Arguments are the fields of the params structs, results the answer structs."""

    add = as_method(lifecycle.AddParams, lifecycle.add)
    update = as_method(lifecycle.UpdateParams, lifecycle.update)
    supersede = as_method(lifecycle.SupersedeParams, lifecycle.supersede)
    show = as_method(listing.ShowParams, listing.show)
    list = as_method(listing.ListParams, listing.list_adrs)
    search = as_method(listing.SearchParams, listing.search)
    thread_add = as_method(threads.ThreadAddParams, threads.add_thread)
    thread_list = as_method(threads.ThreadListParams, threads.list_threads)
    thread_reply = as_method(threads.ThreadReplyParams, threads.reply_thread)
    thread_resolve = as_method(threads.ThreadResolveParams, threads.resolve_thread)
    lint = as_method(lint.LintParams, lint.lint)
    decisions_for = as_method(governing.ForParams, governing.decisions_for)
    renumber = as_method(renumber.RenumberParams, renumber.renumber)
    migrate = as_method(migrate.MigrateParams, migrate.migrate)
    import_folder = as_method(exchange.ImportParams, exchange.import_folder)
    export_folder = as_method(exchange.ExportParams, exchange.export_folder)
    render = as_method(render.RenderParams, render.render)

    def governing(self, path: str, *, selector: str | None = None, place: Place | None = None) -> Sequence[governing.Governing]:
        """What governs a path, for a caller that knows the file, and for a symbol its lines."""
        return governing.governing(self, path, selector=selector, place=place)
