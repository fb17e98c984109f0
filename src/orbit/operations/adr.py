"""Operations on decisions: each row names the params, the answer and the function of the adr room that does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from orbit.adr import AdrStore, exchange, governing, lifecycle, lint, listing, migrate, render, renumber, threads
from orbit.adr.code import Place
from orbit.adr.envelope import Envelope
from orbit.adr.store import ReindexAnswer
from orbit.errors import NotFoundError
from orbit.operations import Operation, Session

if TYPE_CHECKING:
    from orbit.graph import Graph


class ReindexParams(msgspec.Struct, kw_only=True):
    """Nothing to say."""


class GraphCode:
    """Tells the decisions where in the code something is, by asking the graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def locate(self, selector: str) -> Place | None:
        try:
            found = self._graph.show(selector, max_bytes=1)
        except NotFoundError:
            return None
        return Place(found.path, *found.lines)


def _with_store(run: Callable[[AdrStore, Any], Any]) -> Callable[[Session, Any], Any]:
    def on_session(session: Session, ask: Any) -> Any:
        with AdrStore(session.workspace, code=GraphCode(session.graph) if session.graph.exists else None) as store:
            return run(store, ask)

    return on_session


def _row(
    summary: str, params: type[msgspec.Struct], answer: type[msgspec.Struct], run: Callable[[AdrStore, Any], Any], *examples: str, writes: bool = False
) -> Operation:
    return Operation(summary, params, answer, _with_store(run), read_only=not writes, examples=examples)


OPERATIONS = {
    "adr.add": _row(
        "Propose a decision.",
        lifecycle.AddParams,
        lifecycle.AddAnswer,
        lifecycle.add,
        'orbit adr add --title "Keep decisions in git" --owner ana --feature storage --path "src/store/**"',
        writes=True,
    ),
    "adr.show": _row("One decision in full.", listing.ShowParams, listing.ShowAnswer, listing.show, "orbit adr show ADR-0042"),
    "adr.list": _row(
        "Decisions, newest first.", listing.ListParams, listing.ListAnswer, listing.list_adrs, "orbit adr list --status accepted --path src/store/writer.py"
    ),
    "adr.update": _row(
        "Change a decision's fields, sections or status.",
        lifecycle.UpdateParams,
        Envelope,
        lifecycle.update,
        "orbit adr update ADR-0042 --status accepted --task T-17",
        'orbit adr update ADR-0042 --tag ""',
        writes=True,
    ),
    "adr.supersede": _row(
        "Replace a decision by an accepted one.",
        lifecycle.SupersedeParams,
        lifecycle.SupersedeAnswer,
        lifecycle.supersede,
        "orbit adr supersede ADR-0042 ADR-0051",
        writes=True,
    ),
    "adr.search": _row(
        "Decisions ranked by how well they match: by an installed embedder, else by full text; the answer says which.",
        listing.SearchParams,
        listing.SearchAnswer,
        listing.search,
        "orbit adr search sandbox --status accepted",
    ),
    "adr.thread.add": _row("Open a review thread on a decision.", threads.ThreadAddParams, threads.Thread, threads.add_thread, writes=True),
    "adr.thread.list": _row("Review threads of a decision, oldest first.", threads.ThreadListParams, threads.ThreadListAnswer, threads.list_threads),
    "adr.thread.reply": _row("Answer in a thread; opens a resolved one again.", threads.ThreadReplyParams, threads.Thread, threads.reply_thread, writes=True),
    "adr.thread.resolve": _row("Close a thread.", threads.ThreadResolveParams, threads.Thread, threads.resolve_thread, writes=True),
    "adr.lint": _row(
        "Check the decisions, and every citation in documents and comments.",
        lint.LintParams,
        lint.LintAnswer,
        lint.lint,
        "orbit adr lint",
        "orbit adr lint --against origin/main",
    ),
    "adr.for": _row(
        "Which decisions govern a path or symbol.", governing.ForParams, governing.ForAnswer, governing.decisions_for, "orbit adr for src/store/writer.py"
    ),
    "adr.renumber": _row(
        "Give a decision another number; links and citations follow.",
        renumber.RenumberParams,
        renumber.RenumberAnswer,
        renumber.renumber,
        "orbit adr renumber ADR-0042 --against origin/main",
        writes=True,
    ),
    "adr.migrate": _row(
        "Take over a tree of <feature>/4_decisions.md pages.",
        migrate.MigrateParams,
        migrate.MigrateAnswer,
        migrate.migrate,
        "orbit adr migrate docs/design --dry-run",
        writes=True,
    ),
    "adr.import": _row(
        "Take over a folder of MADR or adr-tools files.",
        exchange.ImportParams,
        exchange.ImportAnswer,
        exchange.import_folder,
        "orbit adr import doc/adr",
        writes=True,
    ),
    "adr.export": _row(
        "Write decisions as MADR or adr-tools files.",
        exchange.ExportParams,
        exchange.ExportAnswer,
        exchange.export_folder,
        "orbit adr export out --format nygard",
        writes=True,
    ),
    "adr.render": _row(
        "Write decision pages, or one HTML page.",
        render.RenderParams,
        render.RenderAnswer,
        render.render,
        "orbit adr render --all --check",
        "orbit adr render --html decisions.html",
        writes=True,
    ),
    "adr.reindex": _row("Build the index again from the files.", ReindexParams, ReindexAnswer, lambda store, _: store.reindex(), writes=True),
}
