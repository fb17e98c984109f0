"""Which files are indexed, why others are not, and that a single file is explained as the whole scan judged it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit import git as git_module
from orbit.config import Workspace
from orbit.errors import UsageError
from orbit.graph.index.layout import Worktree
from orbit.graph.index.listing import list_by_walk
from orbit.graph.index.scan import Limits, Scan, is_binary, scan, seed_ignore, sift
from orbit.graph.index.survey import Survey
from orbit.graph.index.sync import sync
from orbit.graph.index.why import why

Git = Callable[..., str]
Write = Callable[[Path, dict[str, str]], None]

TREE = {
    ".gitignore": "*.log.py\n/out/\n",
    ".orbitignore": "*_pb.py\n!keep_pb.py\nlegacy/\n",
    ".github/workflows/ci.yml": "on: push\n",
    "src/a.py": "",
    "src/a_pb.py": "",
    "src/keep_pb.py": "",
    "src/trace.log.py": "",
    "src/build/made.py": "",
    "src/photo.png": "",
    "legacy/old.py": "",
    "legacy/deep/older.py": "",
    "node_modules/x/index.js": "",
    "out/o.py": "",
    "vendor/.orbitignore": "/b.py\n!build/\n",
    "vendor/b.py": "",
    "vendor/build/c.py": "",
    "vendor/sub/b.py": "",
    "Makefile": "",
    "Rakefile": "",
    "go.mod": "module example.org/x\n",
    "web/package.json": "{}",
    "web/tsconfig.base.json": "{}",
}
INDEXED = [
    ".github/workflows/ci.yml", "Rakefile", "src/a.py", "src/keep_pb.py", "vendor/build/c.py", "vendor/sub/b.py", "web/package.json", "web/tsconfig.base.json",
]  # fmt: skip


def all_files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir() and ".git" not in path.parts)


def assert_explained(root: Path, found: Scan) -> None:
    """`why` agrees with the scan about every file there is."""
    assert [path for path in all_files(root) if why(root, path).indexed] == found.paths


def walk(root: Path) -> Scan:
    """What a scan finds where there is no git."""
    listing = list_by_walk(root)
    survey = Survey(root, listing)
    return sift(root, listing, Limits(), survey, survey.look_at_files(root))


def test_a_git_worktree_is_scanned_by_all_rules(repository: Path, git: Git, write: Write) -> None:
    write(repository, TREE)
    git("add", "src/a.py", "legacy")
    found = scan(repository)
    assert found.paths == INDEXED
    assert found.languages == ["yaml", "ruby", "python", "python", "python", "python", "json", "json"]
    assert found.sizes.tolist() == [os.stat(repository / path).st_size for path in INDEXED]
    assert found.mtimes.tolist() == [os.stat(repository / path).st_mtime_ns for path in INDEXED]
    assert found.skipped == {"orbitignore": 6, "unknown_extension": 5}
    assert found.skipped_paths == dict.fromkeys(["legacy/", "node_modules/", "src/build/", "src/a_pb.py", "vendor/b.py"], "orbitignore")
    assert found.rules["legacy/"] == ".orbitignore:3:legacy/"
    assert found.rules["src/build/"] == "default:5:build/"
    assert sorted(found.manifests) == ["go.mod", "web/package.json", "web/tsconfig.base.json"]
    assert found.ignore_files == [".orbitignore", "vendor/.orbitignore"]
    assert found.is_git
    assert_explained(repository, found)


def test_a_folder_without_git_is_walked_by_the_same_rules(tmp_path: Path, write: Write) -> None:
    write(tmp_path, TREE)
    found = scan(tmp_path)
    assert found.paths == INDEXED
    assert not found.is_git
    assert found.ignore_files == [".gitignore", ".orbitignore", "vendor/.orbitignore"]
    assert found.rules["legacy/"] == ".orbitignore:3:legacy/"
    assert why(tmp_path, "src/trace.log.py").rule == ".gitignore:1:*.log.py"
    assert why(tmp_path, "out/o.py").rule == ".gitignore:2:/out/"
    assert_explained(tmp_path, found)


@pytest.mark.parametrize("seed", range(8))
def test_git_and_the_walk_agree_on_random_trees(repository: Path, grow_tree: Callable[..., object], seed: int) -> None:
    names = ["a", "b.py", "ab", "foo", "foo.c", "bar.py", ".c", "é.py", "a b.c", "build", "c.md", ".h", "[a].c", "a.c"]
    grow_tree(repository, seed, names, (".gitignore", ".orbitignore"))
    found = scan(repository)
    walked = walk(repository)
    assert walked.paths == found.paths
    assert_explained(repository, found)


def test_without_git_installed_the_walk_takes_over(repository: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, TREE)
    write(repository, {"mine.py": "", ".git/info/exclude": "/mine.py\n"})
    assert why(repository, "mine.py").rule == ".git/info/exclude:1:/mine.py"
    monkeypatch.setenv("PATH", os.fspath(repository / "nowhere"))
    found = scan(repository)
    assert (found.paths, found.is_git) == (INDEXED, False)
    assert why(repository, "mine.py").rule == ".git/info/exclude:1:/mine.py"


def test_tracked_files_stay_although_ignored_and_deleted_ones_drop_out(repository: Path, git: Git, write: Write) -> None:
    write(repository, {"a.py": "", "b.py": "", "gone.py": "", ".gitignore": "b.py\n"})
    git("add", "-f", "-A")
    (repository / "gone.py").unlink()
    found = scan(repository)
    assert found.paths == ["a.py", "b.py"]
    assert why(repository, "gone.py").reason == "missing"
    assert "missing" not in found.skipped


def test_without_git_the_folder_of_orbit_itself_is_not_counted_as_left_out(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {"a.py": "", ".orbit/graph/x.py": "", ".orbit/notes.md": "", "part/.orbit/b.py": ""})
    found = scan(tmp_path)
    assert (found.paths, found.skipped, found.skipped_paths) == (["a.py"], {"orbitignore": 1}, {"part/.orbit/": "orbitignore"})
    assert why(tmp_path, ".orbit/notes.md").reason == "orbit_internal"


@pytest.mark.parametrize("is_git", [True, False])
def test_odd_names_are_carried_as_they_are(tmp_path: Path, git: Git, is_git: bool) -> None:
    odd = ["new\nline.py", 'qu"ote.py', "-dash.py", "é/ü.py", "sp ace .py", "tab\t.py", "back\\slash.py", ":colon.py", "*.py"]
    names = sorted(odd)
    for name in [*names, os.fsdecode(b"\xff\xfe.py")]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    if is_git:
        git("init", "-q", "--template=")
        git("add", "-A")
    found = scan(tmp_path)
    assert found.paths == names
    assert found.skipped_paths == {"\ufffd\ufffd.py": "name_is_no_text"}


@pytest.mark.parametrize("is_git", [True, False])
def test_symlinks_are_reported_and_never_followed(tmp_path: Path, git: Git, write: Write, is_git: bool) -> None:
    write(tmp_path, {"real/a.py": "", "was/b.py": ""})
    if is_git:
        git("init", "-q", "--template=")
        git("add", "-A")
    (tmp_path / "was/b.py").unlink()
    (tmp_path / "was").rmdir()
    write(tmp_path, {"real/b.py": ""})
    (tmp_path / "was").symlink_to("real")  # git still tracks was/b.py, and the symlink leads to a file of that name
    (tmp_path / "link.py").symlink_to("real/a.py")
    (tmp_path / "loop").symlink_to(".")
    found = scan(tmp_path)
    assert found.paths == ["real/a.py", "real/b.py"]
    assert found.skipped_paths == dict.fromkeys(["link.py", "loop", "was"], "symlink")
    assert found.skipped == {"symlink": 3}
    assert (why(tmp_path, "was/b.py").reason, why(tmp_path, "loop/real/a.py").reason, why(tmp_path, "link.py").reason) == ("symlink",) * 3


def test_submodules_are_left_out_unless_configured(repository: Path, git: Git, write: Write, tmp_path_factory: pytest.TempPathFactory) -> None:
    library = tmp_path_factory.mktemp("library")
    git("init", "-q", cwd=library)
    write(library, {"lib.py": "", "made.py": "", ".gitignore": "/scratch.py\n"})
    git("add", "-A", cwd=library)
    git("commit", "-qm", "library", cwd=library)
    write(repository, {"a.py": "", ".orbitignore": "made.py\n"})
    git("submodule", "add", "-q", str(library), "ext/lib")
    write(repository, {"ext/lib/scratch.py": ""})
    found = scan(repository)
    assert found.paths == ["a.py"]
    assert found.skipped_paths == {"ext/lib/": "submodule"}
    assert why(repository, "ext/lib/lib.py").reason == "submodule"
    write(repository, {".orbit/config.toml": "[graph]\nsubmodules = true\n"})
    found = scan(repository)
    assert found.paths == ["a.py", "ext/lib/lib.py"]
    assert why(repository, "ext/lib/scratch.py").rule == "ext/lib/.gitignore:1:/scratch.py"
    assert_explained(repository, found)


def test_nested_repositories_and_worktrees_are_not_entered(repository: Path, git: Git, write: Write) -> None:
    write(repository, {"a.py": "", "nested/b.py": ""})
    git("add", "a.py")
    git("commit", "-qm", "one")
    git("init", "-q", cwd=repository / "nested")
    git("worktree", "add", "-q", "trees/other", "-b", "other")
    expected = {"nested/": "nested_repository", "trees/other/": "nested_repository"}
    assert (scan(repository).paths, scan(repository).skipped_paths) == (["a.py"], expected)
    walked = walk(repository)
    assert (walked.paths, walked.skipped_paths) == (["a.py"], expected)
    assert scan(repository / "trees/other").paths == ["a.py"]
    assert why(repository, "nested/b.py").rule == "nested"


def test_a_folder_where_git_tracks_a_file_is_no_submodule(repository: Path, git: Git, write: Write) -> None:
    write(repository, {"thing.py": ""})
    git("add", "-A")
    (repository / "thing.py").unlink()
    write(repository, {"thing.py/inner.py": ""})
    assert (scan(repository).paths, scan(repository).skipped) == (["thing.py/inner.py"], {})


def test_a_conflicted_file_is_listed_once(repository: Path, git: Git, write: Write) -> None:
    for branch, text in (("main", "1"), ("left", "2"), ("right", "3")):
        if branch != "main":
            git("checkout", "-qb", branch, "main")
        write(repository, {"a.py": text})
        git("add", "-A")
        git("commit", "-qm", branch)
    with pytest.raises(Exception, match="merge"):
        git("merge", "-q", "left")
    assert scan(repository).paths == ["a.py"]


def test_a_root_below_the_top_of_a_worktree_sees_its_own_files(repository: Path, write: Write) -> None:
    write(repository, {"top.py": "", "part/.orbit/config.toml": "", "part/a.py": "", ".gitignore": "*.gen.py\n", "part/b.gen.py": ""})
    assert scan(repository / "part").paths == ["a.py"]


def test_a_root_that_the_worktree_above_ignores_is_walked(repository: Path, write: Write) -> None:
    write(repository, {".gitignore": "/tmp/\n", "tmp/a.py": ""})
    found = scan(repository / "tmp")
    assert (found.paths, found.is_git) == (["a.py"], False)


def test_size_cap_is_inclusive_and_configurable(repository: Path, write: Write) -> None:
    write(repository, {"fits.py": "x" * 10, "large.py": "x" * 11, ".orbit/config.toml": "[graph]\nmax_file_bytes = 10\n"})
    found = scan(repository)
    assert (found.paths, found.skipped_paths["large.py"]) == (["fits.py"], "too_large")
    assert why(repository, "large.py").rule == "11 bytes; [graph] max_file_bytes = 10"


@pytest.mark.parametrize("setting", ["max_file_bytes = -1", 'max_file_bytes = "2M"', "max_file_bytes = true", 'submodules = "yes"', "submodules = 1"])
def test_a_wrong_setting_is_refused_by_name(repository: Path, write: Write, setting: str) -> None:
    write(repository, {".orbit/config.toml": f"[graph]\n{setting}\n"})
    with pytest.raises(UsageError, match=setting.partition(" ")[0]):
        scan(repository)


def test_an_ignore_file_that_git_ignores_still_counts(repository: Path, write: Write) -> None:
    write(repository, {".gitignore": ".orbitignore\n", "p/.orbitignore": "a.py\n", "p/a.py": "", "p/b.py": ""})
    assert scan(repository).paths == ["p/b.py"]


def test_why_names_what_stands_in_the_way(repository: Path, git: Git, write: Write) -> None:
    write(repository, {".gitignore": "*.tmp.py\n", "x.tmp.py": "", "a.bin": "", "noext": "", "b.py": "a\0b", "d/e.py": ""})
    expected = {
        "x.tmp.py": ("gitignore", ".gitignore:1:*.tmp.py"),
        "a.bin": ("unknown_extension", ".bin"),
        "noext": ("unknown_extension", "noext"),
        "b.py": ("binary", "a NUL byte at 1"),
        "d": ("directory", None),
        "nope.py": ("missing", None),
        ".git/HEAD": ("git_internal", None),
        "d/../d/./e.py": ("indexed", "language python"),
    }
    assert {path: (why(repository, path).reason, why(repository, path).rule) for path in expected} == expected
    assert why(repository, str(repository / "d/e.py")).path == "d/e.py"
    with pytest.raises(UsageError) as caught:
        why(repository, "../elsewhere.py")
    assert caught.value.code == "outside-worktree"


def test_git_refusing_a_repository_is_an_error_in_its_own_words(repository: Path, write: Write) -> None:
    write(repository, {"a.py": ""})
    (repository / ".git/index").write_bytes(b"not an index")
    with pytest.raises(git_module.GitError, match="index"):
        scan(repository)


def test_an_empty_dot_git_is_no_repository(tmp_path: Path, write: Write) -> None:
    write(tmp_path, {"a.py": ""})
    (tmp_path / ".git").mkdir()
    assert scan(tmp_path).paths == ["a.py"]


def test_git_is_asked_about_this_folder_whatever_the_environment_says(repository: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, {"a.py": ""})
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent/index")
    assert scan(repository).paths == ["a.py"]


def test_scanning_writes_nothing(repository: Path, git: Git, write: Write) -> None:
    write(repository, {"a.py": ""})
    git("add", "-A")
    before = {path: path.stat().st_mtime_ns for path in repository.rglob("*")}
    scan(repository)
    why(repository, "a.py")
    assert {path: path.stat().st_mtime_ns for path in repository.rglob("*")} == before


def test_the_seeded_ignore_file_repeats_the_defaults_and_is_written_once(repository: Path, write: Write) -> None:
    write(repository, {"a.py": "", "dist/b.py": ""})
    before = scan(repository).paths
    assert seed_ignore(repository)
    assert scan(repository).paths == before == ["a.py"]
    (repository / ".orbitignore").write_text("!dist/\n")
    assert not seed_ignore(repository)
    assert scan(repository).paths == ["a.py", "dist/b.py"]


def test_a_nul_in_the_first_8_kib_makes_a_file_binary() -> None:
    assert [is_binary(content) for content in (b"", b"text", b"a\0", b"x" * 8191 + b"\0", b"x" * 8192 + b"\0")] == [False, False, True, True, False]


def test_the_layout_reads_manifests_once_and_only_when_asked(repository: Path, write: Write) -> None:
    write(repository, {"go.mod": "\ufeffmodule m\n", "sub/go.mod": "", "a.go": "", "x.png": ""})
    tree = Worktree(repository, scan(repository))
    assert tree.consulted == frozenset()
    assert tree.text("go.mod") == "module m\n"
    (repository / "go.mod").write_text("changed")
    assert (tree.text("go.mod"), tree.text("x.png"), tree.text("none")) == ("module m\n", None, None)
    assert (list(tree.manifests("go.mod")), list(tree.manifests("Cargo.toml"))) == (["go.mod", "sub/go.mod"], [])
    assert (tree.has("a.go"), tree.has("go.mod"), tree.has("x.png")) == (True, False, False)
    assert tree.consulted == {"go.mod"}


def test_an_empty_worktree_scans_to_nothing(repository: Path) -> None:
    found = scan(repository)
    assert (found.paths, found.sizes.tolist(), found.skipped) == ([], [], {})


@pytest.mark.slow
def test_scan_of_5000_files(repository: Path, git: Git, write: Write, benchmark: Callable[[Callable[[], Scan]], Scan]) -> None:
    write(repository, {f"pkg{index % 10}/part{index // 100}/module_{index}.py": "" for index in range(5000)})
    git("add", "-A")
    assert len(benchmark(lambda: scan(repository)).paths) == 5000


def test_a_setting_that_means_nothing_is_named_by_the_sync(repository: Path, write: Write) -> None:
    write(repository, {"a.py": "x = 1\n", ".orbit/config.toml": "[graph]\nsubmodule = true\n"})
    message = sync(Workspace(repository)).message
    assert message is not None
    assert "no setting submodule;" in message
    write(repository, {".orbit/config.toml": "[graph]\nsubmodules = true\n"})
    assert sync(Workspace(repository)).message is None
