"""Kotlin: parameter counts, trailing lambdas and extensions, which an outline does not show in full."""

from __future__ import annotations

from orbit.graph.facts import FileFacts
from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit_native.names import Names


def facts(text: str) -> FileFacts:
    return extract(language("kotlin"), text.encode(), Names())


def calls(found: FileFacts) -> list[tuple[str, int, int]]:
    return [(found.text(row[1]), row[7], row[8]) for row in found.refs.tolist() if row[0] == 0]


def test_parameters_are_counted_without_their_defaults_and_modifiers() -> None:
    found = facts("""
        fun f(a: Int, vararg b: String, c: (x: Int) -> Unit = {}) = 1
        fun g() {}
        class C(val a: Int, b: Int = 2) {
            constructor(a: Int) : this(a, 2)
        }
    """)
    assert [(d.kind, d.local, d.argc, sorted(d.flags)) for d in found.definitions if d.argc >= 0] == [
        ("function", "f", 3, ["defaults", "varargs"]),
        ("function", "g", 0, []),
        ("class", "C", 2, ["defaults"]),
        ("constructor", "C.C", 1, []),
    ]


def test_a_trailing_lambda_is_an_argument_and_leaves_no_flag() -> None:
    found = facts("fun f() {\n    a(1) { b() }\n    c { d() }\n    x.e(1, 2) { }\n    g<Int>(3)\n}\n")
    assert sorted(calls(found)) == [("a", 2, 0), ("b", 0, 0), ("c", 1, 0), ("d", 0, 0), ("e", 3, 0), ("g", 1, 0)]


def test_an_extension_stands_under_its_receiver_within_its_package() -> None:
    found = facts("package p\nfun Cart.total(): Int = 1\nfun q.Shelf<Int>?.first() = 2\nval String.half: Int\n    get() = 3\nfun plain() {}\n")
    assert [(d.local, d.name, found.text(d.owner)) for d in found.definitions[1:]] == [
        ("p.Cart.total", "total", "Cart"),
        ("p.Shelf.first", "first", "q.Shelf<Int>"),
        ("p.String.half", "half", "String"),
        ("p.plain", "plain", ""),
    ]


def test_qualified_types_keep_the_whole_path_before_their_name() -> None:
    found = facts("val a: com.acme.Outer.Inner? = null\n")
    assert [(found.text(row[1]), found.text(row[5])) for row in found.refs.tolist()] == [("Outer", "com.acme"), ("Inner", "com.acme.Outer")]


def test_an_annotation_that_ends_the_file_does_not_hang_the_parser() -> None:
    facts = extract(language("kotlin"), b"val v = b\n@", Names())
    assert [found.name for found in facts.definitions] == ["v"]
    assert facts.broken == [(10, 11)]
