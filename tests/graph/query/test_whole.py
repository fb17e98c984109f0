"""show and overview, and how fresh an answer is."""

from __future__ import annotations

import os

import pytest

from orbit.errors import NotFoundError
from orbit.graph import Graph
from orbit.graph.query.show import cut


def test_show_gives_the_bytes_of_the_span(graph: Graph) -> None:
    answer = graph.show("pkg.shapes.square")
    text = (graph.root / "pkg/shapes.py").read_bytes()
    assert answer.source == text[answer.span.start : answer.span.end].decode() == "def square(value: float) -> float:\n    return value * value"
    assert (answer.kind, answer.name, answer.lines, answer.truncated, answer.fresh) == ("function", "square", (24, 25), False, True)
    assert answer.signature == "def square(value: float) -> float"


def test_show_of_a_file_is_the_whole_file(graph: Graph) -> None:
    answer = graph.show("pkg/other.py")
    assert (answer.selector, answer.kind, answer.lines, answer.span.start) == ("file:pkg/other.py", "file", (1, 2), 0)
    assert answer.source == (graph.root / "pkg/other.py").read_text(encoding="utf-8")


def test_show_keeps_to_the_bytes_allowed(graph: Graph) -> None:
    answer = graph.show("pkg.shapes.square", max_bytes=10)
    assert (answer.source, answer.truncated) == ("def square", True)
    assert graph.show("pkg.shapes.square", max_bytes=0).source == ""


@pytest.mark.parametrize("text", ["abcdef", "é€😀x", "😀😀", ""])
def test_a_cut_never_halves_a_character(text: str) -> None:
    whole = text.encode()
    for most in range(len(whole) + 2):
        piece = cut(whole, most)
        assert text.startswith(piece)
        assert most - 4 < len(piece.encode()) <= most or piece == text


def test_a_changed_file_is_told_in_every_answer_that_names_it(own: Graph) -> None:
    path = own.root / "pkg/shapes.py"
    assert own.refs("pkg.shapes.square").fresh
    path.write_text("# new first line\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    answers = [
        own.refs("pkg.shapes.square"), own.callees("Circle.area"), own.search("Circle"), own.show("Circle"), own.overview("file:pkg/shapes.py"),
        own.implementors("Shape"), own.deps("file:pkg/app.py"),
    ]  # fmt: skip
    for answer in answers:
        assert (answer.fresh, answer.stale_files) == (False, ["pkg/shapes.py"]), type(answer)
    assert own.search("lonely").fresh
    own.sync()
    assert own.show("Circle").fresh


def test_a_touched_file_with_the_same_bytes_is_fresh(own: Graph) -> None:
    os.utime(own.root / "pkg/shapes.py", ns=(1, 1))
    assert own.refs("pkg.shapes.square").fresh


def test_an_edit_of_the_same_size_within_the_clock_is_seen(own: Graph) -> None:
    path = own.root / "pkg/other.py"
    entry = path.stat()
    path.write_text(path.read_text(encoding="utf-8").replace("side", "edge"), encoding="utf-8")
    os.utime(path, ns=(entry.st_atime_ns, entry.st_mtime_ns))
    assert own.refs("pkg.other.square").stale_files == ["pkg/other.py"]


def test_a_lost_file_is_stale_and_cannot_be_shown(own: Graph) -> None:
    (own.root / "pkg/other.py").unlink()
    assert own.refs("pkg.other.square").stale_files == ["pkg/other.py"]
    with pytest.raises(NotFoundError):
        own.show("pkg.other.square")


def test_a_symlink_put_in_place_of_a_file_is_not_followed(own: Graph, tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.py"
    secret.write_text("PASSWORD = 1\n", encoding="utf-8")
    (own.root / "pkg/other.py").unlink()
    (own.root / "pkg/other.py").symlink_to(secret)
    with pytest.raises(NotFoundError):
        own.show("pkg.other.square")


def test_overview_counts_everything(graph: Graph) -> None:
    answer = graph.overview()
    assert (answer.scope, answer.total_files, answer.truncated) == ("dir:.", 9, False)
    assert answer.languages == {"python": 7, "toml": 1, "typescript": 1}
    assert answer.total_symbols == sum(answer.symbol_kinds.values()) == sum(file.symbol_count for file in answer.files)
    assert answer.coverage.indexed == 9
    assert answer.files[0].path == "pkg/shapes.py"
    assert graph.overview("dir:.") == answer


def test_overview_of_a_folder_takes_its_name_literally(graph: Graph) -> None:
    assert [file.path for file in graph.overview("dir:odd_dir").files] == ["odd_dir/plain.py"]
    assert [file.path for file in graph.overview("dir:odd dir").files] == ["odd dir/we'ird_%.py"]
    for missing in ("dir:odd%", "dir:pk", "dir:pkg/shapes.py", "nowhere"):
        with pytest.raises(NotFoundError):
            graph.overview(missing)


def test_full_overview_lists_symbols_by_path(graph: Graph) -> None:
    answer = graph.overview("pkg", format="full")
    assert [file.path for file in answer.files] == ["pkg/__init__.py", "pkg/app.py", "pkg/other.py", "pkg/shapes.py"]
    assert [(symbol.name, symbol.kind, symbol.line) for symbol in answer.files[2].symbols or ()] == [("other", "module", 1), ("square", "function", 1)]
    one = graph.overview("file:pkg/other.py")
    assert [symbol.qualified for symbol in one.files[0].symbols or ()] == ["pkg.other", "pkg.other.square"]


def test_overview_says_what_was_left_out(own: Graph) -> None:
    (own.root / ".orbitignore").write_text("gen*.py\n", encoding="utf-8")
    (own.root / "pkg/generated.py").write_text("x = 1\n", encoding="utf-8")
    (own.root / "notes.xyz").write_text("?", encoding="utf-8")
    (own.root / "broken.py").write_text("def f(:\n  ((\n", encoding="utf-8")
    own.sync()
    coverage = own.overview().coverage
    assert coverage.skipped["orbitignore"] == 1
    assert coverage.skipped["unknown_extension"] >= 1
    assert coverage.partial == 1
    assert own.overview("pkg").coverage.skipped == {"orbitignore": 1}
