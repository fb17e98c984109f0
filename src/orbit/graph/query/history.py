"""Which tasks and commits touched a symbol, a file or a folder: read from the stored history. Walks nothing itself.

Commits newest first: by the committer's clock; within a second a child before its parents, then by id. Tasks by their newest commit, then by name.
"""

from __future__ import annotations

import heapq
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import apsw
import msgspec
from msgspec import Meta

from orbit.graph.languages import language
from orbit.graph.outcome import Standing
from orbit.graph.query.answer import GraphAnswer, SelectorArgument
from orbit.graph.query.near import closest
from orbit.graph.query.scope import Scope, find_scope
from orbit.graph.query.target import File, clean, find_file, find_target, plain_name, read_file
from orbit.graph.selector import parse
from orbit.graph.store.connection import open_history

NOTES = [
    "renames are not followed: what a symbol was before it moved to this file or got this name is not in this list",
    "a merge is credited with nothing; the commits it merges are",
]
_FILE_KIND = -1


class HistoryParams(msgspec.Struct):
    selector: SelectorArgument
    task_id_pattern: Annotated[
        str | None, Meta(description="What a task id looks like in a commit message, as a regular expression; group 1, if there is one, is the id.")
    ] = None
    stored: Annotated[bool, Meta(description="Answer from what is stored; walk no new commits.")] = False
    limit: Annotated[int, Meta(ge=0, description="How many commits at most; without it as many as fit 20 kB.")] | None = None


class HistoryCommit(msgspec.Struct, frozen=True):
    sha: str
    date: str
    summary: str


class HistoryTask(msgspec.Struct, frozen=True):
    task_id: str
    commits: list[HistoryCommit]


class HistoryAnswer(GraphAnswer, kw_only=True):
    """`total` counts the commits; `commits` has those with and those without a task. `commits_behind`: not walked yet."""

    selector: str
    path: str
    tasks: list[HistoryTask]
    commits: list[HistoryCommit]
    total: int
    truncated: bool
    commits_behind: int
    task_id_pattern: str
    warnings: list[str]
    notes: list[str]


class Place(msgspec.Struct, frozen=True):
    """What the history calls a thing: paths from `first` up to `end`, and within one file a name and a kind."""

    selector: str
    path: str
    first: str
    end: str
    name: str = ""
    kind: int = _FILE_KIND


def history(db: apsw.Connection, ask: HistoryParams, root: Path, standing: Standing) -> HistoryAnswer:
    """Commits only, where no message names a task."""
    place = find_place(db, ask.selector, root)
    with open_history(standing.database) as stored:
        rows = _untie(stored, list(stored.execute(_COMMITS, (place.first, place.end, place.name, place.kind))))
        named = list(stored.execute(_TASKS, (place.first, place.end, place.name, place.kind)))
    commits = {number: HistoryCommit(sha, date, message.partition("\n")[0]) for number, sha, date, message, _ in rows}
    by_task: dict[str, list[int]] = {}
    for task, number in named:
        by_task.setdefault(task, []).append(number)
    rank = {number: at for at, number in enumerate(commits)}
    limit = len(commits) if ask.limit is None else ask.limit
    ordered = {task: sorted(numbers, key=rank.__getitem__) for task, numbers in by_task.items()}
    tasks = sorted((rank[numbers[0]], task, numbers) for task, numbers in ordered.items())
    return HistoryAnswer(
        selector=place.selector,
        path=place.path,
        tasks=[HistoryTask(task, [commits[one] for one in numbers if rank[one] < limit]) for first, task, numbers in tasks if first < limit],
        commits=list(commits.values())[:limit],
        total=len(commits),
        truncated=len(commits) > limit,
        commits_behind=standing.commits_behind,
        task_id_pattern=standing.pattern,
        warnings=list(standing.warnings),
        notes=list(NOTES),
    )


def _untie(stored: apsw.Connection, rows: list[Any]) -> list[Any]:
    """Rows ordered by time: those of the same second, as after a rebase, get children before parents."""
    count = Counter(row[4] for row in rows)
    rank: dict[str, int] = {}
    for at in sorted(at for at, number in count.items() if number > 1):
        parents = {sha: said.split() for sha, said in stored.execute('SELECT sha, parents FROM "commit" WHERE at = ? ORDER BY sha', (at,))}
        children = Counter(parent for listed in parents.values() for parent in listed if parent in parents)
        ready = [sha for sha in parents if not children[sha]]
        while ready:
            sha = heapq.heappop(ready)
            rank[sha] = len(rank)
            for parent in parents[sha]:
                children[parent] -= 1
                if parent in parents and not children[parent]:
                    heapq.heappush(ready, parent)
    return sorted(rows, key=lambda row: (-row[4], rank.get(row[1], 0), row[1]))


def find_place(db: apsw.Connection, text: str, root: Path) -> Place:
    """What the history calls the thing that `text` means in the graph."""
    if parse(clean(text), root).kind == "dir":
        scope: Scope = find_scope(db, text, root)
        return Place(scope.selector, scope.selector.removeprefix("dir:"), scope.first, scope.end or "\U0010ffff")
    target = find_target(db, text, root)
    file = find_file(db, target.path)
    if isinstance(target, File) or (target.kind == "module" and target.qualified == file.module):
        return Place(target.selector, target.path, target.path, target.path + "\0")
    local = target.qualified.removeprefix(_prefix(file))
    name = plain_name(local) if plain_name(local).endswith(target.name) else local
    return Place(target.selector, target.path, target.path, target.path + "\0", name, target.kind_code)


def _prefix(file: File) -> str:
    """What stands before the names within a file."""
    return f"{file.module}{language(file.lang).separator}" if file.module else ""


# What a file defines several times has numbers by position, which move when one comes or goes: they share a history.
_WHERE = """p.value >= ?1 AND p.value < ?2 AND t.kind = ?4 AND (n.value = ?3
    OR substr(n.value, 1, length(?3) + 1) = ?3 || '#' AND trim(substr(n.value, length(?3) + 2), '0123456789') = '' AND length(?3))"""
_COMMITS = f"""SELECT DISTINCT c.id, c.sha, c.date, c.message, c.at FROM path p CROSS JOIN touch t ON t.path = p.id JOIN name n ON n.id = t.name
    JOIN "commit" c ON c.id = t."commit" WHERE {_WHERE} ORDER BY c.at DESC, c.sha"""
_TASKS = f"""SELECT DISTINCT k.value, k."commit" FROM path p CROSS JOIN touch t ON t.path = p.id JOIN name n ON n.id = t.name
    JOIN task k ON k."commit" = t."commit" WHERE {_WHERE} ORDER BY k.value"""


class TaskTouches(msgspec.Struct):
    """What a task touched: files, and symbols by (path, name within the file, kind); if nothing, tasks with names like its own."""

    paths: set[str]
    symbols: set[tuple[str, str, int]]
    near: list[str] = []


def touched_by_task(database: Path, task_id: str) -> TaskTouches:
    found = TaskTouches(set(), set())
    with open_history(database) as stored:
        for path, name, kind in stored.execute(
            'SELECT DISTINCT p.value, n.value, t.kind FROM task k JOIN touch t ON t."commit" = k."commit" JOIN path p ON p.id = t.path'
            " JOIN name n ON n.id = t.name WHERE k.value = ?",
            (task_id,),
        ):
            found.paths.add(path)
            if kind != _FILE_KIND:
                found.symbols.add((path, name, kind))
        if not found.paths:
            found.near = closest(task_id, (row[0] for row in stored.execute("SELECT DISTINCT value FROM task WHERE value != ?", (task_id,))))
    return found


def task_symbols(db: apsw.Connection, touched: TaskTouches) -> set[int]:
    """Ids of the graph's symbols among what a task touched; those that are gone have none."""
    found: set[int] = set()
    for path in sorted(touched.paths):
        if file := read_file(db, path):
            prefix, bounds = _prefix(file), (file.id << 20, (file.id + 1) << 20)
            rows = db.execute("SELECT s.id, q.value, s.kind FROM symbol s JOIN text q ON q.id = s.qualified WHERE s.id >= ? AND s.id < ?", bounds)
            found.update(number for number, qualified, kind in rows if (path, qualified.removeprefix(prefix), kind) in touched.symbols)
    return found
