"""Incremental equals full: after any edits a sync gives the graph of a fresh build, and touches only what the edits can reach."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from synthetic import Repository

from orbit.config import Workspace
from orbit.graph.index.sync import SyncAnswer, sync
from orbit.graph.query.digest import differences, digest
from orbit.graph.store.connection import open_reader

CI_SEEDS, CI_STEPS = range(12), 25


def build_afresh(root: Path, scratch: Path) -> Path:
    """A full build of a copy of the worktree; returns its database."""
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(root, scratch, symlinks=True, ignore=shutil.ignore_patterns(".orbit"))
    return Path(sync(Workspace(scratch), jobs=1).db)


def check_equal(answer: SyncAnswer, fresh: Path, history: Sequence[str]) -> None:
    assert answer.message is None
    one, other = open_reader(Path(answer.db)), open_reader(fresh)
    try:
        if digest(one) != digest(other):
            story = "\n".join(history[-8:])
            rows = "\n".join(differences(one, other))
            pytest.fail(f"the synced graph (-) is not that of a full build (+), after {len(history)} edits, the last:\n{story}\n{rows}", pytrace=False)
    finally:
        one.close()
        other.close()


def follow(root: Path, scratch: Path, seed: int, steps: int, languages: Sequence[str] | None = None) -> None:
    root.mkdir()
    repository = Repository(root, seed, languages) if languages else Repository(root, seed)
    workspace, history = Workspace(root), ["the beginning"]
    check_equal(sync(workspace, jobs=1), build_afresh(root, scratch), history)
    for _ in range(steps):
        for _ in range(repository.choose.choice((1, 1, 1, 2, 5))):
            history.append(repository.edit())
        check_equal(sync(workspace, jobs=1), build_afresh(root, scratch), history)


@pytest.mark.parametrize("seed", CI_SEEDS)
def test_any_edits_give_the_graph_of_a_full_build(tmp_path: Path, seed: int) -> None:
    follow(tmp_path / "tree", tmp_path / "copy", seed, CI_STEPS)


@pytest.mark.slow
def test_thousands_of_edits_give_the_graph_of_a_full_build(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    steps = 200
    for seed in range(1000, 1000 + -(-int(pytestconfig.getoption("--edits")) // steps)):
        follow(tmp_path / f"tree{seed}", tmp_path / "copy", seed, steps)
