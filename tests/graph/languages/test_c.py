"""C: where an include leads, and which names belong to one file."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit.graph.languages.c import import_target, module_of
from orbit_native.names import Names


class Tree:
    """A worktree made of a set of paths."""

    def __init__(self, *files: str) -> None:
        self.files = set(files)

    def has(self, path: str) -> bool:
        return path in self.files

    def text(self, path: str) -> str | None:
        return None

    def manifests(self, name: str) -> Sequence[str]:
        return ()


TREE = Tree("src/lamp.c", "src/lamp.h", "include/lamp/api.h", "src/core/wire.c", "src/util.h")


@pytest.mark.parametrize(
    ("text", "path", "target"),
    [
        ("lamp.h", "src/lamp.c", "src/lamp.h"),
        ("../lamp.h", "src/core/wire.c", "src/lamp.h"),
        ("util.h", "src/core/wire.c", "src/util.h"),
        ("lamp/api.h", "src/core/wire.c", "include/lamp/api.h"),
        ("stdio.h", "src/lamp.c", None),
        ("/usr/include/stdio.h", "src/lamp.c", None),
        ("../../../../etc/x.h", "src/lamp.c", None),
    ],
)
def test_an_include_leads_to_a_file_of_the_worktree_or_nowhere(text: str, path: str, target: str | None) -> None:
    assert import_target(text, path, path, TREE) == target
    assert module_of(path, TREE) == path


def test_only_static_names_belong_to_their_file() -> None:
    facts = extract(language("c"), b"static int a; int b; static int f(void) { static int inner; return inner; } int g(int x, ...) { return x; }", Names())
    assert [(d.kind, d.local, sorted(d.flags), d.argc) for d in facts.definitions] == [
        ("global", "a", ["static"], -1),
        ("global", "b", [], -1),
        ("function", "f", ["static"], 0),
        ("function", "g", ["varargs"], 2),
    ]


@pytest.mark.parametrize("cut", range(0, 240, 5))
def test_a_torn_source_still_gives_facts_in_order(cut: int) -> None:
    source = b"""#include "a.h"
#define M(x) f(x)
typedef struct t { int a, *b; union { int c; } d; int (*e)(void); } t;
static t *g(t *x) { x->e(); M(x->a); return h(&k, (t *) l); }
struct o p[] = { { .q = r }, s };
"""
    facts = extract(language("c"), source[:cut] + source[cut + 3 :], Names())
    assert all(0 <= d.start <= d.end <= len(source) for d in facts.definitions)
