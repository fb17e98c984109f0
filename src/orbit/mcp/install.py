"""Put Orbit into a client's configuration, and take it out again: one entry, everything else byte for byte as it was.

The text before is kept in `.orbit/state`, so that taking the entry out restores the file exactly, unless it was edited since: then the entry alone goes.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from orbit.config import Workspace, environment, home
from orbit.errors import NotFoundError, RefusedError
from orbit.files import write_whole
from orbit.mcp.config_text import ConfigTextError, add_json, add_toml, drop_json, drop_toml, read_json, read_toml

NAME = "orbit"
ENTRY: dict[str, Any] = {"command": NAME, "args": ["mcp"]}


class Place(msgspec.Struct, frozen=True):
    """Where a client looks, and how its file is edited."""

    path: Path
    section: str
    entry: dict[str, Any]
    read: Callable[[str, str], dict[str, Any]]
    add: Callable[[str, str, str, dict[str, Any]], str]
    drop: Callable[[str, str, str], str]


class InstallAnswer(msgspec.Struct, kw_only=True):
    """`diff` is a unified difference of the file; `written` is false after --dry-run, and where nothing had to change."""

    client: str
    path: str
    changed: bool
    written: bool
    diff: str
    note: str | None = None


class _Before(msgspec.Struct):
    """What a file was before the entry came, the hash of what it was made into, and whether its folder was made for it."""

    text: str | None
    after: str
    has_new_folder: bool


def find_place(workspace: Workspace, client: str) -> Place:
    """The file a client reads for this worktree; Codex has one for all of them."""
    root = workspace.root
    if client == "codex":
        folder = environment().get("CODEX_HOME") or os.path.join(home() or "", ".codex")
        return Place(Path(folder) / "config.toml", "mcp_servers", ENTRY, read_toml, add_toml, drop_toml)
    path, section = {
        "claude": (root / ".mcp.json", "mcpServers"),
        "cursor": (root / ".cursor" / "mcp.json", "mcpServers"),
        "vscode": (root / ".vscode" / "mcp.json", "servers"),
    }[client]
    where = [] if client == "claude" else ["--root", "${workspaceFolder}"]  # Claude Code starts servers in the worktree
    return Place(path, section, {"type": "stdio", **ENTRY, "args": [*ENTRY["args"], *where]}, read_json, add_json, drop_json)


def install(root: Path | None, client: str, *, dry_run: bool = False) -> InstallAnswer:
    """Add the entry."""
    workspace = Workspace.find(root)
    place = find_place(workspace, client)
    before = _read(place.path)
    try:
        there = place.read(before or "", place.section).get(NAME)
        if there == place.entry:
            return _answer(client, place, before, before, note="already there")
        if there is not None:
            raise RefusedError(f"{place.path} has another entry called {NAME}", hint=f"remove it: orbit mcp uninstall --client {client}", code="exists")
        after = place.add(before or "", place.section, NAME, place.entry)
    except ConfigTextError as error:
        raise RefusedError(f"{place.path}: {error}", hint=f"mend or remove {place.path}, then try again", code="unreadable") from None
    note = None if shutil.which(NAME) else f"`{NAME}` is not on the PATH of this shell; the client has to find it on its own"
    if not dry_run:
        workspace.prepare()
        record = _record(workspace, place.path)
        _write(record, msgspec.json.encode(_Before(before, _hash(after), not place.path.parent.exists())).decode())
        _write(place.path, after)
    return _answer(client, place, before, after, written=not dry_run, note=note)


def uninstall(root: Path | None, client: str, *, dry_run: bool = False) -> InstallAnswer:
    """Take the entry out."""
    workspace = Workspace.find(root)
    place = find_place(workspace, client)
    record = _record(workspace, place.path)
    before = _read(place.path)
    try:
        if before is None or NAME not in place.read(before, place.section):
            raise NotFoundError(f"{place.path} has no entry called {NAME}", hint=f"orbit mcp install --client {client} adds it", code="not-installed")
        known = None
        with suppress(OSError, msgspec.MsgspecError):
            known = msgspec.json.decode(record.read_bytes(), type=_Before)
        after = known.text if known is not None and known.after == _hash(before) else place.drop(before, place.section, NAME)
    except ConfigTextError as error:
        raise RefusedError(f"{place.path}: {error}", hint=f"mend {place.path}, then try again", code="unreadable") from None
    if not dry_run:
        if after is None:
            place.path.unlink()
            if known is not None and known.has_new_folder:
                with suppress(OSError):  # something else came to live in it
                    place.path.parent.rmdir()
        else:
            _write(place.path, after)
        record.unlink(missing_ok=True)
    return _answer(client, place, before, after, written=not dry_run)


def _answer(client: str, place: Place, before: str | None, after: str | None, *, written: bool = False, note: str | None = None) -> InstallAnswer:
    shown = str(place.path)
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True),
        "/dev/null" if before is None else shown, "/dev/null" if after is None else shown,
    )  # fmt: skip
    diff = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return InstallAnswer(client=client, path=shown, changed=before != after, written=written and before != after, diff=diff, note=note)


def _record(workspace: Workspace, path: Path) -> Path:
    return workspace.state / "state" / "mcp" / f"{_hash(str(path))[:16]}.json"


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape")).hexdigest()


def _read(path: Path) -> str | None:
    """The text of a file with its own line ends; None where there is none."""
    try:
        return path.read_bytes().decode("utf-8", "strict")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise RefusedError(f"{path} cannot be read: {error}", hint="mend it, then try again", code="unreadable") from None


def _write(path: Path, text: str) -> None:
    """A symlink stays one."""
    try:
        write_whole(Path(os.path.realpath(path)), text.encode())
    except OSError as error:
        raise RefusedError(f"{path} cannot be written: {error.strerror}", hint="check permissions and space", code="not-writable") from None
