"""The graph of a worktree: what is in the code. `Graph` is the Python API; the command line and MCP ask the same questions through it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from orbit.config import Workspace
from orbit.errors import NoGraphError, OrbitError, RefusedError, UsageError
from orbit.graph.admin import CleanAnswer, DbPathAnswer, VersionAnswer, clean, db_path, version
from orbit.graph.policy import SyncPolicy
from orbit.graph.query.answer import fit
from orbit.graph.query.callees import CalleesAnswer, CalleesParams, callees
from orbit.graph.query.deps import DepsAnswer, DepsParams, deps
from orbit.graph.query.fresh import named_files, stale_files
from orbit.graph.query.history import HistoryAnswer, HistoryParams, TaskTouches, history, touched_by_task
from orbit.graph.query.impact import ImpactAnswer, ImpactParams, check, impact
from orbit.graph.query.implementors import ImplementorsAnswer, ImplementorsParams, implementors
from orbit.graph.query.overview import OverviewAnswer, OverviewParams, overview
from orbit.graph.query.pack import MAX_TOKENS, TIMEOUT_MS, PackAnswer, PackParams, pack
from orbit.graph.query.refs import RefsAnswer, RefsParams, refs
from orbit.graph.query.search import SearchAnswer, SearchParams, search
from orbit.graph.query.show import MAX_BYTES, ShowAnswer, ShowParams, show
from orbit.graph.query.tokens import find_counter
from orbit.graph.query.trace import TraceAnswer, TraceParams, trace
from orbit.graph.readers import Readers

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from orbit.graph.index.watch import Watch
    from orbit.graph.index.work import Memory
    from orbit.graph.outcome import SyncAnswer, Why
    from orbit.graph.query.digest import DigestAnswer
    from orbit.graph.query.picture import PictureAnswer

__all__ = ["Graph", "SyncPolicy"]

Answer = TypeVar("Answer")
Params = TypeVar("Params", bound=msgspec.Struct)
Progress = Callable[[str, int, int], None]  # (stage, done, of)


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
        """Is there a graph to ask? Only looks for the file."""
        from orbit.graph.index.place import find_place

        return find_place(self.root).database.exists()

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

    def search(
        self, query: str | None = None, *, kind: str | None = None, lang: str | None = None, task_id: str | None = None, limit: int | None = None
    ) -> SearchAnswer:
        """Find by name, beginning of a name, or words."""
        ask = _asked(SearchParams, query=query, kind=kind, lang=lang, task_id=task_id, limit=limit)
        return self._answer(partial(search, touched=None if task_id is None else self._touched(task_id)), ask)

    def show(self, selector: str, *, max_bytes: int = MAX_BYTES, decisions: bool = False) -> ShowAnswer:
        """The source of a symbol or file."""
        answer = self._answer(partial(show, root=self.root), _asked(ShowParams, selector=selector, max_bytes=max_bytes, decisions=decisions))
        if decisions:
            from orbit.graph.change import governing

            answer.decisions = governing(self, [(answer.path, answer.selector, answer.lines)])
        return answer

    def refs(self, selector: str, *, confidence: str = "same_module", kind: str | None = None, limit: int | None = None) -> RefsAnswer:
        """Who refers to a symbol."""
        return self._answer(refs, _asked(RefsParams, selector=selector, confidence=confidence, kind=kind, limit=limit))

    def callees(self, selector: str, *, confidence: str = "fuzzy", limit: int | None = None) -> CalleesAnswer:
        """What a symbol calls."""
        return self._answer(callees, _asked(CalleesParams, selector=selector, confidence=confidence, limit=limit))

    def overview(self, scope: str | None = None, *, format: str = "summary", limit: int | None = None) -> OverviewAnswer:
        """The shape of the tree, or of a part of it."""
        return self._answer(overview, _asked(OverviewParams, scope=scope, format=format, limit=limit))

    def implementors(self, selector: str, *, limit: int | None = None) -> ImplementorsAnswer:
        """What implements or extends a type."""
        return self._answer(implementors, _asked(ImplementorsParams, selector=selector, limit=limit))

    def deps(self, selector: str, *, limit: int | None = None) -> DepsAnswer:
        """What a file or folder imports."""
        return self._answer(deps, _asked(DepsParams, selector=selector, limit=limit))

    def impact(
        self,
        selector: str | None = None,
        *,
        diff: str | None = None,
        staged: bool = False,
        worktree: bool = False,
        depth: int | None = None,
        confidence: str = "same_module",
        direction: str = "in",
        limit: int | None = None,
        decisions: bool = False,
        fail_on: str | None = None,
    ) -> ImpactAnswer:
        """What a change may touch: of a symbol, of a file, or of all that a diff changes."""
        asked = _asked(
            ImpactParams, selector=selector, diff=diff, staged=staged, worktree=worktree, depth=depth, confidence=confidence, direction=direction,
            limit=limit, decisions=decisions, fail_on=fail_on,
        )  # fmt: skip
        check(asked)
        if not asked.is_diff:
            answer = self._answer(impact, asked)
            if decisions and answer.target is not None:
                from orbit.graph.change import governing

                found = self.show(answer.target.selector, max_bytes=0)
                answer.decisions = governing(self, [(found.path, found.selector, found.lines)])
            return answer
        from orbit.graph.change import impact_of_change

        return impact_of_change(self, asked)

    def trace(self, command: str, *, depth: int | None = None, confidence: str = "same_module") -> TraceAnswer:
        """The call tree of a command of a command line."""
        return self._answer(trace, _asked(TraceParams, command=command, depth=depth, confidence=confidence))

    def digest(self) -> DigestAnswer:
        """One value for the whole graph: equal graphs have equal digests."""
        from orbit.graph.query.digest import DigestAnswer, digest

        return self._answer(lambda db, _: DigestAnswer(digest=digest(db)), None)

    # --- context for a change

    def pack(self, selectors: Sequence[str], *, max_tokens: int = MAX_TOKENS, timeout_ms: int = TIMEOUT_MS, refresh: bool = False) -> PackAnswer:
        """Sources and summaries within a budget. Syncs only with `refresh`, whatever the policy."""
        ask = _asked(PackParams, selectors=list(selectors), max_tokens=max_tokens, timeout_ms=timeout_ms, refresh=refresh)
        counted_as, count = find_counter(self.workspace.setting("graph", "tokenizer"))
        if refresh:
            self.sync()
        return self._answer(partial(pack, root=self.root, count=count, counted_as=counted_as), ask, keep_up=False)

    def history(
        self, selector: str, *, task_id_pattern: str | None = None, stored: bool = False, limit: int | None = None, progress: Progress | None = None
    ) -> HistoryAnswer:
        """Which tasks and commits touched a thing. Walks commits that are new first, unless `stored`."""
        from orbit.graph.index.history import stand, task_pattern

        ask = _asked(HistoryParams, selector=selector, task_id_pattern=task_id_pattern, stored=stored, limit=limit)
        standing = stand(self.workspace, task_pattern(self.workspace, task_id_pattern), progress=progress, stored=stored)
        return self._answer(partial(history, root=self.root, standing=standing), ask)

    def picture(self, of: str, **given: Any) -> PictureAnswer:
        """Boxes and arrows of an `overview` or an `impact`; further arguments are those of that question. `orbit.present.picture` draws it."""
        from orbit.graph.query.picture import PictureParams, picture

        ask = _asked(PictureParams, of=of, **given)
        if of == "impact":
            check(ImpactParams(selector=ask.selector, diff=ask.diff, staged=ask.staged, worktree=ask.worktree))
        return self._answer(partial(picture, root=self.root), ask)

    def _touched(self, task_id: str) -> TaskTouches:
        from orbit.graph.index.history import stand, task_pattern

        return touched_by_task(stand(self.workspace, task_pattern(self.workspace, None)).database, task_id)

    # --- housekeeping

    def version(self) -> VersionAnswer:
        """What made the graph: the package, the extractor, the tables."""
        return version()

    def db_path(self) -> DbPathAnswer:
        """Where the graph of what is checked out is, or will be."""
        return db_path(self.workspace)

    def clean(self) -> CleanAnswer:
        """Delete the graphs of all branches of this worktree."""
        self._readers.close()
        return clean(self.workspace)

    # --- how a question is asked

    def put(self, question: Callable[[Any, Any], Answer], ask: Any) -> Answer:
        """Put a question that is none of the methods: a function of (connection, params)."""
        return self._answer(question, ask)

    def _answer(self, question: Callable[[Any, Any], Answer], ask: Any, *, keep_up: bool = True) -> Answer:
        """Put one question of `orbit.graph.query` to one state of the graph, and say how fresh the answer is."""
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


def _asked(params: type[Params], **given: Any) -> Params:
    """Params from arguments, checked as those of the command line are."""
    try:
        return msgspec.convert({name: value for name, value in given.items() if value is not None}, params)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from None


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
