"""C#: parameter counts, flags and kinds of relation, which an outline does not show in full."""

from __future__ import annotations

import pytest

from orbit.graph.facts import FileFacts
from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit_native.names import Names


def facts(text: str) -> FileFacts:
    return extract(language("csharp"), text.encode(), Names())


def test_parameters_are_counted_also_where_an_array_takes_the_rest() -> None:
    found = facts("""
        class C(int a, string b) { C() : this(1, null) {} void F<T>([In] T a, int b = 1) {} void F(params int[] all) {} int G(ref int x) => Map(y => y); }
    """)
    assert [(d.kind, d.local, d.argc, sorted(d.flags)) for d in found.definitions if d.argc >= 0] == [
        ("class", "C", 2, []),
        ("constructor", "C.C", 0, []),
        ("method", "C.F", 2, ["defaults"]),
        ("method", "C.F#2", 1, ["varargs"]),
        ("method", "C.G", 1, []),
    ]


def test_an_extension_method_says_what_it_extends() -> None:
    found = facts("static class C { static int F(this Item<int> item, int n) => n; }").definitions[1]
    assert ("extension" in found.flags, found.local, found.argc) == (True, "C.F", 2)


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("class A : Base, IShape, N.IOther<int> {}", ["extends", "implements", "implements"]),
        ("class A : Item, Iteration {}", ["extends", "extends"]),
        ("interface A : IShape, Shape {}", ["extends", "extends"]),
        ("struct A : Shape {}", ["implements"]),
        ("enum A : byte { B }", []),
    ],
)
def test_interfaces_are_told_from_classes(source: str, kinds: list[str]) -> None:
    assert [relation.kind for relation in facts(source).relations] == kinds


def test_usings_and_namespaces_are_no_references() -> None:
    found = facts("using A.B.C;\nusing static D.E;\nusing F = G.H<int>;\nnamespace N.M.O;\nclass P { }\n")
    assert (found.refs.tolist(), [d.local for d in found.definitions]) == ([], ["N.M.O", "N.M.O.P"])
    assert [(found.text(i.path), found.text(i.alias), sorted(i.flags)) for i in found.imports] == [
        ("A.B.C", "", ["star"]),
        ("D.E", "", ["star", "static"]),
        ("G.H", "F", []),
    ]


def test_a_nested_namespace_is_qualified_by_the_one_around_it() -> None:
    found = facts("namespace A.B { namespace C { class D { class E { } } } class F { } }")
    assert [d.local for d in found.definitions] == ["A.B", "A.B.C", "A.B.C.D", "A.B.C.D.E", "A.B.F"]


def test_a_condition_in_a_class_header_is_not_its_name() -> None:
    found = facts("namespace N\n{\n    public partial class Reader\n#if ASYNC\n        : IAsync\n#endif\n    {\n        void Go() { }\n    }\n}\n")
    assert [d.local for d in found.definitions] == ["N", "N.Reader", "N.Reader.Go"]
