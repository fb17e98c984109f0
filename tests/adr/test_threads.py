"""Review threads live beside their decision and move with it."""

from __future__ import annotations

import pytest

from orbit.errors import NotFoundError, UsageError


def test_a_thread_is_opened_answered_resolved_and_reopened(repo, store, monkeypatch):
    monkeypatch.setenv("ORBIT_ACTOR", "ana")
    adr_id = repo.add()
    opened = repo.ask("thread", "add", adr_id, "--body", "Why a lock?\n\n- really", "--path", "src/a.py", "--line", "3")
    thread_id = opened["thread_id"]
    assert (opened["status"], opened["path"], opened["line"], opened["messages"][0]["by"]) == ("open", "src/a.py", 3, "ana")
    assert (repo.home / "proposed" / adr_id / "review_threads" / f"{thread_id}.yaml").exists()
    repo.ask("thread", "resolve", adr_id, thread_id)
    assert repo.ask("show", adr_id)["threads"] == {"open": 0, "resolved": 1}
    answered = repo.ask("thread", "reply", adr_id, thread_id, "--body", "Because.")
    assert (answered["status"], [message["body"] for message in answered["messages"]]) == ("open", ["Why a lock?\n\n- really\n", "Because.\n"])
    other = store.thread_add(adr_id, "General point")
    store.thread_resolve(adr_id, other.thread_id)
    assert [thread.thread_id for thread in store.thread_list(adr_id).threads] == [thread_id, other.thread_id]
    assert repo.ask("thread", "list", adr_id, "--status", "open") == {"adr_id": adr_id, "threads": [answered], "total": 1}
    assert "Because." in repo.cli("thread", "list", adr_id).out


def test_threads_follow_their_decision_through_status_and_number(repo, store):
    adr_id = repo.add()
    thread = store.thread_add(adr_id, "First")
    store.update(adr_id, status="accepted", related_tasks=["T"])
    store.renumber(adr_id, "ADR-0008")
    (found,) = store.thread_list("ADR-0008").threads
    assert (found.thread_id, found.adr_id) == (thread.thread_id, "ADR-0008")


def test_empty_messages_lines_without_files_and_unknown_threads_are_refused(repo, store):
    adr_id = repo.add()
    before = repo.bytes()
    with pytest.raises(UsageError, match="empty"):
        store.thread_add(adr_id, "  ")
    with pytest.raises(UsageError, match="--path"):
        store.thread_add(adr_id, "x", line=3)
    with pytest.raises(NotFoundError, match="rt-1"):
        store.thread_reply(adr_id, "rt-1", "x")
    assert repo.bytes() == before
