"""Packs keep their budget, say what they leave out, and never sync unasked."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orbit.errors import UsageError
from orbit.graph import Graph, SyncPolicy
from orbit.graph.query.pack import estimate
from orbit.graph.query.pack_text import entry_markdown
from orbit.operations import Session, perform
from orbit.present import render

SELECTORS = [
    "symbol:shop/prices.py#net", "symbol:shop/prices.py#Basket", "Basket.total", "gross", "file:shop/prices.py", "file:docs/words.md", "dir:shop", "dir:.",
    "module:shop.till", "ring", "nowhere", "file:notes.xyz", "file:none.py", "symbol:shop/till.py#lost", "dir:empty", "../out", "", "command:serve", "a\0b",
]  # fmt: skip


def reasons(answer: object) -> dict[str, str]:
    return {left.selector: left.reason for left in answer.unresolved}  # type: ignore[attr-defined]


def test_each_kind_of_selector_gives_its_entry_in_the_order_given(graph: Graph) -> None:
    answer = graph.pack(["ring", "file:shop/prices.py", "dir:tests", "module:shop.till", "Basket.total"], max_tokens=100_000)
    assert [(entry.selector, entry.kind, entry.lines) for entry in answer.entries] == [
        ("symbol:shop/till.py#shop.till.ring:function", "function", (4, 5)),
        ("file:shop/prices.py", "file", (1, 17)),
        ("dir:tests", "dir", None),
        ("file:shop/till.py", "file", (1, 5)),
        ("symbol:shop/prices.py#shop.prices.Basket.total:method", "method", (16, 17)),
    ]
    assert answer.entries[0].source == "def ring(basket: Basket) -> float:\n    return net(basket.total())"
    assert answer.entries[1].source == (graph.root / "shop/prices.py").read_text(encoding="utf-8")
    assert "def test_gross()" in str(answer.entries[2].summary)
    assert (answer.unresolved, answer.truncated, answer.token_count) == ([], False, "estimate: bytes / 4")


def test_what_is_missing_is_listed_with_its_reason(graph: Graph, shop: Path) -> None:
    (shop / "shop/till.py").write_text("def ring(): ...\n", encoding="utf-8")
    answer = graph.pack(["nowhere", "file:notes.xyz", "file:../x.py", "symbol:shop/till.py#ring", "test_total", "net"])
    assert reasons(answer) == {
        "nowhere": "not_found", "file:notes.xyz": "outside_indexed_roots", "file:../x.py": "outside_indexed_roots", "symbol:shop/till.py#ring": "stale",
    }  # fmt: skip
    assert [entry.selector for entry in answer.entries] == [
        "symbol:tests/test_prices.py#tests.test_prices.TestBasket.test_total:test", "symbol:shop/prices.py#shop.prices.net:function",
    ]  # fmt: skip


def test_an_ambiguous_name_lists_candidates(graph: Graph, shop: Path) -> None:
    (shop / "shop/other.py").write_text("def net(): ...\n", encoding="utf-8")
    (left,) = graph.pack(["net"], refresh=True).unresolved
    assert left.reason == "ambiguous"
    assert left.candidates == ["symbol:shop/other.py#shop.other.net:function", "symbol:shop/prices.py#shop.prices.net:function"]


def test_a_pack_syncs_only_when_told_to(shop: Path) -> None:
    with Graph.open(shop, SyncPolicy.ON_READ) as graph:
        graph.sync()
        (shop / "shop/fresh.py").write_text("def brand_new(): ...\n", encoding="utf-8")
        assert reasons(graph.pack(["brand_new"])) == {"brand_new": "not_found"}
        assert reasons(graph.pack(["brand_new"], refresh=True)) == {}


def test_time_that_has_run_out_lists_the_rest(graph: Graph) -> None:
    answer = graph.pack(["net", "gross"], timeout_ms=0)
    assert (reasons(answer), answer.truncated) == ({"net": "timeout", "gross": "timeout"}, True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(SELECTORS) | st.text(max_size=12), max_size=12), st.integers(0, 3_000))
def test_a_pack_is_never_over_budget_and_always_the_same(graph: Graph, selectors: list[str], budget: int) -> None:
    answer = graph.pack(selectors, max_tokens=budget)
    assert answer == graph.pack(selectors, max_tokens=budget)
    markdown = "".join(entry_markdown(entry) for entry in answer.entries)
    assert estimate(markdown) <= answer.tokens <= budget
    assert not answer.entries or estimate(msgspec.json.encode(answer.entries).decode()) <= answer.tokens
    assert len(answer.entries) + len(answer.unresolved) <= len(selectors)
    assert render(answer, colour=False).startswith(markdown)


def test_signatures_of_all_come_before_the_body_of_any(graph: Graph) -> None:
    whole = graph.pack(["Basket", "net"], max_tokens=10_000)
    tight = graph.pack(["Basket", "net"], max_tokens=whole.tokens - 1)
    assert [entry.selector for entry in tight.entries] == [entry.selector for entry in whole.entries]
    assert tight.truncated and tight.tokens <= whole.tokens - 1
    assert sum(isinstance(entry.source, str) for entry in tight.entries) == 1


def test_backticks_in_a_source_do_not_end_its_fence(graph: Graph) -> None:
    text = render(graph.pack(["file:docs/words.md"]), colour=False)
    assert "`````markdown\n" in text and text.count("`````") == 2


def test_a_tokenizer_that_no_package_offers_is_refused(graph: Graph, shop: Path) -> None:
    (shop / ".orbit/config.toml").write_text('[graph]\ntokenizer = "os:system"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="no installed package offers"):
        graph.pack(["net"])


def test_a_thousand_selectors_stay_within_the_time_out(graph: Graph, shop: Path) -> None:
    """Half of them wrong in some way, among hundreds of modules whose names are near."""
    names = [f"step_{number}" for number in range(500)]
    (shop / "shop/long.py").write_text("\n\n".join(f"def {name}():\n    return {at}" for at, name in enumerate(names)) + "\n", encoding="utf-8")
    for number in range(300):
        (shop / f"shop/missing_too_{number}.py").write_text("", encoding="utf-8")
    graph.sync()
    for wrong in ("symbol:shop/long.py#missing_{}", "missing_{}", "module:shop.missing_{}", "command:missing_{}", "file:shop/missing_{}.py", "shop/m{}"):
        started = time.monotonic()
        answer = graph.pack([*names, *(wrong.format(number) for number in range(500))], timeout_ms=5_000)
        assert time.monotonic() - started < 6
        assert len(answer.entries) + len(answer.unresolved) == 1000
        assert set(reasons(answer).values()) == {"over_budget", "not_found"}, wrong


def test_the_operation_gives_what_the_method_gives(graph: Graph, shop: Path) -> None:
    session = Session(shop)
    try:
        assert perform(session, "graph.pack", {"selectors": ["net", "lost"]}) == graph.pack(["net", "lost"])
    finally:
        session.close()


NAMES = [
    "prices.py", "shop/prices.py:5", "shop/prices.py:13", "shop/prices.py#net", "shop/prices.py::net", "shop.till", "Basket.total", "command:serve",
    "command:shop serve",
]  # fmt: skip


@pytest.mark.parametrize("text", NAMES)
def test_what_other_questions_take_a_pack_takes(graph: Graph, text: str) -> None:
    serve = "import click\n\n@click.group()\ndef shop(): ...\n\n@shop.command()\ndef serve(): ...\n"
    (graph.root / "cli.py").write_text(serve, encoding="utf-8")
    (graph.root / "docs/prices.md").write_text("# Basket\n", encoding="utf-8")
    graph.sync()
    answer = graph.pack([text, "Basket"], max_tokens=100_000)
    assert [entry.selector for entry in answer.entries] == [graph.show(text).selector, "symbol:shop/prices.py#shop.prices.Basket:class"]
