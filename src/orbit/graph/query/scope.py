"""The part of the tree a question is about: one file, a folder, or everything."""

from __future__ import annotations

from pathlib import PurePath

import apsw
import msgspec

from orbit.errors import NotFoundError, UsageError
from orbit.graph.query.near import closest
from orbit.graph.query.target import clean, find_file, holds_files, prefer_members, read_file, symbols_of_name
from orbit.graph.selector import Selector, guess_path, normalise, parse


class Scope(msgspec.Struct, frozen=True):
    """A range of paths: `first <= path < end`. An empty end has none."""

    selector: str
    first: str = ""
    end: str = ""
    is_file: bool = False

    @property
    def where(self) -> str:
        """A condition on table `file`, called f."""
        return "f.path >= ? AND f.path < ?" if self.end else "f.path >= ?"

    @property
    def values(self) -> tuple[str, ...]:
        return (self.first, self.end) if self.end else (self.first,)


def find_scope(db: apsw.Connection, text: str | None, root: PurePath | None = None) -> Scope:
    """What a `file:` or `dir:` selector, or a plain path, covers. A folder without indexed files is an error."""
    if text is None:
        return Scope("dir:.")
    selector = parse(clean(text), root)
    is_bare = selector.kind == "name"
    if is_bare:
        selector = guess_path(selector) or Selector("dir", path=normalise(selector.name))
        if selector.kind == "file" and read_file(db, selector.path) is None and (holds_files(db, selector.path) or "." not in selector.path.rpartition("/")[2]):
            selector = Selector("dir", path=selector.path)
    if selector.kind == "file":
        found = find_file(db, selector.path)
        return Scope(str(selector), found.path, found.path + "\0", is_file=True)
    if selector.kind != "dir":
        raise UsageError(f"{selector} is neither a file nor a folder", hint="give file:<path>, dir:<path> or a path")
    if selector.path == ".":
        return Scope("dir:.")
    if not holds_files(db, selector.path):
        if is_bare and (named := prefer_members(symbols_of_name(db, selector.path))):
            raise UsageError(f"{selector.path!r} is a {named[0].kind}, not a file or folder", hint=f"it is in file:{named[0].path}")
        folders = {row[0].rpartition("/")[0] for row in db.execute("SELECT path FROM file ORDER BY path LIMIT 20000")} - {""}
        near = [str(Selector("dir", path=folder)) for folder in closest(selector.path, folders)]
        hint = f"did you mean {', '.join(near)}?" if near else f"`orbit graph why {selector.path}` says why nothing there is indexed"
        raise NotFoundError(f"no indexed files in {selector.path!r}", hint=hint, candidates=near, code="folder-not-found")
    return Scope(str(selector), f"{selector.path}/", f"{selector.path}0")  # `0` follows `/`
