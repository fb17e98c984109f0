"""Markdown: anchors, sections and what lines say."""

from __future__ import annotations

import pytest

from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit.graph.languages.markdown import plain, slug
from orbit_native.names import Names


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Getting started", "getting-started"),
        ("What's new, in 2.0?", "whats-new-in-20"),
        ("`orbit graph` & friends", "orbit-graph--friends"),
        ("[Linked](x.md) **bold** _word_", "linked-bold-word"),
        ("snake_case_name", "snake_case_name"),
        ("Über größe", "über-größe"),
        ("!!!", "section"),
    ],
)
def test_a_heading_gets_the_anchor_github_gives_it(heading: str, anchor: str) -> None:
    assert slug(plain(heading)) == anchor


def test_a_section_ends_at_the_next_heading_of_its_level_or_higher() -> None:
    source = b"# A\n\n### B\n\n## C\n\n### D\n\n# E\n"
    facts = extract(language("markdown"), source, Names())
    spans = {d.name: (d.line, d.end_line, d.parent, source[d.start : d.end]) for d in facts.definitions}
    assert spans == {
        "A": (1, 8, -1, source[: source.index(b"# E")]),
        "B": (3, 4, 0, b"### B\n\n"),
        "C": (5, 8, 0, b"## C\n\n### D\n\n"),
        "D": (7, 8, 2, b"### D\n\n"),
        "E": (9, 9, -1, b"# E\n"),
    }


@pytest.mark.parametrize("text", ["`" * 9000, "[" * 20000, "[a](" * 9000, "[a](b(" * 9000, "` `` ``` " * 2000, "![" * 9000, "[ADR-0001," * 5000])
def test_no_line_is_slow(text: str) -> None:
    facts = extract(language("markdown"), text.encode(), Names(), budget_seconds=1.0)
    assert not len(facts.refs)
