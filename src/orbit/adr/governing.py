"""Which decisions govern a file or a symbol: by path glob, by anchor, by a citation inside it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from posixpath import normpath
from typing import Annotated

import msgspec
from msgspec import Meta

from orbit.adr.citations import citations_in
from orbit.adr.index import Entry
from orbit.adr.store import Code, Place, Store
from orbit.errors import AmbiguousError, NotFoundError, UsageError
from orbit.model import ARGUMENT

KINDS = ("symbol:", "file:", "dir:", "module:", "command:")
RANK = {"anchor": 0, "citation": 1, "path": 2}
ORDER = {"accepted": 0, "proposed": 1, "superseded": 2}


def path_of(selector: str) -> str | None:
    """The path a selector names by itself; None if only a graph can tell."""
    kind, _, rest = selector.partition(":")
    if kind not in ("file", "dir", "symbol"):
        return None
    path = rest.partition("#")[0] if kind == "symbol" else rest
    return normpath(path.replace("\\", "/").lstrip("/"))


def is_alive(root: Path, selector: str, code: Code | None) -> bool:
    """Whether what an anchor names still exists, as far as can be told."""
    path = path_of(selector)
    if path is not None and not (root / path).exists():
        return False
    with suppress(AmbiguousError):
        return code is None or selector.startswith(("file:", "dir:")) or code.locate(selector) is not None
    return True


class ForParams(msgspec.Struct):
    target: Annotated[str, Meta(description="A path, or a selector such as symbol:src/a.py#run.", extra=ARGUMENT)]


class Governing(msgspec.Struct, kw_only=True):
    """`via` is the strongest reason: anchor, citation or path; `reasons` has all of them in words."""

    id: str
    title: str
    status: str
    via: str
    reasons: list[str]


class ForAnswer(msgspec.Struct, kw_only=True):
    """Accepted ones first, then proposed, then superseded ones that are still cited; newest first in each."""

    target: str
    adrs: list[Governing]
    total: int


def decisions_for(store: Store, ask: ForParams) -> ForAnswer:
    """Resolve the target to a file (and lines), then ask `governing`."""
    target, code = ask.target, store.code
    selector = target if target.startswith(KINDS) else None
    place = code.locate(target) if code is not None and not (store.workspace.root / target).exists() else None
    path = place.path if place else path_of(selector) if selector else store.workspace.relative(target)
    if path is None and selector is None:
        raise UsageError(f"{target} is outside the worktree")
    is_gone = code is not None and place is None and target.startswith(("symbol:", "module:", "command:"))
    if is_gone or path is None or not (place or (store.workspace.root / path).exists() or store.index.current().covering(path)):
        hint = "give a path or a selector with a path; other names need a graph: `orbit graph sync`"
        raise NotFoundError(f"nothing here is called {target!r}", hint=hint)
    adrs = governing(store, path, selector=selector, place=place)
    return ForAnswer(target=target, adrs=adrs, total=len(adrs))


def governing(store: Store, path: str, *, selector: str | None = None, place: Place | None = None) -> list[Governing]:
    """Decisions for `path`; with `selector` and `place` for that symbol of it: citations count only inside its lines."""
    index = store.index.current()
    found: dict[str, tuple[Entry, dict[str, str]]] = {}

    def note(entry: Entry, via: str, reason: str) -> None:
        found.setdefault(entry.folder, (entry, {}))[1][reason] = via

    anchored = index.labelled("anchor", lambda anchor: _anchors(anchor, path, selector, place, store.code))
    for via, rows in (("path", index.covering(path)), ("anchor", anchored)):
        for entry, value in rows:
            if entry.status in ("accepted", "proposed"):
                note(entry, via, f"{via} {value}")
    cited = _cited_lines(store, path, place) if selector is None or place or not selector.startswith("symbol:") else {}
    for entry in index.entries_of(cited):
        if entry.status != "deleted":
            note(entry, "citation", f"cited on line {', '.join(map(str, cited[entry.id]))}")
    answers = [
        Governing(id=entry.id, title=entry.title, status=entry.status, via=min(reasons.values(), key=RANK.__getitem__), reasons=sorted(reasons))
        for entry, reasons in found.values()
        if entry.envelope
    ]
    return sorted(sorted(answers, key=lambda answer: answer.id, reverse=True), key=lambda answer: ORDER[answer.status])


def _anchors(anchor: str, path: str, selector: str | None, place: Place | None, code: Code | None) -> bool:
    """Whether an anchor speaks of the target: the same selector or place, its file or folder; for a whole file, any symbol in it."""
    if anchor == selector:
        return True
    where = path_of(anchor)
    if anchor.startswith("dir:"):
        return where is not None and (where == "." or path == where or path.startswith(where + "/"))
    if where == path and anchor.startswith("symbol:") and place is not None and code is not None:
        with suppress(AmbiguousError):
            return code.locate(anchor) == place
        return False
    if where == path and anchor.startswith("symbol:") and selector is not None and selector.startswith("symbol:"):
        return _name(anchor) == _name(selector)
    return where == path


def _name(selector: str) -> str:
    """The symbol's name without a kind such as `:function`."""
    name = selector.partition("#")[2]
    head, colon, kind = name.rpartition(":")
    return head if colon and not head.endswith(":") and kind.isidentifier() and kind.islower() else name


def _cited_lines(store: Store, path: str, place: Place | None) -> dict[str, list[int]]:
    file = store.workspace.root / path
    if not file.is_file():
        return {}
    lines: dict[str, list[int]] = {}
    for citation in citations_in(path, file.read_bytes().decode(errors="replace")):
        if place is None or place.first_line <= citation.line <= place.last_line:
            lines.setdefault(citation.id, []).append(citation.line)
    return lines
