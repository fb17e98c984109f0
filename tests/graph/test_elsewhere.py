"""Extraction on a cluster, a database built elsewhere, and the memory a sync may use."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orbit import config
from orbit.config import Workspace
from orbit.errors import UsageError
from orbit.graph import Graph
from orbit.graph.index import pool, scan
from orbit.graph.index.place import find_place
from orbit.graph.index.work import WORKER_BYTES, Memory, Sync

SOURCES = Path(__file__).resolve().parents[2] / "src" / "orbit" / "graph"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Real sources, committed."""
    root = tmp_path / "tree"
    shutil.copytree(SOURCES, root, ignore=shutil.ignore_patterns("__pycache__"))
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


CLUSTER = """
import sys
from distributed import Client, LocalCluster
from orbit.graph import Graph

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1")
    with cluster, Client(cluster) as client, Graph.open(sys.argv[1]) as graph:
        print(graph.sync(full=True, executor=client.get_executor()).files_changed, graph.digest().digest)
"""


def test_the_workers_of_a_dask_cluster_give_the_same_graph(tree: Path, tmp_path: Path) -> None:
    with Graph.open(tree) as graph:
        answer = graph.sync(jobs=1)
        alone = graph.digest().digest
    (tmp_path / "cluster.py").write_text(CLUSTER, encoding="utf-8")  # a process of its own: a cluster leaves threads behind
    done = subprocess.run([sys.executable, str(tmp_path / "cluster.py"), str(tree)], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(answer.files_changed), alone]


def test_a_database_from_another_clone_costs_only_the_difference(tree: Path, tmp_path: Path) -> None:
    with Graph.open(tree) as graph:
        graph.sync()
        built = graph.digest().digest
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(tree), str(clone)], check=True)
    place = find_place(clone).folder
    place.mkdir(parents=True)
    for database in find_place(tree).folder.glob("*.db"):
        shutil.copy(database, place)
    with Graph.open(clone) as graph:
        answer = graph.sync()
        assert (answer.mode, answer.files_changed) == ("auto", 0)
        assert graph.digest().digest == built
        (clone / "selector.py").write_text("def only_here(): ...\n", encoding="utf-8")
        assert graph.sync().files_changed == 1
        assert graph.search("only_here", kind="symbol").total == 1


def _sync(tree: Path, memory_mb: object, jobs: int = 4) -> Sync:
    workspace = Workspace(tree)
    workspace.prepare()
    (workspace.state / "config.toml").write_text(f"[graph]\nmemory_mb = {memory_mb}\n", encoding="utf-8")
    return Sync(workspace, find_place(tree), None, jobs, None, Memory())


@pytest.mark.parametrize(("memory_mb", "workers"), [(1, 1), (WORKER_BYTES >> 19, 1), (3 * WORKER_BYTES >> 20, 2), (100_000, 4)])
def test_little_memory_means_few_workers(tree: Path, memory_mb: int, workers: int) -> None:
    assert _sync(tree, memory_mb).workers == workers


def test_the_tighter_of_two_limits_holds(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "memory_limit", lambda: 500 << 20)
    assert _sync(tree, 300).memory_limit == 300 << 20
    assert _sync(tree, 900).memory_limit == 500 << 20


@pytest.mark.parametrize("memory_mb", ["0", "-5", '"much"', "1.5", "true"])
def test_a_limit_that_is_none_is_refused(tree: Path, memory_mb: str) -> None:
    with pytest.raises(UsageError, match="memory_mb"):
        _sync(tree, memory_mb)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux only")
def test_with_little_memory_the_graph_is_the_same_and_nothing_is_forked(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Graph.open(tree) as graph:
        graph.sync()
        free = graph.digest().digest
    monkeypatch.setattr(pool, "FEW_BYTES", 0)
    monkeypatch.setattr(pool, "can_fork", lambda: pytest.fail("asked for a fork"))
    _sync(tree, 1)
    with Graph.open(tree) as graph:
        assert graph.sync(full=True).message is None  # the setting is a known one
        assert graph.digest().digest == free


def test_limits_of_the_control_group_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "CGROUPS", tmp_path)
    assert config.memory_limit() is None
    free = config.cpu_limit()
    (tmp_path / "cpu.max").write_text("100000 100000\n", encoding="ascii")
    (tmp_path / "memory.max").write_text("1073741824\n", encoding="ascii")
    assert (config.cpu_limit(), config.memory_limit()) == (1, 1 << 30)
    (tmp_path / "cpu.max").write_text("max 100000\n", encoding="ascii")
    (tmp_path / "memory.max").write_text("max\n", encoding="ascii")
    assert (config.cpu_limit(), config.memory_limit()) == (free, None)
