"""`orbit init`: the `.orbit` folder, what git must not track of it, and a first `.orbitignore`. Changes nothing that is there."""

from __future__ import annotations

import msgspec

from orbit.config import Workspace
from orbit.errors import RefusedError


class InitAnswer(msgspec.Struct, kw_only=True):
    """Paths relative to the root; a second time all of them are in `kept`."""

    root: str
    created: list[str]
    kept: list[str]


def init(workspace: Workspace) -> InitAnswer:
    """Make what is missing."""
    from orbit.graph.index.scan import seed_ignore

    answer = InitAnswer(root=str(workspace.root), created=[], kept=[])

    def note(name: str, is_new: bool) -> None:
        (answer.created if is_new else answer.kept).append(name)

    try:
        is_new, has_ignore = not workspace.state.is_dir(), (workspace.state / ".gitignore").exists()
        workspace.prepare()
        note(".orbit/", is_new)
        note(".orbit/.gitignore", not has_ignore)
        note(".orbitignore", seed_ignore(workspace.root))
    except OSError as error:
        raise RefusedError(f"cannot write in {workspace.root}: {error.strerror}", hint="check permissions and space", code="not-writable") from None
    return answer
