"""A real git repository with a store in it, driven through the command line and the Python API."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from orbit.adr import AdrStore
from orbit.cli.app import app

IDENTITY = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]
WHOLE = {"context": "Files rot.", "decision": "Keep them in git.", "consequences": "- Cost: discipline"}


@dataclass
class Said:
    """What a command answered."""

    exit: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Repo:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q")

    @property
    def home(self) -> Path:
        return self.root / ".orbit" / "adrs"

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *IDENTITY, *arguments], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout

    def commit(self, message: str = "change") -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def cli(self, *arguments: str) -> Said:
        result = CliRunner().invoke(app, ["adr", *arguments, "--root", str(self.root)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Said(result.exit_code, result.stdout, result.stderr)

    def ask(self, *arguments: str) -> Any:
        """The JSON answer of a command that must succeed."""
        said = self.cli(*arguments, "--json")
        assert said.exit == 0, said.err
        return said.json

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def add(self, title: str = "Keep it", **given: Any) -> str:
        with AdrStore(self.root) as store:
            return store.add(**{"title": title, "owner": "ana", "related_features": ["core"], **WHOLE, **given}).id

    def accepted(self, title: str = "Keep it", **given: Any) -> str:
        adr_id = self.add(title, **given)
        with AdrStore(self.root) as store:
            store.update(adr_id, status="accepted", related_tasks=["T1"])
        return adr_id

    def bytes(self) -> dict[str, str]:
        """Digest of every file but git's own, the audit log and the rebuildable index."""
        skipped = (".git/", ".orbit/state/", ".orbit/adrs/index.sqlite")
        names = {path.relative_to(self.root).as_posix(): path for path in self.root.rglob("*") if path.is_file()}
        return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in names.items() if not name.startswith(skipped)}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path)


@pytest.fixture
def store(repo: Repo) -> Iterator[AdrStore]:
    with AdrStore(repo.root) as opened:
        yield opened


@pytest.fixture
def new_repo(tmp_path: Path) -> Callable[[str], Repo]:
    def make(name: str) -> Repo:
        (tmp_path / name).mkdir()
        return Repo(tmp_path / name)

    return make
