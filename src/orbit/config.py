"""Where a worktree is, where its Orbit files live, and what its configuration says. The only reader of the environment."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from orbit.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STATE_DIR = ".orbit"
CGROUPS = Path("/sys/fs/cgroup")
# What git must not track of .orbit: everything that can be rebuilt or is local to one machine.
LOCAL_STATE = "graph/\nstate/\nrun/\nadrs/index.sqlite*\n*.lock\n*.tmp\n.gitignore\n"


class Workspace:
    """One worktree: its root, its `.orbit` folder and its configuration."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.state = self.root / STATE_DIR

    @classmethod
    def find(cls, start: Path | None = None) -> Workspace:
        """The worktree that holds `start`: nearest folder upward with `.git` or `.orbit`, else `start` itself."""
        here = (start or Path.cwd()).resolve()
        if not here.is_dir():
            raise UsageError(f"not a folder: {here}", hint="give an existing folder with --root")
        for folder in (here, *here.parents):
            if (folder / ".git").exists() or (folder / STATE_DIR).is_dir():
                return cls(folder)
        return cls(here)

    def prepare(self) -> Path:
        """Make `.orbit` with the `.gitignore` that keeps local state out of git; returns it."""
        ignore = self.state / ".gitignore"
        if not ignore.exists():
            self.state.mkdir(parents=True, exist_ok=True)
            ignore.write_text(LOCAL_STATE, encoding="utf-8")
        return self.state

    def relative(self, path: Path | str) -> str | None:
        """A path (one that is not absolute starts at the root) as the worktree names it; None if it is outside."""
        full = (self.root / path).resolve()
        return full.relative_to(self.root).as_posix() if full.is_relative_to(self.root) else None

    def setting(self, section: str, key: str, default: Any = None) -> Any:
        """One value of `.orbit/config.toml`."""
        return self.settings().get(section, {}).get(key, default)

    def settings(self) -> Mapping[str, Any]:
        path = self.state / "config.toml"
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{STATE_DIR}/config.toml: {error}", hint="mend the file, or remove it to use the defaults") from None


def environment() -> dict[str, str]:
    """A copy of the environment, to look for secrets in and to hand to child processes."""
    return dict(os.environ)


def home() -> str | None:
    """The home folder, or None where there is none to speak of."""
    folder = os.path.expanduser("~")
    return folder if len(folder) > 1 and os.path.isabs(folder) else None


def actor() -> str:
    """Who is acting, for audit rows: `ORBIT_ACTOR`, else the login name."""
    named = os.environ.get("ORBIT_ACTOR")
    if named:
        return named
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def child_environment(without: Collection[str] = (), **settings: str) -> dict[str, str]:
    """The environment for a program Orbit starts: ours, less some variables, plus others."""
    return {**{name: value for name, value in os.environ.items() if name not in without}, **settings}


def spare_threads() -> None:
    """To be called before numpy is imported: its linear algebra, which nobody here uses, starts a thread for each processor and lets it spin."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def allows_colour() -> bool:
    """Not with `NO_COLOR`, nor on a terminal that has none."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def cpu_limit() -> int:
    """How many processors this process may use: affinity and cgroup quota, at least one."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _cgroup("cpu.max").partition(" ")
    if quota.isdecimal() and period.isdecimal():
        count = min(count, round(int(quota) / int(period)))
    return max(1, count)


def memory_limit() -> int | None:
    """How many bytes the cgroup of this process may hold; None where nothing is said."""
    limit = _cgroup("memory.max")
    return int(limit) if limit.isdecimal() else None


def _cgroup(name: str) -> str:
    """What a file of this process's cgroup (version 2) says. In a container its own group is the root of what it sees."""
    try:
        group = Path("/proc/self/cgroup").read_text(encoding="ascii").partition("::")[2].strip().lstrip("/")
    except (OSError, UnicodeDecodeError):
        return ""
    for folder in dict.fromkeys((group, "")):
        try:
            return (CGROUPS / folder / name).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            pass
    return ""
