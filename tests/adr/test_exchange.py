"""MADR and adr-tools folders come in and go out again without loss."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

CORPUS = Path(__file__).parent / "exchange"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(params=["madr", "nygard"])
def form(request):
    return request.param


def take(repo, form):
    shutil.copytree(CORPUS / form, repo.root / "doc/adr")
    return repo.ask("import", "doc/adr", "--feature", "notes")


def test_a_folder_that_comes_in_and_goes_out_is_the_same_byte_for_byte(repo, form):
    take(repo, form)
    repo.ask("export", "out", "--format", form)
    assert contents(repo.root / "out") == contents(CORPUS / form)


def test_importing_twice_changes_nothing(repo, form):
    first = take(repo, form)
    before = repo.bytes()
    again = repo.ask("import", "doc/adr", "--feature", "notes")
    assert (again["imported"], again["skipped"]) == ({}, sorted(first["imported"]))
    assert repo.bytes() == before


def test_madr_files_become_envelopes_with_sections(repo, store):
    assert take(repo, "madr")["imported"]["0003-use-a-database.md"] == "ADR-0003"
    first, rejected, third, bare = (store.show(f"ADR-000{number}") for number in (1, 2, 3, 4))
    assert (first.status, first.superseded_by, first.owner, first.title) == ("superseded", "ADR-0003", "Ana, Ben", "Use plain files")
    assert (rejected.status, rejected.title, third.supersedes, bare.status) == ("deleted", "Use tabs", ["ADR-0001"], "proposed")
    assert third.sections == {"context": "Plain files grew slow.", "decision": "A database beside the files.", "consequences": "* Cost: it can be stale"}
    assert store.show("ADR-0005").validation_warnings[-1] == "deprecated where it came from, without a successor"
    assert store.show(legacy_id="doc/adr/0002-use-tabs.md").id == "ADR-0002"
    assert store.lint(paths=["doc/adr/0004-keep-it-bare.md"]).errors == []


def test_nygard_links_become_links_on_both_sides(repo, store):
    take(repo, "nygard")
    old, new = store.show("ADR-0002"), store.show("ADR-0003")
    assert (old.status, old.superseded_by, new.supersedes, new.title, old.created_at) == (
        "superseded",
        "ADR-0003",
        ["ADR-0002"],
        "Use two queues",
        "2026-01-03T00:00:00Z",
    )
    assert store.lint(paths=["doc/adr/0001-record-architecture-decisions.md"]).errors == []


def test_what_changed_since_the_import_is_in_the_export(repo, store, form):
    take(repo, form)
    store.update("ADR-0003", tags=["new"], **({"status": "accepted", "related_tasks": ["T1"]} if form == "nygard" else {}))
    store.export_folder("out", format=form)
    texts = contents(repo.root / "out")
    (name,) = [name for name in texts if name.startswith("0003")]
    original = contents(CORPUS / form)
    assert {changed for changed in texts if texts[changed] != original[changed]} == {name}
    assert b'"tags":["new"]' in texts[name] or b"tags:\n    - new\n" in texts[name]


def test_decisions_of_our_own_survive_a_trip_through_either_format(repo, new_repo, form):
    from orbit.adr import AdrStore

    home, away = new_repo("home"), new_repo("away")
    home.accepted("First -- with dashes", tags=["a"], paths=["src/**"], context="```\n## Decision\n```")
    home.accepted('Second: it\'s "quoted"')
    with AdrStore(home.root) as store:
        store.supersede("ADR-0001", "ADR-0002")
        home.add("Third")
        store.update(home.add("Fourth"), status="deleted")
        store.export_folder("out", format=form)
        shown = [store.show(f"ADR-000{number}") for number in (1, 2, 3, 4)]
    shutil.copytree(home.root / "out", away.root / "in")
    with AdrStore(away.root) as store:
        store.import_folder("in")
        back = [store.show(f"ADR-000{number}") for number in (1, 2, 3, 4)]
    for before, after in zip(shown, back, strict=True):
        assert after.legacy_ids == [*before.legacy_ids, f"in/{sorted(path.name for path in (away.root / 'in').iterdir())[int(before.id[-1]) - 1]}"]
        after.legacy_ids = before.legacy_ids
        assert after == before


def test_numbers_that_are_taken_are_given_anew_and_links_follow(repo, store):
    repo.add("Mine")
    imported = take(repo, "nygard")["imported"]
    assert imported == {"0001-record-architecture-decisions.md": "ADR-0004", "0002-use-one-queue.md": "ADR-0002", "0003-use-two-queues.md": "ADR-0003"}
    assert store.show("ADR-0002").superseded_by == "ADR-0003"


def test_a_file_that_cannot_be_read_is_named_and_nothing_comes_in(repo):
    shutil.copytree(CORPUS / "madr", repo.root / "doc/adr")
    repo.write("doc/adr/0009-broken.md", "---\nstatus: {a\n---\n\n# Broken\n")
    said = repo.cli("import", "doc/adr")
    assert (said.exit, "0009-broken.md" in said.err) == (2, True)
    assert repo.ask("list")["total"] == 0


def test_an_export_does_not_overwrite_what_is_different(repo, store):
    repo.add("Mine")
    repo.write("out/0001-mine.md", "something else\n")
    assert repo.cli("export", "out").exit == 6
    assert repo.read("out/0001-mine.md") == "something else\n"
