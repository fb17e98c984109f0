"""A sync that is killed, crowded, refused or fed a ruined database leaves the old graph or the new one, and says what went wrong."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from synthetic import Repository

from orbit.config import Workspace
from orbit.errors import NoGraphError, RefusedError
from orbit.graph.index.place import find_place
from orbit.graph.index.sync import sync
from orbit.graph.query.digest import digest
from orbit.graph.store.connection import open_reader

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
KILLS, ROUNDS = 40, 4


def start_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked process; its id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def exit_of(child: int) -> int:
    """Exit code of a child, negative for the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def digest_of(root: Path) -> str:
    db = open_reader(find_place(root).database)
    try:
        return digest(db)
    finally:
        db.close()


def fresh_digest(root: Path, scratch: Path) -> str:
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(root, scratch, symlinks=True, ignore=shutil.ignore_patterns(".orbit"))
    sync(Workspace(scratch), jobs=1)
    return digest_of(scratch)


def killed_after(seconds: float, work: Callable[[], object]) -> Callable[[], None]:
    """`work` in a process that the kernel ends after a while, wherever it is: no handler runs, nothing is put in order."""

    def run() -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        work()

    return run


def test_a_killed_sync_leaves_the_old_graph_or_the_new_one(tmp_path: Path) -> None:
    root, choose = tmp_path / "tree", random.Random(5)
    root.mkdir()
    repository, workspace = Repository(root, 5, ("python", "rust", "typescript"), switches=False), Workspace(root)
    sync(workspace, jobs=1)
    outcomes = set()
    for number in range(KILLS):
        old = digest_of(root)
        for _ in range(3):
            repository.edit()
        new = fresh_digest(root, tmp_path / "copy")
        full = number % 4 == 0
        exit_code = exit_of(start_child(killed_after(choose.uniform(0.001, 0.15), lambda full=full: sync(workspace, full=full, jobs=1))))
        assert exit_code in (0, -signal.SIGALRM)
        found = digest_of(root)
        assert found == new if exit_code == 0 else found in (old, new)
        outcomes.add(exit_code)
        sync(workspace, jobs=1)
        assert digest_of(root) == new
    assert outcomes == {0, -signal.SIGALRM}, "every sync ended the same way: the times do not fit this machine"


def test_a_first_sync_that_is_killed_leaves_no_graph_or_the_whole_one(tmp_path: Path) -> None:
    root, choose = tmp_path / "tree", random.Random(6)
    root.mkdir()
    Repository(root, 6, ("python", "go"))
    whole = fresh_digest(root, tmp_path / "copy")
    for _ in range(KILLS // 2):
        shutil.rmtree(root / ".orbit", ignore_errors=True)
        exit_of(start_child(killed_after(choose.uniform(0.001, 0.12), lambda: sync(Workspace(root), jobs=1))))
        with suppress(NoGraphError):
            assert digest_of(root) == whole
        sync(Workspace(root), jobs=1)
        assert digest_of(root) == whole


@pytest.mark.parametrize("count", [2, 10])
def test_processes_that_sync_and_ask_at_once_see_whole_graphs(tmp_path: Path, count: int) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    Repository(root, 7, ("python", "java"))
    texts = ["def first(): second()\n\ndef second(): pass\n", "class Other:\n    def first(self): return self.first()\n"]
    edited, whole = root / "py/src/app/edited.py", set()
    for text in texts:
        edited.write_text(text, encoding="utf-8")
        whole.add(fresh_digest(root, tmp_path / "copy"))
    assert len(whole) == 2
    sync(Workspace(root), jobs=1)

    def work(number: int) -> None:
        for turn in range(ROUNDS):
            scratch = edited.with_name(f".{number}.tmp")
            scratch.write_text(texts[(number + turn) % 2], encoding="utf-8")
            os.replace(scratch, edited)
            answer = sync(Workspace(root), jobs=1)
            assert answer.mode == "auto"
            assert digest_of(root) in whole

    children = [start_child(lambda number=number: work(number)) for number in range(count)]
    assert [exit_of(child) for child in children] == [0] * count
    sync(Workspace(root), jobs=1)
    assert digest_of(root) == fresh_digest(root, tmp_path / "copy")


def ruin_bytes(database: Path) -> None:
    database.write_bytes(b"this is no database" * 400)


def ruin_schema(database: Path) -> None:
    db = apsw.Connection(str(database))
    db.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'")
    db.close()


def ruin_table(database: Path) -> None:
    db = apsw.Connection(str(database))
    db.execute("DROP VIEW files; DROP TABLE meta")
    db.close()


def ruin_end(database: Path) -> None:
    os.truncate(database, database.stat().st_size // 2)


def ruin_middle(database: Path) -> None:
    with database.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 32768)


@pytest.mark.parametrize("ruin", [ruin_bytes, ruin_schema, ruin_table, ruin_end, ruin_middle])
def test_a_ruined_database_is_set_aside_and_built_anew(tmp_path: Path, ruin: Callable[[Path], None]) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    Repository(root, 8, ("python", "c"))
    before = sync(Workspace(root), jobs=1)
    whole = digest_of(root)
    ruin(Path(before.db))
    (root / "py/src/app/new.py").write_text("def new(): pass\n", encoding="utf-8")
    answer = sync(Workspace(root), jobs=1)
    assert answer.message is not None
    assert "set aside" in answer.message
    assert Path(before.db + ".damaged").exists()
    (root / "py/src/app/new.py").unlink()
    sync(Workspace(root), jobs=1)
    assert digest_of(root) == whole


def test_a_folder_that_cannot_be_written_is_a_clear_error() -> None:
    """Root may write anywhere, so the work is done by nobody; without git, which distrusts folders of others."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        (root / "a.py").write_text("def a(): pass\n", encoding="utf-8")
        (root / ".orbit").mkdir()
        (root / ".orbit").chmod(0o555)

        def work() -> None:
            if os.geteuid() == 0:
                os.setuid(65534)
            with pytest.raises(RefusedError, match="cannot be written") as caught:
                sync(Workspace(root), jobs=1)
            assert caught.value.code == "not-writable"
            assert caught.value.hint is not None

        assert exit_of(start_child(work)) == 0


@pytest.mark.parametrize("full", [False, True])
def test_a_full_disk_is_a_clear_error_and_keeps_the_old_graph(tmp_path: Path, full: bool) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    Repository(root, 9, ("python", "rust"))
    sync(Workspace(root), jobs=1)
    old = digest_of(root)
    for number in range(60):
        (root / f"py/src/app/more{number}.py").write_text("\n".join(f"def f{number}_{n}(): g{n}()" for n in range(60)), encoding="utf-8")

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        with pytest.raises(RefusedError, match="cannot be written"):
            sync(Workspace(root), full=full, jobs=1)

    assert exit_of(start_child(work)) == 0
    assert digest_of(root) == old
    shutil.copytree(root, tmp_path / "new", ignore=shutil.ignore_patterns("graph"))
    root = tmp_path / "new"
    assert exit_of(start_child(work)) == 0
    assert [path.name for path in find_place(root).folder.glob("*.tmp*")] == []  # nothing that keeps the disk full
    root = tmp_path / "tree"
    sync(Workspace(root), jobs=1)
    assert digest_of(root) == fresh_digest(root, tmp_path / "copy")


def test_a_repository_without_commits_has_a_graph(repository: Path) -> None:
    (repository / "a.py").write_text("def a(): pass\n", encoding="utf-8")
    answer = sync(Workspace(repository), jobs=1)
    assert (answer.mode, answer.files_indexed) == ("full", 1)
    assert Path(answer.db).name.startswith("main.")


def test_a_full_disk_still_answers(tmp_path: Path) -> None:
    Repository(tmp_path, 8, ("python",))
    sync(Workspace(tmp_path), jobs=1)
    whole = digest_of(tmp_path)

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        assert digest_of(tmp_path) == whole

    assert exit_of(start_child(work)) == 0
