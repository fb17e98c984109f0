"""The whole life of decisions through the command line and the API; refused actions leave every byte as it was."""

from __future__ import annotations

import pytest

from orbit.adr import AdrStore
from orbit.audit import CommandLog
from orbit.config import Workspace
from orbit.errors import RefusedError, UsageError


def transitions(repo):
    return [(row.adr_id, row.from_status, row.to_status, row.task_id) for row in CommandLog(Workspace(repo.root)).rows() if row.command == "adr.transition"]


def test_a_decision_goes_from_proposal_to_retirement_through_the_command_line(repo):
    added = repo.ask(
        "add",
        "--title",
        "Use SQLite",
        "--owner",
        "ana",
        "--feature",
        "storage",
        "--tag",
        "DB",
        "--path",
        "src/**",
        "--context",
        "c",
        "--decision",
        "d",
        "--consequences",
        "- Cost: x",
    )
    assert added == {"id": "ADR-0001", "path": ".orbit/adrs/proposed/ADR-0001"}
    accepted = repo.ask("update", "ADR-0001", "--status", "accepted", "--task", "T-7")
    assert (accepted["status"], accepted["related_tasks"], accepted["tags"], accepted["accepted_at"]) == ("accepted", ["T-7"], ["db"], accepted["last_updated"])
    assert not (repo.home / "proposed/ADR-0001").exists()
    repo.ask("add", "--title", "Use LMDB", "--owner", "ben", "--feature", "storage")
    repo.ask("update", "ADR-0002", "--status", "accepted", "--task", "T-8")
    linked = repo.ask("supersede", "ADR-0001", "ADR-0002")
    assert (linked["old"]["status"], linked["old"]["superseded_by"], linked["new"]["supersedes"]) == ("superseded", "ADR-0002", ["ADR-0001"])
    assert linked["old"]["last_updated"] == linked["new"]["last_updated"] > accepted["last_updated"]
    shown = repo.ask("show", "ADR-0001")
    assert shown["sections"] == {"context": "c", "decision": "d", "consequences": "- Cost: x"}
    assert shown["warnings"] == []
    assert sorted(path.name for path in (repo.home / "superseded/ADR-0001").iterdir()) == ["adr.yaml", "body.md"]
    assert transitions(repo) == [
        ("ADR-0001", None, "proposed", None),
        ("ADR-0001", "proposed", "accepted", "T-7"),
        ("ADR-0002", None, "proposed", None),
        ("ADR-0002", "proposed", "accepted", "T-8"),
        ("ADR-0001", "accepted", "superseded", "T-8"),
    ]


def test_audit_rows_name_the_actor_and_the_time(repo, monkeypatch):
    monkeypatch.setenv("ORBIT_ACTOR", "ana@desk")
    adr_id = repo.add()
    (row,) = [row for row in CommandLog(Workspace(repo.root)).rows() if row.adr_id == adr_id]
    assert (row.actor, row.status, row.timestamp[-1]) == ("ana@desk", "success", "Z")


def test_the_same_life_through_the_api(repo, store):
    first = store.add(title="One", owner="ana", related_features=["core"], related_tasks=["T0"])
    assert store.update(first.id, tags=["A", "a", " b "], paths=["src/**"]).tags == ["a", "b"]
    assert store.update(first.id, tags=[]).tags == []
    assert store.update(first.id, paths=None).paths == ["src/**"]
    assert store.update(first.id, status="deleted").status == "deleted"
    assert (repo.home / "deleted" / first.id / "body.md").exists()
    assert store.add(title="Two", owner="ana", related_features=["core"]).id == "ADR-0002"


REFUSED = {
    "accept without a task": (["update", "ADR-0001", "--status", "accepted"], 6, "--task"),
    "superseded directly": (["update", "ADR-0001", "--status", "superseded"], 6, "adr supersede ADR-0001"),
    "accepted back to proposed": (["update", "ADR-0002", "--status", "proposed"], 6, "adr supersede ADR-0002"),
    "deleting an accepted one": (["update", "ADR-0002", "--status", "deleted"], 6, "adr supersede ADR-0002"),
    "new body for an accepted one": (["update", "ADR-0002", "--decision", "other", "--owner", "eve"], 6, "--addendum"),
    "new title for an accepted one": (["update", "ADR-0002", "--title", "other"], 6, "--addendum"),
    "reviving a deleted one": (["update", "ADR-0003", "--status", "proposed"], 6, "adr add"),
    "editing a deleted one": (["update", "ADR-0003", "--owner", "eve"], 6, "adr add"),
    "reviving a superseded one": (["update", "ADR-0004", "--status", "accepted", "--task", "T"], 6, "adr add"),
    "superseding by a proposed one": (["supersede", "ADR-0002", "ADR-0001"], 6, "--status accepted"),
    "superseding twice": (["supersede", "ADR-0004", "ADR-0002"], 6, "supersede ADR-0005"),
    "superseding a deleted one": (["supersede", "ADR-0003", "ADR-0002"], 6, "no successor"),
    "superseding itself": (["supersede", "ADR-0002", "ADR-0002"], 2, "itself"),
    "superseding what is not there": (["supersede", "ADR-0099", "ADR-0002"], 3, "adr list"),
    "a bad feature": (["update", "ADR-0001", "--feature", "Not_Good", "--owner", "eve"], 2, "hyphens"),
    "no feature left": (["update", "ADR-0001", "--feature", ""], 2, "cross-cutting"),
    "a glob that leaves": (["update", "ADR-0001", "--path", "../x", "--owner", "eve"], 2, "repository root"),
    "an absolute glob": (["add", "--title", "t", "--owner", "o", "--feature", "f", "--path", "/etc"], 2, "relative"),
    "an empty title": (["add", "--title", " ", "--owner", "o", "--feature", "f"], 2, "title is empty"),
    "a title of two lines": (["add", "--title", "a\nb", "--owner", "o", "--feature", "f"], 2, "one line"),
    "an empty owner": (["add", "--title", "t", "--owner", "", "--feature", "f"], 2, "owner is empty"),
    "no such body file": (["add", "--title", "t", "--owner", "o", "--feature", "f", "--body-file", "nope.md"], 2, "nope.md"),
    "an empty addendum": (["update", "ADR-0002", "--addendum", " "], 2, "addendum is empty"),
    "an unknown status": (["update", "ADR-0001", "--status", "done"], 2, "done"),
}


@pytest.fixture
def stocked(repo):
    """ADR-0001 proposed, 0002 accepted, 0003 deleted, 0004 superseded by 0005."""
    repo.add("One")
    repo.accepted("Two")
    with AdrStore(repo.root) as store:
        store.update(repo.add("Three"), status="deleted")
        store.supersede(repo.accepted("Four"), repo.accepted("Five"))
    return repo


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_action_changes_no_byte_and_names_the_way_that_works(stocked, case):
    arguments, exit_code, hint = REFUSED[case]
    before, rows = stocked.bytes(), transitions(stocked)
    said = stocked.cli(*arguments)
    assert said.exit == exit_code, said.err
    assert hint in said.err
    assert stocked.bytes() == before
    assert transitions(stocked) == rows


def test_the_api_raises_what_the_command_line_prints(stocked, store):
    with pytest.raises(RefusedError) as caught:
        store.update("ADR-0002", status="deleted")
    assert caught.value.hint == "`orbit adr supersede ADR-0002 NEW`"
    with pytest.raises(UsageError):
        store.add(title="t", owner="o", related_features="core")


def test_an_addendum_is_appended_to_an_accepted_body_and_lint_stays_quiet(repo, store):
    adr_id = repo.accepted()
    before = store.show(adr_id).body
    store.update(adr_id, addendum="Measured again.")
    body = store.show(adr_id).body
    assert body.startswith(before.rstrip())
    assert body.rstrip().endswith("Measured again.")
    assert store.lint().errors == []


def test_updating_sections_of_a_proposal_keeps_the_rest_of_its_body(repo, store):
    adr_id = repo.add(context="old", decision="```\n## Consequences\n```", consequences="- Cost: x")
    path = repo.home / "proposed" / adr_id / "body.md"
    path.write_text(path.read_text() + "\n## Notes\n\nkept\n")
    store.update(adr_id, context="new", consequences="- Cost: y")
    assert path.read_text() == "## Context\n\nnew\n\n## Decision\n\n```\n## Consequences\n```\n\n## Consequences\n\n- Cost: y\n\n## Notes\n\nkept\n"


def test_superseding_again_with_the_same_pair_is_a_no_op(repo, store):
    old, new = repo.accepted("Old"), repo.accepted("New")
    store.supersede(old, new)
    before = repo.bytes()
    store.supersede(old, new)
    assert repo.bytes() == before


def test_a_body_file_is_taken_whole(repo):
    repo.write("draft.md", "## Context\n\nc\n\n## Decision\n\nd\n\n## Consequences\n\n- **Cost:** e")
    repo.ask("add", "--title", "t", "--owner", "o", "--feature", "f", "--body-file", "draft.md")
    assert repo.ask("show", "1")["body"] == repo.read("draft.md") + "\n"
    assert repo.ask("show", "adr-0001")["warnings"] == []


def test_ids_grow_past_four_digits_and_sort_by_number(repo, store):
    repo.add("Low")
    (repo.home / "proposed/ADR-0001").rename(repo.home / "proposed/ADR-9999")
    text = repo.read(".orbit/adrs/proposed/ADR-9999/adr.yaml")
    repo.write(".orbit/adrs/proposed/ADR-9999/adr.yaml", text.replace("ADR-0001", "ADR-9999"))
    assert repo.add("High") == "ADR-10000"
    assert [adr.id for adr in store.list().adrs] == ["ADR-10000", "ADR-9999"]


def test_numbers_are_not_reused_after_renumbering_downwards(repo, store):
    repo.add("One"), repo.add("Two"), repo.add("Three")
    store.update("ADR-0002", status="deleted")
    store.renumber("ADR-0003", "ADR-0012")
    store.renumber("ADR-0012", "ADR-0004")
    assert repo.add("Next") == "ADR-0013"
    assert store.show(legacy_id="ADR-0012").id == "ADR-0004"
