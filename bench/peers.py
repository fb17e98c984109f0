"""Orbit beside other tools that index code, on the same trees in the same run; rows that Orbit loses are shown like the others.

    python bench/peers.py [--trees mixed django] [--json FILE] [--write]

The peers are installed once, pinned, into a folder of their own beside the corpora: `code-review-graph` with pip into its own environment,
`@colbymchenry/codegraph` with npm. `universal-ctags` is the machine's own (Debian: `apt-get install universal-ctags`); it knows definitions only.
While they are measured they have no network (`unshare --net`, where the system allows it), a home folder of their own, and telemetry is off.
`--write` puts the tables into docs/BENCHMARKS.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any, NamedTuple

from corpus import cache
from measure import environment, run_command
from run import ORBIT
from targets import PAGE, amount, machine, write_section
from trees import tree_of

CODE_REVIEW_GRAPH, CODEGRAPH = "2.3.9", "1.6.1"
EDITS = 5
ASKED = {  # tree: (file, owner or none, name) of "who calls X?"; the file is also the one that is edited
    "mixed": ("flask-3.1.0/src/flask/app.py", "Flask", "ensure_sync"),
    "django": ("django-5.1.4/django/utils/encoding.py", "", "force_str"),
}


class Tool(NamedTuple):
    """Commands of a tool, as they are typed in the worktree; `found` reads the number of callers from what the question prints."""

    name: str
    build: list[str]
    refresh: list[str]
    question: list[str]
    index: str  # what it writes
    tables: tuple[str, str] = ("nodes", "edges")
    found: str = ""


def tools(asked: tuple[str, str, str]) -> list[Tool]:
    file, owner, name = asked
    review, graph = _installed()
    dotted = f"{owner}.{name}" if owner else name
    found = [
        Tool("orbit", [*ORBIT, "graph", "sync"], [*ORBIT, "graph", "sync"],
             [*ORBIT, "graph", "refs", f"symbol:{file}#{dotted}", "--kind", "call", "--json"], ".orbit/graph/*.db", ("symbols", "refs"), "total"),
        Tool(f"code-review-graph {CODE_REVIEW_GRAPH}", [review, "build"], [review, "update"],
             [review, "query", "callers_of", f"{file}::{dotted}"], ".code-review-graph/graph.db", found="result_count"),
        Tool(f"codegraph {CODEGRAPH}", [graph, "init", "-y", "."], [graph, "sync"],
             [graph, "callers", name, "--file", file, "--limit", "10000", "--json"], ".codegraph/codegraph.db", found="total"),
    ]  # fmt: skip
    if ctags := shutil.which("ctags"):
        found.append(Tool("universal-ctags (definitions only)", [ctags, "-R", "-f", "tags", "."], [ctags, "-R", "-f", "tags", "."], [], "tags"))
    else:
        print("universal-ctags is not there: apt-get install universal-ctags", file=sys.stderr)
    return found


def _installed() -> tuple[str, str]:
    """The commands of the two peers, fetched if they are not there."""
    room = cache().with_name(cache().name + "-peers")
    python, node = room / f"code-review-graph-{CODE_REVIEW_GRAPH}", room / f"codegraph-{CODEGRAPH}"
    review, graph = python / "bin" / "code-review-graph", node / "node_modules" / ".bin" / "codegraph"
    if not review.exists():
        venv.create(python, with_pip=True)
        subprocess.run([python / "bin" / "pip", "install", "--quiet", f"code-review-graph=={CODE_REVIEW_GRAPH}"], check=True)
    if not graph.exists():
        node.mkdir(parents=True, exist_ok=True)
        options = ["--silent", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(["npm", "install", *options, "--prefix", str(node), f"@colbymchenry/codegraph@{CODEGRAPH}"], check=True)
    return str(review), str(graph)


def measure(tool: Tool, tree: str, asked: tuple[str, str, str], room: Path) -> dict[str, Any]:
    """One tool on a fresh copy of a tree: build, the best of some refreshes after an edit and of a question, all as commands."""
    root, out = tree_of(tree, room), room / "out"
    home = room / "home"
    home.mkdir(exist_ok=True)
    env = {**environment(), "HOME": str(home), "DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0"}
    alone = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        alone = []
        print("no network namespace to be had here: telemetry is off by its switches alone", file=sys.stderr)
    wall, used, peak = run_command([*alone, *tool.build], root, env, watch=0.05, out=out)
    row: dict[str, Any] = {"build": wall, "cpu": used, "peak": peak, "size": sum(path.stat().st_size for path in root.glob(tool.index))}
    row["symbols"], row["edges"] = _counts(tool, root)
    changed, refreshes = root / asked[0], []
    for number in range(EDITS):
        changed.write_text(changed.read_text(encoding="utf-8") + f"\n\ndef bench_{number}():\n    return {asked[2]}\n", encoding="utf-8")
        refreshes.append(run_command([*alone, *tool.refresh], root, env, out=out)[0])
    row["refresh"] = min(refreshes)
    if tool.question:
        row["question"] = min(run_command([*alone, *tool.question], root, env, out=out)[0] for _ in range(EDITS))
        row["callers"] = json.loads(out.read_text(encoding="utf-8"))[tool.found]
    shutil.rmtree(root)
    return row


def _counts(tool: Tool, root: Path) -> tuple[int, int]:
    """(definitions, edges) it holds: less work is no speed."""
    index = next(root.glob(tool.index))
    if tool.index == "tags":
        return sum(not line.startswith(b"!") for line in index.read_bytes().splitlines()), 0
    db = sqlite3.connect(index)
    try:
        symbols, edges = (db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tool.tables)
    finally:
        db.close()
    return symbols, edges


def table(tree: str, rows: dict[str, dict[str, Any]]) -> str:
    """Markdown; the best of each column in bold."""
    columns = {"build": "seconds", "cpu": "seconds", "peak": "bytes", "size": "bytes", "refresh": "seconds", "question": "seconds"}
    best = {column: min(row[column] for name, row in rows.items() if column in row and "ctags" not in name) for column in columns}
    heads = ["tool", "build", "its CPU", "peak PSS", "index", "refresh of one file", "who calls X", "callers", "symbols / edges"]
    lines = [f"`{tree}`:", "", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for name, row in rows.items():
        cells = [amount(unit, row[column]) if column in row else "-" for column, unit in columns.items()]
        marked = [f"**{cell}**" if row.get(column) == best[column] else cell for column, cell in zip(columns, cells, strict=True)]
        held = f"{row['symbols']} / {row['edges'] or '-'}"
        lines.append(f"| {' | '.join([name, *marked, str(row.get('callers', '-')), held])} |")
    return "\n".join(lines) + "\n"


def bars(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    """A picture of the builds: seconds on the clock, as long as they are, tree by tree."""
    longest = max(row["build"] for rows in found.values() for row in rows.values())
    parts, y = list[str](), 20
    for tree, rows in found.items():
        parts.append(f'<text x="10" y="{y + 12}" font-weight="bold">{tree}</text>')
        for name, row in rows.items():
            y, width = y + 24, 500 * row["build"] / longest
            parts.append(f'<text x="10" y="{y + 12}">{name}</text><rect x="230" y="{y}" width="{width:.1f}" height="16" fill="#1b6ca8"/>')
            parts.append(f'<text x="{236 + width:.1f}" y="{y + 12}">{amount("seconds", row["build"])}</text>')
        y += 40
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="820" height="{y}" font-family="sans-serif" font-size="12">'
    return "\n".join([head, *parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trees", nargs="+", choices=sorted(ASKED), default=list(ASKED))
    parser.add_argument("--json", type=Path, default=cache() / "peers.json")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    for tree in given.trees:
        found[tree] = {}
        for tool in tools(ASKED[tree]):
            with tempfile.TemporaryDirectory() as room:
                found[tree][tool.name] = measure(tool, tree, ASKED[tree], Path(room))
        print(table(tree, found[tree]), flush=True)
    given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if given.write:
        write_section("peers", "\n".join([machine() + "\n", *(table(tree, rows) for tree, rows in found.items())]))
        PAGE.with_name("peers.svg").write_text(bars(found), encoding="utf-8")


if __name__ == "__main__":
    main()
