"""Laws that hold for any sequence of actions, allowed or refused."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from orbit.adr import AdrStore
from orbit.audit import CommandLog
from orbit.config import Workspace
from orbit.errors import OrbitError

ids = st.integers(1, 5).map(lambda number: f"ADR-{number:04d}")
actions = st.one_of(
    st.tuples(st.just("add"), st.fixed_dictionaries({"tags": st.lists(st.sampled_from("abc"), max_size=2)})),
    st.tuples(st.just("accept"), ids),
    st.tuples(st.just("delete"), ids),
    st.tuples(st.just("supersede"), ids, ids),
    st.tuples(st.just("renumber"), ids),
    st.tuples(st.just("addendum"), ids),
    st.tuples(st.just("thread"), ids),
)


def perform(store, action, *given):
    if action == "add":
        store.add(title="T", owner="o", related_features=["f"], context="c", decision="d", consequences="- Cost: e", **given[0])
    elif action == "accept":
        store.update(given[0], status="accepted", related_tasks=["T1"])
    elif action == "delete":
        store.update(given[0], status="deleted")
    elif action == "supersede":
        store.supersede(*given)
    elif action == "renumber":
        store.renumber(given[0])
    elif action == "addendum":
        store.update(given[0], addendum="more")
    else:
        store.thread_add(given[0], "hello")


def contents(root):
    files = [path for path in (root / ".orbit/adrs").rglob("*") if path.is_file() and not path.name.startswith("index.sqlite")]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


@settings(deadline=None, max_examples=25)
@given(st.lists(actions, min_size=3, max_size=12))
def test_after_any_actions_the_store_is_sound_and_the_index_equals_a_rebuilt_one(steps):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".orbit").mkdir()
        with AdrStore(root) as store:
            for step in [("add", {}), ("add", {}), *steps]:
                before = contents(root)
                try:
                    perform(store, *step)
                except OrbitError:
                    assert contents(root) == before
            incremental = [msgspec.to_builtins(entry) for entry in store.index.current().entries()]
            assert store.lint().errors == []
            given_out = [row.adr_id for row in CommandLog(Workspace(root)).rows() if row.from_status is None or row.command == "adr.renumber"]
            assert len(given_out) == len(set(given_out))
            store.reindex()
            assert [msgspec.to_builtins(entry) for entry in store.index.entries()] == incremental
