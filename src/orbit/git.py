"""Running git: one call, bytes in and bytes out, no prompts, no locks taken for the sake of a read. Decides nothing about its answers."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from orbit.config import child_environment
from orbit.errors import RefusedError

# Set by git for its hooks and aliases; they would point a call at another repository than the one of its folder.
_LOCAL = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_INTERNAL_SUPER_PREFIX",
)  # fmt: skip
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_PAGER": "", "LC_ALL": "C"}


class GitError(RefusedError):
    """Git was run and refused; the message is git's own."""

    code = "git-failed"

    def __init__(self, arguments: Sequence[str], said: str) -> None:
        reason, _, rest = said.strip().partition("\n")
        verb = next((word for word in arguments if word[:1].isalpha() and "=" not in word), "")  # not an option, nor a setting after -c
        super().__init__(f"git {verb}: {reason.removeprefix('fatal: ') or 'failed'}", hint=rest.strip() or None)
        self.said = said

    @property
    def is_no_repository(self) -> bool:
        """Is there simply no worktree of git here?"""
        return "not a git repository" in self.said or "must be run in a work tree" in self.said


class GitMissingError(RefusedError):
    code = "git-missing"

    def __init__(self) -> None:
        super().__init__("git is not installed, or not on the PATH", hint="install git, or put it on the PATH")


def run(
    folder: Path, *arguments: str, stdin: bytes = b"", accept: Sequence[int] = (0,), variables: Mapping[str, str] | None = None, timeout: float | None = None
) -> bytes:
    """What `git <arguments>` writes when run in `folder`. Raises when it leaves with a status not accepted, or takes longer than `timeout` seconds."""
    command = ["git", *arguments]
    environment = child_environment(without=_LOCAL, **_QUIET, **(variables or {}))
    try:
        done = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, env=environment, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise GitError(arguments, f"not done after {timeout} seconds") from None
    except FileNotFoundError:
        if folder.is_dir():
            raise GitMissingError from None
        raise
    if done.returncode not in accept:
        raise GitError(arguments, decode(done.stderr))
    return done.stdout


def ask(folder: Path, *arguments: str, variables: Mapping[str, str] | None = None, timeout: float | None = None) -> bytes | None:
    """The same, but None where git refuses or there is none."""
    try:
        return run(folder, *arguments, variables=variables, timeout=timeout)
    except RefusedError:
        return None


def decode(name: bytes) -> str:
    """A path or name as git writes it; bytes that are no UTF-8 survive as surrogates, and `encode` gives them back."""
    return name.decode("utf-8", "surrogateescape")


def encode(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def split(output: bytes) -> list[str]:
    """The fields of an answer given with -z."""
    return decode(output).split("\0")[:-1] if output else []
