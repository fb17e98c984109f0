"""Questions about what is in the store: one decision in full, a filtered list, a ranked search."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from importlib.metadata import entry_points
from operator import mul
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

import msgspec
from msgspec import Meta

from orbit.adr.body import missing, sections
from orbit.adr.decision import Entry
from orbit.adr.envelope import Envelope
from orbit.adr.index import Filters, Index, LegacyId, full_time
from orbit.adr.threads import count_threads
from orbit.errors import AmbiguousError, NotFoundError, UsageError

if TYPE_CHECKING:
    from orbit.adr.store import AdrStore

GROUP = "orbit.embedders"
SNIPPET_CHARS = 280


class Embedder(Protocol):
    """What the entry point names: an object, or a class or function without arguments that gives one."""

    def embed(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """One vector per text, all of the same length."""


def embedder_search(index: Index, query: str, filters: Filters) -> tuple[list[tuple[Entry, float, str]] | None, str | None]:
    """Every match best first, or None and the reason if the embedder failed; (None, None) if there is none."""
    point = next(iter(sorted(entry_points(group=GROUP), key=lambda point: point.name)), None)
    if point is None:
        return None, None
    try:
        loaded = point.load()
        embedder: Embedder = loaded if hasattr(loaded, "embed") and not isinstance(loaded, type) else loaded()

        def embed(texts: list[str]) -> list[bytes]:
            return [_unit(vector).tobytes() for vector in embedder.embed(texts)]

        wanted = _unit(embedder.embed([query])[0])
        rows = index.vectors(f"{point.name}={point.value}", filters, embed)
    except Exception as error:  # somebody else's package: its failure must not take search away
        return None, f"embedder {point.name!r} failed ({type(error).__name__}: {error}); ranked by full text"
    scored = [(entry, _dot(wanted, array("f", vector)), _snippet(body)) for entry, vector, body in rows]
    return sorted(scored, key=lambda match: (-match[1], match[0].folder)), None


def _unit(vector: Sequence[float]) -> array[float]:
    length = sum(value * value for value in vector) ** 0.5 or 1.0
    return array("f", [value / length for value in vector])


def _dot(one: array[float], other: array[float]) -> float:
    return float(sum(map(mul, one, other)))


def _snippet(body: str) -> str:
    words = " ".join(line for line in body.split("\n") if not line.startswith("#"))
    return " ".join(words.split())[:SNIPPET_CHARS]


class ShowParams(msgspec.Struct, kw_only=True):
    id: Annotated[str | None, Meta(description="Id such as ADR-0042.", extra={"cli": {"argument": True}})] = None
    legacy_id: LegacyId = None


class ShowAnswer(Envelope, kw_only=True):
    """The envelope, and the body whole and by section."""

    path: str
    body: str
    sections: dict[str, str]
    threads: dict[str, int]
    warnings: list[str]


class ListParams(Filters, kw_only=True):
    limit: Annotated[int, Meta(ge=1, description="How many at most.")] = 40
    format: Annotated[Literal["table", "json", "md"], Meta(description="Text form; md is the decisions page in canonical order, in full.")] = "table"


class ListAnswer(msgspec.Struct, kw_only=True):
    """Newest number first. `unreadable` names folders whose envelope cannot be read."""

    adrs: list[Envelope]
    total: int
    truncated: bool
    unreadable: list[str]
    format: str = "table"
    page: str | None = None


class SearchParams(Filters, kw_only=True):
    query: Annotated[str, Meta(description="Words to look for.", extra={"cli": {"argument": True}})]
    limit: Annotated[int, Meta(ge=1, description="How many at most.")] = 10


class Match(msgspec.Struct, kw_only=True):
    id: str
    title: str
    status: str
    score: float
    snippet: str


class SearchAnswer(msgspec.Struct, kw_only=True):
    """`mode` says what ranked the matches; `note` why it was not the embedder that is installed."""

    mode: Literal["semantic", "fts"]
    matches: list[Match]
    total: int
    truncated: bool
    note: str | None = None


def show(store: AdrStore, ask: ShowParams) -> ShowAnswer:
    if (ask.id is None) == (ask.legacy_id is None):
        raise UsageError("name a decision by its id or by --legacy-id, one of the two")
    decision = store.load(ask.id if ask.id is not None else by_legacy_id(store, ask.legacy_id or ""))
    envelope = decision.envelope
    warnings = [*decision.problems, *(f"unknown field {name!r} in adr.yaml (kept)" for name in decision.unknown)]
    warnings += dict.fromkeys([*envelope.validation_warnings, *missing(decision.body)])
    return ShowAnswer(
        **msgspec.structs.asdict(envelope),
        path=store.journal.relative(store.home / decision.folder),
        body=decision.body,
        sections=sections(decision.body),
        threads=count_threads(store, decision.folder),
        warnings=warnings,
    )


def by_legacy_id(store: AdrStore, legacy_id: str) -> str:
    found = [entry.folder for entry in store.index.current().entries(Filters(legacy_id=legacy_id))]
    if not found:
        raise NotFoundError(f"no decision was known as {legacy_id!r}", hint="legacy ids look like <feature>/ADR-NNN")
    if len(found) > 1:
        raise AmbiguousError(legacy_id, sorted(found))
    return found[0]


def list_adrs(store: AdrStore, ask: ListParams) -> ListAnswer:
    filters = _checked(ask)
    index = store.index.current(bodies=False)
    page = None
    if ask.format == "md":
        from orbit.adr.render import decisions_page

        page = decisions_page(store, ask.feature, index.entries(filters))
    entries, total = index.entries(filters, ask.limit), index.count(filters)
    return ListAnswer(
        adrs=[entry.envelope for entry in entries if entry.envelope],
        total=total,
        truncated=total > len(entries),
        unreadable=[entry.folder for entry in entries if entry.error],
        format=ask.format,
        page=page,
    )


def search(store: AdrStore, ask: SearchParams) -> SearchAnswer:
    """Ranked by the installed embedder if there is one and it works, by full text otherwise."""
    from orbit.adr.listing import embedder_search

    filters = _checked(ask)
    index = store.index.current()
    found, note = embedder_search(index, ask.query, filters)
    if found is not None:
        matches, total, mode = found[: ask.limit], len(found), "semantic"
    else:
        matches, total = index.search(ask.query, filters, ask.limit)
        mode = "fts"
    return SearchAnswer(
        mode=mode,  # type: ignore[arg-type]
        matches=[Match(id=entry.id, title=entry.title, status=entry.status, score=round(score, 6), snippet=text) for entry, score, text in matches],
        total=total,
        truncated=total > len(matches),
        note=note,
    )


def _checked(ask: Filters) -> Filters:
    """`ask` with a full time in `since`."""
    since = full_time(ask.since) if ask.since is not None else None
    if since is None and ask.since is not None:
        raise UsageError(f"{ask.since!r} is neither a date nor a UTC time", hint="write 2026-05-09 or 2026-05-09T14:00Z")
    return msgspec.structs.replace(ask, since=since)
