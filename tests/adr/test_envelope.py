"""adr.yaml: stable form, tolerant reading, strict writing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orbit.adr.envelope import Envelope, decode, encode
from orbit.adr.globs import contains, problem_with
from orbit.errors import IntegrityError

lines = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=40)
envelopes = st.builds(
    Envelope,
    id=st.integers(1, 99999).map(lambda number: f"ADR-{number:04d}"),
    title=lines,
    status=st.sampled_from(["proposed", "accepted", "superseded", "deleted"]),
    owner=lines,
    created_at=lines,
    accepted_at=st.none() | lines,
    last_updated=st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    related_features=st.lists(lines),
    tags=st.lists(lines),
    paths=st.lists(lines),
    legacy_ids=st.lists(lines),
    validation_warnings=st.lists(lines),
    body_digest=st.none() | lines,
)


@settings(deadline=None)
@given(envelopes)
def test_any_envelope_survives_a_round_trip_through_yaml(envelope):
    text = encode(envelope, {})
    assert decode(text, "here") == (envelope, {})
    assert encode(*decode(text, "here")) == text


def test_keys_come_in_the_documented_order(repo):
    repo.add(tags=["x"], paths=["src/**"])
    keys = [line.split(":")[0] for line in repo.read(".orbit/adrs/proposed/ADR-0001/adr.yaml").splitlines() if not line.startswith(" ")]
    documented = (
        "schema_version id title status owner created_at accepted_at last_updated related_features related_tasks tags paths supersedes superseded_by legacy_ids"
    )
    assert keys == documented.split()


V1 = """\
schema_version: 1
id: ADR-0001
title: Old form
status: proposed
owner: ana
created_at: 2026-05-09T14:22:00Z
last_updated: 2026-05-09T14:22:00Z
related_features: [core]
reviewer: ben
links: {a: [1, 2]}
"""


def test_version_one_reads_with_empty_tags_and_paths_and_is_written_as_version_two(repo, store):
    repo.write(".orbit/adrs/proposed/ADR-0001/adr.yaml", V1)
    shown = store.show("ADR-0001")
    assert (shown.tags, shown.paths, shown.created_at, shown.body) == ([], [], "2026-05-09T14:22:00Z", "")
    store.update("ADR-0001", owner="eve")
    text = repo.read(".orbit/adrs/proposed/ADR-0001/adr.yaml")
    assert text.startswith("schema_version: 2\n")
    assert text.endswith("reviewer: ben\nlinks:\n  a:\n    - 1\n    - 2\n")
    assert "created_at: 2026-05-09T14:22:00Z\n" in text


def test_unknown_fields_are_warned_about_by_show_and_lint(repo, store):
    repo.write(".orbit/adrs/proposed/ADR-0001/adr.yaml", V1)
    assert "unknown field 'reviewer' in adr.yaml (kept)" in store.show("ADR-0001").warnings
    assert [finding.message for finding in store.lint().warnings if finding.code == "unknown-field"] == [
        "unknown field 'links' (kept)",
        "unknown field 'reviewer' (kept)",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "not readable as YAML"),
        ("- 1\n", "expected a mapping"),
        (V1.replace("title: Old form", "title: [1]"), "Expected `str`"),
        (V1.replace("status: proposed", "status: done"), "Invalid enum value"),
        (V1.replace("schema_version: 1", "schema_version: 3"), "newer than this Orbit"),
        ("<<<<<<< HEAD\nid: ADR-0001\n=======\n", "not readable as YAML"),
    ],
)
def test_an_unreadable_envelope_is_named_and_hides_nothing_else(repo, store, text, said):
    good = repo.add("Good")
    repo.write(".orbit/adrs/accepted/ADR-0002/adr.yaml", text)
    with pytest.raises(IntegrityError, match=r"ADR-0002/adr\.yaml"):
        store.show("ADR-0002")
    listed = store.list()
    assert ([adr.id for adr in listed.adrs], listed.unreadable, listed.total) == ([good], ["accepted/ADR-0002"], 2)
    (error,) = store.lint().errors
    assert (error.code, said in error.message) == ("unreadable", True)


@pytest.mark.parametrize(
    ("glob", "path", "covered"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", True),
        ("src/**", "srcs/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "a/b/test_a.py", True),
        ("src", "src/a/b.py", True),
        ("src/", "src/a.py", True),
        ("src/[ab].py", "src/b.py", True),
        ("src/[!ab].py", "src/b.py", False),
        ("src/a?.py", "src/ab.py", True),
        ("src/**", "src/orbit/**", True),
        ("src/orbit/**", "src/**", False),
        ("a.b/*.md", "aXb/c.md", False),
    ],
)
def test_globs_cover_what_they_say(glob, path, covered):
    assert contains(glob, path) is covered


@pytest.mark.parametrize("glob", ["", "/abs", "../up", "a/../b", "C:/x", "a\\b", "a//b", "a[b", "./a"])
def test_globs_outside_the_repository_are_refused(glob):
    assert problem_with(glob)
