"""Laws of extraction that hold for every language and any input: spans, names, determinism, and what is said about bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from bisect import bisect_left
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orbit.graph.facts import NONE, FileFacts
from orbit.graph.index import extract as extraction
from orbit.graph.index.extract import extract, outline
from orbit.graph.languages import MODULES, NAMES, language
from orbit_native.capture import HAS_ERRORS, PARSE_TIMED_OUT, QUERY_TIMED_OUT, TOO_MANY_MATCHES
from orbit_native.names import Names

CORPUS = Path(__file__).parent / "corpus"
HOME = Path(extraction.__file__).parent.parent / "languages"
WRITTEN = [name for name in NAMES if (HOME / f"{MODULES.get(name, name)}.py").exists()]
SOURCES = {name: [case.read_bytes() for case in sorted((CORPUS / name).glob("*.src"))] for name in WRITTEN}
PRESENT = [name for name in WRITTEN if SOURCES[name]]
READ_BY_LINE = [name for name in PRESENT if language(name).reader is not None]
PARSED = [name for name in PRESENT if name not in READ_BY_LINE]
ANY_TEXT = ("markdown", "yaml", "ini")  # in which hardly any line is wrong
CUT_OFF = PARSE_TIMED_OUT | QUERY_TIMED_OUT
EVERY = pytest.mark.parametrize("name", PRESENT)
LAWS = settings(
    max_examples=int(os.environ.get("ORBIT_EXAMPLES", "25")),  # more when asked for
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# What opens and closes one level, for sources nested 20,000 deep; the middle stands innermost.
NESTED = {
    "rust": (b"fn f() { let x = ", b"(", b"1", b")", b"; }"),
    "python": (b"x = ", b"(", b"1", b")", b"\n"),
    "go": (b"package p\nvar x = ", b"(", b"1", b")", b"\n"),
    "java": (b"class A { int x = ", b"(", b"1", b")", b"; }"),
    "kotlin": (b"val x = ", b"(", b"1", b")", b"\n"),
    "csharp": (b"class A { int x = ", b"(", b"1", b")", b"; }"),
    "ruby": (b"x = ", b"[", b"1", b"]", b"\n"),
    "c": (b"int x = ", b"(", b"1", b")", b";\n"),
    "markdown": (b"", b"> ", b"text", b"", b"\n"),
    "yaml": (b"x: ", b"[", b"1", b"]", b"\n"),
    "toml": (b"x = ", b"[", b"1", b"]", b"\n"),
    "json": (b"", b'{"a":', b"1", b"}", b"\n"),
    "env": (b"A=", b"(", b"1", b")", b"\n"),
    "ini": (b"a=", b"(", b"1", b")", b"\n"),
    "csv": (b"", b'"', b"a", b'"', b"\n"),
    "tsv": (b"", b'"', b"a", b'"', b"\n"),
}
BLOCKS = (b"x = ", b"(", b"1", b")", b"\n")  # reads in TypeScript and JavaScript


def take(name: str, source: bytes, **options: float) -> FileFacts:
    return extract(language(name), source, Names(), **options)


def check(facts: FileFacts) -> None:
    """Every span lies inside the source, a child inside its parent, and names are what stands at their place."""
    size, breaks = len(facts.source), [at for at, byte in enumerate(facts.source) if byte == 10]
    line_count = len(breaks) + 1
    for index, found in enumerate(facts.definitions):
        assert 0 <= found.start <= found.end <= size
        assert found.name_start == NONE or found.start <= found.name_start <= found.end
        assert found.body == NONE or found.start <= found.body <= found.end
        assert 1 <= found.line <= found.end_line <= line_count
        assert found.local
        assert NONE <= found.parent < index
        if found.parent != NONE:
            parent = facts.definitions[found.parent]
            assert parent.start <= found.start <= found.end <= parent.end
    starts = [found.start for found in facts.definitions]
    assert starts == sorted(starts)
    named = [(found.local, found.kind) for found in facts.definitions]
    assert len(named) == len(set(named))
    scopes = range(NONE, len(facts.definitions))
    for _, name, start, end, line, _, scope, _, _ in facts.refs.tolist():
        assert 0 <= start < end <= size
        assert facts.names.text(name) == facts.source[start:end]
        assert line == bisect_left(breaks, start) + 1
        assert scope in scopes
        if scope != NONE:  # attributes stand before what they belong to
            assert end <= facts.definitions[scope].end
    for _, name, _, _, scope, start in facts.binds.tolist():  # some are said in a comment: their place is that of what they bind
        assert 0 <= start <= size
        assert facts.names.text(name)
        assert scope in scopes
    for text, line, scope in facts.strings.tolist():
        assert facts.names.text(text)
        assert 1 <= line <= line_count
        assert scope in scopes
    for one in [*facts.imports, *facts.relations]:
        assert 0 <= one.start <= one.end <= size
        assert 1 <= one.line <= line_count
        assert one.scope in scopes
    for command in facts.commands:
        assert 0 <= command.start <= size
        assert command.name or command.handler  # a group without a name hands its commands on
    for config in facts.configs:
        assert config.key
        assert 1 <= config.line <= line_count
    for start, end in facts.broken:
        assert 0 <= start <= end <= size
    assert bool(facts.broken) == bool(facts.status & (HAS_ERRORS | PARSE_TIMED_OUT | TOO_MANY_MATCHES))


def test_every_language_has_three_sources_and_can_be_nested() -> None:
    assert {name: len(SOURCES[name]) for name in WRITTEN if len(SOURCES[name]) < 3} == {}
    assert set(WRITTEN) <= {*NESTED, "typescript", "tsx", "javascript"}


@EVERY
def test_laws_hold_for_every_source_of_the_corpus(name: str) -> None:
    for source in SOURCES[name]:
        check(take(name, source))


@EVERY
def test_same_bytes_give_the_same_outline_twice_and_in_another_process(name: str) -> None:
    expected = [outline(take(name, source)) for source in SOURCES[name]]
    assert [outline(take(name, source)) for source in SOURCES[name]] == expected
    program = (
        "import sys; from pathlib import Path; from orbit.graph.index.extract import extract, outline; from orbit.graph.languages import language;"
        "from orbit_native.names import Names;"
        "[sys.stdout.buffer.write(outline(extract(language(sys.argv[1]), Path(p).read_bytes(), Names())).encode() + b'\\0') for p in sys.argv[2:]]"
    )
    paths = [str(case) for case in sorted((CORPUS / name).glob("*.src"))]
    said = subprocess.run([sys.executable, "-c", program, name, *paths], capture_output=True, check=True).stdout
    assert said.decode().split("\0")[:-1] == expected


@EVERY
def test_names_kept_from_another_file_do_not_change_the_outline(name: str) -> None:
    shared = Names()
    for source in SOURCES[name]:
        assert outline(extract(language(name), source, shared)) == outline(take(name, source))


@EVERY
@LAWS
@given(source=st.binary(max_size=400))
def test_laws_hold_for_random_bytes(name: str, source: bytes) -> None:
    check(take(name, source))


@EVERY
@LAWS
@given(data=st.data())
def test_laws_hold_for_truncated_sources(name: str, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(SOURCES[name]))
    start = data.draw(st.integers(0, len(source) // 2))
    check(take(name, source[start : data.draw(st.integers(start, len(source)))]))


@EVERY
@LAWS
@given(data=st.data())
def test_laws_hold_for_spliced_sources(name: str, data: st.DataObject) -> None:
    first, second = data.draw(st.sampled_from(SOURCES[name])), data.draw(st.sampled_from(SOURCES[name]))
    cut, at = data.draw(st.integers(0, len(first))), data.draw(st.integers(0, len(second)))
    check(take(name, first[:cut] + data.draw(st.binary(max_size=8)) + second[at:]))


@EVERY
def test_an_empty_source_has_no_facts_and_is_not_broken(name: str) -> None:
    for source in (b"", b"\n", b"\xef\xbb\xbf"):
        facts = take(name, source)
        check(facts)
        assert facts.status == 0
        assert facts.broken == []
        assert not facts.definitions
        assert not facts.configs
        assert not len(facts.refs)


@EVERY
def test_a_byte_order_mark_moves_facts_and_changes_none(name: str) -> None:
    for source in SOURCES[name]:
        if source.startswith(b"\xef\xbb\xbf"):
            continue
        plain, marked = take(name, source), take(name, b"\xef\xbb\xbf" + source)
        check(marked)
        if not plain.broken:
            assert marked.broken == []
            assert [(d.local, d.kind, d.line) for d in marked.definitions] == [(d.local, d.kind, d.line) for d in plain.definitions]
            assert [(c.key, c.line) for c in marked.configs] == [(c.key, c.line) for c in plain.configs]
            assert marked.refs[:, 4].tolist() == plain.refs[:, 4].tolist()


@EVERY
def test_windows_line_ends_change_no_definition_and_no_line(name: str) -> None:
    for source in SOURCES[name]:
        if b"\r" in source:
            continue
        plain, windows = take(name, source), take(name, source.replace(b"\n", b"\r\n"))
        check(windows)
        if not plain.broken:
            assert windows.broken == []
            assert [(d.local, d.kind, d.line, d.end_line) for d in windows.definitions] == [(d.local, d.kind, d.line, d.end_line) for d in plain.definitions]
            assert [(c.key, c.line) for c in windows.configs] == [(c.key, c.line) for c in plain.configs]
            assert [windows.text(r[1]) for r in windows.refs.tolist()] == [plain.text(r[1]) for r in plain.refs.tolist()]


@EVERY
@pytest.mark.parametrize("junk", [b"\xff\xfe\x80", b"\x00\x00", b"\xc3\x28"], ids=["not-utf8", "nul", "half-a-character"])
def test_bytes_that_are_no_text_leave_the_facts_before_them(name: str, junk: bytes) -> None:
    source = max((s for s in SOURCES[name] if not take(name, s).broken), key=len)
    facts = take(name, source + b"\n" + junk + b"\n")
    check(facts)
    plain = take(name, source)
    if name in PARSED and name not in ("markdown", "yaml"):
        assert facts.status & HAS_ERRORS
        assert any(end > len(source) - 1 for _, end in facts.broken)
    if plain.definitions and name in PARSED:
        assert {d.name for d in plain.definitions} & {d.name for d in facts.definitions}
    if plain.configs and name not in PARSED:
        assert facts.configs[0] == plain.configs[0]


@EVERY
def test_a_line_of_a_megabyte_ends_in_a_result_that_says_what_happened(name: str) -> None:
    check(take(name, b"a" * 1_000_000, budget_seconds=1.0))
    check(take(name, b"a " * 500_000, budget_seconds=1.0))
    nonsense = take(name, b"a,'`[{(:=" * 110_000, budget_seconds=1.0)
    check(nonsense)
    if name not in ANY_TEXT:
        assert nonsense.status & (HAS_ERRORS | PARSE_TIMED_OUT | TOO_MANY_MATCHES)
        assert nonsense.broken


@EVERY
def test_nesting_of_twenty_thousand_levels_ends_in_a_result_that_says_what_happened(name: str) -> None:
    head, open_, middle, close, tail = NESTED.get(name, BLOCKS)
    source = head + open_ * 20_000 + middle + close * 20_000 + tail
    facts = take(name, source, budget_seconds=2.0)
    check(facts)
    unclosed = take(name, head + open_ * 20_000, budget_seconds=2.0)
    check(unclosed)
    if name in PARSED:
        assert not facts.status & HAS_ERRORS
    if name in PARSED and name not in ANY_TEXT or name == "yaml":
        assert unclosed.status & (HAS_ERRORS | CUT_OFF)
    if name == "json":
        assert facts.status & TOO_MANY_MATCHES
        assert facts.configs
        assert len(facts.configs) <= 64


@pytest.mark.parametrize("name", PARSED)
def test_a_parse_over_its_budget_says_so(name: str) -> None:
    source = max((s for s in SOURCES[name] if not take(name, s).broken), key=len)
    source = (source + b"\n") * (1 + 2_000_000 // len(source))
    facts = take(name, source, budget_seconds=0.0005)
    assert facts.status & CUT_OFF
    if facts.status & PARSE_TIMED_OUT:
        assert facts.broken == [(0, len(source))]
        assert not facts.definitions
    check(facts)
