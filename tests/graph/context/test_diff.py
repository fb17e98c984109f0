"""The impact of a diff: what it changes, which tests reach it, which decisions govern it, what the graph cannot see."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from orbit.adr import AdrStore
from orbit.errors import NotFoundError, UsageError
from orbit.graph import Graph
from orbit.graph.query.likeness import Change
from orbit.graph.query.runnable import file_id, test_id
from orbit.operations import Session, perform
from orbit.present import render

Git = Callable[..., str]
Commit = Callable[..., str]


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new), encoding="utf-8")


def test_the_innermost_symbols_of_changed_lines_are_changed(graph: Graph, shop: Path) -> None:
    edit(shop, "shop/prices.py", "price * 1.2", "price * 1.3")
    graph.sync()
    answer = graph.impact(diff="HEAD")
    assert answer.changed == ["symbol:shop/prices.py#shop.prices.gross:function"]
    assert {(row.qualified_name, row.distance, row.is_test) for row in answer.touched} >= {
        ("shop.prices.Basket.total", 1, False), ("tests.test_prices.test_gross", 1, True),
    }  # fmt: skip


def test_an_answer_that_must_be_cut_keeps_some_of_everything(graph: Graph, shop: Path) -> None:
    for path, name in (("shop/many.py", "caller"), ("tests/test_many.py", "test_many")):
        calls = "".join(f"def {name}_{at}():\n    return gross({at})\n\n\n" for at in range(200))
        (shop / path).write_text(f"from shop.prices import gross\n\n\n{calls}", encoding="utf-8")
    edit(shop, "shop/prices.py", "price * 1.2", "price * 1.3")
    graph.sync()
    answer = graph.impact(diff="HEAD")
    assert answer.truncated
    assert len(msgspec.json.encode(answer)) <= 20_000
    assert min(len(answer.touched), len(answer.tests)) > 20


def test_tests_come_nearest_first_as_runnable_ids(graph: Graph, shop: Path) -> None:
    edit(shop, "shop/prices.py", "price * 1.2", "price * 1.3")
    graph.sync()
    answer = graph.impact(worktree=True)
    ids = [test.id for test in answer.tests]
    assert ids[0] == "tests/test_prices.py::test_gross"
    assert "tests/test_prices.py::TestBasket::test_total" in ids
    assert [test.distance for test in answer.tests] == sorted(test.distance for test in answer.tests)
    assert answer.untested == []


@pytest.mark.parametrize(
    ("lang", "path", "module", "qualified", "expected"),
    [
        ("python", "tests/test_a.py", "tests.test_a", "tests.test_a.TestX.test_y", "tests/test_a.py::TestX::test_y"),
        ("go", "pkg/a_test.go", "example.org/m/pkg", "example.org/m/pkg.TestRun", "./pkg TestRun"),
        ("rust", "src/lib.rs", "crate_a::jobs", "crate_a::jobs::tests::runs", "jobs::tests::runs"),
        ("java", "src/test/java/a/BTest.java", "a", "a.BTest.runs", "a.BTest#runs"),
        ("csharp", "T.cs", "N", "N.T.Runs", "N.T.Runs"),
        ("ruby", "test/a_test.rb", "", "ATest#test_x", "test/a_test.rb:7"),
    ],
)
def test_each_runner_names_tests_in_its_own_way(lang: str, path: str, module: str, qualified: str, expected: str) -> None:
    assert test_id(lang, path, module, qualified, 7) == expected
    assert file_id("go", "pkg/a_test.go") == "./pkg"


def test_who_makes_an_object_is_touched_when_its_constructor_changes(graph: Graph, shop: Path) -> None:
    edit(shop, "shop/prices.py", "self.items: list[float] = []", "self.items: list[float] = [0.0]")
    graph.sync()
    answer = graph.impact(worktree=True)
    assert answer.changed == ["symbol:shop/prices.py#shop.prices.Basket.__init__:method"]
    assert [(test.id, test.distance, test.evidence) for test in answer.tests[:2]] == [
        ("tests/test_prices.py::TestBasket::test_total", 1, "calls"), ("tests/test_till.py::test_ring", 1, "calls"),
    ]  # fmt: skip
    assert not any(row.qualified_name == "shop.till.ring" for row in answer.touched)  # it only names the type
    assert answer.untested == []


def test_a_test_file_named_after_the_changed_symbol_is_listed_before_one_that_is_only_like_it(graph: Graph, shop: Path) -> None:
    for name, text in {"test_baskets": "pass", "test_mixed": 'assert run("items") == sum([])', "test_other": "assert 1"}.items():
        (shop / f"tests/{name}.py").write_text(f"def test_it():\n    {text}\n", encoding="utf-8")
    edit(shop, "shop/prices.py", "gross(item) for item in self.items", "gross(item) + 0 for item in self.items")
    graph.sync()
    found = {test.path: test.evidence for test in graph.impact(diff="HEAD").tests}
    assert found == {
        "tests/test_prices.py": "calls", "tests/test_till.py": "calls", "tests/test_baskets.py": "file_name", "tests/test_mixed.py": "likely",
    }  # fmt: skip


def test_of_files_that_are_like_the_change_three_are_listed_and_the_rest_counted(graph: Graph, shop: Path) -> None:
    for number in range(8):
        (shop / f"tests/test_case_{number}.py").write_text("def test_it():\n    assert sum([]) == 0\n" + "    print(sum)\n" * number, encoding="utf-8")
    edit(shop, "shop/prices.py", "gross(item) for item in self.items", "gross(item) + 0 for item in self.items")
    graph.sync()
    answer = graph.impact(diff="HEAD")
    likely = [test.path for test in answer.tests if test.evidence == "likely"]
    assert (len(likely), answer.tests_hidden) == (3, 5)
    assert "5 more test files" in render(answer, colour=False)
    wide = graph.impact(diff="HEAD", confidence="fuzzy")
    assert ([test.path for test in wide.tests if test.evidence == "likely"][:3], wide.tests_hidden) == (likely, 0)


def test_tests_that_are_blocks_are_named_by_their_file(graph: Graph, shop: Path) -> None:
    (shop / "web").mkdir()
    (shop / "web/price.js").write_text("export function price(x) {\n  return x;\n}\n", encoding="utf-8")
    (shop / "web/other.test.js").write_text("import { price } from './price.js';\n\ntest('it', () => {\n  price(1);\n});\n", encoding="utf-8")
    graph.sync()
    assert [(test.id, test.evidence) for test in graph.impact(worktree=True).tests if test.runner == "script"] == [("web/other.test.js", "calls")]


@pytest.mark.parametrize(
    ("test", "is_named", "likeness"),
    [
        ("tests/test_http_cookies.py", True, 2),  # the folder and the name
        ("tests/test_cookies.py", True, 2),
        ("tests/CookieJarTest.java", True, 2),  # the symbol
        ("tests/test_cookie_storage.py", False, 2),
        ("tests/test_cook.py", False, 1),
        ("tests/test_other.py", False, 0),
        ("tests/test_.py", False, 0),
    ],
)
def test_a_test_file_is_named_after_a_change_by_its_words(test: str, is_named: bool, likeness: int) -> None:
    change = Change(["shop/http/cookies.py"], ["CookieJar"])
    assert (change.names_file(test), change.resembles(test)) == (is_named, likeness)


def test_staged_unstaged_and_new_files_are_told_apart(graph: Graph, shop: Path, git: Git) -> None:
    edit(shop, "shop/prices.py", "price / 1.2", "price / 1.3")
    git("add", "-A")
    edit(shop, "shop/till.py", "net(basket.total())", "net(basket.total() + 1)")
    (shop / "shop/fresh.py").write_text("def brand_new():\n    return 1\n", encoding="utf-8")
    graph.sync()
    assert graph.impact(staged=True).changed == ["symbol:shop/prices.py#shop.prices.net:function"]
    assert graph.impact(worktree=True).changed == ["symbol:shop/fresh.py#shop.fresh.brand_new:function", "symbol:shop/till.py#shop.till.ring:function"]
    assert graph.impact(worktree=True).untested == ["symbol:shop/fresh.py#shop.fresh.brand_new:function"]


def test_what_the_graph_cannot_see_is_said(graph: Graph, shop: Path) -> None:
    (shop / "notes.xyz").write_text("other\n", encoding="utf-8")
    (shop / "docs/words.md").unlink()
    (shop / "shop/broken.py").write_text("def ok():\n    return 1\n\n\ndef broken(:\n    ((\n", encoding="utf-8")
    graph.sync()
    edit(shop, "shop/till.py", "net(", "abs(")
    answer = graph.impact(worktree=True)
    assert {(one.path, one.reason) for one in answer.unseen} == {
        ("notes.xyz", "not_indexed"), ("docs/words.md", "deleted"), ("shop/broken.py", "broken_parse"), ("shop/till.py", "stale"),
    }  # fmt: skip
    assert answer.fresh is False


def test_lines_outside_symbols_are_the_files_own(graph: Graph, shop: Path) -> None:
    edit(shop, "shop/prices.py", '"""Prices."""', '"""Prices of goods."""')
    graph.sync()
    answer = graph.impact(worktree=True)
    assert answer.changed == ["file:shop/prices.py"]
    assert {"shop/till.py", "tests/test_prices.py"} <= {row.path for row in answer.touched}


def test_decisions_that_govern_the_change_are_named(graph: Graph, shop: Path) -> None:
    with AdrStore(shop) as store:
        made = store.add(title="Prices have tax", owner="me", related_features=["shop"], paths=["shop/**"], context="c", decision="d", consequences="e")
    edit(shop, "shop/prices.py", "price * 1.2", "price * 1.3")
    graph.sync()
    (decision,) = graph.impact(worktree=True).decisions
    assert (decision.id, decision.via, decision.governs) == (made.id, "path", ["symbol:shop/prices.py#shop.prices.gross:function"])


def test_a_check_that_fails_is_named_and_leaves_with_seven(graph: Graph, shop: Path) -> None:
    (shop / "notes.xyz").write_text("other\n", encoding="utf-8")
    assert graph.impact(diff="HEAD", fail_on="unseen").failed == ["unseen"]
    assert graph.impact(diff="HEAD", fail_on="untested").failed == []


def test_one_thing_is_asked_at_a_time(graph: Graph) -> None:
    for given in ({}, {"selector": "net", "staged": True}, {"diff": "HEAD", "worktree": True}):
        with pytest.raises(UsageError, match="either a selector"):
            graph.impact(**given)
    with pytest.raises(UsageError, match="no revision"):
        graph.impact(diff="--output=x")
    with pytest.raises(NotFoundError, match="no revision 'no-such-revision'"):
        graph.impact(diff="no-such-revision")


def test_the_operation_gives_what_the_method_gives_and_text_shows_it(graph: Graph, shop: Path) -> None:
    edit(shop, "shop/prices.py", "price * 1.2", "price * 1.3")
    graph.sync()
    session = Session(shop)
    try:
        answer = perform(session, "graph.impact", {"worktree": True})
    finally:
        session.close()
    assert answer == graph.impact(worktree=True)
    text = render(answer, colour=False)
    assert "changed: 1" in text and "tests/test_prices.py::test_gross" in text
