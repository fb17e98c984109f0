"""Where databases live, read from git's files as git itself would answer, and which of them are swept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from orbit.graph.index.place import EXTRACTOR_VERSION, Head, delete, find_all, find_place, find_stale, read_head, sanitise

Git = Callable[..., str]
NOW = EXTRACTOR_VERSION


def commit(git: Git, cwd: Path, message: str = "one") -> str:
    git("commit", "-q", "--allow-empty", "-m", message, cwd=cwd)
    return git("rev-parse", "HEAD", cwd=cwd)


def database(root: Path) -> str:
    return find_place(root).database.relative_to(root.resolve()).as_posix()


def test_without_git_the_branch_is_head(tmp_path: Path) -> None:
    assert read_head(tmp_path) == Head("HEAD", "")
    assert database(tmp_path) == f".orbit/graph/HEAD.{NOW}.db"


def test_a_branch_without_commits_has_its_name(repository: Path) -> None:
    assert read_head(repository) == Head("main", "")
    assert database(repository) == f".orbit/graph/main.{NOW}.db"


def test_a_branch_is_read_from_loose_and_packed_references(repository: Path, git: Git) -> None:
    first = commit(git, repository)
    git("checkout", "-qb", "feat/foo")
    assert read_head(repository) == Head("feat/foo", first)
    git("pack-refs", "--all")
    assert not (repository / ".git/refs/heads/feat/foo").exists()
    assert read_head(repository) == Head("feat/foo", first)
    second = commit(git, repository)  # loose again, while the packed one is old
    assert read_head(repository) == Head("feat/foo", second)
    assert database(repository) == f".orbit/graph/feat_foo.{NOW}.db"


def test_a_branch_whose_name_ends_like_another_is_not_taken_for_it(repository: Path, git: Git) -> None:
    first = commit(git, repository)
    git("checkout", "-qb", "x/main")
    second = commit(git, repository)
    git("pack-refs", "--all")
    assert read_head(repository) == Head("x/main", second)
    git("checkout", "-q", "main")
    assert read_head(repository) == Head("main", first)


def test_a_detached_commit_has_a_database_of_its_own(repository: Path, git: Git) -> None:
    first = commit(git, repository)
    git("checkout", "-q", "--detach")
    head = read_head(repository)
    assert (head, head.is_detached) == (Head("HEAD", first), True)
    assert database(repository) == f".orbit/graph/detached-{first[:12]}.{NOW}.db"


def test_linked_worktrees_have_their_own_head_and_shared_branches(repository: Path, git: Git, tmp_path_factory: pytest.TempPathFactory) -> None:
    first = commit(git, repository)
    other = tmp_path_factory.mktemp("trees") / "other"
    git("worktree", "add", "-q", "-b", "other", str(other))
    second = commit(git, other)
    assert (read_head(repository), read_head(other)) == (Head("main", first), Head("other", second))
    git("pack-refs", "--all")
    assert read_head(other) == Head("other", second)
    git("checkout", "-q", "--detach", cwd=other)
    assert read_head(other) == Head("HEAD", second)
    assert find_place(other).folder == other.resolve() / ".orbit/graph"


def test_a_folder_below_the_top_has_the_head_of_its_worktree(repository: Path, git: Git) -> None:
    first = commit(git, repository)
    (repository / "part").mkdir()
    assert read_head(repository / "part") == Head("main", first)


def test_a_branch_that_names_another_has_its_commit(repository: Path, git: Git) -> None:
    first = commit(git, repository)
    git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git("symbolic-ref", "HEAD", "refs/heads/alias")
    assert read_head(repository) == Head("alias", first)


@pytest.mark.parametrize("text", ["", "garbage", "gitdir: /nonexistent", "gitdir:"])
def test_a_broken_dot_git_file_counts_as_no_git(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert read_head(tmp_path) == Head("HEAD", "")


@pytest.mark.parametrize(
    ("branch", "stem"),
    [
        ("main", "main"), ("feat/foo", "feat_foo"), ("v1.2-rc_3", "v1.2-rc_3"), (".hidden", "_hidden"), ("a..b", "a__b"), ("a.", "a."),
        ("größe", "gr__e"), ("a b:c", "a_b_c"), ("", "_"), ("\udcff", "_"), ("..", "__"), ("../../x", "______x"),
    ],
)  # fmt: skip
def test_branch_names_become_plain_file_names(branch: str, stem: str) -> None:
    assert sanitise(branch) == stem


def test_long_branch_names_stay_file_names_and_stay_apart() -> None:
    left, right = sanitise("a/" * 300 + "left"), sanitise("a/" * 300 + "right")
    assert left != right
    assert len(left) < 200


def test_stale_databases_are_those_of_other_versions_and_lost_commits(repository: Path, git: Git) -> None:
    kept = commit(git, repository, "kept")
    git("checkout", "-q", "--detach")
    lost = commit(git, repository, "lost")
    git("checkout", "-q", "main")
    place = find_place(repository)
    place.folder.mkdir(parents=True)
    stale = [
        f"main.{NOW + 1}.db", f"main.{NOW + 1}.db-wal", f"main.{NOW + 1}.db.lock", "old.0.db-shm",
        f"detached-{lost[:12]}.{NOW}.db", f"detached-{'0' * 12}.{NOW}.db",
    ]  # fmt: skip
    foreign = ["notes.txt", "main.db", f"main.{NOW}.dbx", "x.y.db"]
    live = [f"main.{NOW}.db", f"main.{NOW}.db-wal", f"main.{NOW}.db.lock", f"other.{NOW}.db", f"detached-{kept[:12]}.{NOW}.db", *foreign]
    for name in stale + live:
        (place.folder / name).touch()
    assert [path.name for path in find_stale(place)] == sorted(stale)
    swept = delete(find_stale(place))
    assert (sorted(swept.deleted), swept.kept) == (sorted(stale), {})
    assert sorted(path.name for path in place.folder.iterdir()) == sorted(live)
    assert [path.name for path in find_all(place.folder)] == sorted(set(live) - set(foreign))


def test_the_database_of_a_detached_head_is_never_stale(repository: Path, git: Git) -> None:
    commit(git, repository)
    git("checkout", "-q", "--detach")
    commit(git, repository, "reached by no branch")
    place = find_place(repository)
    place.folder.mkdir(parents=True)
    place.database.touch()
    assert find_stale(place) == []


def test_without_git_detached_databases_are_left_alone(tmp_path: Path) -> None:
    place = find_place(tmp_path)
    place.folder.mkdir(parents=True)
    (place.folder / f"detached-{'a' * 12}.{NOW}.db").touch()
    assert find_stale(place) == []


def test_a_database_that_is_being_written_is_not_deleted(tmp_path: Path) -> None:
    old = tmp_path / "main.0.db"
    old.touch()
    with FileLock(tmp_path / "main.0.db.lock"):
        swept = delete([old])
    assert (swept.deleted, swept.kept) == ([], {"main.0.db": "in use"})
    assert old.exists()


def test_a_graph_folder_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    assert (find_stale(find_place(tmp_path)), find_all(tmp_path / "none")) == ([], [])
