"""Two branches take one number: found before or after the merge, renumbered, and the right citations follow."""

from __future__ import annotations

import pytest

from orbit.adr import AdrStore
from orbit.errors import RefusedError


def codes(repo, **given):
    with AdrStore(repo.root) as store:
        return [(finding.code, finding.message) for finding in store.lint(**given).errors]


@pytest.fixture
def parted(repo):
    """ADR-0001 is shared; ADR-0002 means one thing on main and another on the branch, each cited."""
    repo.accepted("Shared")
    repo.write("notes.md", "Both need [ADR-0001].\n")
    repo.commit()
    repo.git("checkout", "-qb", "topic")
    repo.accepted("Topic's", context="Not [ADR-0001].")
    repo.write("topic.py", "# as [ADR-0002] says\nx = '[ADR-0002]'\n")
    repo.write("notes.md", "Both need [ADR-0001].\n\nTopic needs [ADR-0002].\n")
    repo.commit()
    repo.git("checkout", "-q", "main")
    repo.add("Main's")
    repo.write("main.md", "Main needs [ADR-0002].\n")
    repo.commit()
    repo.git("checkout", "-q", "topic")
    return repo


def test_a_number_taken_on_both_sides_is_found_before_merging(parted):
    assert codes(parted) == []
    assert [code for code, _ in codes(parted, against="main")] == ["taken-number"]
    assert '"Main\'s" in main' in codes(parted, against="main")[0][1]
    assert parted.cli("lint", "--against", "main").exit == 7
    assert parted.cli("lint", "--against", "nowhere").exit == 2
    parted.git("checkout", "-q", "main")
    assert codes(parted, against="topic")[0][0] == "taken-number"


def test_renumbering_before_the_merge_makes_both_sides_fit(parted):
    said = parted.ask("renumber", "ADR-0002", "--against", "main")
    assert (said["new_id"], said["citations"], said["files"]) == ("ADR-0003", 2, ["notes.md", "topic.py"])
    assert parted.read("topic.py") == "# as [ADR-0003] says\nx = '[ADR-0002]'\n"
    parted.commit("renumber")
    assert codes(parted, against="main") == []
    parted.git("merge", "-q", "main")
    assert codes(parted) == []
    with AdrStore(parted.root) as store:
        assert {adr.id: adr.title for adr in store.list().adrs} == {"ADR-0001": "Shared", "ADR-0002": "Main's", "ADR-0003": "Topic's"}
    assert parted.read("main.md") == "Main needs [ADR-0002].\n"
    assert parted.read("notes.md") == "Both need [ADR-0001].\n\nTopic needs [ADR-0003].\n"


def test_a_collision_that_git_merged_silently_is_found_and_renumbered(parted):
    parted.git("merge", "-q", "main")
    assert [code for code, _ in codes(parted)] == ["duplicate-id", "duplicate-id"]
    before = parted.bytes()
    assert parted.cli("renumber", "ADR-0002").exit == 4
    refused = parted.cli("renumber", "accepted/ADR-0002")
    assert (refused.exit, "--against" in refused.err) == (6, True)
    assert parted.bytes() == before
    parted.ask("renumber", "accepted/ADR-0002", "--against", "main")
    assert codes(parted) == []
    assert parted.read("main.md") == "Main needs [ADR-0002].\n"
    assert parted.read("topic.py").startswith("# as [ADR-0003] says")
    assert parted.read("notes.md").endswith("Topic needs [ADR-0003].\n")


def test_imports_of_the_same_day_are_told_apart_by_their_titles(repo):
    page = "## ADR-001 — {}\n\n**Status:** Proposed · 2026-05\n\n**Context.** c\n"
    repo.write("readme.md", "x")
    repo.commit()
    for branch, title in (("left", "Left"), ("right", "Right"), ("again", "Left")):
        repo.git("checkout", "-qb", branch, "main")
        repo.write(f"docs/design/{branch}/4_decisions.md", page.format(title))
        with AdrStore(repo.root) as store:
            store.migrate("docs/design")
        repo.commit()
    assert [code for code, _ in codes(repo, against="right")] == ["taken-number"]
    assert codes(repo, against="left") == []


def test_a_store_below_the_top_of_the_repository_is_compared_as_well(repo):
    class Below(type(repo)):
        def __init__(self, root):
            self.root = root

    (repo.root / "part/.orbit").mkdir(parents=True)
    below = Below(repo.root / "part")
    repo.write("readme.md", "x")
    repo.commit()
    for branch in ("left", "right"):
        repo.git("checkout", "-qb", branch, "main")
        below.add(branch)
        below.write("notes.md", f"{branch} [ADR-0001]\n")
        repo.commit()
    assert [code for code, _ in codes(below, against="left")] == ["taken-number"]
    below.ask("renumber", "ADR-0001", "--against", "left")
    assert below.read("notes.md") == "right [ADR-0002]\n"


def test_branches_that_only_changed_a_shared_decision_do_not_collide(parted):
    parted.git("checkout", "-q", "main")
    with AdrStore(parted.root) as store:
        store.update("ADR-0001", owner="eve")
    parted.commit()
    parted.git("checkout", "-q", "topic")
    assert [message.split()[0] for _, message in codes(parted, against="main")] == ["ADR-0002"]


@pytest.mark.slow
def test_a_queue_of_thirty_branches_merges_without_a_doubled_number(repo):
    """Each branch takes the same next number and cites it; each is checked and moved aside before it merges."""
    repo.accepted("Shared")
    repo.commit()
    for number in range(30):
        repo.git("checkout", "-qb", f"topic-{number}", "main")
        adr_id = repo.accepted(f"Topic {number}")
        repo.write(f"docs/{number}.md", f"Topic {number} rests on [{adr_id}].\n")
        repo.write(f"src/{number}.go", f"// topic {number}: [{adr_id}]\n")
        repo.commit()
    for number in range(30):
        repo.git("checkout", "-q", f"topic-{number}")
        assert [code for code, _ in codes(repo, against="main")] == (["taken-number"] if number else [])
        if number:
            repo.ask("renumber", "ADR-0002", "--against", "main")
            repo.commit()
        repo.git("checkout", "-q", "main")
        repo.git("merge", "-q", f"topic-{number}")
    assert codes(repo) == []
    with AdrStore(repo.root) as store:
        titles = {adr.title: adr.id for adr in store.list(limit=100).adrs}
    assert len(titles) == 31
    for number in range(30):
        assert f"[{titles[f'Topic {number}']}]" in repo.read(f"docs/{number}.md")
        assert f"[{titles[f'Topic {number}']}]" in repo.read(f"src/{number}.go")


def test_renumbering_rewrites_folder_envelope_links_bodies_and_citations(repo):
    old, new = repo.accepted("Old"), repo.accepted("New", decision="Replaces [ADR-0001].")
    with AdrStore(repo.root) as store:
        store.supersede(old, new)
        store.add(title="Third", owner="ana", related_features=["core"], context="After [ADR-0002] and `[ADR-0002]`.")
        repo.write("a.md", "[ADR-0002] `[ADR-0002]` [ADR-00021]\n")
        answer = store.renumber("ADR-0002", "ADR-0040")
        assert store.show("ADR-0001").superseded_by == "ADR-0040"
        assert store.show("ADR-0040").legacy_ids == ["ADR-0002"]
        assert "After [ADR-0040] and `[ADR-0002]`." in store.show("ADR-0003").body
        store.renumber("ADR-0001", "ADR-0041")
        assert "Replaces [ADR-0041]." in store.show("ADR-0040").body
        assert store.show("ADR-0040").supersedes == ["ADR-0041"]
        assert [finding.message for finding in store.lint().errors] == ["[ADR-00021] is not a decision in this store"]
    assert answer.files == [".orbit/adrs/proposed/ADR-0003/body.md", "a.md"]
    assert repo.read("a.md") == "[ADR-0040] `[ADR-0002]` [ADR-00021]\n"


def test_a_taken_or_misspelt_new_number_is_refused(repo, store):
    repo.add("One"), repo.add("Two")
    before = repo.bytes()
    with pytest.raises(RefusedError, match="taken"):
        store.renumber("ADR-0001", "ADR-0002")
    for wrong in ("ADR-9", "0009", "ADR-00009"):
        assert repo.cli("renumber", "ADR-0001", wrong).exit == 2
    assert repo.bytes() == before
