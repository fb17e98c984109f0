"""Every way Orbit says no: a stable code, an exit code, a message, and the next step.

    OrbitError                     1  unexpected
    ├── UsageError                 2  usage or invalid input
    │   └── SelectorSyntaxError    2
    ├── NotFoundError              3  nothing by that name
    │   └── SymbolNotFoundError    3
    ├── AmbiguousError             4  several by that name
    ├── NoGraphError               5  no graph yet
    ├── RefusedError               6  state, lock or policy forbids it
    └── IntegrityError             7  a check failed
"""

from __future__ import annotations

from collections.abc import Iterable


class OrbitError(Exception):
    """Base of all errors Orbit raises on purpose."""

    code = "unexpected"
    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None, candidates: Iterable[str] = (), code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.candidates = list(candidates)
        if code is not None:
            self.code = code


class UsageError(OrbitError):
    code, exit_code = "invalid-input", 2


class SelectorSyntaxError(UsageError):
    code = "selector-syntax"

    def __init__(self, text: str, reason: str) -> None:
        forms = "forms: symbol:<path>#<name>[:<kind>], file:<path>, dir:<path>, module:<qualified>, command:<name>, or a bare name"
        hint = "name a file of this worktree, or another worktree with --root" if "leaves the worktree" in reason else forms
        super().__init__(f"invalid selector {text!r}: {reason}", hint=hint)


class NotFoundError(OrbitError):
    code, exit_code = "not-found", 3


class SymbolNotFoundError(NotFoundError):
    code = "symbol-not-found"

    def __init__(self, name: str, near: Iterable[str] = ()) -> None:
        near = list(near)
        hint = f"did you mean {', '.join(near)}?" if near else "new file? run `orbit graph sync`"
        super().__init__(f"no symbol named {name!r}", hint=hint, candidates=near)


class AmbiguousError(OrbitError):
    code, exit_code = "ambiguous", 4

    def __init__(self, name: str, candidates: Iterable[str], total: int | None = None) -> None:
        candidates = list(candidates)
        super().__init__(f"{name!r} means {total or len(candidates)} different things", hint="name one of the candidates in full", candidates=candidates)


class NoGraphError(OrbitError):
    code, exit_code = "no-graph", 5

    def __init__(self, message: str = "this worktree has no graph yet", *, hint: str = "run `orbit graph sync`") -> None:
        super().__init__(message, hint=hint)


class RefusedError(OrbitError):
    code, exit_code = "refused", 6


class IntegrityError(OrbitError):
    code, exit_code = "integrity", 7
