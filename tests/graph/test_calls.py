"""What a call means, language by language: small worktrees, and the definitions their calls lead to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from orbit.graph import Graph

Write = Callable[[Path, dict[str, str]], None]
Called = dict[str, list[str]]  # "file:line name" -> "kind in file, confidence" of each target

C = {
    "lib/wire.h": """#define CHECK(x) ((x) ? 0 : 1)
#ifdef FAST
#define flush(w) fast_flush(w)
#endif
struct resize { int a; };
int resize(int a);
""",
    "lib/wire.c": """#include "all.h"
#define free(p) gone(p)
static int turn(int a);
int flush(int w) { return turn(w) + CHECK(w); }
static int turn(int a) { free(a); return resize(a); }
""",
    "lib/all.h": '#include "wire.h"\n',
    "lib/resize.c": "int resize(int a) { return a; }\n",
    "lib/sys_a.c": "int now(void) { return 1; }\n",
    "lib/sys_b.c": "int now(void) { return 2; }\n#define CHECK(x) 1\n",
    "tool/main.c": """#include "../lib/all.h"
int now(void);
LIB_API count_t total(int a) { return flush(a) + now() + CHECK(a); }
int main(void) { free(0); return total(1); }
""",
    "other/check.h": "#define CHECK(x) 2\n",
}
GO = {
    "go.mod": "module example.org/lamp/v2\n",
    "lamp.go": """package lamp

type Level int
type Names []string
type Base struct{}
type Lamp struct{ Base }
type helper interface{ Helper() }

func (l Level) String() string { return "" }
func (n Names) First() string { return "" }
func (b Base) Close() {}
func (l *Lamp) Light() *Lamp { return l }
func Light(l *Lamp) {}

func (l *Lamp) Twice() {
	Twice()
	l.Base.Close()
}
func Twice() {}
""",
    "use_linux.go": "package lamp\n\nfunc system() int { return 1 }\n",
    "use_other.go": "package lamp\n\nfunc system() int { return 2 }\n",
    "sub/sub.go": """package sub

import "example.org/lamp/v2"

func run(x any, level lamp.Level, names lamp.Names) {
	a := new(lamp.Lamp)
	a.Light()
	level.String()
	lamp.Level(2).String()
	names.First()
	if h, ok := x.(*lamp.Lamp); ok {
		h.Light()
	}
	each(func(a lamp.Names) { a.First() })
	a.Light()
	a = a.Light()
	a.Light()
}
""",
    "system.go": "package lamp\n\nfunc ask() int { return system() }\n",
}
JAVA = {
    "shop/Node.java": "package shop;\nclass Node {\n  String attr(String k) { return k; }\n  int size() { return 1; }\n}\n",
    "shop/Item.java": """package shop;
class Item extends Node {
  Item attr(String k, String v) { return this; }
  void run(Item other) {
    attr("a");
    other.attr("b");
    other.attr("b", "c");
    final int size = size();
    new Runnable() { public void run() { Item.this.size(); } };
  }
}
""",
}


KOTLIN = {
    "shop/Writer.kt": """package shop
expect class Clock() { fun now(): Int }
class Writer {
  fun emit(text: String) {}
  fun emit(text: String, last: Boolean = false, more: Int = 1) {}
  fun <T> get(): T = TODO()
}
typealias Pen = Writer
fun Pen.flush(hard: Boolean) {}
fun Writer.twice() {
  emit("a", true)
  get<Int>()
  flush(true)
}
fun List<Int>.emit(writer: Writer) = with(writer) { emit("(") }
fun java.net.URI.shorten() = 1
""",
    "shop/Clock.kt": """package shop
import java.net.URI
actual class Clock { actual fun now(): Int = 1 }
fun use(address: URI, clock: Clock) {
  address.shorten()
  clock.now()
  address.normalize()
}
""",
}
CALLED: dict[str, tuple[dict[str, str], Called]] = {
    "c": (
        C,
        {
            "lib/wire.c:4 turn": ["function in lib/wire.c, exact"],
            "lib/wire.c:4 CHECK": ["macro in lib/wire.h, same_module"],
            "lib/wire.c:5 free": ["macro in lib/wire.c, exact"],
            "lib/wire.c:5 resize": ["function in lib/resize.c, same_module"],
            "tool/main.c:3 flush": ["macro in lib/wire.h, same_module", "function in lib/wire.c, same_module"],
            "tool/main.c:3 now": ["function in lib/sys_a.c, same_module", "function in lib/sys_b.c, same_module"],
            "tool/main.c:3 CHECK": ["macro in lib/wire.h, same_module"],
            "tool/main.c:4 total": ["function in tool/main.c, exact"],
        },
    ),
    "go": (
        GO,
        {
            "lamp.go:16 Twice": ["function in lamp.go, exact"],
            "lamp.go:17 Close": ["method in lamp.go, exact"],
            "sub/sub.go:7 Light": ["method in lamp.go, import_resolved"],
            "sub/sub.go:8 String": ["method in lamp.go, import_resolved"],
            "sub/sub.go:9 Level": ["type_alias in lamp.go, import_resolved"],
            "sub/sub.go:9 String": ["method in lamp.go, import_resolved"],
            "sub/sub.go:10 First": ["method in lamp.go, import_resolved"],
            "sub/sub.go:12 Light": ["method in lamp.go, import_resolved"],
            "sub/sub.go:14 First": ["method in lamp.go, import_resolved"],
            "sub/sub.go:15 Light": ["method in lamp.go, import_resolved"],
            "sub/sub.go:16 Light": ["method in lamp.go, import_resolved"],
            "sub/sub.go:17 Light": ["method in lamp.go, import_resolved"],
            "system.go:3 system": ["function in use_linux.go, same_module", "function in use_other.go, same_module"],
        },
    ),
    "kotlin": (
        KOTLIN,
        {
            "shop/Clock.kt:5 shorten": ["function in shop/Writer.kt, import_resolved"],
            "shop/Clock.kt:6 now": ["method in shop/Clock.kt, exact", "method in shop/Writer.kt, exact"],
            "shop/Writer.kt:11 emit": ["method in shop/Writer.kt, exact"],
            "shop/Writer.kt:12 get": ["method in shop/Writer.kt, exact"],
            "shop/Writer.kt:13 flush": ["function in shop/Writer.kt, import_resolved"],
            "shop/Writer.kt:15 emit": ["method in shop/Writer.kt, exact", "method in shop/Writer.kt, exact"],
        },
    ),
    "java": (
        JAVA,
        {
            "shop/Item.java:5 attr": ["method in shop/Node.java, import_resolved"],
            "shop/Item.java:6 attr": ["method in shop/Node.java, import_resolved"],
            "shop/Item.java:7 attr": ["method in shop/Item.java, exact"],
            "shop/Item.java:8 size": ["method in shop/Node.java, import_resolved"],
            "shop/Item.java:9 size": ["method in shop/Node.java, import_resolved"],
        },
    ),
}


@pytest.mark.parametrize("language", CALLED)
def test_calls_lead_to_what_a_compiler_would_call(language: str, repository: Path, write: Write) -> None:
    files, wanted = CALLED[language]
    write(repository, files)
    db = apsw.Connection(Graph.open(repository).sync().db)
    found: Called = {}
    for site, target in db.execute(
        "SELECT from_file || ':' || refs.line || ' ' || target_name, s.kind || ' in ' || s.file_path || ', ' || confidence"
        " FROM refs JOIN symbols s ON s.id = target_symbol_hint WHERE refs.kind = 'call' ORDER BY refs.id"
    ):
        found.setdefault(site, []).append(target)
    assert found == wanted


def test_an_enumerator_inside_a_struct_is_known_by_its_name_alone(repository: Path, write: Write) -> None:
    write(repository, {"a.h": "struct a { enum { RED, BLUE } colour; };\n", "a.c": "int f(void) { return RED; }\n"})
    graph = Graph.open(repository)
    graph.sync()
    assert [(ref.file, ref.line) for ref in graph.refs("RED").refs] == [("a.c", 1)]


def test_what_a_header_no_longer_includes_is_out_of_sight_after_the_next_sync(repository: Path, write: Write) -> None:
    write(repository, C)
    graph = Graph.open(repository)
    graph.sync()
    write(repository, {"lib/all.h": "int nothing;\n"})
    graph.sync()
    after = graph.digest()
    graph.sync(full=True)
    assert graph.digest() == after
