"""Java: what an outline does not show. Parameter counts, flags of overloads, names that come from the source alone."""

from __future__ import annotations

import pytest

from orbit.graph.facts import FileFacts
from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit_native.names import Names

JAVA = language("java")
SCRAPS = (b"", b"\xef\xbb\xbf", b"\0\0", b"\xff\xfe\xfd", b"package", b"namespace ;", b"class", b"package a\r\nclass A {\r\n}\r\n", b"{" * 500)


class NoLayout:
    def has(self, path: str) -> bool:
        return False

    def text(self, path: str) -> str | None:
        return None

    def manifests(self, name: str) -> tuple[str, ...]:
        return ()


def facts(text: str) -> FileFacts:
    return extract(JAVA, text.encode(), Names())


def test_overloads_keep_their_parameter_counts() -> None:
    found = facts("package p; class C { C() {} void f() {} void f(int a) {} void f(int a, /* one more */ String b) {} void f(String a, Object... rest) {} }")
    assert [(d.local, d.argc, sorted(d.flags)) for d in found.definitions if d.argc >= 0] == [
        ("p.C.C", 0, []),
        ("p.C.f", 0, []),
        ("p.C.f#2", 1, []),
        ("p.C.f#3", 2, []),
        ("p.C.f#4", 2, ["varargs"]),
    ]


def test_a_compact_constructor_takes_what_its_record_takes() -> None:
    found = facts("record R(int a, String b) { R { } }")
    assert [(d.kind, d.local, d.argc) for d in found.definitions if d.kind in ("record", "constructor")] == [("record", "R", 2), ("constructor", "R.R", 2)]


def test_the_package_spans_the_rest_of_the_file() -> None:
    source = "/* licence */\npackage p.q;\nimport r.S;\nclass C {}\n"
    package, inner = facts(source).definitions
    assert (package.name, package.start, package.end, package.line, package.end_line) == ("p.q", source.index("package"), len(source), 2, 5)
    assert (inner.parent, inner.local) == (0, "p.q.C")


def test_anonymous_classes_are_numbered_within_the_type_around_them() -> None:
    found = facts("class A { Object x = new B() {}; void f() { new B() { void g() { new D() {}; } }; } class E { Object y = new F() {}; } }")
    assert [d.local for d in found.definitions if "anonymous" in d.flags] == ["A$1", "A$2", "A$2$1", "A.E$1"]


@pytest.mark.parametrize("name", ["java", "kotlin", "csharp"])
def test_modules_are_written_in_the_source_not_in_the_path(name: str) -> None:
    table = language(name)
    assert table.module_of("src/main/com/acme/Cart", NoLayout()) == ""
    assert table.import_target("com.acme.shop", "src/Cart", "", NoLayout()) == "com.acme.shop"


@pytest.mark.parametrize("name", ["java", "kotlin", "csharp"])
@pytest.mark.parametrize("source", SCRAPS)
def test_scraps_give_facts_whose_spans_lie_inside(name: str, source: bytes) -> None:
    found = extract(language(name), source, Names())
    assert all(0 <= d.start <= d.end <= len(source) and -1 <= d.parent < len(found.definitions) for d in found.definitions)
    assert all(0 <= start <= end <= len(source) for start, end in found.broken)
