"""`.orbit/adrs` of a worktree: where decisions are, and how one of them is found and read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from orbit.adr.envelope import ENVELOPE, STATUSES, Decision, format_id, is_id, read_decision
from orbit.adr.index import Index
from orbit.adr.journal import Journal
from orbit.config import Workspace
from orbit.errors import AmbiguousError, IntegrityError, NotFoundError

if TYPE_CHECKING:
    from typing_extensions import Self


class Place(msgspec.Struct, frozen=True):
    """Where a symbol is: a file and its lines, 1-based, both ends included."""

    path: str
    first_line: int
    last_line: int


class Code(Protocol):
    """All that decisions need to know about code. Whoever has a graph can answer; without one, only files are checked."""

    def locate(self, selector: str) -> Place | None:
        """Where what `selector` names is; None if the graph has no such thing. Raises AmbiguousError if it has several."""


class ReindexAnswer(msgspec.Struct, kw_only=True):
    adrs: int
    path: str


class Store:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
