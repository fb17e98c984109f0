"""Incremental equals full: after any edits a sync gives the graph of a fresh build, and touches only what the edits can reach."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from graphs import differences
from synthetic import Repository, Sheets

import orbit
from orbit.config import Workspace
from orbit.graph.index import pool, work
from orbit.graph.index.listing import Listing
from orbit.graph.index.scan import Scan, scan
from orbit.graph.index.survey import Survey
from orbit.graph.index.sync import SyncAnswer, sync
from orbit.graph.languages import SUFFIXES
from orbit.graph.query.digest import digest
from orbit.graph.store.connection import open_reader

CI_SEEDS, CI_STEPS = range(8), 25
CORPUS = Path(__file__).parent / "languages" / "corpus"
OWN = (".", "graph", "graph/query", "graph/store")


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


def follow(root: Path, scratch: Path, repository: Repository | Sheets, steps: int) -> None:
    """Edit, sync and compare, many times; now and then with a handle that knows nothing of the sync before."""
    workspace, history, memory = Workspace(root), ["the beginning"], work.Memory()
    check_equal(sync(workspace, jobs=1, memory=memory), build_afresh(root, scratch), history)
    for step in range(steps):
        if step % 7 == 6:
            memory = work.Memory()
        for _ in range(repository.choose.choice((1, 1, 1, 2, 5))):
            history.append(repository.edit())
        check_equal(sync(workspace, jobs=1, memory=memory), build_afresh(root, scratch), history)


def library(*kinds: str) -> dict[str, bytes]:
    """Sources of the language tests, by the path they get in a tree."""
    suffix = {lang: ending for ending, lang in reversed(SUFFIXES.items())}
    sources = [path for path in sorted(CORPUS.glob("*/*.src")) if not kinds or path.parent.name in kinds]
    return {f"{path.parent.name}/{path.stem}{suffix[path.parent.name]}": path.read_bytes() for path in sources}


def own_sources() -> dict[str, bytes]:
    """Some real packages that import each other: our own."""
    top = Path(orbit.__file__).parent
    return {f"src/orbit/{path.relative_to(top).as_posix()}": path.read_bytes() for folder in OWN for path in sorted((top / folder).glob("*.py"))}


@pytest.mark.parametrize("seed", CI_SEEDS)
def test_any_edits_give_the_graph_of_a_full_build(tmp_path: Path, seed: int) -> None:
    follow(tmp_path / "tree", tmp_path / "copy", grow(tmp_path / "tree", seed), CI_STEPS)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kinds", [("python", "typescript", "tsx", "javascript"), ("java", "kotlin", "csharp", "c"), ("rust", "go", "ruby"), ()], ids=str)
def test_any_edits_of_real_sources_give_the_graph_of_a_full_build(tmp_path: Path, kinds: tuple[str, ...], seed: int) -> None:
    (tmp_path / "tree").mkdir()
    follow(tmp_path / "tree", tmp_path / "copy", Sheets(tmp_path / "tree", seed, library(*kinds) if kinds else own_sources()), CI_STEPS)


@pytest.mark.slow
def test_thousands_of_edits_give_the_graph_of_a_full_build(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    steps = 200
    for seed in range(1000, 1000 + -(-int(pytestconfig.getoption("--edits")) // steps)):
        tree, copy = tmp_path / f"tree{seed}", tmp_path / "copy"
        if seed % 2:
            follow(tree, copy, grow(tree, seed), steps)
        else:
            tree.mkdir()
            follow(tree, copy, Sheets(tree, seed, library()), steps)


def grow(root: Path, seed: int) -> Repository:
    """A tree of made-up sources: half of the seeds, even and odd, in a repository of git."""
    root.mkdir()
    if seed % 4 < 2:
        subprocess.run(["git", "init", "-q", "--template="], cwd=root, check=True)
    return Repository(root, seed)


def digest_of(answer: SyncAnswer) -> str:
    db = open_reader(Path(answer.db))
    try:
        return digest(db)
    finally:
        db.close()


@pytest.mark.parametrize("jobs", [2, 4])
def test_the_number_of_workers_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    grow(tmp_path / "tree", 42)
    alone = digest_of(sync(Workspace(tmp_path / "tree"), full=True, jobs=1))
    for limit in ("LARGEST_JOB", "SMALLEST_JOB", "FEW_BYTES"):  # many small jobs, in processes
        monkeypatch.setattr(pool, limit, 700)
    assert digest_of(sync(Workspace(tmp_path / "tree"), full=True, jobs=jobs)) == alone


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_files_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    repository = grow(tmp_path / "tree", 43)
    workspace = Workspace(tmp_path / "tree")
    in_order = digest_of(sync(workspace, full=True, jobs=1))

    def shuffled_scan(root: Path, known: Survey | None, listing: Listing | None) -> Scan:
        found = scan(root, known, listing)
        order = list(range(len(found.paths)))
        random.Random(seed).shuffle(order)
        return msgspec.structs.replace(
            found, paths=[found.paths[i] for i in order], languages=[found.languages[i] for i in order], sizes=found.sizes[order], mtimes=found.mtimes[order]
        )

    monkeypatch.setattr(work, "scan", shuffled_scan)
    assert digest_of(sync(workspace, full=True, jobs=1)) == in_order
    for _ in range(5):
        repository.edit()
    changed = digest_of(sync(workspace, jobs=1))
    monkeypatch.undo()
    assert digest_of(sync(workspace, full=True, jobs=1)) == changed


def test_a_comment_touches_one_file_and_resolves_no_other(tmp_path: Path) -> None:
    repository = grow(tmp_path / "tree", 44)
    workspace, resolved = Workspace(tmp_path / "tree"), []
    sync(workspace, jobs=1)
    for source in list(repository.sources.values()):
        source.remark = "another remark"
        repository.write(source)
        resolved.clear()
        answer = sync(workspace, jobs=1, progress=lambda stage, _, of: resolved.append(of) if stage == "resolve" else None)
        assert (answer.mode, answer.files_changed, answer.files_removed) == ("auto", 1, 0)
        assert set(resolved) == {1}


@pytest.mark.parametrize(
    ("path", "source", "before", "after", "user"),
    [
        ("web.py", "def make():\n    made = Url()\n    return made\n", "Url()", "Page()", "from web import make\nmake().clean()\n"),
        ("web.py", "class Box:\n    def __init__(self, held: Url):\n        self.held = held\n", "Url", "Page", "from web import Box\nBox(1).held.clean()\n"),
        ("web.ts", "export function each(run: (it: Url) => void) {}\n", "Url", "Page", "import { each } from './web';\neach((it) => it.clean());\n"),
        ("web.js", "module.exports = Url;\n", "Url", "Page", "const Web = require('./web');\nnew Web().clean();\n"),
    ],
)
def test_what_a_file_shows_through_its_functions_reaches_other_files(tmp_path: Path, path: str, source: str, before: str, after: str, user: str) -> None:
    types = "".join(f"class {name}:\n    def clean(self): ...\n" if path.endswith(".py") else f"class {name} {{ clean() {{}} }}\n" for name in ("Url", "Page"))
    (tmp_path / path).write_text(types + source, encoding="utf-8")
    (tmp_path / f"use{Path(path).suffix}").write_text(user, encoding="utf-8")
    called = []
    for written in (source, source.replace(before, after)):
        (tmp_path / path).write_text(types + written, encoding="utf-8")
        answer = sync(Workspace(tmp_path), jobs=1)
        check_equal(answer, build_afresh(tmp_path, tmp_path.parent / "scratch"), [written])
        with open_reader(Path(answer.db)) as db:
            called += db.execute("SELECT target_qualified FROM refs WHERE from_file LIKE 'use.%' AND target_name = 'clean'").fetchall()
    assert called == [("web.Url.clean",), ("web.Page.clean",)]


def test_a_touched_file_is_not_changed(tmp_path: Path) -> None:
    repository = grow(tmp_path / "tree", 45)
    before = sync(Workspace(tmp_path / "tree"), jobs=1)
    repository.touch()
    after = sync(Workspace(tmp_path / "tree"), jobs=1)
    assert (after.files_changed, after.refs, after.symbols) == (0, before.refs, before.symbols)


def test_the_digest_tells_any_edit_from_none(tmp_path: Path) -> None:
    repository = grow(tmp_path / "tree", 46)
    workspace = Workspace(tmp_path / "tree")
    before = digest_of(sync(workspace, jobs=1))
    assert digest_of(sync(workspace, jobs=1)) == before
    repository.comment()
    assert digest_of(sync(workspace, jobs=1)) != before


def test_what_is_left_out_is_known_even_when_nothing_else_changed(tmp_path: Path) -> None:
    grow(tmp_path / "tree", 47)
    workspace = Workspace(tmp_path / "tree")
    sync(workspace, jobs=1)
    (tmp_path / "tree/blob.py").write_bytes(b"\0" * 100)
    (tmp_path / "tree/picture.xyz").touch()
    answer = sync(workspace, jobs=1)
    one, other = open_reader(Path(answer.db)), open_reader(build_afresh(tmp_path / "tree", tmp_path / "copy"))
    query = "SELECT path, reason FROM skipped UNION ALL SELECT key, value FROM meta WHERE key = 'unknown_extension' ORDER BY 1"
    assert list(one.execute(query)) == list(other.execute(query))
    assert one.execute("SELECT value FROM meta WHERE key = 'unknown_extension'").get == "1"
    one.close()
    other.close()


def test_a_file_that_is_no_source_is_read_again_only_when_it_changed(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int first(void) { return 1; }\n", encoding="utf-8")
    odd = tmp_path / "b.c"
    odd.write_bytes(b"\0\0")
    for path in (tmp_path, tmp_path / "a.c", odd):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    with orbit.Graph.open(tmp_path) as graph:
        assert graph.sync().files_skipped == {"binary": 1}
        database = Path(graph.db_path().path)
        with closing(open_reader(tmp_path / database)) as db:
            before = dict(db.execute("SELECT key, value FROM meta"))
        assert graph.sync().files_skipped == {"binary": 1}
        with closing(open_reader(tmp_path / database)) as db:
            assert dict(db.execute("SELECT key, value FROM meta")) == before
        odd.write_text("int second(void) { return 2; }\n", encoding="utf-8")
        answer = graph.sync()
        assert (answer.files_changed, answer.files_skipped) == (1, {})
        assert graph.search("second", kind="symbol").total == 1


@pytest.mark.parametrize("save", ["in place", "by another file's name"])
def test_what_git_lists_otherwise_than_before_is_taken_over_with_what_was_edited(
    repository: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch, save: str
) -> None:
    def paths() -> list[str]:
        answer = sync(Workspace(repository), jobs=1, memory=memory)
        check_equal(answer, build_afresh(repository, repository.parent / "copy"), [save])
        with closing(open_reader(Path(answer.db))) as db:
            return [path for (path,) in db.execute("SELECT path FROM file ORDER BY path")]

    def edit() -> None:
        held = kept.read_text(encoding="utf-8") + "\n\ndef more(): ...\n"
        target = kept if save == "in place" else kept.with_name("kept.py~")
        target.write_text(held, encoding="utf-8")
        os.replace(target, kept)

    memory, kept = work.Memory(), repository / "deep/kept.py"
    kept.parent.mkdir()
    kept.write_text("def first(): ...\n", encoding="utf-8")
    assert paths() == ["deep/kept.py"]
    for change, expected in (
        (lambda: (repository / "deep/new.py").write_text("from deep.kept import more\nmore()\n", encoding="utf-8"), ["deep/kept.py", "deep/new.py"]),
        (lambda: (repository / "deep/new.py").rename(repository / "deep/other.py"), ["deep/kept.py", "deep/other.py"]),
        (lambda: (repository / ".gitignore").write_text("other.py\n", encoding="utf-8"), ["deep/kept.py"]),
        (lambda: git("add", "--force", "deep/other.py"), ["deep/kept.py", "deep/other.py"]),
        (lambda: (repository / "deep/.orbitignore").write_text("other.py\n", encoding="utf-8"), ["deep/kept.py"]),
        (lambda: (repository / "deep/.orbitignore").unlink(), ["deep/kept.py", "deep/other.py"]),
        (lambda: monkeypatch.setenv("PATH", ""), ["deep/kept.py"]),  # only git knows that the ignored file is tracked
        (monkeypatch.undo, ["deep/kept.py", "deep/other.py"]),
        (lambda: shutil.rmtree(repository / ".git"), ["deep/kept.py"]),
    ):
        change()
        edit()
        assert paths() == expected


def test_a_file_saved_under_its_name_costs_no_new_survey(repository: Path) -> None:
    folder, memory = repository / "deep", work.Memory()
    folder.mkdir()
    (folder / "a.py").write_text("def first(): ...\n", encoding="utf-8")
    sync(Workspace(repository), memory=memory)
    for number in range(3):
        survey = memory.survey
        (folder / "a.py~").write_text(f"def name_{number}(): ...\n", encoding="utf-8")
        os.replace(folder / "a.py~", folder / "a.py")
        assert sync(Workspace(repository), memory=memory).files_changed == 1
        assert memory.survey is survey


def test_a_listing_of_the_same_files_in_another_order_is_believed_from_then_on(
    repository: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, scans = work.Memory(), list[int]()
    for name in ("a.py", "b.py"):
        (repository / name).write_text("def first(): ...\n", encoding="utf-8")
    sync(Workspace(repository), memory=memory)
    git("add", "a.py")  # tracked files are listed behind the others
    monkeypatch.setattr(work, "scan", lambda *given: scans.append(1) or scan(*given))
    for times in (2, 1):  # it is believed, then found to be another; then it is known
        scans.clear()
        sync(Workspace(repository), memory=memory)
        assert len(scans) == times


def test_a_member_of_a_common_name_touches_only_who_looked_for_it_there(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"m{number}.py").write_text(f"class C{number}:\n    def __init__(self, a): ...\n\n    def get(self): ...\n", encoding="utf-8")
        (tmp_path / f"u{number}.py").write_text(f"from m{number} import C{number}\n\n\ndef use():\n    return C{number}(1).get()\n", encoding="utf-8")
    resolved: list[int] = []
    with orbit.Graph.open(tmp_path) as graph:
        graph.sync()
        changed = tmp_path / "m3.py"
        for old, new, users in (("self, a", "self, a, b", 0), ("def get(self)", "def get(self, more)", 1), ("class C3", "class D3", 1)):
            changed.write_text(changed.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
            resolved.clear()
            graph.sync(progress=lambda stage, _, of: resolved.append(of) if stage == "resolve" else None)
            assert set(resolved) == {1 + users}, new


def test_what_one_file_says_of_a_common_name_touches_only_who_looked_into_it(tmp_path: Path) -> None:
    use = "from base import Case\n\n\nclass {0}(Case):\n    def setup(self):\n        self.client = Case()\n        self.client.run()\n"
    (tmp_path / "base.py").write_text("class Case:\n    def run(self): ...\n", encoding="utf-8")
    for number in range(8):
        (tmp_path / f"u{number}.py").write_text(use.format(f"T{number}"), encoding="utf-8")
    (tmp_path / "heir.py").write_text("from u3 import T3, Case\n\n\ndef go():\n    T3().client.run()\n", encoding="utf-8")
    resolved: list[int] = []
    with orbit.Graph.open(tmp_path) as graph:
        graph.sync()
        for name, text, users in (
            ("new.py", use.format("New"), 0),  # a file
            ("u4.py", use.format("T4") + "        self.more = Case()\n", 0),  # a member
            ("u4.py", "from base import Case as Client\n" + use.format("T4"), 0),  # an import
            ("u3.py", use.format("T3").replace("client = Case()", "client = None"), 1),  # a member that somebody reads
            ("u3.py", use.format("T3").replace("import Case", "import Other as Case"), 1),  # an import that somebody goes through
        ):
            (tmp_path / name).write_text(text, encoding="utf-8")
            resolved.clear()
            answer = graph.sync(progress=lambda stage, _, of: resolved.append(of) if stage == "resolve" else None)
            assert set(resolved) == {1 + users}, text
            check_equal(answer, build_afresh(tmp_path, tmp_path.parent / "copy"), [text])


def test_a_manifest_touches_only_files_whose_imports_it_aims_elsewhere(tmp_path: Path) -> None:
    manifest = '{{"name": "{0}", "version": "{1}", "main": "lib.js"}}\n'
    (tmp_path / "core").mkdir()
    (tmp_path / "core/lib.js").write_text("export function run() {}\n", encoding="utf-8")
    for number in range(6):
        (tmp_path / f"u{number}.js").write_text(f"import {{ run }} from '{'core' if number < 2 else './none'}';\nrun();\n", encoding="utf-8")
    resolved: list[int] = []
    with orbit.Graph.open(tmp_path) as graph:
        for name, version, others, users in (("other", 1, None, 0), ("other", 2, 0, 0), ("core", 2, 2, 2), ("core", 3, 0, 2), ("less", 3, 2, 0)):
            (tmp_path / "core/package.json").write_text(manifest.format(name, version), encoding="utf-8")
            resolved.clear()
            graph.sync(progress=lambda stage, _, of: resolved.append(of) if stage == "resolve" else None)
            assert others is None or set(resolved) == {1 + others}, (name, version)
            assert len({ref.file for ref in graph.refs("core/lib.run", kind="call").refs}) == users


def test_who_looks_into_a_file_depends_on_its_star_imports(tmp_path: Path) -> None:
    held = "package p\nimport {}.*\nopen class Base {{\n    val store: Reader = Reader()\n}}\n"
    (tmp_path / "reader.kt").write_text("package q\nclass Reader {\n    fun run() {}\n}\n", encoding="utf-8")
    (tmp_path / "use.kt").write_text("package r\nimport p.Base\nclass Use : Base() {\n    fun go() { this.store.run() }\n}\n", encoding="utf-8")
    (tmp_path / "base.kt").write_text(held.format("elsewhere"), encoding="utf-8")
    with orbit.Graph.open(tmp_path) as graph:
        graph.sync()
        assert graph.refs("q.Reader.run").total == 0
        (tmp_path / "base.kt").write_text(held.format("q"), encoding="utf-8")
        graph.sync()
        assert [ref.file for ref in graph.refs("q.Reader.run").refs] == ["use.kt"]
