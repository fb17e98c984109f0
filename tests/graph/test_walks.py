"""Impact and trace: what is reached, how far, by what, and where the walk ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import msgspec
import pytest

from orbit.config import Workspace
from orbit.errors import SymbolNotFoundError, UsageError
from orbit.graph import Graph
from orbit.graph.index.place import EXTRACTOR_VERSION
from orbit.graph.index.sync import sync
from orbit.graph.query.impact import CAP, ImpactAnswer, ImpactParams, impact
from orbit.graph.query.trace import TraceNode, TraceParams, trace
from orbit.graph.store.connection import SCHEMA_VERSION, open_reader

Write = Callable[[Path, dict[str, str]], None]
FILES = {
    "app/__init__.py": "",
    "app/core.py": (
        "def low():\n    pass\n\n\nclass Shape:\n    def area(self):\n        return low()\n\n\n"
        "class Square(Shape):\n    def side(self):\n        return self.area()\n"
    ),
    "app/middle.py": "from app.core import Square, low\n\n\ndef mid():\n    return low()\n\n\ndef draw(shape: Square):\n    return shape.side()\n",
    "app/top.py": "from app.middle import mid\n\n\ndef high():\n    return mid()\n\n\nhigh()\n",
    "app/loop.py": "def ping():\n    return pong()\n\n\ndef pong():\n    return ping()\n",
    "app/cli.py": (
        "import click\n\nfrom app.core import Square\nfrom app.loop import ping\nfrom app.top import high\n\n\n@click.group()\ndef main():\n    pass\n\n\n"
        "@main.command('go')\ndef go_now():\n    high()\n    ping()\n    high()\n    Square().side()\n"
    ),
    "tests/test_core.py": "from app.core import low\n\n\ndef test_low():\n    low()\n",
}


@pytest.fixture
def db(repository: Path, write: Write) -> Iterator[apsw.Connection]:
    write(repository, FILES)
    opened = open_reader(Path(sync(Workspace(repository), jobs=1).db))
    yield opened
    opened.close()


def ask(db: apsw.Connection, selector: str, **more: object) -> ImpactAnswer:
    return impact(db, ImpactParams(selector=selector, **more))  # type: ignore[arg-type]


def names(answer: ImpactAnswer) -> list[tuple[str, int, str]]:
    return [(touched.qualified_name, touched.distance, touched.edge_kind) for touched in answer.touched]


def test_nearest_callers_come_first(db: apsw.Connection) -> None:
    answer = ask(db, "app.core.low")
    assert answer.target is not None
    assert answer.target.selector == "symbol:app/core.py#app.core.low:function"
    distances = [touched.distance for touched in answer.touched]
    assert distances == sorted(distances)
    found = {name: distance for name, distance, _ in names(answer)}
    assert {name: found[name] for name in ("app.core.Shape.area", "app.middle.mid", "tests.test_core.test_low", "app.top.high", "app.core.Square.side")} == {
        "app.core.Shape.area": 1, "app.middle.mid": 1, "tests.test_core.test_low": 1, "app.top.high": 2, "app.core.Square.side": 2,
    }  # fmt: skip
    assert (answer.visited_nodes, answer.truncated) == (len(answer.touched), False)
    assert {touched.direction for touched in answer.touched} == {"in"}
    assert {touched.path for touched in answer.touched if touched.is_test} == {"tests/test_core.py"}


def test_depth_ends_the_walk(db: apsw.Connection) -> None:
    assert {touched.distance for touched in ask(db, "app.core.low", depth=1).touched} == {1}


def test_a_type_changes_with_its_members_and_reaches_its_heirs(db: apsw.Connection) -> None:
    found = names(ask(db, "app.core.Shape", depth=1))
    assert ("app.core.Square", 1, "extends") in found
    assert ("app.core.Square.side", 1, "call") in found


def test_outward_is_what_it_depends_on(db: apsw.Connection) -> None:
    answer = ask(db, "app.top.high", direction="out")
    found = [(touched.qualified_name, touched.distance, touched.direction) for touched in answer.touched]
    assert found == [("app.middle.mid", 1, "out"), ("app.core.low", 2, "out")]


def test_both_directions_are_told_apart(db: apsw.Connection) -> None:
    answer = ask(db, "app.middle.mid", direction="both", depth=1)
    assert {(touched.qualified_name, touched.direction) for touched in answer.touched} >= {("app.top.high", "in"), ("app.core.low", "out")}


def test_a_floor_leaves_out_what_is_less_sure(db: apsw.Connection) -> None:
    sure = ask(db, "app.core.low", confidence="exact")
    assert {touched.qualified_name for touched in sure.touched} == {"app.core.Shape.area", "app.core.Square.side"}


def test_a_file_changes_with_all_its_symbols(db: apsw.Connection) -> None:
    found = {name for name, _, _ in names(ask(db, "file:app/loop.py"))}
    assert "app.cli.go_now" in found
    assert not found & {"app.loop.ping", "app.loop.pong"}


def test_an_unknown_name_is_an_error_not_an_empty_answer(db: apsw.Connection) -> None:
    with pytest.raises(SymbolNotFoundError):
        ask(db, "app.core.lows")
    with pytest.raises(UsageError):
        impact(db, ImpactParams())


def test_the_cap_keeps_the_nearest(repository: Path, write: Write) -> None:
    callers = "\n".join(f"def caller_{n:03}():\n    hub()\n" for n in range(CAP + 50))
    write(repository, {"hub.py": f"def hub():\n    pass\n\n\n{callers}\n\ndef far():\n    caller_000()\n"})
    db = open_reader(Path(sync(Workspace(repository), jobs=1).db))
    answer = ask(db, "hub.hub", limit=CAP)
    assert (len(answer.touched), answer.visited_nodes, answer.truncated) == (CAP, CAP + 50, True)
    assert [touched.qualified_name for touched in answer.touched] == [f"hub.caller_{n:03}" for n in range(CAP)]
    with Graph.open(repository) as graph:
        unasked = graph.impact("hub.hub")
    assert len(msgspec.json.encode(unasked)) <= 20_000
    assert (unasked.touched, unasked.visited_nodes, unasked.truncated) == (answer.touched[: len(unasked.touched)], CAP + 50, True)
    db.close()


def flat(node: TraceNode, depth: int = 0) -> list[str]:
    mark = f" ({node.cut})" if isinstance(node.cut, str) else ""
    return [f"{'  ' * depth}{node.qualified_name}{mark}", *(line for child in node.children for line in flat(child, depth + 1))]


def test_a_command_is_traced_through_its_handler(db: apsw.Connection) -> None:
    answer = trace(db, TraceParams(command="main go"))
    assert answer.root is not None
    assert flat(answer.root) == [
        "app.cli.go_now",
        "  app.top.high",
        "    app.middle.mid",
        "      app.core.low",
        "  app.loop.ping",
        "    app.loop.pong",
        "      app.loop.ping (cycle)",
        "  app.core.Square",
        "  app.core.Square.side",
        "    app.core.Shape.area",
        "      app.core.low (repeated)",
    ]
    assert (answer.root.name, answer.visited_nodes, answer.truncated) == ("main go", 11, False)


@pytest.mark.parametrize("text", ["go", "command:main go", "command:go", "  main   go "])
def test_a_command_may_be_named_by_its_end(db: apsw.Connection, text: str) -> None:
    assert trace(db, TraceParams(command=text)) == trace(db, TraceParams(command="main go"))


def test_depth_cuts_the_tree(db: apsw.Connection) -> None:
    root = trace(db, TraceParams(command="go", depth=1)).root
    assert root is not None
    assert all(not child.children for child in root.children)


def test_an_unknown_command_says_which_there_are(db: apsw.Connection) -> None:
    answer = trace(db, TraceParams(command="main gone"))
    assert (answer.root, answer.reason, answer.did_you_mean) == (None, "unknown_command", ["main go", "main"])
    assert trace(db, TraceParams(command="prog other go")).did_you_mean == ["main go"]


def test_version_place_and_cleaning(db: apsw.Connection, repository: Path) -> None:
    db.close()
    graph = Graph.open(repository)
    told, place = graph.version(), graph.db_path()
    assert (told.extractor_version, told.schema_version) == (EXTRACTOR_VERSION, SCHEMA_VERSION)
    assert (place.branch, place.exists) == ("main", True)
    Path(f"{place.path}.damaged").touch()
    gone = graph.clean()
    assert {Path(place.path).name, f"{Path(place.path).name}.damaged"} <= set(gone.deleted)
    assert not graph.db_path().exists
    assert list(Path(gone.graph_dir).iterdir()) == []
