"""Histories: what a commit touched, whatever happened to the branch since."""

from __future__ import annotations

import os
import re
import resource
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit.config import Workspace
from orbit.errors import NoGraphError, RefusedError, UsageError
from orbit.graph import Graph
from orbit.graph.index.history import DEFAULT_PATTERN, extend, history_database, tasks_in
from orbit.graph.patch import parse_changes, unquote
from orbit.graph.store.history import HistoryStore

Git = Callable[..., str]
Commit = Callable[..., str]
PRICES = "def net(price):\n    return price / 1.2\n\n\ndef gross(price):\n    return price * 1.2\n"


def stored(root: Path) -> tuple[list[tuple[str, str, str, int]], list[tuple[str, str]]]:
    with HistoryStore(history_database(Workspace(root))) as store:
        return store.rows(), store.task_rows()


def rebuilt(root: Path, pattern: str = DEFAULT_PATTERN) -> tuple[list[tuple[str, str, str, int]], list[tuple[str, str]]]:
    """What a history built from nothing holds."""
    history_database(Workspace(root)).unlink()
    extend(Workspace(root), re.compile(pattern))
    return stored(root)


def shas(graph: Graph, selector: str) -> list[str]:
    return [commit.sha for commit in graph.history(selector).commits]


@pytest.fixture
def line(repository: Path, commit: Commit, git: Git) -> list[str]:
    """Five commits, of which the second touches `net`, the third `gross`, the fourth takes a line of `net` away, the fifth only adds a file."""
    return [
        commit("Start [T20260101-1]", {"prices.py": PRICES}),
        commit("Net [T20260102-1] and [T20260102-2-1]", {"prices.py": PRICES.replace("price / 1.2", "price / 1.1")}),
        commit("Gross\n\nSee [T20260102-1].", {"prices.py": PRICES.replace("price / 1.2", "price / 1.1\n    # a remark").replace("* 1.2", "* 1.1")}),
        commit("Less, PROJ-7", {"prices.py": PRICES.replace("price / 1.2", "price / 1.1").replace("* 1.2", "* 1.1")}),
        commit("More [T20260103-9]", {"notes/ä b.md": "# Notes\n", "odd.bin": "\0\0"}),
    ]


def test_each_symbol_is_credited_with_the_commits_that_touched_its_lines(repository: Path, line: list[str]) -> None:
    with Graph.open(repository) as graph:
        graph.sync()
        assert shas(graph, "net") == [line[3], line[2], line[1], line[0]]
        assert shas(graph, "gross") == [line[2], line[0]]
        assert shas(graph, "file:prices.py") == [line[3], line[2], line[1], line[0]]
        assert shas(graph, "dir:.") == line[::-1]
        assert shas(graph, "symbol:notes/ä b.md#Notes") == [line[4]]


def test_tasks_come_with_their_commits_and_the_answer_says_what_it_does_not_follow(repository: Path, line: list[str]) -> None:
    with Graph.open(repository) as graph:
        graph.sync()
        answer = graph.history("gross")
    assert [(task.task_id, [commit.sha for commit in task.commits]) for task in answer.tasks] == [("T20260102-1", [line[2]]), ("T20260101-1", [line[0]])]
    assert (answer.total, answer.truncated, answer.commits_behind, answer.warnings) == (2, False, 0, [])
    assert any("renames are not followed" in note for note in answer.notes)
    assert answer.commits[0].summary == "Gross"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [(r"[A-Z]+-\d+", ["PROJ-7"]), (r"#(\d+)", ["12"]), (DEFAULT_PATTERN, ["T20260428-1", "T20260412-0645-2"]), (r"(x)?y", [])],
)
def test_a_pattern_gives_its_group_or_the_whole_match(pattern: str, expected: list[str]) -> None:
    assert tasks_in("PROJ-7 #12 [T20260428-1] [T20260412-0645-2] [T20260428-1] y", re.compile(pattern)) == expected


def test_a_new_pattern_ends_with_the_history_of_a_fresh_build_and_warns_until_then(repository: Path, line: list[str]) -> None:
    with Graph.open(repository) as graph:
        graph.sync()
        graph.history("net")
        (repository / ".orbit/config.toml").write_text("[graph]\ntask_id_pattern = '[A-Z]+-\\d+'\n", encoding="utf-8")
        assert "another pattern" in graph.history("net", stored=True).warnings[0]
        answer = graph.history("net")
        assert [task.task_id for task in answer.tasks] == ["PROJ-7"]
        assert "changed" in answer.warnings[0] and graph.history("net").warnings == []
        assert [task.task_id for task in graph.history("net", task_id_pattern="Start").tasks] == ["Start"]
        graph.history("net")
    held = stored(repository)
    assert held == rebuilt(repository, r"[A-Z]+-\d+")


def test_an_invalid_pattern_is_refused(repository: Path, line: list[str]) -> None:
    with Graph.open(repository) as graph, pytest.raises(UsageError, match="no regular expression"):
        graph.history("net", task_id_pattern="(")


def test_a_rewritten_branch_ends_with_the_history_of_a_fresh_build(repository: Path, line: list[str], git: Git, commit: Commit) -> None:
    with Graph.open(repository) as graph:
        graph.sync()
        graph.history("net")
        git("reset", "-q", "--hard", line[1])
        other = commit("Another way [T20260109-1]", {"prices.py": PRICES.replace("* 1.2", "* 1.3")})
        git("reflog", "expire", "--expire=now", "--all")
        git("gc", "-q", "--prune=now")  # the old tip is not even an object any more
        assert shas(graph, "gross") == [other, line[0]]
    held = stored(repository)
    assert {row[0] for row in held[0]} == {line[0], line[1], other}
    assert held == rebuilt(repository)


def test_another_branch_ends_with_the_history_of_a_fresh_build(repository: Path, line: list[str], git: Git, commit: Commit) -> None:
    workspace, pattern = Workspace(repository), re.compile(DEFAULT_PATTERN)
    extend(workspace, pattern)
    git("checkout", "-q", "-b", "side", line[2])
    commit("Side", {"side.py": PRICES})
    assert (extend(workspace, pattern).commits_walked, len(stored(repository)[0])) == (1, len(rebuilt(repository)[0]))
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-edit", "side")
    extend(workspace, pattern)
    held = stored(repository)
    assert held == rebuilt(repository)


def test_a_shallow_clone_that_grows_ends_with_the_history_of_a_fresh_build(repository: Path, line: list[str], git: Git, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git("clone", "-q", "--depth", "2", repository.as_uri(), str(clone))
    with Graph.open(clone) as graph:
        graph.sync()
        answer = graph.history("net")
        assert (answer.total, "shallow" in answer.warnings[0]) == (0, True)  # what the oldest commit changed is not known
        held = stored(clone)
        assert held == rebuilt(clone)
        git("fetch", "-q", "--depth", "4", cwd=clone)
        assert shas(graph, "net") == [line[3], line[2]]
        git("fetch", "-q", "--unshallow", cwd=clone)
        assert shas(graph, "net") == [line[3], line[2], line[1], line[0]]
    held = stored(clone)
    assert held == rebuilt(clone)


def test_what_was_interrupted_is_finished(repository: Path, line: list[str]) -> None:
    workspace, pattern = Workspace(repository), re.compile(DEFAULT_PATTERN)
    extend(workspace, pattern)
    held = stored(repository)
    with HistoryStore(history_database(workspace)) as store:
        store.drop(line[1:3])
        store.set_meta(cursor="")
    assert extend(workspace, pattern).commits_walked == 2
    assert stored(repository) == held


def test_the_stored_history_says_how_far_behind_it_is(repository: Path, line: list[str], commit: Commit) -> None:
    with Graph.open(repository) as graph:
        graph.sync()
        with pytest.raises(NoGraphError, match="no history is stored yet"):
            graph.history("net", stored=True)
        graph.history("net")
        commit("Later", {"prices.py": PRICES})
        answer = graph.history("net", stored=True)
        assert (answer.commits_behind, answer.total) == (1, 4)
        assert graph.history("net").commits_behind == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("is_stored", [True, False])
def test_a_disk_that_cannot_be_written_gives_what_is_stored_or_a_clear_error(repository: Path, line: list[str], commit: Commit, is_stored: bool) -> None:
    with Graph.open(repository) as graph:
        graph.sync()
        if is_stored:
            graph.history("net")
    commit("Later", {"prices.py": PRICES.replace("price / 1.2", "price / 2")})
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            with Graph.open(repository) as full:
                if is_stored:
                    answer = full.history("net")
                    assert ([one.sha for one in answer.commits], answer.commits_behind) == ([line[3], line[2], line[1], line[0]], 1)
                    assert "cannot be written" in answer.warnings[0]
                else:
                    with pytest.raises(RefusedError, match="the history cannot be written"):
                        full.history("net")
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_search_by_task_finds_what_it_touched(repository: Path, line: list[str]) -> None:
    with Graph.open(repository) as graph:
        graph.sync()
        assert [match.name for match in graph.search(task_id="T20260102-2-1").matches] == ["net"]
        assert [match.name for match in graph.search(task_id="T20260102-1").matches] == ["net", "gross"]
        assert [match.name for match in graph.search("gross", task_id="T20260102-1", kind="symbol").matches] == ["gross"]
        assert graph.search("gross", task_id="T20260102-2-1", kind="symbol").total == 0
        unknown = graph.search(task_id="T20260102-3")
        assert (unknown.total, unknown.task_id, unknown.did_you_mean) == (0, "T20260102-3", ["T20260102-1", "T20260102-2-1", "T20260101-1", "T20260103-9"])


def test_a_submodule_counts_as_a_file_and_is_not_entered(repository: Path, line: list[str], git: Git, tmp_path: Path, commit: Commit) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git("init", "-q", cwd=inner)
    commit("Inner", {"inner.py": "def hidden(): ...\n"}, cwd=inner)
    git("submodule", "add", "-q", str(inner), "third", cwd=repository)
    added = commit("Take it in")
    extend(Workspace(repository), re.compile(DEFAULT_PATTERN))
    assert [row[1:] for row in stored(repository)[0] if row[0] == added and row[1] == "third"] == [("third", "", -1)]


def test_without_git_there_is_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a.py").write_text("def f(): ...\n", encoding="utf-8")
    with Graph.open(tmp_path / "plain") as graph:
        graph.sync()
        with pytest.raises(RefusedError, match="not a git worktree"):
            graph.history("f")


def test_before_the_first_commit_the_history_is_empty(repository: Path) -> None:
    (repository / "a.py").write_text("def f(): ...\n", encoding="utf-8")
    with Graph.open(repository) as graph:
        graph.sync()
        assert (graph.history("f").total, graph.history("f").warnings) == (0, ["there are no commits yet"])


def test_paths_are_read_as_git_quotes_them() -> None:
    assert unquote(rb'"a\303\244 \"b\" \\ \t.py"').decode() == 'aä "b" \\ \t.py'
    assert unquote(b"plain name.py") == b"plain name.py"


def test_lines_that_look_like_headers_are_content() -> None:
    said = b"%s\n:100644 100644 %s %s M\ta.py\n\ndiff --git a/a.py b/a.py\n@@ -3 +3,2 @@ def f\n-@@ -1 +1 @@\n+diff --git x\n+:100644\n" % ((b"a" * 40,) * 3)
    (change,) = parse_changes(said)["a" * 40]
    assert (change.path, change.hunks) == ("a.py", [(3, 2)])


def test_ten_new_commits_are_added_quickly(repository: Path, line: list[str], commit: Commit) -> None:
    workspace, pattern = Workspace(repository), re.compile(DEFAULT_PATTERN)
    extend(workspace, pattern)
    for number in range(10):
        commit(f"Step {number}", {"prices.py": PRICES.replace("1.2", f"1.{number}")})
    started = time.process_time()
    assert extend(workspace, pattern).commits_walked == 10
    assert time.process_time() - started < 0.2


def test_overloads_share_the_history_of_the_function(repository: Path, commit: Commit) -> None:
    plain = "def net(price):\n    return price\n\n\ndef net2(price):\n    return 2\n"
    overloads = "from typing import overload\n\n\n@overload\ndef net(price: int) -> int: ...\n@overload\ndef net(price: str) -> str: ...\n"
    made = [commit("Start", {"prices.py": plain}), commit("Overloads", {"prices.py": overloads + plain})]
    made.append(commit("Body", {"prices.py": overloads + plain.replace("return price", "return price * 1")}))
    commit("Other", {"prices.py": overloads + plain.replace("return price", "return price * 1").replace("return 2", "return 3")})
    with Graph.open(repository) as graph:
        graph.sync()
        assert shas(graph, "prices.net") == made[::-1]
        assert graph.history("prices.net").selector == "symbol:prices.py#prices.net#3:function"
