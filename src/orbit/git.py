"""Running git: one call, bytes in and bytes out, no prompts, no locks taken for the sake of a read. Decides nothing about its answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

if sys.platform == "linux":
    from fcntl import F_SETPIPE_SZ, fcntl

from orbit.config import child_environment
from orbit.errors import RefusedError

# Set by git for its hooks and aliases; they would point a call at another repository than the one of its folder.
_LOCAL = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_INTERNAL_SUPER_PREFIX",
)  # fmt: skip
_ROOM = 1 << 20  # bytes a started git may write before somebody reads
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
    command, environment = _call(arguments, variables)
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


class Running:
    """A git that was started and not waited for. Takes no thread: what it writes waits in the pipe."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command, environment = _call(arguments)
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )  # fmt: skip
        if sys.platform == "linux" and self._process.stdout is not None:
            with suppress(OSError):  # more than the machine allows
                fcntl(self._process.stdout, F_SETPIPE_SZ, _ROOM)

    def output(self) -> bytes | None:
        """What it wrote, once it is done; None where it refused."""
        output, _ = self._process.communicate()
        return output if self._process.returncode == 0 else None

    def stop(self) -> None:
        """Nobody wants to know any more."""
        self._process.kill()
        self._process.communicate()


def _call(arguments: Sequence[str], variables: Mapping[str, str] | None = None) -> tuple[list[str], dict[str, str]]:
    return ["git", *arguments], child_environment(without=_LOCAL, **_QUIET, **(variables or {}))


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
