"""What holds for every symbol of every language."""

from __future__ import annotations

from pathlib import Path

import pytest

from orbit.errors import AmbiguousError, SelectorSyntaxError
from orbit.graph import Graph
from orbit.graph.languages import SUFFIXES

CORPUS = Path(__file__).resolve().parent.parent / "languages" / "corpus"


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """One worktree with the sources of all languages."""
    root = tmp_path_factory.mktemp("languages")
    suffixes = {lang: suffix for suffix, lang in reversed(SUFFIXES.items())}
    for source in sorted(CORPUS.glob("*/*.src")):
        lang = source.parent.name
        (root / lang).mkdir(exist_ok=True)
        (root / lang / f"{source.stem}{suffixes[lang]}").write_bytes(source.read_bytes())
    graph = Graph.open(root)
    graph.sync()
    return graph


def test_every_symbol_is_found_by_its_selector_and_shown_whole(languages: Graph) -> None:
    overview = languages.overview(format="full", limit=1000)
    assert len(overview.languages) > 10
    seen = 0
    for file in overview.files:
        source = (languages.root / file.path).read_bytes()
        for symbol in file.symbols or ():
            shown = languages.show(f"symbol:{file.path}#{symbol.qualified}:{symbol.kind}", max_bytes=1 << 20)
            assert (shown.qualified, shown.kind, shown.lines[0]) == (symbol.qualified, symbol.kind, symbol.line)
            assert shown.source == source[shown.span.start : shown.span.end].decode("utf-8", "replace")
            seen += 1
    assert seen == overview.total_symbols > 300


def test_every_question_about_every_symbol_has_an_answer(languages: Graph) -> None:
    for file in languages.overview(format="full", limit=1000).files:
        for symbol in file.symbols or ():
            selector = f"symbol:{file.path}#{symbol.qualified}:{symbol.kind}"
            refs, callees = languages.refs(selector, confidence="fuzzy"), languages.callees(selector)
            assert refs.total == len(refs.refs) + len(refs.relations) or refs.truncated
            assert callees.total == len(callees.callees) or callees.truncated
            assert languages.implementors(selector).trait_name == symbol.name
            found = {getattr(match, "qualified", "") for match in languages.search(symbol.name, limit=1000).matches}
            assert symbol.qualified in found or not symbol.name.strip(), symbol.name


def test_a_bare_name_means_one_symbol_or_is_refused(languages: Graph) -> None:
    for file in languages.overview(format="full", limit=1000).files:
        for symbol in file.symbols or ():
            found: set[str] = set()
            try:
                shown = languages.show(symbol.name)
                found = {shown.name, shown.qualified}
            except AmbiguousError as error:
                found = {symbol.name} if len(error.candidates) > 1 else set()
            except SelectorSyntaxError:  # a name such as `fn:x` or none at all can only be written in a full selector
                found = {symbol.name}
            assert symbol.name in found
