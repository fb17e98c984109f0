"""What a picture of an overview or an impact shows: boxes and arrows, no more than a page holds, and what that hides. Draws nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import apsw
import msgspec
from msgspec import Meta

from orbit.graph.query.answer import ConfidenceFloor, GraphAnswer, listed
from orbit.graph.query.diff import find_changed
from orbit.graph.query.impact import CAP, DEPTH, Direction, ImpactParams, check, impact_of, parts
from orbit.graph.query.overview import count_symbols
from orbit.graph.query.scope import find_scope
from orbit.graph.query.target import File, Symbol, find_target
from orbit.model import CONFIDENCES, REF_KINDS, RELATION_KINDS

MOST_NODES = 80
MOST_EDGES = 400
MOST_COLUMNS = 5


class PictureParams(msgspec.Struct):
    of: Annotated[Literal["overview", "impact"], Meta(description="What to draw.", extra={"cli": {"argument": True}})]
    scope: Annotated[str | None, Meta(description="Of an overview: dir:<path> or file:<path>.")] = None
    format: Annotated[Literal["summary", "full"], Meta(description="Of an overview: folders, or files.")] = "summary"
    selector: Annotated[str | None, Meta(description="Of an impact: what changes.")] = None
    diff: Annotated[str | None, Meta(description="Of an impact: what changed since this revision.")] = None
    staged: Annotated[bool, Meta(description="Of an impact: what is staged.")] = False
    worktree: Annotated[bool, Meta(description="Of an impact: what is changed but not staged.")] = False
    depth: Annotated[int, Meta(ge=1, le=20, description="Of an impact: how many steps to go.")] = DEPTH
    confidence: ConfidenceFloor = "same_module"
    direction: Annotated[Direction, Meta(description="Of an impact: who depends on it, or what it depends on.")] = "in"
    limit: Annotated[int, Meta(ge=1, le=CAP, description="How many boxes at most.")] = MOST_NODES


class PictureNode(msgspec.Struct, kw_only=True):
    """A box. `level` is its column: the distance in an impact, in an overview from what imports to what is imported."""

    id: int
    label: str
    detail: str
    path: str
    level: int
    is_test: bool = False
    is_start: bool = False


class PictureEdge(msgspec.Struct, kw_only=True):
    """An arrow from what depends to what it depends on."""

    source: int
    target: int
    kind: str
    confidence: str
    count: int


class PictureAnswer(GraphAnswer, kw_only=True):
    title: str
    nodes: list[PictureNode]
    edges: list[PictureEdge]
    columns: list[str]  # what stands in each column, by level
    hidden: list[str]  # what is there but not drawn, in words


def picture(db: apsw.Connection, ask: PictureParams, root: Path) -> PictureAnswer:
    return _overview(db, ask) if ask.of == "overview" else _impact(db, ask, root)


# --- impact


def _impact(db: apsw.Connection, ask: PictureParams, root: Path) -> PictureAnswer:
    asked = ImpactParams(
        selector=ask.selector, diff=ask.diff, staged=ask.staged, worktree=ask.worktree, depth=ask.depth, confidence=ask.confidence,
        direction=ask.direction, limit=CAP,
    )  # fmt: skip
    check(asked)
    starts: list[Symbol | File] = []
    if ask.selector is not None:
        starts, inner = [target := find_target(db, ask.selector)], parts(db, target)
        title = f"Impact of {starts[0].as_target().qualified or starts[0].path}"
    else:
        changed = find_changed(db, root, asked)
        starts, inner = [*changed.symbols, *changed.files], [symbol.id for symbol in changed.symbols]
        title = f"Impact of the diff {ask.diff}" if ask.diff else "Impact of what is staged" if ask.staged else "Impact of what is changed"
    answer = impact_of(db, inner, asked)
    nodes, hidden = list[PictureNode](), list[str]()
    owner: dict[int, int] = {}  # symbol, or minus a file, -> box

    def add(thing: Symbol | File, level: int, *, is_test: bool = False) -> None:
        owner.setdefault(thing.id if isinstance(thing, Symbol) else -thing.id, len(nodes))
        about = thing.as_target()
        label, detail = about.qualified or about.path, f"{about.kind}, {about.path}:{about.line}"
        nodes.append(PictureNode(id=len(nodes), label=label, detail=detail, path=about.path, level=level, is_test=is_test, is_start=not level))

    shown = starts[: max(1, ask.limit // 2)]
    if len(shown) < len(starts):
        hidden.append(f"{len(starts) - len(shown)} of {len(starts)} changed things")
    for start in shown:
        add(start, 0)
    if ask.selector is not None:
        owner.update(dict.fromkeys(inner, 0))
    room = max(0, ask.limit - len(nodes))
    for touched in answer.touched[:room]:
        add(find_target(db, touched.selector), touched.distance, is_test=touched.is_test)
    if answer.visited_nodes > room:
        more = " or more" if answer.truncated else ""
        left = answer.visited_nodes - min(room, len(answer.touched))
        hidden.append(f"{left}{more} of {answer.visited_nodes}{more} touched things, the farthest, and of equally far ones the last by path")
    edges = _references(db, owner)
    far = max((node.level for node in nodes), default=0)
    columns = ["changes"] + [f"{level} step{'s' if level > 1 else ''} away" for level in range(1, far + 1)]
    return PictureAnswer(title=title, nodes=nodes, edges=_cut(edges, hidden), columns=columns, hidden=hidden)


def _references(db: apsw.Connection, owner: dict[int, int]) -> list[PictureEdge]:
    """References and relations between boxes, the surest of each pair with the number of all."""
    symbols = listed(sorted(node for node in owner if node > 0))
    found: dict[tuple[int, int], tuple[int, str, int]] = {}

    def note(source: int | None, target: int, confidence: int, kind: str, count: int) -> None:
        if source is None or source not in owner or target not in owner or owner[source] == owner[target]:
            return
        pair = (owner[source], owner[target])
        best, word, total = found.get(pair, (9, kind, 0))
        found[pair] = (min(best, confidence), kind if confidence < best else word, total + count)

    for source, file, target, confidence, kind, count in db.execute(
        "SELECT r.scope, r.id >> 24, s.id, min(r.confidence), r.kind, count(*) FROM json_each(?) j JOIN symbol s ON s.id = j.value"
        " JOIN ref r ON r.target = s.qualified AND r.target_file = s.id >> 20 GROUP BY 1, 2, 3",
        (symbols,),
    ):
        note(source if source is not None else -file, target, confidence, REF_KINDS[kind], count)
    for source, target, confidence, kind in db.execute(
        "SELECT a.id, b.id, l.confidence, l.kind FROM json_each(?1) j JOIN symbol a ON a.id = j.value JOIN relation l ON l.source = a.qualified"
        " JOIN symbol b ON b.qualified = l.target",
        (symbols,),
    ):
        note(source, target, confidence, RELATION_KINDS[kind], 1)
    return [
        PictureEdge(source=source, target=target, kind=kind, confidence=CONFIDENCES[confidence], count=count)
        for (source, target), (confidence, kind, count) in sorted(found.items())
    ]


# --- overview


def _overview(db: apsw.Connection, ask: PictureParams) -> PictureAnswer:
    """Files with `full`, else folders; arrows are imports. Code is drawn before tests, then what has most symbols."""
    scope = find_scope(db, ask.scope)
    files = {row[0]: row for row in db.execute(f"SELECT f.id, f.path, f.module, f.is_test FROM file f WHERE {scope.where} ORDER BY f.path", scope.values)}
    counts, _ = count_symbols(db, scope)
    boxes: dict[str, list[int]] = {}
    for file, path, _, _ in files.values():
        boxes.setdefault(path if ask.format == "full" else path.rpartition("/")[0] or ".", []).append(file)
    tests = {name: all(files[file][3] for file in held) for name, held in boxes.items()}
    ranked = sorted(boxes, key=lambda name: (tests[name], -sum(counts[file] for file in boxes[name]), name))
    hidden = []
    if len(ranked) > ask.limit:
        left = sum(counts[file] for name in ranked[ask.limit :] for file in boxes[name])
        what = "files" if ask.format == "full" else "folders"
        hidden.append(f"{len(ranked) - ask.limit} of {len(ranked)} {what}, tests and those with fewest symbols ({left} of {sum(counts.values())})")
    number_of = {name: at for at, name in enumerate(sorted(ranked[: ask.limit]))}
    owner = {file: number_of[name] for name in number_of for file in boxes[name]}
    edges = _imports(db, files, owner)
    levels, words = columns(len(number_of), edges)
    nodes = []
    for name, at in number_of.items():
        held = boxes[name]
        symbols = sum(counts[file] for file in held)
        detail = f"{symbols} symbols" if ask.format == "full" else f"{len(held)} file{'' if len(held) == 1 else 's'}, {symbols} symbols"
        nodes.append(PictureNode(id=at, label=name, detail=detail, path=name, level=levels[at], is_test=tests[name]))
    return PictureAnswer(title=f"Overview of {scope.selector}", nodes=nodes, edges=_cut(edges, hidden), columns=words, hidden=hidden)


def _imports(db: apsw.Connection, files: dict[int, Any], owner: dict[int, int]) -> list[PictureEdge]:
    by_module: dict[int, list[int]] = {}
    for file, _, module, _ in files.values():
        by_module.setdefault(module, []).append(file)
    found: Counter[tuple[int, int]] = Counter()
    for file, module, count in db.execute("SELECT id >> 20, module, count(*) FROM import WHERE module >= 0 GROUP BY 1, 2"):
        for target in by_module.get(module, ())[:1]:
            if file in owner and target in owner and owner[file] != owner[target]:
                found[owner[file], owner[target]] += count
    return [
        PictureEdge(source=source, target=target, kind="import", confidence="import_resolved", count=count)
        for (source, target), count in sorted(found.items())
    ]


def columns(count: int, edges: Sequence[PictureEdge]) -> tuple[list[int], list[str]]:
    """A column for each node, and what stands in each: on the left what mostly imports, on the right what is mostly imported, last what does neither.

    Real imports run in circles, so there are no layers to be found; the share of arrows that arrive is defined for every node.
    """
    leaving, arriving = [0] * count, [0] * count
    for edge in edges:
        leaving[edge.source] += edge.count
        arriving[edge.target] += edge.count
    joined = [node for node in range(count) if leaving[node] + arriving[node]]
    joined.sort(key=lambda node: (arriving[node] / (leaving[node] + arriving[node]), node))
    number = min(MOST_COLUMNS, -(-len(joined) // 5)) or 1
    column = [number if joined else 0] * count
    for at, node in enumerate(joined):
        column[node] = at * number // len(joined)
    words = ["mostly imports", *[""] * (number - 2), "mostly imported"][:number] if joined else []
    return column, [*words, "no imports among these"]


def _cut(edges: list[PictureEdge], hidden: list[str]) -> list[PictureEdge]:
    if len(edges) > MOST_EDGES:
        hidden.append(f"{len(edges) - MOST_EDGES} of {len(edges)} arrows, those that stand for fewest references")
    kept = sorted(edges, key=lambda edge: (-edge.count, edge.source, edge.target))[:MOST_EDGES]
    return sorted(kept, key=lambda edge: (edge.source, edge.target))
