"""The tamper matrix: whatever is done to the files of a finished run, verify finds it and names the place."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from orbit import Run
from orbit.runs.event import CliInvocationFinished, StepSkipped
from orbit.runs.rundir import RunFolder, RunPaths
from orbit.runs.stream import GENESIS, LINE, digest_of, parse, seal
from orbit.runs.verify import VerifyAnswer, VerifyParams, verify_run

Lines = list[bytes]


@pytest.fixture
def run(folder: RunFolder) -> Run:
    """A finished run: ten lines in the envelope, artifacts, a blob, a transcript."""
    with Run.start(workflow_id="w", root=folder.workspace.root, run_id="r", fsync="never") as run, run.step("build", opcode="RUN_STEP") as step:
        step.artifact(role="validation_report", content={"passed": 3}, required=True)
        for number in range(5):
            run.emit(StepSkipped(step_id="build", reason=f"reason {number}"))
        run.emit(CliInvocationFinished(provider="p", exit_code=0, stdout_blob_ref=run.journal.put_blob(b"output\n")))
    return run


def check(folder: RunFolder, anchor: str | None = None) -> VerifyAnswer:
    return verify_run(folder, VerifyParams(run="r", anchor=anchor))


def relinked(lines: Lines, start: int = 0) -> Lines:
    """The same records with a fresh chain from line index `start` on, as a careful forger would make it."""
    kept = lines[:start]
    last = parse(kept[-1]) if kept else None
    prev, seq = (last["hash"], last["seq"]) if last else (GENESIS, 0)
    for line in lines[start:]:
        record = parse(line)
        assert record is not None
        seq += 1
        sealed, prev = seal({key: value for key, value in record.items() if key not in ("seq", "prev_hash", "hash")}, seq, prev)
        kept.append(sealed)
    return kept


def rehashed(line: bytes) -> bytes:
    record = parse(line)
    assert record is not None
    return LINE.encode(record | {"hash": digest_of(record)}) + b"\n"


def forged_after(line: bytes) -> bytes:
    """A new event that truly follows `line`."""
    record = parse(line)
    assert record is not None
    return seal({"event_type": "step.skipped", "event_id": "forged", "step_id": "build", "reason": "forged"}, record["seq"] + 1, record["hash"])[0]


# name -> (what is done to the lines, kind that must be found, 1-based line that must be named)
MATRIX: dict[str, tuple[Callable[[Lines], Lines], str, int | None]] = {
    "a value edited": (lambda x: [*x[:4], x[4].replace(b"reason 2", b"reason 9"), *x[5:]], "edited", 5),
    "a value edited and its hash made good": (lambda x: [*x[:4], rehashed(x[4].replace(b"reason 2", b"reason 9")), *x[5:]], "edited", 5),
    "a hash edited": (lambda x: [*x[:4], x[4][:-11] + b"00000000" + x[4][-3:], *x[5:]], "edited", 5),
    "a seq edited": (lambda x: [*x[:4], x[4].replace(b'"seq":5', b'"seq":6'), *x[5:]], "edited", 5),
    "a prev_hash edited": (lambda x: [*x[:4], x[4].replace(b'"prev_hash":"', b'"prev_hash":"0')[:-1] + b"\n", *x[5:]], "edited", 5),
    "white space added": (lambda x: [*x[:4], x[4].replace(b'"seq":5', b'"seq": 5'), *x[5:]], "edited", 5),
    "a key repeated": (lambda x: [*x[:4], x[4].replace(b'"reason":"reason 2"', b'"reason":"x","reason":"reason 2"'), *x[5:]], "edited", 5),
    "the first line edited": (lambda x: [x[0].replace(b'"job_name":"w"', b'"job_name":"v"'), *x[1:]], "edited", 1),
    "the last line edited": (lambda x: [*x[:-1], x[-1].replace(b'"outcome":"success"', b'"outcome":"failed"')], "edited", 10),
    "a line deleted": (lambda x: [*x[:4], *x[5:]], "deleted", 5),
    "three lines deleted": (lambda x: [*x[:3], *x[6:]], "deleted", 4),
    "the first line deleted": (lambda x: x[1:], "deleted", 1),
    "a line copied": (lambda x: [*x[:5], x[2], *x[5:]], "inserted", 6),
    "a line copied at the end": (lambda x: [*x, x[2]], "inserted", 11),
    "a forged line inserted": (lambda x: [*x[:5], forged_after(x[4]), *x[5:]], "inserted", 6),
    "a forged line appended": (lambda x: [*x, forged_after(x[-1])], "inserted", 11),
    "a foreign line inserted": (lambda x: [*x[:5], b'{"hello":1}\n', *x[5:]], "unreadable", 6),
    "a line of rubbish inserted": (lambda x: [*x[:5], b"\x00\xff rubbish\n", *x[5:]], "unreadable", 6),
    "a blank line inserted": (lambda x: [*x[:5], b"\n", *x[5:]], "unreadable", 6),
    "two lines swapped": (lambda x: [*x[:4], x[5], x[4], *x[6:]], "reordered", 5),
    "a line moved to the front": (lambda x: [x[6], *x[:6], *x[7:]], "reordered", 1),
    "the tail cut off": (lambda x: x[:7], "truncated", 7),
    "the last line cut off": (lambda x: x[:-1], "truncated", 9),
    "all lines cut off": (lambda x: [], "truncated", 0),
    "the last line torn": (lambda x: [*x[:-1], x[-1][:40]], "unreadable", 10),
    "the last end of line cut off": (lambda x: [*x[:-1], x[-1][:-1]], "unreadable", 10),
    "a branch that goes as far": (lambda x: [*x, *relinked([*x[:7], *[x[7].replace(b"p", b"q")] * 3], 7)[7:]], "forked", 13),
    "an edit with the whole chain made good": (lambda x: relinked([*x[:4], x[4].replace(b"reason 2", b"reason 9"), *x[5:]], 4), "forked", 10),
    "a deletion with the whole chain made good": (lambda x: relinked([*x[:4], *x[5:]], 4), "truncated", 9),
}  # fmt: skip


def test_an_untouched_run_is_ok_and_its_head_is_the_anchor(folder: RunFolder, run: Run) -> None:
    answer = check(folder, run.head)
    assert (answer.ok, answer.problems, answer.head, answer.events, answer.artifacts, answer.blobs) == (True, [], run.head, 10, 1, 1)


@pytest.mark.parametrize("case", MATRIX)
def test_tampering_is_found_and_its_line_named(folder: RunFolder, run: Run, case: str) -> None:
    change, kind, line = MATRIX[case]
    path = folder.run("r").envelope
    before = path.read_bytes().splitlines(keepends=True)
    after = change(list(before))
    assert after != before
    path.write_bytes(b"".join(after))
    answer = check(folder)
    assert not answer.ok
    assert (kind, line) in [(problem.kind, problem.line) for problem in answer.problems], answer.problems


@pytest.mark.parametrize("case", MATRIX)
def test_the_thin_stream_is_guarded_the_same_way(folder: RunFolder, run: Run, case: str) -> None:
    """Its end is committed to by the envelope's closing event; with fewer lines the places differ, so only the finding counts."""
    path = folder.run("r").events
    with Run.resume("r", root=folder.workspace.root) as more:
        for name in ("b", "c", "d"):
            with more.step(name) as step:
                step.record("gate_requested", reason="reason 2", p="reason 2")
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) > 10 and check(folder).ok
    after = MATRIX[case][0](list(lines))
    path.write_bytes(b"".join(after))
    assert check(folder).ok == (after == lines)


def test_a_whole_new_history_with_its_own_anchor_is_found_only_by_an_anchor_kept_elsewhere(folder: RunFolder, run: Run) -> None:
    paths = folder.run("r")
    lines = paths.envelope.read_bytes().splitlines(keepends=True)
    forged = relinked([*lines[:4], lines[4].replace(b"reason 2", b"reason 9"), *lines[5:]], 4)
    paths.envelope.write_bytes(b"".join(forged))
    new_head = parse(forged[-1])["hash"]  # type: ignore[index]
    paths.metadata.write_bytes(paths.metadata.read_bytes().replace(str(run.head).encode(), new_head.encode()))
    assert check(folder).ok, "without an outside witness this cannot be seen, and nothing claims it can"
    answer = check(folder, run.head)
    assert [problem.kind for problem in answer.problems] == ["forked"]


def test_a_valid_prefix_without_its_anchor_is_called_truncated(folder: RunFolder, run: Run) -> None:
    paths = folder.run("r")
    lines = paths.envelope.read_bytes().splitlines(keepends=True)
    paths.envelope.write_bytes(b"".join(lines[:6]))
    metadata = msgspec.json.decode(paths.metadata.read_bytes())
    paths.metadata.write_bytes(msgspec.json.encode(metadata | {"anchor": None, "termination": None, "ended_at": None}))
    assert [(problem.kind, problem.line) for problem in check(folder).problems] == [("truncated", 6)]


def test_an_anchor_of_an_earlier_end_still_holds_after_more_steps(folder: RunFolder, run: Run) -> None:
    with Run.resume("r", root=folder.workspace.root) as more, more.step("later"):
        pass
    assert check(folder, run.head).ok and check(folder, more.head).ok and more.head != run.head


def edit(path: Path) -> None:
    content = path.read_bytes()
    # in metadata.json the workflow: the first 3 may stand in the anchor, which is checked against the events instead
    old, new = (b'"w"', b'"v"') if path.name == "metadata.json" else (b"3", b"4")
    path.write_bytes(content.replace(old, new, 1) if old in content else content + b" ")


def files_of(paths: RunPaths) -> dict[str, Path]:
    [blob] = [file for file in paths.blobs.rglob("*") if file.is_file()]
    report = paths.artifacts / "build" / "validation_report.json"
    return {
        "r.jsonl": paths.envelope,
        "events.ndjson": paths.events,
        "metadata.json": paths.metadata,
        "final-state.txt": paths.final_state,
        "manifest": paths.manifest("build"),
        "report": report,
        "blob": blob,
    }


@pytest.mark.parametrize("which", ["metadata.json", "final-state.txt", "manifest", "report", "blob"])
@pytest.mark.parametrize("how", ["changed", "missing"])
def test_changed_and_missing_files_are_named(folder: RunFolder, run: Run, which: str, how: str) -> None:
    path = files_of(folder.run("r"))[which]
    if how == "changed":
        edit(path)
    else:
        path.unlink()
    problems = check(folder).problems
    assert any(problem.kind == how and path.name in problem.file for problem in problems), problems


@pytest.mark.parametrize("which", ["r.jsonl", "events.ndjson"])
def test_a_stream_that_is_gone_is_truncated_to_nothing(folder: RunFolder, run: Run, which: str) -> None:
    files_of(folder.run("r"))[which].unlink()
    problems = check(folder).problems
    assert ("truncated", which, 0) in [(problem.kind, problem.file, problem.line) for problem in problems]


def test_a_run_removed_whole_is_not_found_rather_than_ok(folder: RunFolder, run: Run) -> None:
    from orbit.errors import NotFoundError

    shutil.rmtree(folder.run("r").path)
    with pytest.raises(NotFoundError):
        check(folder)
