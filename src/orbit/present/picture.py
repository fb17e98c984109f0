"""Pictures as text: DOT for other programs, or one HTML page with an SVG in it that loads nothing from anywhere."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

BOX_WIDTH, BOX_HEIGHT = 250, 40
GAP_X, GAP_Y, MARGIN = 84, 12, 24
TALLEST = 26  # boxes in a column before another column is begun
LABEL_ROOM, DETAIL_ROOM = 32, 38
COLOURS = {"exact": "#1a7f37", "import_resolved": "#0969da", "same_module": "#8250df", "fuzzy_name": "#bf8700"}


def as_dot(picture: Any) -> str:
    """For Graphviz. What is not drawn is said in the label."""
    lines = ["digraph orbit {", "  rankdir=LR;", '  node [shape=box, fontname="monospace"];', f"  label={_quoted(_caption(picture))};"]
    for node in picture.nodes:
        fill = "lightblue" if node.is_start else "lightyellow" if node.is_test else "white"
        lines.append(f"  n{node.id} [label={_quoted(node.label + chr(10) + node.detail)}, style=filled, fillcolor={fill}];")
    for edge in picture.edges:
        label = f"{edge.kind} {edge.count}" if edge.count > 1 else edge.kind
        lines.append(f"  n{edge.source} -> n{edge.target} [label={_quoted(label)}, color={_quoted(COLOURS[edge.confidence])}];")
    return "\n".join([*lines, "}"]) + "\n"


def as_html(picture: Any) -> str:
    """One page. Boxes in columns by level; hovering over one shows what it is joined to."""
    places, width, height = arrange(picture)
    hidden = "".join(f'<p class="cut">Not drawn: {escape(text)}.</p>' for text in picture.hidden)
    used = [name for name in COLOURS if any(edge.confidence == name for edge in picture.edges)]
    keys = "".join(f'<span class="key"><i style="border-color:{COLOURS[name]}"></i>{name}</span>' for name in used)
    keys += '<span class="key"><b style="background:#ddf4ff;border-color:#0969da"></b>start</span>' if any(node.is_start for node in picture.nodes) else ""
    keys += '<span class="key"><b style="background:#fff8c5;border-color:#d4a72c"></b>test</span>' if any(node.is_test for node in picture.nodes) else ""
    stale = "" if picture.fresh else '<p class="cut">Some files changed since the sync.</p>'
    edges = "".join(_curve(edge, places) for edge in picture.edges)
    boxes = "".join(_box(node, *places[node.id]) for node in picture.nodes)
    lefts = {level: min(places[node.id][0] for node in picture.nodes if node.level == level) for level in {node.level for node in picture.nodes}}
    captions = "".join(f'<text class="detail" x="{lefts[level]}" y="{MARGIN - 10}">{escape(picture.columns[level])}</text>' for level in sorted(lefts))
    count = f"{len(picture.nodes)} boxes, {len(picture.edges)} arrows; an arrow leads from what depends to what it depends on."
    drawing = f"<defs>{''.join(_arrow_head(name) for name in used)}</defs>{captions}{edges}{boxes}"
    told = {"title": escape(picture.title), "count": count, "notes": hidden + stale, "keys": keys, "width": width, "height": height, "drawing": drawing}
    page = (Path(__file__).parent / "picture.html").read_text(encoding="utf-8")
    return re.sub(r"\{(title|count|notes|keys|width|height|drawing)\}", lambda place: str(told[place[1]]), page)


def arrange(picture: Any) -> tuple[dict[int, tuple[int, int]], int, int]:
    """Where each box goes: a column for each level (several where it is tall), in an order that keeps arrows short."""
    levels: dict[int, list[int]] = {}
    for node in picture.nodes:
        levels.setdefault(node.level, []).append(node.id)
    joined: dict[int, list[int]] = {node.id: [] for node in picture.nodes}
    for edge in picture.edges:
        joined[edge.source].append(edge.target)
        joined[edge.target].append(edge.source)
    order = [levels[level] for level in sorted(levels)]
    rank = {node: at / max(1, len(column)) for column in order for at, node in enumerate(column)}
    for sweep in range(6):
        for column in order if sweep % 2 == 0 else order[::-1]:
            weight = {node: sum(rank[other] for other in joined[node]) / len(joined[node]) if joined[node] else rank[node] for node in column}
            column.sort(key=lambda node: (weight[node], node))
            rank.update((node, at / max(1, len(column))) for at, node in enumerate(column))
    stacks = [column[at : at + TALLEST] for column in order for at in range(0, len(column), TALLEST)]
    tallest = max((len(stack) for stack in stacks), default=0)
    places: dict[int, tuple[int, int]] = {}
    for number, stack in enumerate(stacks):
        for at, node in enumerate(stack):
            places[node] = (MARGIN + number * (BOX_WIDTH + GAP_X), MARGIN + at * (BOX_HEIGHT + GAP_Y))
    return places, 2 * MARGIN + max(1, len(stacks)) * (BOX_WIDTH + GAP_X) - GAP_X, 2 * MARGIN + max(1, tallest) * (BOX_HEIGHT + GAP_Y)


def _box(node: Any, x: int, y: int) -> str:
    kind = "start" if node.is_start else "test" if node.is_test else "plain"
    return (
        f'<g class="box {kind}" data-id="{node.id}"><title>{escape(node.label)}\n{escape(node.detail)}</title>'
        f'<rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="4"/>'
        f'<text x="{x + 8}" y="{y + 16}">{escape(_end(node.label, LABEL_ROOM))}</text>'
        f'<text class="detail" x="{x + 8}" y="{y + 31}">{escape(_end(node.detail, DETAIL_ROOM))}</text></g>'
    )


def _curve(edge: Any, places: dict[int, tuple[int, int]]) -> str:
    """From the side of one box to the near side of the other; arrows within a column bulge out."""
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    middle = BOX_HEIGHT // 2
    if x1 == x2:
        start, end, bend = x1 + BOX_WIDTH, x2 + BOX_WIDTH, 60
        path = f"M{start},{y1 + middle} C{start + bend},{y1 + middle} {end + bend},{y2 + middle} {end},{y2 + middle}"
    else:
        start, end = (x1 + BOX_WIDTH, x2) if x1 < x2 else (x1, x2 + BOX_WIDTH)
        bend = max(40, abs(end - start) // 2) * (1 if x1 < x2 else -1)
        path = f"M{start},{y1 + middle} C{start + bend},{y1 + middle} {end - bend},{y2 + middle} {end},{y2 + middle}"
    width = min(4.0, 1 + edge.count**0.5 / 3)
    shown = f"{edge.kind}, {edge.confidence}, {edge.count}"
    return (
        f'<path d="{path}" stroke="{COLOURS[edge.confidence]}" stroke-width="{width:.1f}" data-from="{edge.source}" data-to="{edge.target}"'
        f' marker-end="url(#head-{edge.confidence})"><title>{shown}</title></path>'
    )


def _arrow_head(confidence: str) -> str:
    return (
        f'<marker id="head-{confidence}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto" markerUnits="userSpaceOnUse">'
        f'<path d="M0,0 L8,4 L0,8 z" style="fill:{COLOURS[confidence]};stroke:none"/></marker>'
    )


def _caption(picture: Any) -> str:
    return "\n".join([picture.title, *(f"not drawn: {text}" for text in picture.hidden)])


def _end(text: str, most: int) -> str:
    """The end of a name says most."""
    return text if len(text) <= most else "…" + text[1 - most :]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


FORMS = {"dot": as_dot, "html": as_html}
