"""`orbit graph` as programs and people see it: shapes, exit codes, messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orbit.graph import Graph
from orbit.operations import find

Run = Callable[..., "subprocess.CompletedProcess[str]"]

# command line -> (method of Graph, its arguments, the fields the contract promises)
QUESTIONS: dict[tuple[str, ...], tuple[str, dict[str, Any], set[str]]] = {
    ("search", "run_due"): ("search", {"query": "run_due"}, {"query", "total", "truncated", "matches"}),
    ("search", "retry", "--kind", "config"): ("search", {"query": "retry", "kind": "config"}, {"query", "total", "truncated", "matches"}),
    ("search", "jobs are", "--limit", "1"): ("search", {"query": "jobs are", "limit": 1}, {"query", "total", "truncated", "matches"}),
    ("show", "jobs.run_due"): (
        "show",
        {"selector": "jobs.run_due"},
        {"selector", "kind", "name", "qualified", "path", "span", "lines", "signature", "source", "truncated"},
    ),
    ("show", "file:jobs.py", "--max-bytes", "5"): ("show", {"selector": "file:jobs.py", "max_bytes": 5}, {"source", "truncated"}),
    ("refs", "jobs.run_due"): ("refs", {"selector": "jobs.run_due"}, {"target", "refs", "relations", "total", "truncated", "skipped_low_confidence"}),
    ("refs", "Job", "--kind", "extends", "--confidence", "import"): (
        "refs",
        {"selector": "Job", "kind": "extends", "confidence": "import"},
        {"target", "refs", "relations", "total", "truncated", "skipped_low_confidence"},
    ),
    ("callees", "main.main"): ("callees", {"selector": "main.main"}, {"target", "callees", "total", "truncated"}),
    ("overview",): (
        "overview",
        {},
        {"scope", "total_files", "total_symbols", "languages", "symbol_kinds", "files", "coverage"},
    ),
    ("overview", "file:jobs.py", "--format", "full"): ("overview", {"scope": "file:jobs.py", "format": "full"}, {"scope", "files", "coverage"}),
    ("implementors", "Job"): ("implementors", {"selector": "Job"}, {"trait_name", "implementors", "total"}),
    ("impact", "jobs.run_due", "--depth", "2"): ("impact", {"selector": "jobs.run_due", "depth": 2}, {"target", "touched", "visited_nodes", "truncated"}),
    ("impact", "main.main", "--direction", "out"): ("impact", {"selector": "main.main", "direction": "out"}, {"target", "touched"}),
    ("trace", "nothing"): ("trace", {"command": "nothing"}, {"root", "visited_nodes", "truncated", "reason", "did_you_mean"}),
    ("trace", "symbol:main.py#main.main"): ("trace", {"command": "symbol:main.py#main.main"}, {"root", "visited_nodes", "truncated"}),
    ("deps", "file:main.py"): ("deps", {"selector": "file:main.py"}, {"scope", "imports", "total", "truncated"}),
}


@pytest.mark.parametrize("asked", QUESTIONS, ids=" ".join)
def test_the_command_and_the_library_give_the_same_answer(worktree: Path, orbit: Run, asked: tuple[str, ...]) -> None:
    method, arguments, promised = QUESTIONS[asked]
    done = orbit("graph", *asked, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    with Graph.open(worktree) as graph:
        answer = getattr(graph, method)(**arguments)
    assert done.stdout == msgspec.json.encode(answer).decode() + "\n"
    found = json.loads(done.stdout)
    assert promised | {"fresh"} <= set(found)
    assert found["fresh"] is True
    assert "stale_files" not in found
    assert msgspec.convert(found, find(f"graph.{asked[0]}").answer, strict=True) == answer


@pytest.mark.parametrize("asked", QUESTIONS, ids=" ".join)
def test_text_for_people_has_no_colour_away_from_a_terminal(worktree: Path, orbit: Run, asked: tuple[str, ...]) -> None:
    done = orbit("graph", *asked)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\n")
    assert "\x1b" not in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("settings", "has_colour"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_gets_colour_unless_it_is_refused(worktree: Path, settings: dict[str, str], has_colour: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    environment = {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, "TERM": "xterm", **settings}
    command = [sys.executable, "-c", "from orbit.cli import main; main()", "graph", "refs", "jobs.run_due"]
    subprocess.run(command, cwd=worktree, stdout=theirs, check=True, env=environment)
    os.close(theirs)
    seen = os.read(ours, 65536)
    os.close(ours)
    assert b"jobs.run_due" in seen
    assert (b"\x1b[" in seen) == has_colour


def test_rows_have_the_promised_fields(worktree: Path, orbit: Run) -> None:
    def rows(*arguments: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(orbit("graph", *arguments, "--json").stdout)[name][0]
        return found

    assert set(rows("search", "run_due", name="matches")) == {
        "kind", "symbol_kind", "name", "qualified", "signature", "path", "line", "end_line", "selector",
    }  # fmt: skip
    assert set(rows("search", "jobs are", "--kind", "string", name="matches")) == {"kind", "value", "path", "line", "in"}
    assert set(rows("search", "retry", "--kind", "config", name="matches")) == {"kind", "value", "config_kind", "path", "line"}
    assert set(rows("refs", "jobs.run_due", name="refs")) == {"file", "line", "kind", "confidence", "in"}
    assert set(rows("refs", "Job", "--kind", "extends", name="relations")) == {"from", "kind", "file", "line", "confidence"}
    assert {"target_name", "target_qualified", "confidence", "file", "line"} <= set(rows("callees", "main.main", name="callees"))
    assert set(rows("implementors", "Job", name="implementors")) == {"type_qualified", "trait_matched", "kind", "file", "line", "selector"}
    assert {"from_file", "target_path", "target_symbol", "resolved_file"} <= set(rows("deps", "main.py", name="imports"))
    assert {"path", "lang", "symbol_count"} <= set(rows("overview", name="files"))


def test_sync_says_what_it_did(worktree: Path, orbit: Run) -> None:
    found = json.loads(orbit("graph", "sync", "--full", "--json").stdout)
    assert set(found) >= {
        "mode", "files_indexed", "files_changed", "files_removed", "files_skipped", "files_partial", "symbols", "refs", "duration_ms", "db",
    }  # fmt: skip
    assert (found["mode"], found["files_indexed"]) == ("full", 4)
    assert Path(found["db"]).is_file()
    text = orbit("graph", "sync")
    assert text.stdout.startswith("synced (auto)")
    assert text.stderr == ""


@pytest.mark.parametrize(
    ("asked", "method", "fields"),
    [
        (("version",), "version", {"version", "extractor_version", "schema_version"}),
        (("db-path",), "db_path", {"path", "branch", "extractor_version", "exists"}),
        (("digest",), "digest", {"digest"}),
        (("why", "jobs.py"), "why", {"path", "indexed", "reason", "rule"}),
    ],
)
def test_small_answers_have_the_promised_fields(worktree: Path, orbit: Run, asked: tuple[str, ...], method: str, fields: set[str]) -> None:
    done = orbit("graph", *asked, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    with Graph.open(worktree) as graph:
        assert done.stdout == msgspec.json.encode(getattr(graph, method)(*asked[1:])).decode() + "\n"
    assert fields <= set(json.loads(done.stdout))
    assert orbit("graph", *asked).returncode == 0


def test_clean_deletes_the_graph_and_says_which_files(worktree: Path, orbit: Run) -> None:
    found = json.loads(orbit("graph", "clean", "--json").stdout)
    assert {"graph_dir", "deleted"} <= set(found)
    assert found["deleted"]
    assert orbit("graph", "refs", "Job").returncode == 5


def error_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.stdout == ""
    found: dict[str, Any] = json.loads(done.stderr)["error"]
    return found


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (("refs", "nothing_like_it"), 3, "symbol-not-found"),
        (("show", "file:none.py"), 3, "file-not-found"),
        (("overview", "dir:none"), 3, "folder-not-found"),
        (("show", "module:none"), 3, "module-not-found"),
        (("show", "command:none"), 3, "command-not-found"),
        (("refs", "run_due"), 4, "ambiguous"),
        (("refs", "file:../x"), 2, "selector-syntax"),
        (("refs",), 2, "invalid-input"),
        (("show", "../x.py"), 2, "selector-syntax"),
        (("show", "/etc/passwd"), 2, "selector-syntax"),
        (("search",), 2, "invalid-input"),
        (("search", "Job", "--lang", "pyhton"), 3, "language-not-found"),
        (("implementors", "jobs.run_due"), 2, "invalid-input"),
        (("overview", "Job"), 2, "invalid-input"),
        (("trace", "dir:."), 2, "invalid-input"),
        (("trace", "jobs", "run"), 2, "invalid-input"),
        (("refs", "x", "--kind", "friend"), 2, "invalid-input"),
        (("refs", "x", "--limit", "-1"), 2, "invalid-input"),
        (("refs", "x", "--limit", "many"), 2, "invalid-input"),
        (("refs", "x", "--nosuch"), 2, "invalid-input"),
        (("nosuch",), 2, "invalid-input"),
        (("show", "dir:."), 2, "invalid-input"),
        (("refs", "x", "--root", "/nowhere/at/all"), 2, "invalid-input"),
    ],
)
def test_errors_have_a_code_a_message_and_a_hint(worktree: Path, orbit: Run, arguments: tuple[str, ...], exit_code: int, code: str) -> None:
    done = orbit("graph", *arguments, "--json")
    error = error_of(done)
    assert (done.returncode, error["code"]) == (exit_code, code)
    assert error["message"]
    assert error["hint"]
    text = orbit("graph", *arguments)
    assert (text.returncode, text.stdout) == (exit_code, "")
    assert text.stderr.startswith("error: ")
    assert "\nhint: " in text.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("graph", "sync", "--jobs", "0"), "error: jobs: expected `int` >= 1\nhint: see `orbit graph sync --help`\n"),
        (("graph", "sync", "--jobs", "x"), "error: Invalid value for '--jobs': 'x' is not a valid integer\nhint: see `orbit graph sync --help`\n"),
        (("graph", "--root", ".", "sync"), "error: No such option: --root\nhint: --root goes behind the command: `orbit graph COMMAND --root`\n"),
        (("graph", "show", "symbol:jobs.py#Jbo"), "error: no symbol named 'symbol:jobs.py#Jbo'\nhint: did you mean symbol:jobs.py#Job?\n"),
        (
            ("graph", "trace", "jobs", "run"),
            "error: Got unexpected extra argument (run)\nhint: words that belong together need quotes; see `orbit graph trace --help`\n",
        ),
    ],
)
def test_a_mistake_is_answered_with_the_next_step(worktree: Path, orbit: Run, arguments: tuple[str, ...], said: str) -> None:
    assert orbit(*arguments).stderr == said


def test_candidates_are_selectors_that_work(worktree: Path, orbit: Run) -> None:
    candidates = error_of(orbit("graph", "refs", "run_due", "--json"))["candidates"]
    assert candidates == ["symbol:jobs.py#jobs.run_due:function", "symbol:twice.py#twice.run_due:function"]
    assert orbit("graph", "refs", candidates[0]).returncode == 0


def test_without_a_graph_every_question_says_so(tmp_path: Path, orbit: Run) -> None:
    for asked in QUESTIONS:
        done = orbit("graph", *asked, "--json")
        assert (done.returncode, error_of(done)["code"]) == (5, "no-graph")
    assert list(tmp_path.iterdir()) == []


def test_a_stale_answer_says_so_in_words_and_in_json(worktree: Path, orbit: Run) -> None:
    (worktree / "jobs.py").write_text("# changed\n", encoding="utf-8")
    found = json.loads(orbit("graph", "refs", "jobs.run_due", "--json").stdout)
    assert (found["fresh"], found["stale_files"]) == (False, ["jobs.py"])
    assert "orbit graph sync" in orbit("graph", "refs", "jobs.run_due").stdout


def test_a_miss_in_search_is_an_answer(worktree: Path, orbit: Run) -> None:
    done = orbit("graph", "search", "run_deu", "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["total"], found["matches"], found["did_you_mean"][0]) == (0, [], "run_due")
    assert "did you mean run_due" in orbit("graph", "search", "run_deu").stdout


def test_a_folder_inside_the_worktree_will_do(worktree: Path, orbit: Run) -> None:
    (worktree / ".orbit").is_dir()
    (worktree / "deep/er").mkdir(parents=True)
    assert orbit("graph", "show", "jobs.run_due", cwd=worktree / "deep/er").returncode == 0
    assert orbit("graph", "show", "jobs.run_due", "--root", str(worktree), cwd=Path("/")).returncode == 0


def test_control_characters_of_a_source_do_not_reach_the_terminal(worktree: Path, orbit: Run) -> None:
    (worktree / "evil.py").write_text("def evil():\n    return '\x1b]0;gotcha\x07'\n", encoding="utf-8")
    orbit("graph", "sync")
    shown = orbit("graph", "show", "evil")
    assert "\x1b" not in shown.stdout
    assert "gotcha" in shown.stdout


def test_a_question_imports_neither_the_write_path_nor_heavy_packages(worktree: Path, orbit: Run) -> None:
    import sys

    script = (
        "import sys; sys.argv = ['orbit', 'graph', 'refs', 'jobs.run_due', '--json']\n"
        "from orbit.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'rich', 'yaml', 'asyncio', 'orbit_native', 'mcp', 'pydantic', 'orbit.graph.index.sync', 'orbit.graph.index.scan', 'orbit.adr'}\n"
        "sys.stderr.write(repr(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=worktree, capture_output=True, text=True, check=True)
    assert done.stderr == "[]"


def test_init_makes_what_is_missing_and_nothing_twice(tmp_path: Path, orbit: Run) -> None:
    first = json.loads(orbit("init", "--json").stdout)
    assert (first["created"], first["kept"]) == ([".orbit/", ".orbit/.gitignore", ".orbitignore"], [])
    (tmp_path / ".orbitignore").write_text("mine\n", encoding="utf-8")
    second = json.loads(orbit("init", "--json").stdout)
    assert (second["created"], second["kept"]) == ([], [".orbit/", ".orbit/.gitignore", ".orbitignore"])
    assert (tmp_path / ".orbitignore").read_text(encoding="utf-8") == "mine\n"
    assert "kept" in orbit("init").stdout


def test_completion_knows_commands_and_choices(worktree: Path, orbit: Run) -> None:
    def complete(line: str) -> list[str]:
        return orbit(_ORBIT_COMPLETE="complete_bash", _TYPER_COMPLETE_ARGS=line, COMP_WORDS=line, COMP_CWORD=str(line.count(" "))).stdout.split()

    assert "graph" in complete("orbit gr")
    assert complete("orbit graph cal") == ["callees"]
    assert complete("orbit graph refs --kind imp") == ["impl", "implements"]


def test_a_check_that_failed_is_named_in_text_too(tmp_path: Path, orbit: Run) -> None:
    subprocess.run(["git", "init", "-q", "--template="], cwd=tmp_path, check=True)
    (tmp_path / "a.py").write_text("def a():\n    return 1\n", encoding="utf-8")
    assert orbit("graph", "sync").returncode == 0
    done = orbit("graph", "impact", "--worktree", "--fail-on", "untested")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (7, "failed: untested, as --fail-on asks")


def test_paths_with_dots_start_at_the_current_folder_and_others_at_the_root(tmp_path: Path, orbit: Run) -> None:
    for path in ("pkg/sub/a.py", "a.py", "pkg/b.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("def f():\n    return 1\n", encoding="utf-8")
    here = tmp_path / "pkg/sub"
    assert orbit("init").returncode == 0
    assert orbit("graph", "sync", cwd=here).returncode == 0
    for typed, meant in (("./a.py", "pkg/sub/a.py"), ("../b.py:2", "pkg/b.py"), ("a.py", "a.py"), ("pkg/b.py", "pkg/b.py"), ("./a.py#f", "pkg/sub/a.py")):
        assert json.loads(orbit("graph", "show", typed, "--json", cwd=here).stdout)["path"] == meant
    assert json.loads(orbit("graph", "overview", "..", "--json", cwd=here).stdout)["scope"] == "dir:pkg"
    assert json.loads(orbit("graph", "overview", ".", "--json", "--root", str(tmp_path), cwd=here).stdout)["scope"] == "dir:."
    assert json.loads(orbit("graph", "why", "b.py", "--json", cwd=tmp_path / "pkg").stdout)["path"] == "pkg/b.py"
    assert orbit("graph", "overview", "../../..", cwd=here).returncode == 2


@pytest.mark.parametrize("coding", ["ascii", "utf-8", "latin-1"])
def test_no_name_makes_an_answer_fail(tmp_path: Path, orbit: Run, coding: str) -> None:
    (tmp_path / "größe.py").write_text("def größe(ж):\n    return 1\n", encoding="utf-8")
    settings = {"PYTHONIOENCODING": coding, "PYTHONUTF8": "1"}
    assert orbit("graph", "sync", **settings).returncode == 0
    command = [sys.executable, "-c", "from orbit.cli import main; main()", "graph", "show", "größe", "--json"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, env={**os.environ, **settings})
    assert json.loads(told.stdout.decode("utf-8"))["path"] == "größe.py"
    shown = subprocess.run(command[:-1], cwd=tmp_path, capture_output=True, check=True, env={**os.environ, **settings})
    assert shown.stdout.decode(coding).splitlines()[1].startswith("def gr")


@pytest.mark.parametrize("asked", ["search", "why", "trace", "pack", "show"])
def test_bytes_that_are_no_text_name_nothing(worktree: Path, asked: str) -> None:
    command = [sys.executable, "-c", "from orbit.cli import main; main()", "graph", asked, b"\xff.py", "--json"]
    told = subprocess.run(command, cwd=worktree, capture_output=True, check=False)
    assert told.returncode in (0, 3)
    assert "Traceback" not in told.stderr.decode()
    assert json.loads((told.stdout or told.stderr).decode("utf-8"))
