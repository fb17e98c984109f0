"""Killed at each write step, the store is whole after the next command. Many writers at once lose nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import orbit
from orbit.adr import AdrStore
from orbit.audit import CommandLog
from orbit.config import Workspace

SOURCE = str(Path(orbit.__file__).parent.parent)
# Every call that changes a file or folder counts; the process dies just before call number N.
KILLED = """
import os, sys
sys.path.insert(0, {source!r})
left = {step}
def deadly(call):
    def run(*arguments, **named):
        global left
        left -= 1
        if left == 0:
            os._exit(9)
        return call(*arguments, **named)
    return run
from orbit.adr import AdrStore
from orbit.audit import CommandLog
store = AdrStore({root!r})
store.index.current()
for name in ("replace", "rename", "unlink", "mkdir", "fsync"):
    setattr(os, name, deadly(getattr(os, name)))
CommandLog.append = deadly(CommandLog.append)
{command}
"""
COMMANDS = {
    "add": "store.add(title='New', owner='o', related_features=['core'])",
    "accept": "store.update('ADR-0001', status='accepted', related_tasks=['T'])",
    "supersede": "store.supersede('ADR-0002', 'ADR-0003')",
    "renumber": "store.renumber('ADR-0002', 'ADR-0009')",
}


def summary(root):
    """What the store says, without times."""
    with AdrStore(root) as store:
        found = [(adr.id, adr.title, adr.status, adr.superseded_by, adr.supersedes, adr.related_tasks) for adr in store.list().adrs]
        errors = [finding.message for finding in store.lint().errors]
    rows = [(row.adr_id, row.from_status, row.to_status) for row in CommandLog(Workspace(root)).rows()]
    return found, errors, rows, (root / "notes.md").read_text()


def stock(repo):
    repo.add("One")
    repo.accepted("Two")
    repo.accepted("Three")
    repo.write("notes.md", "see [ADR-0002]\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_any_step_a_change_is_there_in_full_or_not_at_all(repo, tmp_path_factory, command):
    stock(repo)
    before, outcomes = summary(repo.root), []
    for step in range(1, 60):
        root = tmp_path_factory.mktemp("crash") / "copy"
        shutil.copytree(repo.root, root)
        script = KILLED.format(source=SOURCE, root=str(root), step=step, command=COMMANDS[command])
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 9), done.stderr
        outcomes.append(summary(root))
        assert not list((root / ".orbit/adrs").rglob("*.tmp"))
        if done.returncode == 0:
            break
        with AdrStore(root) as store:
            taken = {adr.id for adr in store.list().adrs}
            assert store.add(title="Later", owner="o", related_features=["core"]).id not in taken
    after = outcomes[-1]
    assert after != before
    turned = outcomes.index(after)
    assert outcomes == [before] * turned + [after] * (len(outcomes) - turned)
    assert 2 <= turned <= len(outcomes) - 4


def test_killed_again_while_recovering_it_still_ends_whole(repo, tmp_path_factory):
    stock(repo)
    for step in range(1, 20):
        crash = KILLED.format(source=SOURCE, root=str(repo.root), step=step, command=COMMANDS["supersede"])
        assert subprocess.run([sys.executable, "-c", crash], capture_output=True, check=False).returncode == 9
        if (repo.root / ".orbit/state/adr-change.msgpack").exists():
            break
    outcomes = []
    for step in range(1, 60):
        root = tmp_path_factory.mktemp("again") / "copy"
        shutil.copytree(repo.root, root)
        script = KILLED.format(source=SOURCE, root=str(root), step=step, command="").replace("store.index.current()\n", "") + "store.journal.settle()\n"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 9), done.stderr
        outcomes.append(summary(root))
        if done.returncode == 0:
            break
    assert len(outcomes) > 3
    assert all(outcome == outcomes[-1] for outcome in outcomes)
    assert ("ADR-0002", "Two", "superseded", "ADR-0003") in [adr[:4] for adr in outcomes[-1][0]]


WRITER = """
import sys
sys.path.insert(0, {source!r})
from orbit.adr import AdrStore
store = AdrStore({root!r})
for number in range(1, 12):
    store.update(str(number), status="accepted", related_tasks=["T"])
    if number > 1:
        store.supersede(str(number - 1), str(number))
"""


def test_readers_never_see_a_change_halfway(repo, store):
    """A writer accepts and supersedes one decision after the other while this process keeps reading."""
    for number in range(12):
        repo.add(f"Number {number}")
    with subprocess.Popen([sys.executable, "-c", WRITER.format(source=SOURCE, root=str(repo.root))]) as writer:
        while writer.poll() is None:
            listed = {adr.id: adr for adr in store.list().adrs}
            assert len(listed) == 12
            for adr in listed.values():
                assert (adr.superseded_by is not None) == (adr.status == "superseded")
                assert adr.superseded_by is None or adr.id in listed[adr.superseded_by].supersedes
            assert store.show("ADR-0006").warnings == []
    assert writer.returncode == 0
    assert store.show("ADR-0006").status == "superseded"
    assert store.lint().errors == []


def test_a_file_somebody_changed_after_the_crash_is_left_alone(repo, store):
    stock(repo)
    script = KILLED.format(source=SOURCE, root=str(repo.root), step=7, command=COMMANDS["renumber"])
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode == 9
    repo.write("notes.md", "mine\n")
    assert store.show("ADR-0009").title == "Two"
    assert repo.read("notes.md") == "mine\n"


ADDER = """
import sys
sys.path.insert(0, {source!r})
from orbit.adr import AdrStore
print(AdrStore({root!r}).add(title=f"Number {{sys.argv[1]}}", owner="o", related_features=["core"]).id)
"""


def test_twenty_processes_adding_at_once_get_twenty_ids_and_lose_nothing(repo, store):
    script = ADDER.format(source=SOURCE, root=str(repo.root))
    running = [subprocess.Popen([sys.executable, "-c", script, str(number)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for number in range(20)]
    said = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0] * 20, said
    ids = [out.strip() for out, _ in said]
    assert sorted(ids) == [f"ADR-{number:04d}" for number in range(1, 21)]
    assert {adr.id: adr.title for adr in store.list().adrs} == {adr_id: f"Number {number}" for number, adr_id in enumerate(ids)}
    assert len([row for row in CommandLog(Workspace(repo.root)).rows() if row.to_status == "proposed"]) == 20
    assert store.lint().errors == []
