"""Any command as a recorded step: what it printed, how it ended, how long it took, and what it did to the worktree."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, BinaryIO

import msgspec
from msgspec import Meta

from orbit.errors import RefusedError, UsageError
from orbit.git import ask, decode
from orbit.runs import roles
from orbit.runs.child import Child, Ended
from orbit.runs.event import ActivityFinished, ActivityStarted, CliInvocationFinished, CliInvocationProcess, CliInvocationStarted, Outcome
from orbit.runs.journal import Journal
from orbit.runs.redact import RedactingWriter
from orbit.runs.run import Run
from orbit.runs.rundir import RunFolder, checked_name
from orbit.runs.step import Step

GraphDigest = Callable[[], str | None]
Shown = tuple[BinaryIO, BinaryIO] | None
_WORDS = {"cli": {"argument": True, "metavar": "-- COMMAND [WORD]..."}}
_PATIENCE = 120  # seconds for a snapshot of the worktree


class WorkspaceWatch:
    """A snapshot is a tree of everything git would track, untracked files included, built with an index and an object folder of its own."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root, self._temporary = root, scratch
        self.before = self._snapshot()  # None where there is nothing to compare

    def diff(self) -> bytes:
        """The change since the first snapshot, as a patch."""
        after = self._snapshot()
        if self.before is None or after is None:
            return b""
        return self._git("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--binary", self.before, after) or b""

    def status(self) -> bytes:
        """Branch, head and changed files, as they are now."""
        head = (ask(self.root, "rev-parse", "--verify", "-q", "HEAD") or b"none").strip()
        return b"# head " + head + b"\n" + (ask(self.root, "status", "--porcelain=v1", "--branch", timeout=_PATIENCE) or b"")

    def _snapshot(self) -> str | None:
        """The id of a tree, or None where there is no git, no repository, or no room for a snapshot."""
        found = ask(self.root, "rev-parse", "--git-path", "index", "--git-path", "objects")
        if found is None:
            return None
        index, self._objects = (self.root / line for line in decode(found).splitlines()[:2])
        (self._temporary / "objects").mkdir(exist_ok=True)
        try:
            shutil.copyfile(index, self._temporary / "index")
        except OSError:
            (self._temporary / "index").unlink(missing_ok=True)  # a repository without a first `git add` has none
        tree = self._git("write-tree") if self._git("add", "--all") is not None else None
        return tree.decode().strip() if tree else None

    def _git(self, *words: str) -> bytes | None:
        """Output of a git command with the private index and objects."""
        own = {"GIT_INDEX_FILE": self._temporary / "index", "GIT_OBJECT_DIRECTORY": self._temporary / "objects"}
        own["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = self._objects
        options = [word for option in ("core.looseCompression=0", "core.safecrlf=false", "advice.addEmbeddedRepo=false") for word in ("-c", option)]
        return ask(self.root, *options, *words, variables={name: str(path) for name, path in own.items()}, timeout=_PATIENCE)


class ExecParams(msgspec.Struct, kw_only=True):
    command: Annotated[list[str], Meta(description="The command and its words.", min_length=1, extra=_WORDS)]
    workflow: Annotated[str | None, Meta(description="Workflow id of a new run; default: the command's name.")] = None
    step: Annotated[str | None, Meta(description="Step id; default: the command's name, numbered if taken.", extra={"cli": {"short": "-s"}})] = None
    run: Annotated[str | None, Meta(description="Add the step to this run instead of starting one.")] = None
    opcode: Annotated[str, Meta(description="What kind of step this is.")] = "RUN_COMMAND"
    timeout: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="End the command, and all it started, after this many seconds; exit code 124.")
    ] = None
    no_diff: Annotated[bool, Meta(description="Do not record what the command changed in the worktree.")] = False


class ExecAnswer(Ended, frozen=True, kw_only=True):
    run_id: str
    step_id: str
    state: str
    head: str | None  # the anchor: keep it elsewhere to make tampering evident
    events: int
    events_lost: int
    writes_failed: int
    path: str


def execute(folder: RunFolder, params: ExecParams, *, shown: Shown = None, graph_digest: GraphDigest | None = None, cwd: Path | None = None) -> ExecAnswer:
    """Run the command; `shown` receives its output live, `graph_digest` tells the state of the graph where there is one."""
    if not params.command:
        raise UsageError("no command given", hint="orbit run exec -- COMMAND [WORD...]")
    name = _name_of(params.command[0])
    root, artifacts = folder.workspace.root, folder.root
    if params.step is not None:  # refused before anything is written: a mistyped step must not mark a run as failed
        checked_name("step", params.step)
        if params.run is not None and params.step in folder.existing(params.run).step_ids():
            raise RefusedError(f"step {params.step!r} is already recorded in {params.run}", hint="give this attempt an id of its own")
    if params.run:
        run = Run.resume(params.run, root=root, artifacts_root=artifacts)
    else:
        run = Run.start(workflow_id=params.workflow or name, root=root, artifacts_root=artifacts)
    child = Child(params.command, cwd or Path.cwd())
    with child.forwarding(), run, ExitStack() as until_end:
        step = _begin_step(run, params, name, until_end)
        ended = _Recording(run, step, params, child, shown, graph_digest).record()
    told: dict[str, Any] = {"run_id": run.run_id, "step_id": step.step_id, "state": run.metadata.termination or "", "head": run.head}
    told |= {"events": run.journal.envelope.count, "events_lost": run.journal.unwritten, "writes_failed": run.journal.failures}
    return ExecAnswer(**msgspec.structs.asdict(ended), **told, path=f"{folder.label}/{run.run_id}")


class _Recording:
    def __init__(self, run: Run, step: Step, params: ExecParams, child: Child, shown: Shown, graph_digest: GraphDigest | None) -> None:
        self.run, self.step, self.params, self.child, self.shown, self.graph_digest = run, step, params, child, shown, graph_digest
        self.provider = _name_of(params.command[0])
        self.ended = Ended(exit_code=1, duration_ms=0)  # until it has

    def record(self) -> Ended:
        graph_before = self.graph_digest() if self.graph_digest else None

        def finished(outcome: Outcome, error: str | None) -> ActivityFinished:
            return ActivityFinished(activity_name=self.provider, outcome="failed" if self.ended.exit_code and not error else outcome, error_message=error)

        with ExitStack() as until_end:
            watch = None
            if not self.params.no_diff:
                scratch = until_end.enter_context(TemporaryDirectory(prefix="orbit-diff-", ignore_cleanup_errors=True))
                watch = WorkspaceWatch(self.run.paths.folder.workspace.root, Path(scratch))
            with self.run.scope(ActivityStarted(activity_name=self.provider, activity_type="shell"), finished):
                self._invoke()
            self._keep_workspace(watch)
        self._summarize(graph_before)
        return self.ended

    def _invoke(self) -> None:
        argv, timeout = self.run.journal.redactor.argv(self.params.command), self.params.timeout
        limit = round(timeout * 1000) if timeout else None
        started = CliInvocationStarted(provider=self.provider, argv_redacted=argv, wall_clock_timeout_ms=limit, cwd=str(self.child.cwd))
        refs: dict[str, Any] = {}

        def finished(*_: object) -> CliInvocationFinished:
            facts = {name: getattr(self.ended, name) for name in ("exit_code", "duration_ms", "timed_out")}
            return CliInvocationFinished(provider=self.provider, **facts, **refs)

        with self.run.scope(started, finished):
            out, err = (_Keeper(self.run.journal, self.step.path / f"{name}.txt") for name in ("stdout", "stderr"))
            refused = self.child.start()
            if refused is None:
                self.run.emit(CliInvocationProcess(provider=self.provider, pid=self.child.pid))
            elif self.shown is not None:
                self.shown[1].write(f"{refused.error}\n".encode())
                self.shown[1].flush()
            self.ended = refused or self.child.wait((out, err), self.shown, timeout)
            for keeper, role in ((out, roles.VALIDATION_STDOUT), (err, roles.VALIDATION_STDERR)):
                ref = refs[f"{keeper.path.stem}_blob_ref"] = keeper.finish()
                self.step.artifact(role=role, path=keeper.path, media_type="text/plain", important=True, blob=ref)

    def _keep_workspace(self, watch: WorkspaceWatch | None) -> None:
        if watch is None or watch.before is None:
            self.step.summarize(workspace="not recorded")
            return
        diff = watch.diff()
        self.step.artifact(role=roles.WORKSPACE_DIFF, content=diff, name="workspace.diff", media_type="text/x-diff", important=bool(diff))
        self.step.artifact(role=roles.WORKSPACE_STATUS, content=watch.status(), name="workspace-status.txt", media_type="text/plain")
        self.step.summarize(workspace="changed" if diff else "unchanged")

    def _summarize(self, graph_before: str | None) -> None:
        ended = self.ended
        how = f"ended by {ended.signal}" if ended.signal and not ended.timed_out else f"exit {ended.exit_code}"
        facts = {"exit_code": ended.exit_code, "duration_ms": ended.duration_ms, "timed_out": ended.timed_out, "signal": ended.signal}
        if ended.is_output_cut:
            facts["output"] = "cut: a background process still held it open"
        if self.graph_digest is not None:
            facts |= {"graph_digest_before": graph_before, "graph_digest_after": self.graph_digest()}
        self.step.summarize(f"{self.provider}: {'timed out' if ended.timed_out else how}", **facts)
        if ended.exit_code != 0:
            self.step.fail(ended.error or f"{self.provider}: {how}", "timed_out" if ended.timed_out else "failed")


class _Keeper:
    """A stream of the child, cleaned and written as it comes. What a failing disk refuses is counted, and the child goes on."""

    def __init__(self, journal: Journal, path: Path) -> None:
        self.path, self._journal = path, journal
        self._writer: RedactingWriter | None = None
        with journal.guarded(path.name):
            self._file = path.open("wb", buffering=0)
            self._writer = RedactingWriter(self._file, journal.redactor)

    def write(self, chunk: bytes) -> None:
        if self._writer is not None:
            with self._journal.guarded(f"{self.path.name}, from here on"):
                self._writer.write(chunk)
                return
            self._writer = None

    def finish(self) -> str | None:
        """Close the file and store it as a blob; its reference."""
        if self._writer is not None:
            with self._journal.guarded(f"blob of {self.path.name}"):
                self._writer.finish()
                self._file.close()
                return self._journal.blobs.put_file(self.path)
        return None


def _name_of(command: str) -> str:
    cleaned = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-" for letter in Path(command).name).strip(".-")
    return cleaned[:60] or "command"


def _begin_step(run: Run, params: ExecParams, name: str, until_end: ExitStack) -> Step:
    """The step asked for, or the first free one of name, name-2, name-3, ... even if others are taking them at the same moment."""
    if params.step is not None:
        return until_end.enter_context(run.step(params.step, opcode=params.opcode))
    for number in count(1):
        with suppress(RefusedError):
            return until_end.enter_context(run.step(name if number == 1 else f"{name}-{number}", opcode=params.opcode))
    raise AssertionError("count has no end")
