"""Lists, filters and search; the index is rebuilt whenever it is missing, stale or broken."""

from __future__ import annotations

import os
import shutil
import sys
import time

import pytest

from orbit.adr import AdrStore
from orbit.errors import AmbiguousError, NotFoundError, UsageError


@pytest.fixture
def stocked(repo):
    repo.add("Resolve the sandbox wrapper from a trusted path", related_features=["policy", "exec"], tags=["Sandbox"], paths=["src/exec/**", "src/policy/*.py"])
    repo.accepted("Store events as lines", owner="ben", tags=["events"], paths=["src/events/**"], context="Torn writes must not poison the reader.")
    repo.add("Allow one writer", related_tasks=["T9"], paths=["src/**"], decision="A lock beside the database; sandboxing was considered.")
    return repo


FILTERS = {
    "nothing": ({}, [3, 2, 1]),
    "feature": ({"feature": "exec"}, [1]),
    "part of a feature": ({"feature": "exe"}, []),
    "status": ({"status": "accepted"}, [2]),
    "owner": ({"owner": "ben"}, [2]),
    "task": ({"task_id": "T9"}, [3]),
    "tag in any case": ({"tag": "SANDBOX"}, [1]),
    "path inside globs": ({"path": "src/exec/a/b.py"}, [3, 1]),
    "path below a one-level glob": ({"path": "src/policy/deep/x.py"}, [3]),
    "path elsewhere": ({"path": "docs/a.md"}, []),
    "several": ({"path": "src/events/x.py", "status": "proposed"}, [3]),
    "since long ago": ({"since": "2020-01-01"}, [3, 2, 1]),
    "since the future": ({"since": "2999-01-01T00:00Z"}, []),
    "unknown legacy id": ({"legacy_id": "a/ADR-001"}, []),
}


@pytest.mark.parametrize("case", FILTERS)
def test_filters_narrow_the_list_newest_first(stocked, case):
    given, numbers = FILTERS[case]
    with AdrStore(stocked.root) as store:
        answer = store.list(**given)
    assert [adr.id for adr in answer.adrs] == [f"ADR-{number:04d}" for number in numbers]
    assert (answer.total, answer.truncated) == (len(numbers), False)


def test_since_compares_times_not_their_spelling(stocked, store):
    moment = store.show("ADR-0002").last_updated
    assert [adr.id for adr in store.list(since=moment).adrs] == ["ADR-0003", "ADR-0002"]
    with pytest.raises(UsageError, match="neither a date"):
        store.list(since="yesterday")


def test_a_limit_keeps_the_exact_total(stocked):
    answer = stocked.ask("list", "--limit", "2")
    assert ([adr["id"] for adr in answer["adrs"]], answer["total"], answer["truncated"]) == (["ADR-0003", "ADR-0002"], 3, True)


def test_table_json_and_markdown_say_the_same_decisions(stocked):
    table, page, as_json = stocked.cli("list"), stocked.cli("list", "--format", "md"), stocked.cli("list", "--format", "json")
    assert [line.split()[0] for line in table.out.splitlines()] == ["ADR-0003", "ADR-0002", "ADR-0001"]
    assert [line.split()[1] for line in page.out.splitlines() if line.startswith("## ADR")] == ["ADR-0001", "ADR-0002", "ADR-0003"]
    assert [adr["id"] for adr in as_json.json["adrs"]] == ["ADR-0003", "ADR-0002", "ADR-0001"]


def test_search_ranks_titles_above_bodies_and_marks_the_words(stocked):
    answer = stocked.ask("search", "sandbox")
    assert (answer["mode"], answer["total"], [match["id"] for match in answer["matches"]]) == ("fts", 2, ["ADR-0001", "ADR-0003"])
    assert "[sandboxing]" in answer["matches"][1]["snippet"]
    assert answer["matches"][0]["score"] > answer["matches"][1]["score"]


def test_search_takes_filters_any_punctuation_and_falls_back_to_any_word(stocked, store):
    assert {match.id for match in store.search("sandbox", path="src/exec/x.py", status="proposed").matches} == {"ADR-0003", "ADR-0001"}
    assert {match.id for match in store.search("sandbox", feature="exec").matches} == {"ADR-0001"}
    assert [match.id for match in store.search('lock" AND ( NEAR/').matches] == ["ADR-0003"]
    assert [match.id for match in store.search("poison zebra").matches] == ["ADR-0002"]
    assert store.search("***").matches == []


EMBEDDER = '''
class Letters:
    """Counts letters: nearness of spelling stands in for nearness of meaning."""
    def embed(self, texts):
        if any("explode" in text for text in texts):
            raise RuntimeError("no model")
        return [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
'''


@pytest.fixture
def embedder(tmp_path, monkeypatch):
    site = tmp_path / "site"
    (site / "letters-1.dist-info").mkdir(parents=True)
    (site / "letters_embedder.py").write_text(EMBEDDER)
    (site / "letters-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: letters\nVersion: 1\n")
    (site / "letters-1.dist-info" / "entry_points.txt").write_text("[orbit.embedders]\nletters = letters_embedder:Letters\n")
    monkeypatch.syspath_prepend(str(site))
    yield
    sys.modules.pop("letters_embedder", None)


def test_an_installed_embedder_ranks_and_the_answer_says_so(stocked, store, embedder):
    answer = store.search("store events lines")
    assert (answer.mode, answer.total, answer.matches[0].id, answer.note) == ("semantic", 3, "ADR-0002", None)
    assert store.search("store events lines", status="proposed").total == 2
    store.update("ADR-0003", decision="store events lines store events lines " * 30)
    assert store.search("store events lines").matches[0].id == "ADR-0003"


def test_a_failing_embedder_gives_way_to_full_text_and_the_answer_says_why(stocked, store, embedder):
    answer = store.search("explode sandbox")
    assert (answer.mode, answer.matches[0].id) == ("fts", "ADR-0001")
    assert "no model" in answer.note


def ids(repo):
    with AdrStore(repo.root) as store:
        return [(adr.id, adr.title) for adr in store.list().adrs]


def test_a_missing_broken_or_foreign_index_is_built_again(stocked):
    whole, path = ids(stocked), stocked.home / "index.sqlite"
    for damage in (b"not a database at all, but long enough to be read as one" * 100, b"", path.read_bytes()[:5000] + b"\xff" * 3000):
        for suffix in ("-wal", "-shm"):
            (stocked.home / f"index.sqlite{suffix}").unlink(missing_ok=True)
        path.write_bytes(damage)
        assert ids(stocked) == whole
    path.unlink()
    assert ids(stocked) == whole
    assert stocked.ask("reindex") == {"adrs": 3, "path": ".orbit/adrs/index.sqlite"}


def test_edits_made_by_hand_are_seen_at_once(stocked):
    for file in stocked.home.rglob("ADR-*/*"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    ids(stocked)
    (stocked.home / "proposed/ADR-0003/adr.yaml").unlink()
    (stocked.home / "proposed/ADR-0003/body.md").unlink()
    stocked.write(".orbit/adrs/proposed/ADR-0001/body.md", "## Context\n\nquokka\n")
    with AdrStore(stocked.root) as store:
        assert [match.id for match in store.search("quokka").matches] == ["ADR-0001"]
    assert "ADR-0003" not in dict(ids(stocked))


def test_an_edit_within_the_resolution_of_the_clock_is_seen(stocked):
    file = stocked.home / "proposed/ADR-0001/adr.yaml"
    stamp = time.time_ns() + 5_000_000_000  # touched "just now", for as long as this test runs
    os.utime(file, ns=(stamp, stamp))
    ids(stocked)
    file.write_text(file.read_text().replace("Resolve the sandbox", "Reverse the sandbox"))
    os.utime(file, ns=(stamp, stamp))
    assert dict(ids(stocked))["ADR-0001"].startswith("Reverse")


def test_a_store_that_cannot_be_written_can_still_be_read(stocked):
    (stocked.home / "index.sqlite").unlink()
    shutil.rmtree(stocked.root / ".orbit/state")
    (stocked.root / ".orbit/state").write_text("no folder can be made here, so no lock either")
    assert len(ids(stocked)) == 3
    assert not (stocked.home / "index.sqlite").exists()


def test_a_question_makes_nothing_where_there_is_no_store(repo):
    before = sorted(repo.root.rglob("*"))
    assert (repo.ask("list")["total"], repo.cli("show", "1").exit, repo.cli("lint").exit) == (0, 3, 0)
    assert sorted(repo.root.rglob("*")) == before


def test_unknown_and_doubled_names_are_errors_with_a_next_step(stocked, store):
    with pytest.raises(NotFoundError, match="ADR-0042"):
        store.show("ADR-0042")
    with pytest.raises(NotFoundError, match="ADR-042"):
        store.show("ADR-042")
    with pytest.raises(NotFoundError):
        store.show(legacy_id="policy/ADR-001")
    with pytest.raises(UsageError):
        store.show()
    text = stocked.read(".orbit/adrs/proposed/ADR-0001/adr.yaml")
    stocked.write(".orbit/adrs/accepted/ADR-0001/adr.yaml", text.replace("proposed", "accepted"))
    with pytest.raises(AmbiguousError) as caught:
        store.show("ADR-0001")
    assert caught.value.candidates == ["accepted/ADR-0001", "proposed/ADR-0001"]
    assert store.show("accepted/ADR-0001").status == "accepted"
