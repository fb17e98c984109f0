"""Go: what the captures of go.scm mean."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from orbit.graph.facts import NONE
from orbit.graph.languages.closures import end_locals
from orbit.graph.languages.language import Language, Layout

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts

VERSIONED = re.compile(r"([^/.]+)[/.]v\d+$")  # the version at the end of an import path is no part of the package's name
TEST_PREFIXES = ("Test", "Benchmark", "Fuzz")
TEST_TYPES = ("testing.T", "testing.B", "testing.F", "testing.M")


def module_of(path: str, layout: Layout) -> str:
    """Import path of the package: the nearest go.mod's module, then the folder below it; without go.mod the folder itself."""
    folder = posixpath.dirname(path)
    for manifest in sorted(layout.manifests("go.mod"), key=len, reverse=True):
        root = posixpath.dirname(manifest)
        if folder == root or not root or folder.startswith(root + "/"):
            name = _module_line(layout.text(manifest) or "")
            if name:
                inside = folder[len(root) :].strip("/")
                return f"{name}/{inside}" if inside else name
    vendored = folder.partition("vendor/")
    return vendored[2] if vendored[1] else folder or "main"


def _module_line(text: str) -> str:
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0] == "module":
            return words[1].strip('"')
    return ""


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    """Import paths are module names already."""
    return posixpath.normpath(posixpath.join(module, text)) if text.startswith(".") else text


def fix_up(facts: FileFacts) -> None:
    """Receivers lose their type parameters (`Stack[T]`); functions that take a testing value are tests; closures end."""
    for i in facts.imports:
        if i.alias == NONE and not i.flags and (path := VERSIONED.search(facts.text(i.path))):
            i.alias = facts.id(path[1])
    facts.binds = facts.binds[facts.binds[:, 3] != facts.id("new()")]  # there is a row with the type as well
    end_locals(facts, [(mark.start, mark.end) for mark in facts.marks if "closure" in mark.flags])
    params: dict[int, str] = {}
    for form, _, type_, _, scope, _ in facts.binds.tolist():
        if form == 1 and scope >= 0:
            params.setdefault(scope, facts.text(type_))
    for index, found in enumerate(facts.definitions):
        above = facts.definitions[found.parent] if found.parent >= 0 else found
        if above is not found and (above.start, above.end) == (found.start, found.end):  # `var a, b = 1, 2`: neither holds the other
            found.parent = above.parent
        if found.owner >= 0:
            found.owner = facts.id(facts.text(found.owner).partition("<")[0])
        if found.kind != "function":
            continue
        if found.name.startswith("Example") and found.argc == 0 or found.name.startswith(TEST_PREFIXES) and params.get(index) in TEST_TYPES:
            found.kind = "test"


LANGUAGES = {
    "go": Language(
        name="go",
        grammar=("tree_sitter_go", "language"),
        suffixes=(".go",),
        manifests=("go.mod", "go.work"),
        module_of=module_of,
        import_target=import_target,
        fix_up=fix_up,
        collections=("[]", "map", "chan"),
        bound_after=True,
        named_types=True,
        shared_modules=True,
        builtins=frozenset({
            "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max", "min", "new", "panic", "print", "println",
            "real", "recover", "nil", "true", "false", "iota",
        }),
        test_files=("*_test.go",),
    )
}
