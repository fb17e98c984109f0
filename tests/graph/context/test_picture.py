"""Pictures: what they draw, what they say they hide, and that they stand alone."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orbit.cli.app import app
from orbit.graph import Graph
from orbit.present.picture import arrange, as_dot, as_html


class Page(HTMLParser):
    """Collects what a page would load, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "xlink:href", "data", "action")]


def test_an_impact_has_the_start_on_the_left_and_arrows_to_what_is_depended_on(graph: Graph) -> None:
    picture = graph.picture("impact", selector="gross")
    by_label = {node.label: node for node in picture.nodes}
    assert by_label["shop.prices.gross"].is_start and by_label["shop.prices.gross"].level == 0
    assert by_label["tests.test_prices.test_gross"].is_test
    names = {node.id: node.label for node in picture.nodes}
    assert ("shop.prices.Basket.total", "shop.prices.gross", "call") in {(names[e.source], names[e.target], e.kind) for e in picture.edges}


def test_each_column_says_what_stands_in_it(graph: Graph) -> None:
    picture = graph.picture("impact", selector="gross")
    assert picture.columns[:2] == ["changes", "1 step away"] and len(picture.columns) == 1 + max(node.level for node in picture.nodes)
    assert "no imports among these" in as_html(graph.picture("overview", format="full"))


def test_an_overview_joins_files_by_imports(graph: Graph) -> None:
    picture = graph.picture("overview", format="full")
    names = {node.id: node.label for node in picture.nodes}
    assert ("shop/till.py", "shop/prices.py") in {(names[edge.source], names[edge.target]) for edge in picture.edges}
    levels = {node.label: node.level for node in picture.nodes}
    assert levels["shop/till.py"] <= levels["shop/prices.py"]


def test_what_does_not_fit_is_said(graph: Graph) -> None:
    picture = graph.picture("overview", format="full", limit=2)
    assert len(picture.nodes) == 2
    assert re.match(r"\d+ of \d+ files, tests and those with fewest symbols", picture.hidden[0])
    assert not any(node.is_test for node in picture.nodes)
    assert "Not drawn" in as_html(picture) and "not drawn" in as_dot(picture)


def test_a_page_loads_nothing_and_no_two_boxes_overlap(graph: Graph) -> None:
    for picture in (graph.picture("overview", format="full"), graph.picture("impact", selector="file:shop/prices.py")):
        page = Page(as_html(picture))
        assert page.loads == [] and "svg" in page.tags and "@import" not in as_html(picture) and "url(http" not in as_html(picture)
        places, width, height = arrange(picture)
        assert len(set(places.values())) == len(picture.nodes)
        assert all(x + 250 <= width and y + 40 <= height for x, y in places.values())


def test_names_cannot_break_out_of_a_picture(graph: Graph, shop: Path) -> None:
    (shop / 'shop/a"<b>&.md').write_text("# </title><script>alert(1)</script>\n", encoding="utf-8")
    graph.sync()
    picture = graph.picture("overview", format="full")
    assert "<b>" not in as_html(picture) and '\\"<b>' in as_dot(picture)


@pytest.mark.parametrize(("form", "beginning"), [("--dot", "digraph orbit {"), ("--html", "<!doctype html>")])
@pytest.mark.parametrize("question", [["overview", "--format", "full"], ["impact", "gross"], ["impact", "--diff", "HEAD"]])
def test_the_command_line_draws(graph: Graph, shop: Path, question: list[str], form: str, beginning: str) -> None:
    done = CliRunner().invoke(app, ["graph", *question, form, "--root", str(shop)])
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, beginning)


def test_the_same_graph_gives_the_same_picture(graph: Graph) -> None:
    assert as_html(graph.picture("overview")) == as_html(graph.picture("overview"))
