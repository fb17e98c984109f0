"""Which decisions govern a file or a symbol."""

from __future__ import annotations

import pytest

from orbit.adr import AdrStore, Place
from orbit.errors import AmbiguousError, NotFoundError


class Symbols:
    """What a graph would answer: names with and without module or kind, one of them used twice."""

    def locate(self, selector):
        if selector in ("both", "symbol:src/a.py#both"):
            raise AmbiguousError(selector, ["symbol:src/a.py#both#2"])
        name = selector.removeprefix("symbol:src/a.py#").removeprefix("a.").removesuffix(":function")
        return {"run": Place("src/a.py", 1, 3), "stop": Place("src/a.py", 5, 6)}.get(name)


@pytest.fixture
def stocked(repo):
    repo.write("src/a.py", "def run():\n    # [ADR-0002]\n    pass\n\ndef stop():\n    # [ADR-0005]\n    pass\n")
    repo.accepted("By glob", paths=["src/**"])
    repo.add("By citation")
    repo.accepted("By anchor", decision="Keep `symbol:src/a.py#run:function` pure.")
    repo.accepted("By folder", decision="All of `dir:./src` is pure.")
    old, new = repo.accepted("Replaced", paths=["src/**"]), repo.accepted("Elsewhere", paths=["lib/**"])
    with AdrStore(repo.root) as store:
        store.supersede(old, new)
    return repo


def via(answer):
    return [(adr.id, adr.status, adr.via, adr.reasons) for adr in answer.adrs]


def test_a_file_is_governed_by_globs_anchors_and_citations(stocked, store):
    assert via(store.decisions_for("src/a.py")) == [
        ("ADR-0004", "accepted", "anchor", ["anchor dir:./src"]),
        ("ADR-0003", "accepted", "anchor", ["anchor symbol:src/a.py#run:function"]),
        ("ADR-0001", "accepted", "path", ["path src/**"]),
        ("ADR-0002", "proposed", "citation", ["cited on line 2"]),
        ("ADR-0005", "superseded", "citation", ["cited on line 6"]),
    ]
    assert store.decisions_for("file:src/a.py").adrs == store.decisions_for("src/a.py").adrs
    assert stocked.ask("for", "./src/a.py")["total"] == 5


def test_a_symbol_is_governed_by_its_own_anchors_and_the_citations_in_its_lines(stocked):
    with AdrStore(stocked.root, code=Symbols()) as store:
        assert [adr.id for adr in store.decisions_for("symbol:src/a.py#run").adrs] == ["ADR-0004", "ADR-0003", "ADR-0001", "ADR-0002"]
        assert [adr.id for adr in store.decisions_for("symbol:src/a.py#stop").adrs] == ["ADR-0004", "ADR-0001", "ADR-0005"]
        assert [adr.id for adr in store.governing("src/a.py", selector="symbol:src/a.py#stop", place=Place("src/a.py", 5, 6))] == [
            "ADR-0004",
            "ADR-0001",
            "ADR-0005",
        ]


def test_with_a_graph_names_are_resolved_and_unknown_ones_are_errors(stocked):
    with AdrStore(stocked.root, code=Symbols()) as store:
        expected = store.decisions_for("symbol:src/a.py#run").adrs
        assert store.decisions_for("run").adrs == expected
        assert store.decisions_for("symbol:src/a.py#a.run").adrs == expected
        with pytest.raises(NotFoundError):
            store.decisions_for("symbol:src/a.py#gone")
        with pytest.raises(AmbiguousError):
            store.decisions_for("both")


def test_without_a_graph_a_symbol_is_known_by_its_file(stocked, store):
    assert [adr.id for adr in store.decisions_for("symbol:src/a.py#run").adrs] == ["ADR-0004", "ADR-0003", "ADR-0001"]
    with pytest.raises(NotFoundError, match="run"):
        store.decisions_for("run")


def test_a_path_to_come_is_governed_by_globs_already(stocked, store):
    assert [adr.id for adr in store.decisions_for("src/new.py").adrs] == ["ADR-0004", "ADR-0001"]
    with pytest.raises(NotFoundError):
        store.decisions_for("nowhere/new.py")
    assert stocked.cli("for", "../outside").exit == 2
