"""The graph of a worktree: what is in the code. `Graph` is the Python API; the command line and MCP ask the same questions through it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from orbit.asking import Answer, P, Params, as_method
from orbit.config import Workspace
from orbit.errors import NoGraphError, OrbitError, RefusedError, UsageError
from orbit.graph.outcome import CleanAnswer, DbPathAnswer, InitAnswer, VersionAnswer
from orbit.graph.policy import SyncPolicy
from orbit.graph.query import callees, deps, history, impact, implementors, overview, pack, refs, search, show, trace
from orbit.graph.query.answer import fit
from orbit.graph.query.fresh import named_files, stale_files
from orbit.graph.readers import Readers

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from typing import Concatenate

    from apsw import Connection

    from orbit.graph.index.watch import Watch
    from orbit.graph.index.work import Memory
    from orbit.graph.outcome import Standing, SyncAnswer, Why
    from orbit.graph.query.digest import DigestAnswer
    from orbit.graph.query.picture import PictureAnswer

__all__ = ["Graph", "SyncPolicy"]

Progress = Callable[[str, int, int], None]  # (stage, done, of)


def _question(params: Callable[P, Params], question: Callable[[Connection, Params], Answer]) -> Callable[Concatenate[Graph, P], Answer]:
    """A question of `orbit.graph.query` that needs nothing but the database."""

    def put(graph: Graph, ask: Params) -> Answer:
        return graph.put(question, ask)

    put.__doc__ = question.__doc__
    return as_method(params, put)


def _search(graph: Graph, ask: search.SearchParams) -> search.SearchAnswer:
    """Find by name, beginning of a name, or words."""
    touched = None if ask.task_id is None else history.touched_by_task(_stand(graph, None).database, ask.task_id)
    return graph.put(partial(search.search, touched=touched), ask)


def _show(graph: Graph, ask: show.ShowParams) -> show.ShowAnswer:
    """The source of a symbol or file."""
    answer = graph.put(partial(show.show, root=graph.root), ask)
    if ask.decisions:
        from orbit.graph.change import governing

        answer.decisions = governing(graph, [(answer.path, answer.selector, answer.lines)])
    return answer


def _impact(graph: Graph, ask: impact.ImpactParams) -> impact.ImpactAnswer:
    """What a change may touch: of a symbol, of a file, or of all that a diff changes."""
    impact.check(ask)
    if ask.is_diff:
        from orbit.graph.change import impact_of_change

        return impact_of_change(graph, ask)
    answer = graph.put(impact.impact, ask)
    if ask.decisions and answer.target is not None:
        answer.decisions = graph.show(answer.target.selector, max_bytes=0, decisions=True).decisions
    return answer


def _pack(graph: Graph, ask: pack.PackParams) -> pack.PackAnswer:
    """Sources and summaries within a budget. Syncs only with `refresh`, whatever the policy."""
    counted_as, count = pack.find_counter(graph.workspace.setting("graph", "tokenizer"))
    if ask.refresh:
        graph.sync()
    return graph.put(partial(pack.pack, root=graph.root, count=count, counted_as=counted_as), ask, keep_up=False)


def walk_history(graph: Graph, ask: history.HistoryParams, progress: Progress | None = None) -> history.HistoryAnswer:
    """Which tasks and commits touched a thing. Walks commits that are new first, unless `stored`."""
    return graph.put(partial(history.history, root=graph.root, standing=_stand(graph, ask.task_id_pattern, progress, stored=ask.stored)), ask)


def _stand(graph: Graph, pattern: str | None, progress: Progress | None = None, *, stored: bool = False) -> Standing:
    from orbit.graph.index.history import stand, task_pattern

    return stand(graph.workspace, task_pattern(graph.workspace, pattern), progress=progress, stored=stored)


class Graph:
    """A handle on the graph of one worktree. Safe to use from several threads; follows branch switches by itself."""

    def __init__(self, workspace: Workspace, policy: SyncPolicy = SyncPolicy.MANUAL) -> None:
        self.workspace = workspace
        self.policy = policy
        self._readers = Readers()
        self._syncing = threading.Lock()
        self._memory: Memory | None = None  # of the last sync
        self._synced_at: float | None = None  # monotonic
        self._watch = _watch(workspace, policy)

    @classmethod
    def open(cls, root: str | Path, policy: SyncPolicy = SyncPolicy.MANUAL) -> Graph:
        """The graph of the worktree that holds `root`. Needs no graph yet: a question without one raises NoGraphError."""
        return cls(Workspace.find(Path(root)), policy)

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release all connections, and stop watching."""
        if self._watch is not None:
            self._watch.close()
        self._readers.close()

    @property
    def root(self) -> Path:
        return self.workspace.root

    @property
    def exists(self) -> bool:
        """Is there a graph to ask, made by this version?"""
        from orbit.graph.index.place import find_place
        from orbit.graph.store.connection import DamagedDatabaseError

        try:
            with self._readers.snapshot(find_place(self.root).database):
                return True
        except (NoGraphError, DamagedDatabaseError):
            return False

    # --- bringing it up to date

    def sync(self, *, full: bool = False, jobs: int | None = None, progress: Progress | None = None, executor: Executor | None = None) -> SyncAnswer:
        """Bring the graph up to date with the files. `progress` is called with (stage, done, of); `executor` extracts elsewhere.

        A handle that watches takes part in the next sync of its own thread: whoever edits a file and then syncs is answered from the edit.
        """
        if self._watch is not None:
            return self._watch.barrier(full=full, jobs=jobs, progress=progress)
        from orbit.graph.index.sync import sync
        from orbit.graph.index.work import Memory

        self._memory = self._memory or Memory()
        answer = sync(self.workspace, full=full, jobs=jobs, progress=progress, executor=executor, memory=self._memory)
        self._synced_at = time.monotonic()
        return answer

    def why(self, path: str) -> Why:
        """Why a file is in the graph, or is not."""
        from orbit.graph.index.why import why

        return why(self.root, path)

    def syncs(self) -> Iterator[SyncAnswer | OrbitError]:
        """What each background sync of a handle that watches gave, until it is closed."""
        if self._watch is None:
            raise UsageError("this handle does not watch", hint="open it with SyncPolicy.watch()")
        return self._watch.outcomes()

    # --- questions

    callees = _question(callees.CalleesParams, callees.callees)
    deps = _question(deps.DepsParams, deps.deps)
    implementors = _question(implementors.ImplementorsParams, implementors.implementors)
    overview = _question(overview.OverviewParams, overview.overview)
    refs = _question(refs.RefsParams, refs.refs)
    trace = _question(trace.TraceParams, trace.trace)
    history = as_method(history.HistoryParams, walk_history)
    impact = as_method(impact.ImpactParams, _impact)
    pack = as_method(pack.PackParams, _pack)
    search = as_method(search.SearchParams, _search)
    show = as_method(show.ShowParams, _show)

    def digest(self) -> DigestAnswer:
        """One value for the whole graph: equal graphs have equal digests."""
        from orbit.graph.query.digest import DigestAnswer, digest

        return self.put(lambda db, _: DigestAnswer(digest=digest(db)), None)

    def picture(self, of: Literal["overview", "impact"], **given: Any) -> PictureAnswer:
        """Boxes and arrows of an `overview` or an `impact`; further arguments are those of that question. `orbit.present.picture` draws it."""
        from orbit.graph.query.picture import PictureParams, picture

        def draw(graph: Graph, ask: PictureParams) -> PictureAnswer:
            return graph.put(partial(picture, root=graph.root), ask)

        return as_method(PictureParams, draw)(self, of=of, **given)

    # --- housekeeping

    def init(self) -> InitAnswer:
        """Make what is missing of the `.orbit` folder, of what git must not track of it, and of a first `.orbitignore`. Changes nothing that is there."""
        from orbit.graph.index.scan import seed_ignore

        state = self.workspace.state
        try:
            is_new = {".orbit/": not state.is_dir(), ".orbit/.gitignore": not (state / ".gitignore").exists()}
            self.workspace.prepare()
            is_new[".orbitignore"] = seed_ignore(self.root)
        except OSError as error:
            raise RefusedError(f"cannot write in {self.root}: {error.strerror}", hint="check permissions and space", code="not-writable") from None
        return InitAnswer(root=str(self.root), created=[name for name in is_new if is_new[name]], kept=[name for name in is_new if not is_new[name]])

    def version(self) -> VersionAnswer:
        """What made the graph: the package, the extractor, the tables."""
        from importlib.metadata import version as installed

        from orbit.graph.index.place import EXTRACTOR_VERSION
        from orbit.graph.store.connection import SCHEMA_VERSION

        return VersionAnswer(version=installed("orbit-native"), extractor_version=EXTRACTOR_VERSION, schema_version=SCHEMA_VERSION)

    def db_path(self) -> DbPathAnswer:
        """Where the graph of what is checked out is, or will be."""
        from orbit.graph.index.place import EXTRACTOR_VERSION, find_place

        place = find_place(self.root)
        return DbPathAnswer(path=str(place.database), branch=place.branch, extractor_version=EXTRACTOR_VERSION, exists=place.database.exists())

    def clean(self) -> CleanAnswer:
        """Delete the graphs of all branches of this worktree. Refuses, and deletes the others, when one is being written."""
        from orbit.graph.index.place import delete, find_all, find_place

        self._readers.close()
        folder = find_place(self.root).folder
        done = delete(find_all(folder))
        if done.kept:
            names = ", ".join(f"{name} ({reason})" for name, reason in sorted(done.kept.items()))
            busy = "in use" in done.kept.values()
            hint = "wait for the sync that is running, then try again" if busy else f"check permissions of {folder}"
            raise RefusedError(f"could not delete {names}", hint=hint, code="in-use" if busy else "not-writable")
        return CleanAnswer(graph_dir=str(folder), deleted=sorted(done.deleted))

    # --- how a question is asked

    def put(self, question: Callable[[Any, Any], Answer], ask: Any, *, keep_up: bool = True) -> Answer:
        """Put one question, a function of (connection, params), to one state of the graph, and say how fresh the answer is."""
        from orbit.graph.index.place import find_place

        if keep_up:
            self._keep_up()
        try:
            with self._readers.snapshot(find_place(self.root).database) as db:
                answer = question(db, _below(self.root, ask))
                if getattr(answer, "fresh", None) is True and (stale := stale_files(db, self.root, named_files(answer))):
                    answer.fresh, answer.stale_files = False, stale  # type: ignore[attr-defined]
                if getattr(ask, "limit", 0) is None:
                    fit(answer, named_files)
        except NoGraphError:
            if self._watch is None:
                raise
            raise self._watch.not_ready() from None
        if self._watch is not None and not getattr(answer, "fresh", True):
            self._watch.nudge()  # no event may have come
        return answer

    def _keep_up(self) -> None:
        """Sync first, if the policy wants it. A graph that cannot be written now still answers, and says what is stale."""
        if self.policy.kind in ("manual", "watch"):
            return
        with self._syncing:
            if self.policy.kind == "windowed" and self._synced_at is not None and time.monotonic() - self._synced_at < self.policy.seconds:
                return
            try:
                self.sync()
            except RefusedError:
                from orbit.graph.index.place import find_place

                if not find_place(self.root).database.exists():
                    raise


def _watch(workspace: Workspace, policy: SyncPolicy) -> Watch | None:
    if policy.kind != "watch":
        return None
    from orbit.graph.index.watch import Watch

    return Watch(workspace, max(1, round(policy.seconds * 1000)))


def _below(root: Path, ask: Any) -> Any:
    """Absolute paths below the root, as people paste them, made relative to it."""
    prefix = root.as_posix().rstrip("/") + "/"
    for field in ("selector", "scope"):
        text = getattr(ask, field, None)
        if isinstance(text, str) and prefix in text:
            kind, colon, rest = text.partition(":")
            if text.startswith(prefix):
                ask = msgspec.structs.replace(ask, **{field: text.removeprefix(prefix)})
            elif colon and rest.startswith(prefix):
                ask = msgspec.structs.replace(ask, **{field: f"{kind}:{rest.removeprefix(prefix)}"})
    return ask
