"""Operations on decisions: each row names the function of the adr room that does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orbit.adr import AdrStore, Place, exchange, governing, lifecycle, lint, listing, migrate, render, renumber, threads
from orbit.adr.store import ReindexAnswer
from orbit.errors import NotFoundError
from orbit.operations import Nothing, Operation, Session, operation

if TYPE_CHECKING:
    from orbit.graph import Graph


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


def _with_store(function: Callable[[AdrStore, Any], Any]) -> Callable[[Session, Any], Any]:
    def run(session: Session, ask: Any) -> Any:
        with AdrStore(session.workspace, code=GraphCode(session.graph) if session.graph.exists else None) as store:
            return function(store, ask)

    return run


def _asks(summary: str, function: Callable[[AdrStore, Any], Any], *examples: str) -> Operation:
    return operation(summary, function, _with_store(function), *examples)


def _writes(summary: str, function: Callable[[AdrStore, Any], Any], *examples: str) -> Operation:
    return operation(summary, function, _with_store(function), *examples, writes=True)


_ADD = 'orbit adr add --title "Keep decisions in git" --owner ana --feature storage --path "src/store/**"'
_ACCEPT = "orbit adr update ADR-0042 --status accepted --task T-17"
_SEARCH = "Decisions ranked by how well they match: by an installed embedder, else by full text; the answer says which."
_LINT = "Check the decisions, and every citation in documents and comments."
_RENUMBER = "Give a decision another number; links and citations follow."

OPERATIONS = {
    "adr.add": _writes("Propose a decision.", lifecycle.add, _ADD),
    "adr.show": _asks("One decision in full.", listing.show, "orbit adr show ADR-0042"),
    "adr.list": _asks("Decisions, newest first.", listing.list_adrs, "orbit adr list --status accepted --path src/store/writer.py"),
    "adr.update": _writes("Change a decision's fields, sections or status.", lifecycle.update, _ACCEPT, 'orbit adr update ADR-0042 --tag ""'),
    "adr.supersede": _writes("Replace a decision by an accepted one.", lifecycle.supersede, "orbit adr supersede ADR-0042 ADR-0051"),
    "adr.search": _asks(_SEARCH, listing.search, "orbit adr search sandbox --status accepted"),
    "adr.thread.add": _writes("Open a review thread on a decision.", threads.add_thread),
    "adr.thread.list": _asks("Review threads of a decision, oldest first.", threads.list_threads),
    "adr.thread.reply": _writes("Answer in a thread; opens a resolved one again.", threads.reply_thread),
    "adr.thread.resolve": _writes("Close a thread.", threads.resolve_thread),
    "adr.lint": _asks(_LINT, lint.lint, "orbit adr lint", "orbit adr lint --against origin/main"),
    "adr.for": _asks("Which decisions govern a path or symbol.", governing.decisions_for, "orbit adr for src/store/writer.py"),
    "adr.renumber": _writes(_RENUMBER, renumber.renumber, "orbit adr renumber ADR-0042 --against origin/main"),
    "adr.migrate": _writes("Take over a tree of <feature>/4_decisions.md pages.", migrate.migrate, "orbit adr migrate docs/design --dry-run"),
    "adr.import": _writes("Take over a folder of MADR or adr-tools files.", exchange.import_folder, "orbit adr import doc/adr"),
    "adr.export": _writes("Write decisions as MADR or adr-tools files.", exchange.export_folder, "orbit adr export out --format nygard"),
    "adr.render": _writes("Write decision pages, or one HTML page.", render.render, "orbit adr render --all --check", "orbit adr render --html decisions.html"),
    "adr.reindex": Operation("Build the index again from the files.", Nothing, ReindexAnswer, _with_store(lambda store, _: store.reindex()), read_only=False),
}
