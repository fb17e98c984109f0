"""What a change of a symbol may touch: a walk over references and relations, nearest first.

Each level is one look into the indexes, so the work grows with what is touched, not with the repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

import apsw
import msgspec
from msgspec import UNSET, Meta, UnsetType

from orbit.errors import UsageError
from orbit.graph.query.answer import FLOORS, ConfidenceFloor, Decision, GraphAnswer, SelectorArgument, Target, listed
from orbit.graph.query.runnable import TestRow
from orbit.graph.query.target import SYMBOL_SHIFT, File, Symbol, find_target
from orbit.graph.selector import Selector
from orbit.model import CONFIDENCES, REF_KIND_CODES, REF_KINDS, RELATION_KINDS, SYMBOL_KIND_CODES, SYMBOL_KINDS, family_of

CAP = 200
DEPTH = 3
Direction = Literal["in", "out", "both"]
# A node is a symbol id, or minus a file id for what stands in no symbol. An edge is packed as confidence << 6 | kind, so that the surest is the least,
# and of equally sure ones the one that says most.
_REF, _IMPORT = 16, 32
_FRONTIER = "WITH f (id, q, file) AS MATERIALIZED (SELECT s.id, s.qualified, s.id >> 20 FROM json_each(?1) j JOIN symbol s ON s.id = j.value) "
_REFS_IN = f"""{_FRONTIER} SELECT coalesce(r.scope, -(r.id >> 24)), min(r.confidence << 6 | {_REF} | r.kind)
    FROM f CROSS JOIN ref r ON r.target = f.q AND r.target_file = f.file WHERE r.confidence <= ?2 GROUP BY 1"""
_CALLS_IN = _REFS_IN.replace("GROUP", f"AND r.kind = {REF_KIND_CODES['call']} GROUP")
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__", "initialize", "constructor")
_CONSTRUCTED = """SELECT DISTINCT s.parent FROM json_each(?1) j JOIN symbol s ON s.id = j.value JOIN text n ON n.id = s.name
    WHERE s.parent IS NOT NULL AND (s.kind = ?2 OR n.value IN (SELECT value FROM json_each(?3)))"""
_REFS_OUT = f"""{_FRONTIER} SELECT t.id, min(r.confidence << 6 | {_REF} | r.kind)
    FROM (SELECT DISTINCT file FROM f) d CROSS JOIN ref r ON r.id >= d.file << 24 AND r.id < (d.file + 1) << 24
    CROSS JOIN symbol t ON t.qualified = r.target AND t.id >> 20 = r.target_file
    WHERE r.scope IN (SELECT id FROM f) AND r.confidence <= ?2 GROUP BY 1"""
_RELATIONS = f"""{_FRONTIER} SELECT t.id, min(l.confidence << 6 | l.kind), a.lang, b.lang
    FROM f CROSS JOIN relation l ON l.{{mine}} = f.q CROSS JOIN symbol t ON t.qualified = l.{{theirs}}
    CROSS JOIN file a ON a.id = f.file CROSS JOIN file b ON b.id = t.id >> 20 WHERE l.confidence <= ?2 GROUP BY 1, 3"""
_RELATIONS_IN = _RELATIONS.format(mine="target", theirs="source")
_RELATIONS_OUT = _RELATIONS.format(mine="source", theirs="target")


class ImpactParams(msgspec.Struct):
    selector: SelectorArgument | None = None
    diff: Annotated[str, Meta(description="Instead of a selector: what changed since this revision, or in a range such as main...HEAD.")] | None = None
    staged: Annotated[bool, Meta(description="Instead of a selector: what is staged.")] = False
    worktree: Annotated[bool, Meta(description="Instead of a selector: what is changed but not staged, new files too.")] = False
    depth: Annotated[int, Meta(ge=1, le=20, description="How many steps to go.")] = DEPTH
    confidence: ConfidenceFloor = "same_module"
    direction: Annotated[Direction, Meta(description="in: who depends on it; out: what it depends on.")] = "in"
    limit: Annotated[int, Meta(ge=0, le=CAP, description="How many rows at most; without it 200, or fewer if they are long.")] | None = None
    decisions: Annotated[bool, Meta(description="List the decisions that govern it; a diff always does.")] = False
    fail_on: Annotated[
        Literal["unseen", "untested"], Meta(description="Leave with 7 if the diff changes what the graph cannot see, or code no test reaches.")
    ] | None = None

    @property
    def is_diff(self) -> bool:
        return self.diff is not None or self.staged or self.worktree


class Touched(msgspec.Struct, frozen=True):
    """A symbol, or a file where no symbol encloses the reference. `edge_kind` and `confidence` are of the last step on the way to it."""

    qualified_name: str
    selector: str
    path: str
    line: int
    distance: int
    edge_kind: str
    direction: str
    confidence: str
    is_test: bool


class Unseen(msgspec.Struct, frozen=True):
    """A file a diff changes that the graph cannot tell about: deleted, submodule, not_indexed, stale, broken_parse or conflict."""

    path: str
    reason: str


class ImpactAnswer(GraphAnswer, kw_only=True):
    """`touched` is nearest first, then by path and position. `visited_nodes` counts all that were found before the cap ended the walk."""

    target: Target | None
    touched: list[Touched]
    visited_nodes: int
    truncated: bool
    # of a diff: selectors of what it changes, tests that reach that, decisions that govern it, what cannot be seen, changed code without a test
    changed: list[str] | UnsetType = UNSET
    changed_total: int | UnsetType = UNSET
    tests: list[TestRow] | UnsetType = UNSET
    tests_total: int | UnsetType = UNSET
    tests_hidden: int | UnsetType = UNSET  # test files a little like the change; --confidence fuzzy lists them
    decisions: list[Decision] | UnsetType = UNSET
    unseen: list[Unseen] | UnsetType = UNSET
    untested: list[str] | UnsetType = UNSET
    failed: list[str] | UnsetType = UNSET  # which check of --fail-on did


def check(ask: ImpactParams) -> None:
    """One thing at a time."""
    if sum((ask.selector is not None, ask.diff is not None, ask.staged, ask.worktree)) != 1:
        hint = "`orbit graph impact NAME`, or `orbit graph impact --diff HEAD~1`"
        raise UsageError("impact takes either a selector, or one of diff, staged and worktree", hint=hint)


def impact(db: apsw.Connection, ask: ImpactParams) -> ImpactAnswer:
    """Who is touched when a symbol or a file changes. The members of a type and the symbols of a file change with it."""
    target = find_target(db, ask.selector or "")
    importers = importing(db, [target]) if isinstance(target, File) and ask.direction != "out" and ask.confidence != "exact" else ()
    answer = impact_of(db, parts(db, target), ask, importers=importers)
    answer.target = target.as_target()
    return answer


def impact_of(db: apsw.Connection, symbol_ids: Sequence[int], ask: ImpactParams, importers: Iterable[int] = ()) -> ImpactAnswer:
    """The walk itself, from any symbols. `importers` are nodes known to be one step away."""
    floor, seen, cap = FLOORS[ask.confidence], set(symbol_ids), CAP if ask.limit is None else ask.limit
    frontier, touched, visited = list(seen), list[Touched](), 0
    for distance in range(1, ask.depth + 1):
        level: dict[int, tuple[int, str]] = {}
        types = constructed(db, frontier) if distance == 1 else ()
        for node, edge, direction in steps(db, frontier, floor, ask.direction, types):
            if node not in seen and (node not in level or edge < level[node][0]):
                level[node] = (edge, direction)
        if distance == 1:
            level.update((node, (CONFIDENCES.index("import_resolved") << 6 | _IMPORT, "in")) for node in importers if node not in level)
        visited += len(level)
        seen.update(level)
        shown = _first(db, level, cap - len(touched))
        touched += _describe(db, shown, level, distance)
        if visited > cap or not level:
            break
        frontier = [node for node in shown if node > 0]
    return ImpactAnswer(target=None, touched=touched, visited_nodes=visited, truncated=visited > cap)


def constructed(db: apsw.Connection, symbol_ids: Sequence[int]) -> list[int]:
    """Types whose constructor is among some symbols: to call the type is to call that."""
    asked = (listed(symbol_ids), SYMBOL_KIND_CODES["constructor"], listed(_CONSTRUCTORS))
    return [row[0] for row in db.execute(_CONSTRUCTED, asked)]


def steps(db: apsw.Connection, frontier: Sequence[int], floor: int, direction: Direction, types: Sequence[int] = ()) -> Iterator[tuple[int, int, str]]:
    """(node, packed edge, direction) of all edges that leave the frontier, and of calls of some types."""
    if types and direction != "out":
        for node, edge in db.execute(_CALLS_IN, (listed(types), floor)):
            yield node, edge, "in"
    asked = (listed(frontier), floor)
    for name, refs, relations in (("in", _REFS_IN, _RELATIONS_IN), ("out", _REFS_OUT, _RELATIONS_OUT)):
        if direction in (name, "both"):
            for node, edge in db.execute(refs, asked):
                yield node, edge, name
            for node, edge, one, other in db.execute(relations, asked):
                if one == other or family_of(one) == family_of(other):  # relations name no file, and languages may share a name
                    yield node, edge, name


def _first(db: apsw.Connection, level: Iterable[int], room: int) -> list[int]:
    """The first nodes of a level in the order of path and position."""
    by_file: dict[int, list[int]] = {}
    for node in level:
        by_file.setdefault(node >> SYMBOL_SHIFT if node > 0 else -node, []).append(node)
    found: list[int] = []
    for (file,) in db.execute("SELECT f.id FROM json_each(?) j CROSS JOIN file f ON f.id = j.value ORDER BY f.path", (listed(by_file),)):
        if len(found) >= room:
            break
        found += sorted(by_file[file])  # ids of a file's symbols count up with their position; the file itself comes first
    return found[:room]


def _describe(db: apsw.Connection, nodes: list[int], level: dict[int, tuple[int, str]], distance: int) -> list[Touched]:
    known = {
        row[0]: row[1:]
        for row in db.execute(
            "SELECT s.id, q.value, f.path, s.line, s.kind, f.is_test FROM json_each(?1) j JOIN symbol s ON s.id = j.value JOIN file f ON f.id = s.id >> 20"
            " JOIN text q ON q.id = s.qualified UNION ALL"
            " SELECT -f.id, m.value, f.path, 1, -1, f.is_test FROM json_each(?1) j JOIN file f ON f.id = -j.value JOIN text m ON m.id = f.module",
            (listed(nodes),),
        )
    }
    found = []
    for node in nodes:
        qualified, path, line, kind, is_test = known[node]
        edge, direction = level[node]
        selector = Selector("file", path=path) if kind < 0 else Selector("symbol", path=path, name=qualified, symbol_kind=SYMBOL_KINDS[kind])
        is_test = bool(is_test) or kind == SYMBOL_KIND_CODES["test"]
        found.append(Touched(qualified, str(selector), path, line, distance, _edge_kind(edge & 63), direction, CONFIDENCES[edge >> 6], is_test))
    return found


def _edge_kind(code: int) -> str:
    if code >= _IMPORT:
        return "import"
    return REF_KINDS[code - _REF] if code >= _REF else RELATION_KINDS[code]


def parts(db: apsw.Connection, target: Symbol | File) -> list[int]:
    """The symbol and what stands inside it; all symbols of a file."""
    file, start, end = (target.file, target.start, target.end) if isinstance(target, Symbol) else (target.id, 0, 1 << 62)
    bounds = (file << SYMBOL_SHIFT, (file + 1) << SYMBOL_SHIFT, start, end)
    return [row[0] for row in db.execute("SELECT id FROM symbol WHERE id >= ? AND id < ? AND start >= ? AND end <= ?", bounds)]


def importing(db: apsw.Connection, files: Sequence[File]) -> list[int]:
    """Files that import some as a whole, as nodes of the walk."""
    inside = {file.id for file in files}
    rows = db.execute("SELECT DISTINCT i.id >> 20 FROM json_each(?) j JOIN import i ON i.module = j.value", (listed(file.module_id for file in files),))
    return [-row[0] for row in rows if row[0] not in inside]
