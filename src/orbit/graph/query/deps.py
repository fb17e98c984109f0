"""What a file or folder imports. Order: file, line."""

from __future__ import annotations

from typing import Annotated

import apsw
import msgspec
from msgspec import Meta

from orbit.graph.query.answer import ROWS, GraphAnswer, RowLimit
from orbit.graph.query.scope import find_scope

# The file that is itself what is imported: `from package import module`.
_SUBMODULE = """(SELECT min(m.path) FROM text o JOIN text t ON t.value IN (o.value || '.' || n.value, o.value || '::' || n.value, o.value || '/' || n.value)
    JOIN file m ON m.module = t.id WHERE o.id = i.module AND i.module >= 0)"""


class DepsParams(msgspec.Struct):
    selector: Annotated[str, Meta(description="file:<path>, dir:<path> or a path.", extra={"cli": {"argument": True}})]
    limit: RowLimit = None


class ImportRow(msgspec.Struct, frozen=True):
    """`target_path` is the module as written; `resolved_file` the file it means, null outside the worktree."""

    from_file: str
    target_path: str
    target_symbol: str | None
    resolved_file: str | None
    line: int


class DepsAnswer(GraphAnswer, kw_only=True):
    scope: str
    imports: list[ImportRow]
    total: int
    truncated: bool


def deps(db: apsw.Connection, ask: DepsParams) -> DepsAnswer:
    """Imports as they are written, and where they lead."""
    scope = find_scope(db, ask.selector)
    total = db.execute(f"SELECT count(*) FROM file f JOIN import i ON i.id >= f.id << 20 AND i.id < (f.id + 1) << 20 WHERE {scope.where}", scope.values).get
    limit = ROWS if ask.limit is None else ask.limit
    found = db.execute(
        f"SELECT f.path, p.value, n.value, coalesce({_SUBMODULE}, (SELECT min(m.path) FROM file m WHERE m.module = i.module AND i.module >= 0)), i.line"
        " FROM file f CROSS JOIN import i ON i.id >= f.id << 20 AND i.id < (f.id + 1) << 20 JOIN text p ON p.id = i.path LEFT JOIN text n ON n.id = i.name"
        f" WHERE {scope.where} ORDER BY f.path, i.line, i.id LIMIT ?",
        (*scope.values, limit),
    )
    return DepsAnswer(scope=scope.selector, imports=[ImportRow(*row) for row in found], total=total, truncated=total > limit)
