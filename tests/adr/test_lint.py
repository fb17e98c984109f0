"""Every rule of the lint, found where it is and nowhere else."""

from __future__ import annotations

import pytest

from orbit.adr import AdrStore, Place


def found(answer):
    return [("error", f.file, f.line, f.code) for f in answer.errors] + [("warning", f.file, f.line, f.code) for f in answer.warnings]


def test_a_sound_store_has_nothing_to_report(repo, store):
    repo.write("src/a.py", "# [ADR-0001]\n")
    repo.accepted(paths=["src/**"], decision="Keep `symbol:src/a.py#run` small.")
    assert found(store.lint()) == []
    said = repo.cli("lint")
    assert (said.exit, said.out) == (0, "1 decisions, 1 files that cite: 0 errors, 0 warnings\n")


CITED = {
    "prose": ("a.md", "one\n\nsee [ADR-0099].\n", [3]),
    "link text": ("a.md", "[ADR-0099](x.md)\n", [1]),
    "code span": ("a.md", "`[ADR-0099]` and ``a ` [ADR-0099]``\n", []),
    "after a code span": ("a.md", "`x` [ADR-0099] `y`\n", [1]),
    "fence": ("a.md", "```\n[ADR-0099]\n```\n[ADR-0099]\n", [4]),
    "tilde fence with backticks inside": ("a.md", "~~~~\n```\n[ADR-0099]\n~~~\n~~~~\n[ADR-0099]\n", [6]),
    "short number": ("a.md", "[ADR-099]\n", []),
    "python comment": ("a.py", "x = 1  # [ADR-0099]\n", [1]),
    "python comment with a mention": ("a.py", "# cite as `[ADR-0099]`, see [ADR-0099]\n", [1]),
    "python docstring with a mention": ("a.py", '"""Cite as `[ADR-0099]`."""\n', []),
    "python string": ("a.py", "x = '# [ADR-0099]'\n", []),
    "python docstring": ("a.py", 'def f():\n    """Why.\n\n    [ADR-0099]\n    """\n', [4]),
    "python assigned text": ("a.py", 'x = """\n[ADR-0099]\n"""\n', []),
    "rust comment": ("a.rs", "/// [ADR-0099]\nfn f() {}\n/* a\n [ADR-0099] */\n", [1, 4]),
    "rust lifetime before a comment": ("a.rs", "impl<'a> X { // don't forget [ADR-0099]\n", [1]),
    "rust quote as a letter": ("a.rs", "let q = '\"'; // [ADR-0099]\n", [1]),
    "rust string": ("a.rs", 'let a = "// [ADR-0099]";\n', []),
    "go comment": ("a.go", "// see [ADR-0099]\n", [1]),
    "typescript template": ("a.ts", "const a = `// [ADR-0099]`\n", []),
    "shell comment": ("a.sh", "echo '# [ADR-0099]' # [ADR-0099]\n", [1]),
    "sql comment": ("a.sql", "-- [ADR-0099]\n", [1]),
    "html comment": ("a.html", "<p>[ADR-0099]</p>\n<!-- [ADR-0099] -->\n", [2]),
    "yaml comment": ("a.yaml", "a: b # [ADR-0099]\n", [1]),
    "makefile": ("Makefile", "all: # [ADR-0099]\n", [1]),
    "unknown kind": ("a.bin2", "[ADR-0099]\n", []),
}


@pytest.mark.parametrize("case", CITED)
def test_citations_in_prose_and_comments_must_resolve(repo, store, case):
    name, text, lines = CITED[case]
    repo.write(name, text)
    assert found(store.lint()) == [("error", name, line, "unresolved-citation") for line in lines]


def test_superseded_citations_warn_and_deleted_ones_are_errors(repo, store):
    store.supersede(repo.accepted("Old"), repo.accepted("New", context="It replaces [ADR-0001]."))
    store.update(repo.add("Gone"), status="deleted")
    repo.write("a.md", "[ADR-0001] [ADR-0002]\n[ADR-0003]\n")
    answer = store.lint()
    assert found(answer) == [("error", "a.md", 2, "unresolved-citation"), ("warning", "a.md", 1, "superseded-citation")]
    assert answer.warnings[0].message == "[ADR-0001] is superseded by ADR-0002"


def test_ignored_files_and_excluded_globs_are_not_read(repo, store):
    repo.write(".gitignore", "build/\n")
    repo.write("build/a.md", "[ADR-0099]\n")
    repo.write("fixtures/a.md", "[ADR-0099]\n")
    repo.write(".orbit/config.toml", '[adr]\nexclude = ["fixtures/**"]\n')
    assert found(store.lint()) == []


def test_named_files_limit_what_is_read_but_the_store_is_always_checked(repo, store):
    repo.write("a.md", "[ADR-0099]\n")
    repo.write("docs/b.md", "[ADR-0099]\n")
    repo.add("Rough", consequences="none")
    assert found(store.lint(paths=["docs"])) == [
        ("error", "docs/b.md", 1, "unresolved-citation"),
        ("warning", ".orbit/adrs/proposed/ADR-0001/body.md", 1, "missing-cost"),
    ]
    assert store.lint(paths=["a.md"]).errors[0].file == "a.md"
    assert repo.cli("lint", "nowhere.md").exit == 2


def test_bodies_are_checked_for_sections_cost_citations_and_edits(repo, store):
    adr_id = repo.accepted(context="As [ADR-0077] says.", consequences="")
    body = repo.home / "accepted" / adr_id / "body.md"
    body.write_text(body.read_text().replace("\n", "\r\n"))
    where = f".orbit/adrs/accepted/{adr_id}/body.md"
    assert found(store.lint()) == [("error", where, 3, "unresolved-citation"), ("warning", where, 1, "missing-section")]
    body.write_text(body.read_text() + "\n## Addendum by hand\n\nfine\n")
    assert [finding.code for finding in store.lint().errors] == ["unresolved-citation"]
    body.write_text(body.read_text().replace("Keep them in git", "Keep them elsewhere"))
    assert [finding.code for finding in store.lint().errors] == ["edited-body", "unresolved-citation"]


def test_one_sided_links_are_errors_on_either_side(repo, store):
    old, new = repo.accepted("Old"), repo.accepted("New")
    store.supersede(old, new)
    envelope = repo.home / "accepted" / new / "adr.yaml"
    text = envelope.read_text()
    envelope.write_text(text.replace("supersedes:\n  - ADR-0001\n", "supersedes: []\n"))
    assert found(store.lint()) == [("error", ".orbit/adrs/superseded/ADR-0001/adr.yaml", 1, "one-sided-link")]
    envelope.write_text(text.replace("  - ADR-0001\n", "  - ADR-0001\n  - ADR-0055\n"))
    assert found(store.lint()) == [("error", ".orbit/adrs/accepted/ADR-0002/adr.yaml", 1, "one-sided-link")]


def test_a_folder_in_the_wrong_place_is_an_error(repo, store):
    adr_id = repo.add()
    (repo.home / "accepted").mkdir()
    (repo.home / "proposed" / adr_id).rename(repo.home / "accepted" / adr_id)
    assert [(f.code, f.message) for f in store.lint().errors] == [("misplaced", "folder is accepted/, envelope says proposed")]


def test_globs_that_match_no_file_warn(repo, store):
    repo.write("src/a.py", "")
    repo.write("gone/b.py", "")
    repo.commit()
    (repo.root / "gone/b.py").unlink()
    repo.add(paths=["src/**", "src/*.rs", "gone/**", "src/a.py"])
    assert [finding.message for finding in store.lint().warnings] == ["path glob 'gone/**' matches no file", "path glob 'src/*.rs' matches no file"]


class Symbols:
    """What a graph would answer."""

    def locate(self, selector):
        return Place("src/a.py", 1, 2) if selector in ("symbol:src/a.py#run", "module:src.a") else None


def test_anchors_are_checked_against_files_and_against_the_graph_when_there_is_one(repo, store):
    repo.write("src/a.py", "def run():\n    pass\n")
    text = "See `symbol:src/a.py#run`, symbol:src/a.py#gone.\n\n"
    text += "`symbol:src/b.py#run`, `file:src/a.py`, `module:src.a`, `dir:./lib`, `file:line`.\n\n```\nsymbol:x#y\n```"
    repo.accepted(decision=text)
    assert [(f.line, f.message) for f in store.lint().errors] == [(9, "dir:./lib no longer exists"), (9, "symbol:src/b.py#run no longer exists")]
    with AdrStore(repo.root, code=Symbols()) as with_graph:
        assert [f.message for f in with_graph.lint().errors] == [
            "symbol:src/a.py#gone no longer exists",
            "dir:./lib no longer exists",
            "symbol:src/b.py#run no longer exists",
        ]


def test_dead_anchors_of_a_proposal_only_warn(repo, store):
    repo.add(decision="`symbol:src/soon.py#run`")
    assert [finding.code for finding in store.lint().warnings] == ["dead-anchor"]


def test_output_comes_as_text_json_and_github_annotations(repo):
    repo.write("a,b.md", "[ADR-0099]\n")
    repo.add("Rough", consequences="none")
    text, as_json, github = repo.cli("lint"), repo.cli("lint", "--json"), repo.cli("lint", "--format", "github")
    assert [text.exit, as_json.exit, github.exit] == [7, 7, 7]
    assert text.out.splitlines()[0] == "a,b.md:1: error [unresolved-citation] [ADR-0099] is not a decision in this store"
    assert as_json.json["errors"] == [{"file": "a,b.md", "line": 1, "code": "unresolved-citation", "message": "[ADR-0099] is not a decision in this store"}]
    assert github.out.splitlines() == [
        "::error file=a%2Cb.md,line=1,title=unresolved-citation::[ADR-0099] is not a decision in this store",
        "::warning file=.orbit/adrs/proposed/ADR-0001/body.md,line=1,title=missing-cost::Consequences missing labeled Cost bullet",
    ]


def test_a_folder_without_git_is_linted_by_walking(tmp_path):
    (tmp_path / ".orbit").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("[ADR-0099]\n")
    with AdrStore(tmp_path) as store:
        assert found(store.lint()) == [("error", "docs/a.md", 1, "unresolved-citation")]
