"""The handle: policies, threads, branch switches, budgets."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from orbit.errors import NoGraphError, UsageError
from orbit.graph import Graph, SyncPolicy
from orbit.graph.query.answer import BUDGET_BYTES
from orbit.graph.store.connection import DamagedDatabaseError


def test_a_question_without_a_graph_is_an_error_and_makes_none(tmp_path: Path) -> None:
    with Graph.open(tmp_path) as graph, pytest.raises(NoGraphError):
        graph.search("x")
    assert list(tmp_path.iterdir()) == []


def test_by_default_no_question_starts_a_sync(own: Graph) -> None:
    (own.root / "late.py").write_text("def latecomer(): pass\n", encoding="utf-8")
    assert own.search("latecomer").total == 0


def test_on_read_every_question_sees_the_files_as_they_are(own: Graph) -> None:
    with Graph.open(own.root, SyncPolicy.ON_READ) as graph:
        (own.root / "late.py").write_text("def latecomer(): pass\n", encoding="utf-8")
        assert graph.show("latecomer").fresh
        (own.root / "late.py").unlink()
        assert graph.search("latecomer").total == 0


def test_on_read_builds_a_graph_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def first(): pass\n", encoding="utf-8")
    with Graph.open(tmp_path, SyncPolicy.ON_READ) as graph:
        assert graph.search("first", kind="symbol").total == 1


def test_a_window_lets_one_sync_through(own: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("orbit.graph.time.monotonic", lambda: now[0])
    with Graph.open(own.root, SyncPolicy.windowed(5)) as graph:
        assert graph.search("latecomer").total == 0
        (own.root / "late.py").write_text("def latecomer(): pass\n", encoding="utf-8")
        assert graph.search("latecomer").total == 0
        now[0] += 6
        assert graph.search("latecomer").total == 1


def test_policies_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        SyncPolicy.windowed(0)


def test_threads_share_a_handle(own: Graph) -> None:
    wanted = [own.refs("pkg.shapes.square"), own.search("square"), own.callees("pkg.app.total")]
    problems: list[object] = []

    def ask() -> None:
        for _ in range(20):
            found = [own.refs("pkg.shapes.square"), own.search("square"), own.callees("pkg.app.total")]
            if found != wanted:
                problems.append(found)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        own.sync(full=True)
    for thread in threads:
        thread.join()
    assert problems == []


def test_a_handle_follows_a_branch_switch(own: Graph) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments], cwd=own.root, check=True, capture_output=True)

    git("add", ".")
    git("commit", "-qm", "all")
    git("checkout", "-qb", "other")
    with pytest.raises(NoGraphError):
        own.search("square")
    (own.root / "late.py").write_text("def latecomer(): pass\n", encoding="utf-8")
    own.sync()
    assert own.search("latecomer", kind="symbol").total == 1
    git("checkout", "-q", "main")
    assert own.search("latecomer").total == 0


def test_a_closed_handle_opens_again_when_asked(own: Graph) -> None:
    own.close()
    assert own.search("square").total > 0


def test_a_database_replaced_under_the_handle_is_opened_anew(own: Graph) -> None:
    assert own.search("latecomer").total == 0
    (database,) = (own.root / ".orbit/graph").glob("*.db")
    (own.root / "late.py").write_text("def latecomer(): pass\n", encoding="utf-8")
    own.close()
    database.unlink()
    own.sync()
    assert own.search("latecomer").total == 1


def test_a_damaged_database_is_named_as_such(own: Graph) -> None:
    (database,) = (own.root / ".orbit/graph").glob("*.db")
    own.close()
    for part in ("-wal", "-shm"):
        database.with_name(database.name + part).unlink(missing_ok=True)
    database.write_bytes(b"no database at all, but long enough to be looked at as one" * 100)
    with pytest.raises(DamagedDatabaseError):
        own.search("square")
    assert own.sync().message
    assert own.search("square").total > 0


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory, make_large: Callable[[Path, int, int], None]) -> Graph:
    """A worktree in which every list is long."""
    root = tmp_path_factory.mktemp("wide") / ("a" * 60) / ("b" * 60)
    make_large(root, 120, 12)
    (root / "kinds.py").write_text(
        "class Root: pass\n" + "".join(f"class Kind{'x' * 60}{at}(Root): pass\n" for at in range(300))
        + "def everything():\n" + "".join(f"    Kind{'x' * 60}{at}()\n" for at in range(300)), encoding="utf-8",
    )  # fmt: skip
    (root / "imports.py").write_text("".join(f"import a{'y' * 60}.m{at}\n" for at in range(300)), encoding="utf-8")
    (root / "text.py").write_text("VALUES = [\n" + "".join(f"    '{'word ' * 200}{at}',\n" for at in range(200)) + "]\n", encoding="utf-8")
    graph = Graph.open(root)
    graph.sync()
    return graph


def test_no_answer_is_longer_than_its_budget_unless_a_limit_was_named(wide: Graph) -> None:
    answers = {
        "search": wide.search("word"),
        "refs": wide.refs("service.area_00.part_0.hub"),
        "relations": wide.refs("kinds.Root", kind="extends"),
        "callees": wide.callees("everything"),
        "overview": wide.overview(),
        "full": wide.overview(format="full"),
        "file": wide.overview("file:kinds.py"),
        "implementors": wide.implementors("kinds.Root"),
        "deps": wide.deps("file:imports.py"),
    }
    for name, answer in answers.items():
        size = len(msgspec.json.encode(answer))
        assert size <= BUDGET_BYTES, (name, size)
        assert answer.truncated, name
        assert size > 1000, name
    assert answers["implementors"].total == answers["relations"].total == 300
    assert answers["callees"].total == 300
    assert answers["deps"].total == 300


def test_naming_stale_files_does_not_break_the_budget(wide: Graph, tmp_path: Path) -> None:
    hub = wide.refs("service.area_00.part_0.hub")
    paths = {ref.file for ref in hub.refs}
    kept = {path: (wide.root / path).read_bytes() for path in paths}
    try:
        for path in paths:
            (wide.root / path).write_bytes(b"# new\n" + kept[path])
        stale = wide.refs("service.area_00.part_0.hub")
        assert not stale.fresh
        assert set(stale.stale_files or ()) == {ref.file for ref in stale.refs} | {stale.target.path} & paths  # type: ignore[arg-type]
        assert len(msgspec.json.encode(stale)) <= BUDGET_BYTES
    finally:
        for path, text in kept.items():
            (wide.root / path).write_bytes(text)


def test_a_named_limit_is_kept_to(wide: Graph) -> None:
    assert len(wide.refs("service.area_00.part_0.hub", limit=1000).refs) == 1000
    assert len(wide.implementors("kinds.Root", limit=250).implementors) == 250
    assert len(wide.overview(limit=100).files) == 100
    assert wide.search("word", limit=3).truncated


def test_an_ambiguous_name_lists_a_bounded_number_and_says_how_many_there_are(wide: Graph) -> None:
    from orbit.errors import AmbiguousError

    with pytest.raises(AmbiguousError, match="120 different things") as caught:
        wide.refs("get")
    assert len(caught.value.candidates) == 20


def test_a_graph_on_a_read_only_disk_is_still_read(own: Graph) -> None:
    own.close()
    root = str(own.root)
    mounted = f"mount --bind {root} {root} && mount -o remount,ro,bind {root}"
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "sh", "-c", mounted], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    script = f"from orbit.graph import Graph\nprint(Graph.open({root!r}).show('Circle').fresh)"
    done = subprocess.run(["unshare", "-m", "sh", "-c", f'{mounted} && exec "$0" -c "$1"', sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr
