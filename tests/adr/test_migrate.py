"""A corpus with every odd form: report, pages and swept documents compared whole; the second run changes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orbit.adr import AdrStore
from orbit.audit import now

CORPUS = Path(__file__).parent / "migration"


def tree(root: Path) -> dict[str, str]:
    files = [path for path in root.rglob("*") if path.is_file() and not path.relative_to(root).as_posix().startswith((".git/", ".orbit/"))]
    return {path.relative_to(root).as_posix(): path.read_bytes().decode().replace(now()[:10], "TODAY") for path in files}


@pytest.fixture
def corpus(repo):
    shutil.copytree(CORPUS / "before", repo.root, dirs_exist_ok=True)
    return repo


def test_the_corpus_migrates_to_what_was_reviewed(corpus):
    answer = corpus.ask("migrate", "docs/design")
    assert answer == {
        "imported": 14,
        "skipped": 0,
        "rollups": 1,
        "links": 4,
        "rewritten": 20,
        "unresolved": 10,
        "warnings": 11,
        "report": "migration-report.md",
        "preview": None,
    }
    assert tree(corpus.root) == tree(CORPUS / "after")


def test_a_second_run_changes_nothing(corpus):
    corpus.ask("migrate", "docs/design")
    before = corpus.bytes()
    again = corpus.ask("migrate", "docs/design")
    assert (again["imported"], again["rewritten"], again["report"]) == (0, 0, None)
    assert corpus.bytes() == before


def test_a_dry_run_shows_the_same_report_and_writes_nothing(corpus):
    before = corpus.bytes()
    preview = corpus.ask("migrate", "docs/design", "--dry-run")["preview"]
    assert {name: digest for name, digest in corpus.bytes().items() if name != ".orbit/.gitignore"} == before
    assert preview == (CORPUS / "after/migration-report.md").read_text()


def test_artifacts_carry_rollups_links_warnings_and_provenance(corpus, store):
    store.migrate("docs/design")
    rollup = store.show(legacy_id="activity-job/ADR-003")
    assert (rollup.id, rollup.legacy_ids) == ("ADR-0003", ["activity-job/ADR-005", "activity-job/ADR-002", "activity-job/ADR-003"])
    old, new = store.show("ADR-0004"), store.show("ADR-0012")
    assert (old.superseded_by, new.supersedes, old.validation_warnings) == ("ADR-0012", ["ADR-0004"], ["missing Status line", "missing Consequences section"])
    assert (store.show("ADR-0001").owner, store.show("ADR-0011").owner) == ("dana", "legacy:auditability")
    assert (new.created_at, new.related_tasks, new.related_features) == ("2026-04-01T00:00:00Z", ["T20260403-1"], ["auditability"])
    assert store.show("ADR-0005").body.startswith("Some words before any section.\n\n## Context\n")
    codes = {finding.code for finding in store.lint().errors}
    assert codes == {"unresolved-citation"}  # the one global citation the corpus has before there was a store


def test_rendering_after_a_migration_finds_its_pages_current(corpus, store):
    store.migrate("docs/design")
    assert store.render(all=True, check=True).differs == []


def test_references_written_after_a_migration_are_swept_by_the_next_run(corpus, store):
    store.migrate("docs/design")
    corpus.write("docs/design/activity-job/late.md", "Late: [ADR-005], auditability/ADR-0017.\n")
    answer = store.migrate("docs/design")
    assert (answer.imported, answer.rewritten) == (0, 2)
    assert corpus.read("docs/design/activity-job/late.md") == "Late: [ADR-0003], [ADR-0013].\n"


def test_a_feature_that_comes_later_is_added_without_touching_the_rest(corpus, store):
    store.migrate("docs/design")
    before = corpus.bytes()
    corpus.write("docs/design/late-one/4_decisions.md", "## ADR-001 — Late\n\n**Status:** Accepted · 2026-07\n\n**Context.** c\n")
    assert store.migrate("docs/design").imported == 1
    after = corpus.bytes()
    assert {name for name in before if before[name] != after.get(name)} == {"migration-report.md"}
    late = store.show(legacy_id="late-one/ADR-001")
    assert (late.id, late.validation_warnings[-1]) == ("ADR-0015", "accepted without a task")


def test_a_folder_that_is_not_there_is_a_usage_error(repo):
    assert repo.cli("migrate", "docs/none").exit == 2
    with AdrStore(repo.root) as store:
        assert store.list().total == 0
