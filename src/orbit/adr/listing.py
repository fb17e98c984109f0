"""Questions about what is in the store: one decision in full, a filtered list, a ranked search."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import mul
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from orbit.adr.body import missing, sections
from orbit.adr.envelope import Envelope
from orbit.adr.index import Entry, Filters, Index, LegacyId, full_time
from orbit.adr.render import decisions_page
from orbit.adr.store import Store
from orbit.adr.threads import threads_in
from orbit.errors import AmbiguousError, NotFoundError, UsageError
from orbit.model import ARGUMENT

SNIPPET_CHARS = 280


class ShowParams(msgspec.Struct):
    id: Annotated[str | None, Meta(description="Id such as ADR-0042.", extra=ARGUMENT)] = None
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


class SearchParams(Filters):
    query: Annotated[str, Meta(description="Words to look for.", extra=ARGUMENT)]
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


def show(store: Store, ask: ShowParams) -> ShowAnswer:
    if (ask.id is None) == (ask.legacy_id is None):
        raise UsageError("name a decision by its id or by --legacy-id, one of the two")
    decision = store.load(ask.id if ask.id is not None else _by_legacy_id(store, ask.legacy_id or ""))
    warnings = [*decision.problems, *(f"unknown field {name!r} in adr.yaml (kept)" for name in decision.unknown)]
    warnings += dict.fromkeys([*decision.envelope.validation_warnings, *missing(decision.body)])
    states = [thread.status for thread in threads_in(store, decision.folder)]
    return ShowAnswer(
        **msgspec.structs.asdict(decision.envelope),
        path=store.journal.relative(store.home / decision.folder),
        body=decision.body,
        sections=sections(decision.body),
        threads={"open": states.count("open"), "resolved": states.count("resolved")},
        warnings=warnings,
    )


def _by_legacy_id(store: Store, legacy_id: str) -> str:
    found = [entry.folder for entry in store.index.current().entries(Filters(legacy_id=legacy_id))]
    if not found:
        raise NotFoundError(f"no decision was known as {legacy_id!r}", hint="legacy ids look like <feature>/ADR-NNN")
    if len(found) > 1:
        raise AmbiguousError(legacy_id, sorted(found))
    return found[0]


def list_adrs(store: Store, ask: ListParams) -> ListAnswer:
    filters, index = _checked(ask), store.index.current(bodies=False)
    page = decisions_page(store, ask.feature, index.entries(filters)) if ask.format == "md" else None
    entries, total = index.entries(filters, ask.limit), index.count(filters)
    return ListAnswer(
        adrs=[entry.envelope for entry in entries if entry.envelope],
        total=total,
        truncated=total > len(entries),
        unreadable=[entry.folder for entry in entries if entry.error],
        format=ask.format,
        page=page,
    )


def search(store: Store, ask: SearchParams) -> SearchAnswer:
    """Ranked by the installed embedder if there is one and it works, by full text otherwise."""
    filters, index = _checked(ask), store.index.current()
    found, note = _by_meaning(index, ask.query, filters)
    matches, total = (found[: ask.limit], len(found)) if found is not None else index.search(ask.query, filters, ask.limit)
    return SearchAnswer(
        mode="fts" if found is None else "semantic",
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


def _by_meaning(index: Index, query: str, filters: Filters) -> tuple[list[tuple[Entry, float, str]] | None, str | None]:
    """Every match best first, or None and the reason if the embedder failed; (None, None) if none is installed.

    An entry point of the group `orbit.embedders` names an object with `embed(texts)`, one vector per text, or what makes one when called.
    """
    from importlib.metadata import entry_points

    point = min(entry_points(group="orbit.embedders"), key=lambda point: point.name, default=None)
    if point is None:
        return None, None
    try:
        loaded = point.load()
        embedder = loaded if hasattr(loaded, "embed") and not isinstance(loaded, type) else loaded()
        wanted = _unit(embedder.embed([query])[0])
        rows = index.vectors(f"{point.name}={point.value}", filters, lambda texts: [_unit(vector).tobytes() for vector in embedder.embed(texts)])
    except Exception as error:  # somebody else's package: its failure must not take search away
        return None, f"embedder {point.name!r} failed ({type(error).__name__}: {error}); ranked by full text"
    scored = []
    for entry, vector, body in rows:
        words = " ".join(line for line in body.split("\n") if not line.startswith("#")).split()
        scored.append((entry, sum(map(mul, wanted, array("f", vector))), " ".join(words)[:SNIPPET_CHARS]))
    return sorted(scored, key=lambda match: (-match[1], match[0].folder)), None


def _unit(vector: Sequence[float]) -> array[float]:
    length = sum(value * value for value in vector) ** 0.5 or 1.0
    return array("f", [value / length for value in vector])
