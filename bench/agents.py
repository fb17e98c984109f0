"""How many bytes an agent reads to the right answer: Orbit's tools against grep and file reads, on the same questions.

    python bench/agents.py

Each side has a fixed recipe for each question, written down below: tool calls for Orbit; for the other side a grep and then the lines around the hits that
show what encloses them, which is lean: no file is read whole where a part will do. An answer counts as right when all facts are in what was read.
Bytes are those of requests and answers; what tools/list costs once in a conversation is printed apart.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from corpus import corpus

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from desk import Desk

FLASK, COBRA, RXJS = "flask-3.1.0", "golang-github-spf13-cobra-1.6.1-1", "rxjs-7.8.2"
Calls = list[tuple[str, dict[str, Any]]]
Steps = list[tuple[Any, ...]]  # ("grep", pattern, glob) · ("around", pattern, glob, lines before, lines after) · ("read", path, first, last)


class Question(NamedTuple):
    repository: str
    text: str
    orbit: Calls
    other: Steps
    facts: list[str]


def callers(repository: str, name: str, selector: str, glob: str, facts: list[str]) -> Question:
    steps: Steps = [("grep", rf"\b{name}\(", glob), ("around", rf"[^c] *\b{name}\(", glob, 40, 0)]
    return Question(repository, f"Who calls `{name}`?", [("refs", {"selector": selector, "kind": "call"})], steps, facts)


QUESTIONS = [
    callers(FLASK, "ensure_sync", "Flask.ensure_sync", "*.py",
            ["handle_http_exception", "dispatch_request", "process_response", "do_teardown_request", "as_view"]),
    Question(FLASK, "Which classes extend `SessionInterface`?", [("implementors", {"selector": "SessionInterface"})],
             [("grep", r"class \w+\(.*\bSessionInterface", "*.py")], ["SecureCookieSessionInterface", "FailingSessionInterface", "MySessionInterface"]),
    Question(FLASK, "Where is the command `flask routes` handled?", [("trace", {"command": "routes", "depth": 1})],
             [("grep", r"command\(.*routes", "*.py"), ("around", r"command\(.*routes", "*.py", 0, 20)], [r"routes_command", r"cli\.py"]),
    Question(FLASK, "Which files import `sessions.py`?", [("refs", {"selector": "file:src/flask/sessions.py"})],
             [("grep", r"(from|import) [.a-z]*sessions\b|import sessions", "*.py")], [r"ctx\.py", r"globals\.py", r"testing\.py", r"app\.py"]),
    Question(FLASK, "What breaks if `full_dispatch_request` changes, two steps far?", [("impact", {"selector": "full_dispatch_request", "depth": 2})],
             [("grep", r"full_dispatch_request\(", "*.py"), ("around", r"\.full_dispatch_request\(", "*.py", 40, 0), ("grep", r"wsgi_app\(", "*.py"),
              ("around", r"\.wsgi_app\(", "*.py", 40, 0)], ["wsgi_app", "__call__"]),
    Question(FLASK, "Where is `MAX_COOKIE_SIZE` used and documented?", [("search", {"query": "MAX_COOKIE_SIZE"})],
             [("grep", "MAX_COOKIE_SIZE", "*")], [r"config\.rst", r"wrappers\.py", r"app\.py"]),
    callers(COBRA, "InitDefaultHelpCmd", "InitDefaultHelpCmd", "*.go", ["ExecuteC", "genMan", "GenMarkdownCustom", "GenReSTCustom", "GenYamlCustom"]),
    Question(COBRA, "What breaks if `stripFlags` changes, three steps far?", [("impact", {"selector": "stripFlags", "depth": 3})],
             [("grep", r"\bstripFlags\(", "*.go"), ("around", r"[^c] \bstripFlags\(", "*.go", 40, 0),
              ("grep", r"\.Find\(", "*.go"), ("around", r"\.Find\(", "*.go", 40, 0),
              ("grep", r"\.(ExecuteC|InitDefaultHelpCmd|initCompleteCmd|getCompletions)\(", "*.go"),
              ("around", r"\.(ExecuteC|InitDefaultHelpCmd|initCompleteCmd|getCompletions)\(", "*.go", 40, 0)],
             ["Find", "ExecuteC", "InitDefaultHelpCmd", "initCompleteCmd", "getCompletions", "genMan"]),
    Question(COBRA, "Show `Command.Traverse`.", [("show", {"selector": "Command.Traverse"})],
             [("grep", r"func .*\bTraverse\(", "*.go"), ("read", "command.go", 735, 795)], [r"func \(c \*Command\) Traverse", r"return c, args, nil"]),
    Question(COBRA, "What does `ExecuteC` call?", [("callees", {"selector": "Command.ExecuteC", "confidence": "same_module"})],
             [("grep", r"func .*\bExecuteC\(", "*.go"), ("read", "command.go", 978, 1058)],
             ["InitDefaultHelpCmd", "InitDefaultCompletionCmd", "checkCommandGroups", "Traverse", "Find"]),
    Question(COBRA, "Which TODO comments are there?", [("search", {"query": "TODO"})], [("grep", "TODO", "*.go")], [r"TODO.*\w+", r"\.go"]),
    Question(COBRA, "Where is the type `ShellCompDirective` defined?", [("search", {"query": "ShellCompDirective", "kind": "symbol", "limit": 1})],
             [("grep", r"type ShellCompDirective", "*.go")], [r"completions\.go", "ShellCompDirective"]),
    callers(RXJS, "scheduleArray", "scheduleArray", "*.ts", [r"scheduled\.ts", "scheduled"]),
    Question(RXJS, "Which classes extend `Subscriber`?", [("implementors", {"selector": "Subscriber"})],
             [("grep", r"extends Subscriber\b", "*.ts")], ["SafeSubscriber", "OperatorSubscriber"]),
    Question(RXJS, "What breaks if `popNumber` changes, three steps far?", [("impact", {"selector": "popNumber", "depth": 3})],
             [("grep", r"\bpopNumber\b", "*.ts"), ("around", r"= popNumber\(", "*.ts", 40, 0),
              ("grep", r"\bmerge\(", "*.ts"), ("around", r"return merge\(", "*.ts", 40, 0),
              ("grep", r"\b(merge|mergeWith)\b.*from", "*.ts")], [r"observable/merge", "mergeWith", r"src/index"]),
    Question(RXJS, "What does `Observable.ts` import?", [("deps", {"selector": "file:src/internal/Observable.ts"})],
             [("grep", r"^import", "Observable.ts")], ["Subscriber", "Subscription", "pipe", "config"]),
    Question(RXJS, "Which files call `innerFrom`?", [("refs", {"selector": "innerFrom", "kind": "call"})],
             [("grep", r"\binnerFrom\(", "*.ts")], ["catchError", "defer", "zip", "windowWhen"]),
    Question(RXJS, "What is in this tree?", [("overview", {})], [("shell", "git ls-files | xargs -n1 dirname | sort | uniq -c")], [r"operators", r"internal"]),
]  # fmt: skip


def read_otherwise(root: Path, steps: Steps) -> tuple[int, str]:
    """Bytes of commands and of what they print, and the print."""
    sent, seen = 0, []
    for step in steps:
        kind, words = step[0], step[1:]
        if kind == "read":
            path, first, last = words
            command = ["sed", "-n", f"{first},{last}p", path]
        elif kind == "shell":
            command = ["sh", "-c", words[0]]
        else:
            pattern, glob, *context = words
            around = [f"-B{context[0]}", f"-A{context[1]}"] if context else []
            command = ["grep", "-rnE", *around, f"--include={glob}", "--exclude-dir=.git", "--exclude-dir=.orbit", pattern, "."]
        sent += len(" ".join(command))
        seen.append(subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout)
    text = "".join(seen)
    return sent + len(text.encode()), text


def read_with_orbit(desk: Desk, calls: Calls) -> tuple[int, str]:
    """The same for tool calls; where a name means several things, one call more with the first candidate."""
    sent, seen = 0, []
    for tool, asked in calls:
        for _ in range(2):
            answer = desk.call(f"graph_{tool}", **asked)
            sent += len(json.dumps(asked)) + len(tool)
            seen.append(answer.text)
            if not answer.is_error or answer.error["code"] != "ambiguous":
                break
            asked = {**asked, "selector": answer.error["candidates"][-1]}
    text = "".join(seen)
    return sent + len(text.encode()), text


def main() -> None:
    packages, rows, once = corpus("mixed"), [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for repository in (FLASK, COBRA, RXJS):
            root = Path(scratch) / repository
            shutil.copytree(packages / repository, root)
            subprocess.run("git init -q && git add -A && git -c user.name=a -c user.email=a@example.org commit -qm first", shell=True, cwd=root, check=True)
            with Desk(root) as desk:
                desk.call("graph_sync")
                once = len(desk.do(desk.session.list_tools()).model_dump_json(by_alias=True, exclude_unset=True)) + len(desk.hello.instructions)
                for question in QUESTIONS:
                    if question.repository == repository:
                        sides = (read_with_orbit(desk, question.orbit), read_otherwise(root, question.other))
                        rows.append((question, *[(size, [fact for fact in question.facts if not re.search(fact, text)]) for size, text in sides]))
    print("| repository | question | Orbit, bytes | grep and reads, bytes | ratio | verdict |\n|---|---|---:|---:|---:|---|")
    for question, (ours, ours_missing), (theirs, theirs_missing) in rows:
        missing = f"Orbit misses {', '.join(ours_missing)}" if ours_missing else f"grep misses {', '.join(theirs_missing)}" if theirs_missing else ""
        verdict = missing or ("Orbit" if ours < theirs else "grep")
        print(f"| {question.repository.split('-')[0]} | {question.text} | {ours:,} | {theirs:,} | {ours / theirs:.2f} | {verdict} |".replace("golang", "cobra"))
    right = [(ours, theirs) for _, (ours, a), (theirs, b) in rows if not a and not b]
    ours_sum, theirs_sum = (sum(pair[side] for pair in right) for side in (0, 1))
    print(f"\nboth right on {len(right)} of {len(rows)}: {ours_sum:,} bytes against {theirs_sum:,}; once in a conversation: {once:,} bytes")


if __name__ == "__main__":
    main()
