"""Tests as their runners name them: what to paste behind pytest, go test, cargo test and the like."""

from __future__ import annotations

import msgspec


class TestRow(msgspec.Struct, frozen=True, kw_only=True):
    """A test that reaches a change, or may. `evidence`, the surest first: changed (it is changed itself), calls (a walk along references of the asked
    confidence), name (it mentions the name of something changed), file_name (its file is named after the change), likely (its file is like it)."""

    __test__ = False  # no test itself, whatever pytest thinks of the name

    id: str
    runner: str
    path: str
    line: int
    distance: int
    evidence: str
    selector: str


RUNNERS = {
    "python": "pytest", "go": "go", "rust": "cargo", "java": "junit", "kotlin": "junit", "csharp": "dotnet", "ruby": "ruby",
    "typescript": "script", "tsx": "script", "javascript": "script",
}  # fmt: skip


def test_id(lang: str, path: str, module: str, qualified: str, line: int) -> str:
    """The id of one test: `path::Class::name` for pytest, package and name for Go, `mod::test` for Rust; elsewhere the nearest there is."""
    if lang == "python":
        local = qualified.removeprefix(f"{module}.") if module else qualified
        return "::".join([path, *local.partition("#")[0].split(".")])
    if lang == "go":
        folder = path.rpartition("/")[0]
        return f"{'./' + folder if folder else '.'} {qualified.rpartition('.')[2]}"
    if lang == "rust":
        return qualified.partition("::")[2] or qualified
    if lang in ("java", "kotlin"):
        owner, _, name = qualified.rpartition(".")
        return f"{owner}#{name}" if owner else name
    if lang == "csharp":
        return qualified
    return f"{path}:{line}"


def file_id(lang: str, path: str) -> str:
    """All tests of a file."""
    if lang == "go":
        folder = path.rpartition("/")[0]
        return f"./{folder}" if folder else "."
    return path


test_id.__test__ = False  # type: ignore[attr-defined]
