"""A handle that watches ends where a full build would, whatever happens to the files, and never makes a question wait."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from orbit.config import Workspace
from orbit.errors import OrbitError, RefusedError, UsageError
from orbit.graph import Graph, SyncPolicy
from orbit.graph.index.events import PER_FOLDER, find_field
from orbit.graph.index.place import find_place
from orbit.graph.index.watch import Watch
from orbit.graph.query.digest import digest

Git = Callable[..., str]
Write = Callable[[Path, dict[str, str]], None]


def fingerprint(root: Path) -> str:
    with apsw.Connection(str(find_place(root).database), flags=apsw.SQLITE_OPEN_READONLY) as db:
        return digest(db)


def full_build(root: Path, scratch: Path) -> str:
    """The digest of a build from nothing of the same files."""
    shutil.copytree(root, scratch, symlinks=True, ignore=shutil.ignore_patterns(".orbit"))
    Graph.open(scratch).sync()
    return fingerprint(scratch)


def until(is_so: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def finds(graph: Graph, name: str) -> bool:
    try:
        return any(match.name == name for match in graph.search(name, kind="symbol", limit=50).matches)  # type: ignore[union-attr]
    except RefusedError as error:
        if error.code != "indexing":
            raise
        return False


@pytest.fixture
def tree(repository: Path, write: Write, git: Git) -> Path:
    source = "from pkg_{next} import mod_{next}\n\n\ndef f_{at}():\n    return g_{at}()\n"
    write(repository, {f"pkg_{at % 20}/mod_{at}.py": source.format(at=at, next=(at + 1) % 20) for at in range(200)})
    git("add", "-A")
    git("commit", "-qm", "first")
    return repository


def watching(root: Path, debounce_ms: int = 50) -> Graph:
    graph = Graph.open(root, SyncPolicy.watch(debounce_ms))
    graph.sync()
    return graph


@pytest.mark.parametrize("rounds", [50, pytest.param(500, marks=pytest.mark.slow)])
def test_after_the_barrier_the_answer_is_that_of_the_edit(tree: Path, rounds: int) -> None:
    with watching(tree) as graph:
        for number in range(rounds):
            path = f"pkg_{number % 20}/mod_{number % 20}.py"
            (tree / path).write_text(f"def edited_{number}():\n    return 1\n", encoding="utf-8")
            graph.sync()
            answer = graph.search(f"edited_{number}")
            assert [(match.path, match.name) for match in answer.matches if match.name == f"edited_{number}"] == [(path, f"edited_{number}")]
            assert answer.fresh


def test_without_the_barrier_an_answer_names_the_file_that_changed(tree: Path) -> None:
    with watching(tree, 60_000) as graph:
        (tree / "pkg_3/mod_3.py").write_text("def f_3():\n    return 2\n", encoding="utf-8")
        answer = graph.show("f_3")
        assert (answer.fresh, answer.stale_files) == (False, ["pkg_3/mod_3.py"])


def test_an_edit_is_seen_without_asking_for_it(tree: Path) -> None:
    with watching(tree) as graph:
        (tree / "pkg_3/mod_3.py").write_text("def appears():\n    return 2\n", encoding="utf-8")
        until(lambda: finds(graph, "appears"))


def test_a_file_in_a_folder_that_was_made_empty_is_seen(tree: Path) -> None:
    with watching(tree) as graph:
        (tree / "a/b/c").mkdir(parents=True)
        time.sleep(0.4)  # long enough for the folder to be noticed while it holds nothing
        (tree / "a/b/c/new.py").write_text("def appears():\n    return 2\n", encoding="utf-8")
        until(lambda: finds(graph, "appears"))


def test_a_mass_rename_ends_with_the_graph_of_a_full_build(tree: Path, tmp_path_factory: pytest.TempPathFactory, write: Write) -> None:
    count = 1000
    write(tree, {f"many/file_{at}.py": f"def many_{at}():\n    return f_{at % 200}()\n" for at in range(count)})
    with watching(tree) as graph:
        for at in range(count):
            (tree / f"many/file_{at}.py").rename(tree / f"many/renamed_{at}.py")
        last = f"many/renamed_{count - 1}.py"
        until(lambda: graph.search(f"many_{count - 1}").matches[0].path == last)
        graph.sync()
        assert fingerprint(tree) == full_build(tree, tmp_path_factory.mktemp("full") / "work")


def test_a_branch_switch_is_followed(tree: Path, tmp_path_factory: pytest.TempPathFactory, git: Git, write: Write) -> None:
    with watching(tree) as graph:
        git("checkout", "-qb", "other")
        write(tree, {"other/only.py": "def only_here():\n    return 1\n"})
        git("add", "-A")
        git("commit", "-qm", "second")
        until(lambda: finds(graph, "only_here"))
        git("checkout", "-q", "main")
        until(lambda: not finds(graph, "only_here") and finds(graph, "f_3"))
        git("checkout", "-q", "other")
        until(lambda: finds(graph, "only_here"))
        graph.sync()
        assert fingerprint(tree) == full_build(tree, tmp_path_factory.mktemp("full") / "work")


def test_a_removed_folder_ends_with_the_graph_of_a_full_build(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with watching(tree) as graph:
        shutil.rmtree(tree / "pkg_7")
        until(lambda: not finds(graph, "f_7"))
        graph.sync()
        assert fingerprint(tree) == full_build(tree, tmp_path_factory.mktemp("full") / "work")


def test_a_question_never_waits_for_a_sync(tree: Path) -> None:
    with watching(tree) as graph:
        slow = threading.Thread(target=lambda: graph.sync(full=True))
        slow.start()
        started = time.monotonic()
        for _ in range(20):
            assert graph.search("f_3").total
        took = time.monotonic() - started
        slow.join()
        assert took / 20 < 0.25


def test_before_the_first_index_a_question_says_so(tree: Path) -> None:
    with Graph.open(tree, SyncPolicy.watch()) as graph:
        with pytest.raises(RefusedError) as caught:
            graph.search("f_3")
        assert (caught.value.code, caught.value.exit_code) == ("indexing", 6)
        assert graph.sync().files_indexed == 200
        assert graph.search("f_3").total


def test_where_events_fail_syncs_go_by_the_clock_and_say_so(tree: Path) -> None:
    def failing(root: Path, stop: threading.Event) -> Iterator[None]:
        yield
        raise OSError("no space left on device")

    watch = Watch(Workspace(tree), 50, events=failing)
    try:
        until(lambda: watch.notice is not None)
        assert "no space left" in str(watch.barrier().message)
        outcomes = watch.outcomes()
        next(outcomes)
        (tree / "pkg_3/mod_3.py").write_text("def appears():\n    return 2\n", encoding="utf-8")
        assert any(getattr(outcome, "files_changed", 0) == 1 for outcome, _ in zip(outcomes, range(5), strict=False))
    finally:
        watch.close()


def test_many_who_wait_share_a_sync(tree: Path) -> None:
    with watching(tree) as graph:
        outcomes: list[object] = []
        threads = [threading.Thread(target=lambda: outcomes.append(id(graph.sync()))) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(outcomes) == 20
        assert len(set(outcomes)) < 20


def test_closing_ends_all_threads_and_what_waits(tree: Path) -> None:
    graph = watching(tree)
    before = {thread.name for thread in threading.enumerate() if thread.name.startswith("orbit-")}
    assert before == {"orbit-listen", "orbit-keep_syncing"}
    graph.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("orbit-")]
    with pytest.raises(OrbitError):
        graph.sync()


def test_a_handle_that_does_not_watch_has_no_syncs_to_tell(tree: Path) -> None:
    with Graph.open(tree) as graph, pytest.raises(UsageError):
        graph.syncs()


@pytest.mark.skipif(not PER_FOLDER, reason="one watch covers all here")
def test_ignored_folders_are_not_watched(tree: Path, write: Write) -> None:
    write(tree, {".gitignore": "ignored/\n", "ignored/deep/er/x.py": "", "node_modules/a/b.js": "", ".orbit/graph/x": "", "kept/new/a.py": ""})
    subprocess.run(["git", "init", "-q", str(tree / "nested")], check=True)
    field = find_field(tree)
    watched = {str(Path(folder).relative_to(tree)) for folder in field.folders}
    assert watched == {".", ".git", "kept", "kept/new", *(f"pkg_{at}" for at in range(20))}
    paths = ("a.py", "kept/b.py", "ignored/x.py", ".orbit/graph/x", ".git/config", ".git/HEAD", ".git/index")
    concerned = [path for path in paths if field.concerns(str(tree / path))]
    assert concerned == ["a.py", "kept/b.py", ".git/HEAD", ".git/index"]


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """A shell that starts the tests in the background has them ignore Ctrl-C, and with them all that they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_the_command_writes_a_line_for_each_sync_and_stops_cleanly(tree: Path, stop: signal.Signals) -> None:
    orbit = Path(sysconfig.get_path("scripts")) / "orbit"
    command = [str(orbit), "graph", "watch", "--json", "--debounce-ms", "50", "--root", str(tree)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["files_indexed"] == 200
        assert json.loads(process.stdout.readline())["files_changed"] == 0  # once more when watching has begun
        (tree / "pkg_3/mod_3.py").write_text("def appears():\n    return 2\n", encoding="utf-8")
        assert json.loads(process.stdout.readline())["files_changed"] == 1
        process.send_signal(stop)
        assert process.wait(10) == 0
        assert process.stderr.read() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_the_command_writes_over_one_line(tree: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [str(Path(sysconfig.get_path("scripts")) / "orbit"), "graph", "watch", "--debounce-ms", "50", "--root", str(tree)]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env={**os.environ, "COLUMNS": "40"}) as process:
        os.close(theirs)
        seen = b""
        while seen.count(b"synced") < 2:
            seen += os.read(ours, 4096)
        (tree / "pkg_3/mod_3.py").write_text("def appears():\n    return 2\n", encoding="utf-8")
        while seen.count(b"synced") < 3:
            seen += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
    os.close(ours)
    lines = seen.split(b"\r\x1b[K")
    assert lines[0] == b""
    assert len(lines) == 4
    assert all(len(line) < 40 and b"\n" not in line for line in lines)
