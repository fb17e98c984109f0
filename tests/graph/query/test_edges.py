"""refs, callees, implementors and deps: whole answers on the small worktree."""

from __future__ import annotations

import msgspec
import pytest

from orbit.errors import SymbolNotFoundError, UsageError
from orbit.graph import Graph
from orbit.graph.languages import NAMES, language
from orbit.model import family_of


def rows(answer: msgspec.Struct, name: str) -> list[tuple[object, ...]]:
    return [msgspec.structs.astuple(row) for row in getattr(answer, name)]


def test_references_come_by_confidence_file_and_line(graph: Graph) -> None:
    answer = graph.refs("pkg.shapes.square")
    found = rows(answer, "refs")
    ladder = ["exact", "import_resolved", "same_module", "fuzzy_name"]
    assert found == sorted(found, key=lambda row: (ladder.index(str(row[3])), row[0], row[1]))
    assert ("pkg/shapes.py", 16, "call", "exact", "pkg.shapes.Circle.area") in found
    assert ("pkg/app.py", 9, "call", "import_resolved", "pkg.app.total") in found
    assert ("pkg/app.py", 1, "use", "import_resolved", "pkg/app.py") in found
    assert (answer.total, answer.truncated) == (len(found), False)
    assert {row[0] for row in found} == {"pkg/shapes.py", "pkg/app.py", "tests/test_shapes.py"}


def test_a_kind_leaves_only_that_kind(graph: Graph) -> None:
    assert {ref.kind for ref in graph.refs("pkg.shapes.square", kind="call").refs} == {"call"}
    extends = graph.refs("pkg.shapes.Shape", kind="extends")
    assert rows(extends, "relations") == [
        ("pkg.shapes.Circle", "extends", "pkg/shapes.py", 11, "exact"),
        ("pkg.shapes.Box", "extends", "pkg/shapes.py", 19, "exact"),
    ]
    assert (extends.refs, extends.total) == ([], 2)


def test_what_is_left_out_as_unsure_is_counted_and_shown_on_request(graph: Graph) -> None:
    sure, all_of_them = graph.refs("Circle.area"), graph.refs("Circle.area", confidence="fuzzy")
    assert sure.skipped_low_confidence == all_of_them.total - sure.total > 0
    assert all_of_them.skipped_low_confidence == 0
    unsure = [ref for ref in all_of_them.refs if ref.confidence == "fuzzy_name"]
    assert ("pkg/app.py", 14) in {(ref.file, ref.line) for ref in unsure}
    assert all(ref.confidence != "fuzzy_name" for ref in sure.refs)


def test_a_limit_cuts_the_rows_and_keeps_the_total(graph: Graph) -> None:
    whole = graph.refs("pkg.shapes.square")
    part = graph.refs("pkg.shapes.square", limit=2)
    assert (part.total, part.truncated, part.refs) == (whole.total, True, whole.refs[:2])


def test_a_file_is_referred_to_by_its_imports(graph: Graph) -> None:
    answer = graph.refs("file:pkg/shapes.py")
    assert answer.target.kind == "file"
    assert {(ref.file, ref.line) for ref in answer.refs if ref.kind == "use"} >= {("pkg/app.py", 1), ("pkg/app.py", 2), ("tests/test_shapes.py", 1)}
    assert len({(ref.file, ref.line, ref.kind) for ref in answer.refs}) == len(answer.refs)
    assert graph.refs("pkg.shapes").refs == answer.refs


def test_nobody_refers_to_it_is_an_empty_answer_not_an_error(graph: Graph) -> None:
    answer = graph.refs("lonely")
    assert (answer.refs, answer.relations, answer.total, answer.truncated) == ([], [], 0, False)


def test_calls_come_in_the_order_of_the_source(graph: Graph) -> None:
    answer = graph.callees("pkg.app.total")
    assert [(call.target_name, call.target_qualified) for call in answer.callees] == [
        ("Circle", "pkg.shapes.Circle"),
        ("area", "pkg.shapes.Circle.area"),
        ("square", "pkg.shapes.square"),
        ("square", "pkg.shapes.square"),
    ]
    assert answer.callees[2].selector == "symbol:pkg/shapes.py#pkg.shapes.square:function"
    assert {(call.file, call.line) for call in answer.callees} == {("pkg/app.py", 8), ("pkg/app.py", 9)}


def test_a_call_to_something_unknown_is_said_to_be_unknown(graph: Graph) -> None:
    by_name = {call.target_name: call for call in graph.callees("pkg.app.report").callees}
    assert (by_name["print"].target_qualified, by_name["print"].selector, by_name["print"].confidence) == (None, None, "fuzzy_name")
    sure = graph.callees("pkg.app.report", confidence="same_module")
    assert sure.skipped_low_confidence == len(by_name) - sure.total


def test_implementors_include_what_extends(graph: Graph) -> None:
    answer = graph.implementors("Shape")
    assert answer.trait_name == "Shape"
    assert [(row.type_qualified, row.trait_matched, row.kind, row.file, row.line) for row in answer.implementors] == [
        ("pkg.shapes.Circle", "pkg.shapes.Shape", "extends", "pkg/shapes.py", 11),
        ("pkg.shapes.Box", "pkg.shapes.Shape", "extends", "pkg/shapes.py", 19),
    ]
    assert answer.implementors[0].selector == "symbol:pkg/shapes.py#pkg.shapes.Circle:class"
    (canvas,) = graph.implementors("symbol:web/view.ts#Drawable").implementors
    assert canvas.kind == "implements"


def test_a_type_outside_the_graph_is_matched_by_its_last_part(own: Graph) -> None:
    (own.root / "outside.py").write_text("import abc\n\nclass Mine(abc.ABC):\n    pass\n", encoding="utf-8")
    own.sync()
    for name in ("ABC", "abc.ABC"):
        answer = own.implementors(name)
        assert (answer.target, answer.trait_name, [row.type_qualified for row in answer.implementors]) == (None, "ABC", ["outside.Mine"])
    with pytest.raises(SymbolNotFoundError):
        own.implementors("Nobody")


def test_imports_say_where_they_lead(graph: Graph) -> None:
    answer = graph.deps("file:pkg/app.py")
    assert rows(answer, "imports") == [
        ("pkg/app.py", "pkg.shapes", "Circle", "pkg/shapes.py", 1),
        ("pkg/app.py", "pkg.shapes", "square", "pkg/shapes.py", 1),
        ("pkg/app.py", "pkg", "shapes", "pkg/shapes.py", 2),
        ("pkg/app.py", "os", None, None, 3),
    ]
    assert (answer.total, answer.truncated, answer.scope) == (4, False, "file:pkg/app.py")
    assert graph.deps("dir:.").total == graph.deps("pkg").total + graph.deps("dir:tests").total


def test_deps_of_a_symbol_are_refused(graph: Graph) -> None:
    with pytest.raises(UsageError):
        graph.deps("symbol:pkg/app.py#total")


def test_families_are_those_of_the_languages() -> None:
    for name in NAMES:
        assert family_of(name) == (language(name).family or name)
