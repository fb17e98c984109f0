"""The ignore matcher says what git says."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit.graph.index.ignore import IgnoreTree, compile_rules

GrowTree = Callable[[Path, int, list[str], tuple[str, ...]], tuple[list[str], list[str]]]
NAMES = ["a", "b", "ab", "a.c", "b.c", ".h", "foo", "foob", "a b", "a*", "[a]", "é", "A", "!a", "#a", "a]", "a-c", "bar"]


def git_verdicts(root: Path, paths: list[str]) -> dict[str, str]:
    """Path -> `file:line:pattern` of the last rule that matches, negated ones left out."""
    asked = "".join(f"{path}\0" for path in paths).encode()
    done = subprocess.run(["git", "check-ignore", "-v", "-z", "--no-index", "--stdin"], cwd=root, input=asked, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    rows = [fields[at : at + 4] for at in range(0, len(fields) - 1, 4)]
    return {path: f"{source}:{line}:{pattern}" for source, line, pattern, path in rows if not pattern.startswith("!")}


def our_verdicts(root: Path, folders: list[str], files: list[str]) -> dict[str, str]:
    tree = IgnoreTree(".gitignore")
    found = {}
    for folder in ["", *sorted(folders)]:
        content = (root / folder / ".gitignore").read_bytes() if (root / folder / ".gitignore").is_file() else None
        verdict = tree.enter(folder.encode(), content)
        if verdict is not None:
            found[folder] = str(verdict)
    for file in files:
        verdict = tree.judge(file.encode())
        if verdict is not None:
            found[file] = str(verdict)
            folder = file.rpartition("/")[0].encode()
            assert tree.excluded(folder) or tree.file_test(folder).may_match(file.encode())
    return found


@pytest.mark.parametrize("seed", range(24))
def test_random_ignore_files_are_read_as_git_reads_them(repository: Path, grow_tree: GrowTree, seed: int) -> None:
    folders, files = grow_tree(repository, seed, NAMES, (".gitignore",))
    assert our_verdicts(repository, folders, files) == git_verdicts(repository, [*folders, *files])


def test_the_last_matching_line_decides() -> None:
    rules = compile_rules(b"*.py\n!keep.py\nkeep.p?\n")
    found = rules.last_match(b"src/keep.py", is_folder=False)
    assert found is not None
    assert (found.line, found.pattern, found.is_negated) == (3, "keep.p?", False)


def test_a_nested_file_speaks_of_its_own_folder_only_and_over_those_above() -> None:
    tree = IgnoreTree(".orbitignore", b"build/")
    tree.enter(b"", b"*.gen.py\n")
    tree.enter(b"pkg", b"!a.gen.py\n/only.py\n!build/\n")
    tree.enter(b"pkg/build", None)
    tree.enter(b"build", None)
    expected = {
        b"a.gen.py": False, b"pkg/a.gen.py": True, b"pkg/b.gen.py": False, b"only.py": True, b"pkg/only.py": False,
        b"pkg/build/x.py": True, b"build/x.py": False,
    }  # fmt: skip
    assert {path: tree.judge(path) is None for path in expected} == expected


def test_a_byte_order_mark_is_no_part_of_the_first_pattern() -> None:
    assert compile_rules(b"\xef\xbb\xbfa.py\n").last_match(b"a.py", is_folder=False) is not None
