"""A client that edits and asks: right after the barrier, honest without it, and at home on every branch."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from desk import Desk


@pytest.mark.parametrize("rounds", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_after_a_sync_the_answer_is_that_of_the_edit(real_repository: Path, rounds: int) -> None:
    files = sorted(path for path in (real_repository / "click").glob("*.py") if path.name != "types.py")
    with Desk(real_repository) as client:
        client.call("graph_sync")
        others = client.call("graph_refs", selector="click.types.ParamType", kind="type")["total"]
        for number in range(rounds):
            path = files[number % len(files)]
            text = path.read_text(encoding="utf-8")
            path.write_text(f"{text}\nfrom .types import ParamType as Kind\n\n\ndef edited_{number}(one: Kind) -> None: ...\n", encoding="utf-8")
            assert not client.call("graph_sync").is_error
            shown = client.call("graph_show", selector=f"edited_{number}")
            assert (shown["fresh"], shown["path"]) == (True, f"click/{path.name}")
            assert shown["source"].startswith(f"def edited_{number}(")
            assert client.call("graph_refs", selector="click.types.ParamType", kind="type")["total"] == others + 1
            path.write_text(text, encoding="utf-8")
            assert not client.call("graph_sync").is_error
            assert client.call("graph_show", selector=f"edited_{number}").error["code"] == "symbol-not-found"


def test_without_a_sync_an_answer_says_which_of_its_files_changed(repository: Path) -> None:
    with Desk(repository, "--debounce-ms", "60000") as client:
        client.call("graph_sync")
        (repository / "pkg/jobs.py").write_text("def load(store):\n    return 2\n", encoding="utf-8")
        for tool in ("graph_show", "graph_refs", "graph_callees"):
            answer = client.call(tool, selector="load")
            assert (answer["fresh"], answer["stale_files"]) == (False, ["pkg/jobs.py"]), tool
        assert "fresh" in client.call("graph_search", query="Store")


def test_a_branch_switch_is_followed(repository: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=repository, check=True, capture_output=True)

    with Desk(repository, "--debounce-ms", "50") as client:
        client.call("graph_sync")
        git("checkout", "-qb", "other")
        (repository / "pkg/extra.py").write_text("def only_there():\n    return 1\n", encoding="utf-8")
        git("add", "-A")
        git("commit", "-qm", "second")
        assert client.call("graph_sync")["db"].rpartition("/")[2].startswith("other.")
        assert client.call("graph_show", selector="only_there")["name"] == "only_there"
        git("checkout", "-q", "main")
        end = time.monotonic() + 20
        while (answer := client.call("graph_show", selector="only_there")).error["code"] != "symbol-not-found":
            assert answer.error["code"] in {"indexing", "file-gone"}
            assert time.monotonic() < end
