"""Search: what is found, and in which order."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orbit.errors import NotFoundError, UsageError
from orbit.graph import Graph


def names(graph: Graph, query: str, **options: object) -> list[str]:
    return [match.qualified for match in graph.search(query, kind="symbol", **options).matches]  # type: ignore[arg-type, union-attr]


def test_a_match_says_all_that_is_needed_to_go_on(graph: Graph) -> None:
    answer = graph.search("Circle")
    assert answer.matches[0].__struct_fields__ == ("symbol_kind", "name", "qualified", "signature", "path", "line", "end_line", "selector")
    first = answer.matches[0]
    assert (first.symbol_kind, first.name, first.path, first.line) == ("class", "Circle", "pkg/shapes.py", 11)  # type: ignore[union-attr]
    assert first.selector == "symbol:pkg/shapes.py#pkg.shapes.Circle:class"  # type: ignore[union-attr]


def test_exact_names_come_first_then_beginnings_and_tests_last(graph: Graph) -> None:
    assert names(graph, "square") == [
        "pkg.other.square",
        "pkg.shapes.square",
        "tests.test_shapes.square_twice",
        "tests.test_shapes.test_square",
    ]


def test_words_of_camel_and_snake_names_are_found(graph: Graph) -> None:
    assert names(graph, "header") == ["pkg.shapes.parseHttpHeader", "pkg.shapes.parse_header_line"]
    assert names(graph, "parse header") == ["pkg.shapes.parseHttpHeader", "pkg.shapes.parse_header_line"]
    assert names(graph, "httpHead") == ["pkg.shapes.parseHttpHeader"]
    assert names(graph, "PARSEHTTPHEADER") == ["pkg.shapes.parseHttpHeader"]


def test_a_qualified_name_finds_its_symbol_first(graph: Graph) -> None:
    assert names(graph, "pkg.shapes.Circle.area")[0] == "pkg.shapes.Circle.area"
    assert names(graph, "Circle.area")[0] == "pkg.shapes.Circle.area"


def test_definitions_come_before_configuration_and_strings(graph: Graph) -> None:
    kinds = [type(match).__name__ for match in graph.search("total").matches]
    assert kinds[0] == "SymbolMatch"
    assert kinds == sorted(kinds, key=["SymbolMatch", "ConfigMatch", "StringMatch"].index)
    assert "StringMatch" in kinds


def test_strings_and_configuration_keys_are_found(graph: Graph) -> None:
    (string,) = graph.search("total is printed", kind="string").matches
    assert (string.value, string.path, string.line, string.in_) == ("the total is printed here", "pkg/app.py", 13, "pkg.app.report")  # type: ignore[union-attr]
    (config,) = graph.search("retry_limit", kind="config").matches
    assert (config.value, config.path, config.line) == ("server.retry_limit", "settings.toml", 2)  # type: ignore[union-attr]


def test_a_language_holds_the_search_to_its_files(graph: Graph) -> None:
    assert graph.search("paint", lang="typescript").total == 1
    assert graph.search("paint", lang="python").total == 0
    with pytest.raises(NotFoundError, match="'py'") as caught:
        graph.search("paint", lang="py")
    assert caught.value.candidates == ["python"]


def test_the_total_is_exact_whatever_the_limit(graph: Graph) -> None:
    whole = graph.search("square", limit=1000)
    assert (whole.total, whole.truncated) == (len(whole.matches), False)
    for limit in range(whole.total):
        part = graph.search("square", limit=limit)
        assert (part.total, part.truncated, part.matches) == (whole.total, True, whole.matches[:limit])


def test_a_miss_is_an_answer_with_near_names(graph: Graph) -> None:
    answer = graph.search("sqaure_twice")
    assert (answer.total, answer.matches, answer.truncated) == (0, [], False)
    assert "square_twice" in answer.did_you_mean  # type: ignore[operator]


def test_a_task_holds_the_search_to_files_of_its_commits(own: Graph) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments], cwd=own.root, check=True, capture_output=True)

    git("add", "pkg/other.py", "odd dir")
    git("commit", "-qm", "Add squares [T20260101-17]")
    git("add", ".")
    git("commit", "-qm", "The rest")
    assert {match.path for match in own.search("square", task_id="T20260101-17").matches} == {"pkg/other.py"}
    assert own.search("lonely", task_id="T20260101-17").total == 1
    assert own.search("square", task_id="T20260101-99").total == 0


@pytest.mark.parametrize("options", [{"kind": "function"}, {"limit": -1}, {"limit": "many"}])
def test_wrong_options_are_usage_errors(graph: Graph, options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        graph.search("x", **options)  # type: ignore[arg-type]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=30) | st.text(alphabet='ab_.*"()^:-+{}~ \0\n', max_size=20))
def test_any_text_may_be_searched_for(graph: Graph, query: str) -> None:
    answer = graph.search(query)
    assert answer.total >= len(answer.matches)
