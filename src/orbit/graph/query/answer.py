"""What all answers about the graph share: freshness, the confidence floor, and the budget a list has to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

BUDGET_BYTES = 20_000  # of JSON, unless the asker named a limit
SPARE = 1_000  # of the budget, for what freshness may add to an answer
ROWS = 100  # how many an answer lists, unless the asker named a limit

Confidence = Literal["exact", "import_resolved", "same_module", "fuzzy_name"]
Floor = Literal["exact", "import", "import_resolved", "same_module", "fuzzy", "fuzzy_name"]
FLOORS = {"exact": 0, "import": 1, "import_resolved": 1, "same_module": 2, "fuzzy": 3, "fuzzy_name": 3}

_FORMS = "symbol:<path>#<name>[:<kind>], file:<path>, module:<qualified>, command:<name>, or a (qualified) name."
SelectorArgument = Annotated[str, Meta(description=_FORMS, extra={"cli": {"argument": True}})]
ConfidenceFloor = Annotated[Floor, Meta(description="Leave out what is less sure than this.")]
RowLimit = Annotated[int, Meta(ge=0, description="How many rows at most; without it 100, or fewer if they are long.")] | None


class GraphAnswer(msgspec.Struct, kw_only=True):
    """`stale_files`, present when not fresh: the files named in this answer that changed on disk since the sync."""

    fresh: bool = True
    stale_files: list[str] | UnsetType = UNSET


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What a question was about."""

    name: str
    qualified: str
    selector: str
    kind: str
    path: str
    line: int


class Decision(msgspec.Struct, frozen=True):
    """A decision that governs something in an answer; `governs` are selectors of it."""

    id: str
    title: str
    status: str
    via: str
    governs: list[str]


def fit(answer: Any, named: Callable[[Any], set[str]]) -> None:
    """Drop rows from the end of whichever list is longest, until the answer fits; says so in `truncated`. Stale files that no row names any more go, too."""
    lists = {name: rows for name in answer.__struct_fields__ if name != "stale_files" and isinstance(rows := getattr(answer, name), list) and rows}
    if not lists or (over := len(msgspec.json.encode(answer)) - BUDGET_BYTES) <= 0:
        return
    sizes = {name: [len(msgspec.json.encode(row)) + 1 for row in rows] for name, rows in lists.items()}
    totals = {name: sum(rows) for name, rows in sizes.items()}
    while over > 0 and totals[name := max(totals, key=totals.__getitem__)]:
        gone = sizes[name].pop()
        lists[name].pop()
        totals[name], over = totals[name] - gone, over - gone
        answer.truncated = True
    if not answer.fresh:
        left = named(answer)
        answer.stale_files = [path for path in answer.stale_files if path in left]


def listed(values: Iterable[int | str]) -> str:
    """Values as SQLite's json_each takes them."""
    return msgspec.json.encode(list(values)).decode()
