"""From what somebody types to the one thing it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from orbit.errors import AmbiguousError, NotFoundError, SelectorSyntaxError, SymbolNotFoundError, UsageError
from orbit.graph import Graph


@pytest.mark.parametrize(
    ("text", "qualified"),
    [
        ("symbol:pkg/shapes.py#square", "pkg.shapes.square"),
        ("symbol:pkg/shapes.py#pkg.shapes.square:function", "pkg.shapes.square"),
        ("symbol:pkg/shapes.py#Circle.area", "pkg.shapes.Circle.area"),
        ("pkg.shapes.square", "pkg.shapes.square"),
        ("shapes.square", "pkg.shapes.square"),
        ("Circle.area", "pkg.shapes.Circle.area"),
        ("Circle", "pkg.shapes.Circle"),
        ("module:pkg.shapes", "pkg.shapes"),
        ("file:pkg/shapes.py", "pkg.shapes"),
        ("./pkg//shapes.py", "pkg.shapes"),
        ("shapes.py", "pkg.shapes"),
        ("pkg/shapes.py:1", "pkg.shapes"),
        ("pkg/shapes.py:13", "pkg.shapes.Circle.__init__"),
        ("pkg/shapes.py:16:9", "pkg.shapes.Circle.area"),
        ("pkg/shapes.py:19-22", "pkg.shapes.Box"),
        ("pkg/shapes.py#Circle.area", "pkg.shapes.Circle.area"),
        ("pkg/shapes.py#Circle:class", "pkg.shapes.Circle"),
        ("pkg/shapes.py::square", "pkg.shapes.square"),
        ("pkg/shapes.py::total", None),
        ("symbol:./pkg/../pkg/shapes.py#total", None),
        ("lonely", "we'ird_%.lonely"),
    ],
)
def test_each_way_to_name_a_thing_finds_it(graph: Graph, text: str, qualified: str | None) -> None:
    if qualified is None:
        with pytest.raises(SymbolNotFoundError):
            graph.refs(text)
    else:
        assert graph.refs(text).target.qualified.endswith(qualified)


def test_every_selector_an_answer_gives_is_accepted_and_means_that_symbol(graph: Graph) -> None:
    for word in ("square", "area", "Circle", "draw", "lonely", "test_square", "retry"):
        for match in graph.search(word, kind="symbol").matches:
            shown = graph.show(match.selector)
            assert (shown.selector, shown.qualified, shown.lines[0]) == (match.selector, match.qualified, match.line)


def test_an_ambiguous_name_lists_full_selectors_code_first(graph: Graph) -> None:
    with pytest.raises(AmbiguousError) as caught:
        graph.refs("square")
    assert caught.value.candidates == ["symbol:pkg/other.py#pkg.other.square:function", "symbol:pkg/shapes.py#pkg.shapes.square:function"]
    assert caught.value.exit_code == 4


def test_a_kind_decides_between_namesakes(graph: Graph) -> None:
    with pytest.raises(SymbolNotFoundError):
        graph.refs("symbol:pkg/shapes.py#square:class")


@pytest.mark.parametrize(
    ("typed", "meant"), [("sqaure", "square"), ("Cirle", "Circle"), ("parse_heder_line", "parse_header_line"), ("pkg.shapes.squar", "pkg.shapes.square")]
)
def test_a_mistyped_name_gets_near_names(graph: Graph, typed: str, meant: str) -> None:
    with pytest.raises(SymbolNotFoundError) as caught:
        graph.show(typed)
    assert meant in caught.value.candidates
    assert caught.value.hint is not None
    assert meant in caught.value.hint


@pytest.mark.parametrize(("typed", "meant"), [("snyc", "sync"), ("rnu", "run"), ("og", "go"), ("synch", "sync"), ("Snyc", "sync"), ("xync", "sync")])
def test_a_slip_in_a_very_short_name_is_seen(tmp_path: Path, typed: str, meant: str) -> None:
    (tmp_path / "short.py").write_text("def sync(): ...\ndef run(): ...\ndef go(): ...\ndef snapshot(): ...\n", encoding="utf-8")
    with Graph.open(tmp_path) as graph:
        graph.sync()
        with pytest.raises(SymbolNotFoundError) as caught:
            graph.show(typed)
        assert caught.value.candidates[0] == meant


def test_a_mistyped_member_gets_the_members_of_its_owner(graph: Graph) -> None:
    with pytest.raises(SymbolNotFoundError) as caught:
        graph.show("Circle.aera")
    assert caught.value.candidates == ["Circle.area"]
    assert graph.show(caught.value.candidates[0]).qualified == "pkg.shapes.Circle.area"


def test_an_unknown_folder_gets_the_folders_like_it(graph: Graph) -> None:
    for typed in ("odd_dirs", "dir:odd_dri", "./odd_dirr/"):
        with pytest.raises(NotFoundError) as caught:
            graph.overview(typed)
        assert "dir:odd_dir" in caught.value.candidates


def test_an_unknown_file_gets_the_files_of_that_name(graph: Graph) -> None:
    with pytest.raises(NotFoundError) as caught:
        graph.show("file:src/shapes.py")
    assert caught.value.candidates == ["file:pkg/shapes.py"]


def test_a_file_name_that_several_have_lists_them(own: Graph) -> None:
    (own.root / "old").mkdir()
    (own.root / "old/shapes.py").write_text("x = 1\n", encoding="utf-8")
    own.sync()
    with pytest.raises(AmbiguousError) as caught:
        own.show("shapes.py")
    assert caught.value.candidates == ["file:old/shapes.py", "file:pkg/shapes.py"]


@pytest.mark.parametrize("text", ["dir:pkg", "pkg/", "./pkg"])
def test_a_folder_is_refused_where_a_symbol_is_asked_for(graph: Graph, text: str) -> None:
    with pytest.raises(UsageError, match="folder"):
        graph.show(text)


@pytest.mark.parametrize("text", ["", "file:", "symbol:pkg/shapes.py", "file:../outside", "function:run", "a\0b"])
def test_what_is_no_selector_is_a_usage_error(graph: Graph, text: str) -> None:
    with pytest.raises(SelectorSyntaxError):
        graph.refs(text)


@pytest.mark.parametrize("text", ["\udcff", "%", "_", "'; --", '"', "x" * 5000, "😀", "*", "a OR b", "NEAR(a b)", "-a", "a:b", "(", "{", "^x"])
def test_odd_text_names_nothing_and_breaks_nothing(graph: Graph, text: str) -> None:
    with pytest.raises(NotFoundError):
        graph.show(text)
    assert graph.search(text).total >= 0


def test_an_absolute_path_below_the_root_is_taken(graph: Graph) -> None:
    assert graph.show(f"file:{graph.root}/pkg/other.py").path == "pkg/other.py"
    assert graph.show(f"{graph.root}/pkg/other.py").path == "pkg/other.py"
    assert graph.overview(f"dir:{graph.root}/pkg").scope == "dir:pkg"


def test_a_bare_name_means_a_module_only_when_nothing_else_has_it(own: Graph) -> None:
    (own.root / "report.py").write_text("def report():\n    pass\n", encoding="utf-8")
    (own.root / "pkg/app.py").unlink()
    own.sync()
    assert own.show("report").kind == "function"
    assert own.show("module:report").kind == "file"
    assert own.show("shapes").kind == "module"


def test_a_bare_name_is_the_code_and_not_a_heading_of_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("class Basket: ...\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("# Basket\n\n## Prices\n", encoding="utf-8")
    with Graph.open(tmp_path) as graph:
        graph.sync()
        assert graph.refs("Basket").target.selector == "symbol:shop.py#shop.Basket:class"
        assert graph.show("Prices").path == "README.md"


OVERLOADED = {
    "b.py": '''\
import typing as t

class C:
    @t.overload
    def m(self, a: int) -> int: ...
    @t.overload
    def m(self, a: str) -> str: ...
    def m(self, a): return g(a)
    @property
    def p(self): return 1
    @p.setter
    def p(self, v): g(v)

def g(a): return a

if t.TYPE_CHECKING:
    def h(): g(1)
else:
    def h(): g(2)
''',
    "a.ts": "export class K { m(a: string): void; m(a: number): void; m(a: any) { g(); } }\nfunction g() {}\n",
    "D.java": "class D { int m(int a) { return 1; } int m(String a) { return m(1); } }\n",
}


def test_an_overload_stands_for_the_function_with_a_body_and_other_repeats_are_ambiguous(tmp_path: Path) -> None:
    for path, text in OVERLOADED.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    with Graph.open(tmp_path) as graph:
        graph.sync()
        for text in ("C.m", "b.C.m", "symbol:b.py#C.m", "symbol:b.py#b.C.m"):
            assert [call.target_qualified for call in graph.callees(text).callees] == ["b.g"]
            assert graph.pack([text]).entries[0].lines == (8, 8)
        assert [call.target_qualified for call in graph.callees("K.m").callees] == ["a.g"]
        assert graph.show("C.p").lines[0] == 10
        assert graph.callees("symbol:b.py#b.C.m:method").total == 0  # named in full, with its kind: that very one
        for text, whole in (("b.h", "symbol:b.py#b.h{}:function"), ("D.m", "symbol:D.java#D.m{}:method")):
            with pytest.raises(AmbiguousError) as caught:
                graph.callees(text)
            assert caught.value.candidates == [whole.format(""), whole.format("#2")]


@pytest.mark.parametrize("text", ["pkg/shapes.py#Shape", "pkg/shapes.py::Shape", "pkg/shapes.py:4", "symbol:pkg/shapes.py#Shape", "Shape"])
def test_a_type_is_named_as_any_other_symbol(graph: Graph, text: str) -> None:
    assert [row.type_qualified for row in graph.implementors(text).implementors] == ["pkg.shapes.Circle", "pkg.shapes.Box"]


PARTS = {
    "Cargo.toml": '[package]\nname = "z"\n',
    "src/lib.rs": (
        "pub struct Foo;\nimpl Clone for Foo { fn clone(&self) -> Foo { Foo } }\n"
        "impl<'a> From<Vec<&'a str>> for Foo { fn from(v: Vec<&'a str>) -> Foo { Foo } }\nimpl Read for Vec<Foo> { fn read(&self) {} }\n"
    ),
    "a.rb": "module M\n  class A\n    def x; end\n  end\n  class A\n    def y; end\n  end\nend\n",
    "p.cs": "namespace N { partial class P { void A() { } } partial class P { void B() {} } }\n",
}


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("Foo::clone", "src/lib.rs", 2), ("z::Foo::from", "src/lib.rs", 3), ("z::<Foo as Clone>::clone", "src/lib.rs", 2), ("Vec::read", "src/lib.rs", 4),
        ("M::A", "a.rb", 2), ("A#y", "a.rb", 6), ("P.B", "p.cs", 1), ("N.P", "p.cs", 1),
    ],
)  # fmt: skip
def test_names_are_taken_as_people_write_them(tmp_path: Path, text: str, path: str, line: int) -> None:
    for name, source in PARTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source, encoding="utf-8")
    with Graph.open(tmp_path) as graph:
        graph.sync()
        shown = graph.show(text)
        assert (shown.path, shown.lines[0], shown.name) == (path, line, text.replace("#", ".").replace("::", ".").rpartition(".")[2])
