"""What calls of Python and JavaScript resolve to. A comment `=> name` says what the last call of its line means; `=> -` that it means nothing of ours."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

from orbit.graph import Graph

SAYS = re.compile(r"(?:#|//) => (\S+)")

FORMS: dict[str, dict[str, str]] = {
    "a module that exports a class is that class": {
        "store.js": """\
class Store { open() { return this.check(); } check() {} }  // => store.Store.check
module.exports = Store;
module.exports.version = () => 1;
""",
        "alias.js": "const Store = require('./store');\nmodule.exports = exports = Store;\n",
        "use.js": """\
const Store = require('./store');
const Other = require('./alias');
const { version } = require('./store');
new Store();  // => store.Store
new Store().open();  // => store.Store.open
new Other().open();  // => store.Store.open
Store.version();  // => store.version
version();  // => store.version
class Shop extends Store { sell() { super.open(); } }  // => store.Store.open
""",
    },
    "an export hides a definition of its name": {
        "by.js": """\
const by = (a, b) => a - b;
exports.by = cached(by);
function hidden() {}
function shown() { exports.hidden(); }  // => by.shown
module.exports.hidden = shown;
""",
        "use.js": "const { by, hidden } = require('./by');\nby(1, 2);  // => -\nhidden();  // => by.shown\n",
    },
    "functions make objects": {
        "shape.js": """\
function Shape(name) { this.name = name; this.store = new Store(); }
function Store() {}
Store.prototype.save = function save() {};
Shape.prototype.draw = function () { this.store.save(); };  // => shape.Store.save
Shape.prototype.show = function () { this.draw(); };  // => shape.Shape.draw
new Shape().draw();  // => shape.Shape.draw
function makeCounter() {
  function count() {}
  return { count, reset() {} };
}
const counter = makeCounter();
counter.count();  // => shape.makeCounter.count
counter.reset();  // => shape.makeCounter.reset
""",
    },
    "objects hold methods": {
        "box.js": """\
const box = { open() { this.close(); }, close() {} };  // => box.box.close
box.open();  // => box.box.open
close();  // => -
module.exports = box;
""",
        "reply.js": "module.exports = {\n  get type() { return this.get('type'); },  // => reply.get\n  get(name) {},\n};\n",
        "use.js": "const box = require('./box');\nconst reply = require('./reply');\nbox.close();  // => box.box.close\nreply.get('a');  // => reply.get\n",
    },
    "a static member is no member of an instance": {
        "node.ts": """\
class Base { read() {} }
class Node extends Base {
  static read() { return new Node().read(); }  // => node.Base.read
  static make() { return this.read(); }  // => node.Node.read
  write() { this.constructor.make(); }  // => node.Node.make
  again() { return new this.constructor(); }  // => -
}
Node.read();  // => node.Node.read
""",
    },
    "a method is no name by itself": {
        "query.js": """\
const clone = require('./clone');
function Query() {}
Query.prototype.clone = function () { return clone(this); };  // => clone.clone
Object.defineProperty(Query, 'x', { get: function () {} });
get();  // => -
""",
        "clone.js": "module.exports = function clone(it) {};\n",
    },
    "objects are taken apart": {
        "graph.ts": """\
export class Graph { walk() {} next(): Graph { return this; } }
export interface Tools { graph: Graph }
function run({ graph, other }: Tools) { graph.walk(); }  // => graph.Graph.walk
function go(tools: Tools) {
  const { graph: g } = tools;
  g.walk();  // => graph.Graph.walk
}
""",
        "tools.js": """\
/** @typedef {import("./graph").Graph} Graph */
/**
 * @typedef {object} Context
 * @property {Graph} graph what is walked
 */
/**
 * @param {string} name a name
 * @param {Context} context the rest
 */
function apply(name, { graph }) {
  graph.walk();  // => graph.Graph.walk
}
/** @param {Context} context where */
function direct(context) {
  context.graph.walk();  // => graph.Graph.walk
  const { graph } = /** @type {Context} */ (globalThis.x);
  graph.walk();  // => graph.Graph.walk
}
""",
    },
    "JSDoc knows what another module exports": {
        "chunk.js": "class Chunk { add() {} }\nmodule.exports = Chunk;\n",
        "use.js": """\
/** @typedef {import("./chunk")} Chunk */
/** @param {Chunk} chunk what gets more */
function grow(chunk) {
  chunk.add();  // => chunk.Chunk.add
}
""",
    },
    "a type is no value": {
        "inner.js": "/** @typedef {string} inner */\nexports.enable = () => {};\n",
        "use.js": "const inner = require('./inner');\n/** @typedef {import('./inner').inner} inner */\ninner.enable();  // => inner.enable\n",
    },
    "a local hides a class, and a module loaded for nothing binds no name": {
        "parser.js": "class Parser { parse() {} }\nmodule.exports = Parser;\n",
        "use.js": """\
const load = later(() => require('./parser'));
function go() {
  const Parser = load();
  return new Parser();  // => -
}
""",
    },
    "members that methods assign": {
        "list.ts": """\
class List { add() {} }
class Holder {
  #list;
  items = null;
  constructor() { this.#list = new List(); this.items = new List(); }
  fill() {
    this.#list.add();  // => list.List.add
    this.items.add();  // => list.List.add
  }
}
""",
    },
    "a callback gets what the function declares": {
        "watch.ts": """\
class Event { stop() {} }
type Handler = (name: string, event: Event) => void;
class Source {
  constructor(private start: (event: Event) => void) {}
  on(name: string, run: (event: Event, more: number) => boolean) {}
}
function each(run: Handler, last?: number) {}
new Source((event) => { event.stop(); });  // => watch.Event.stop
new Source(null!).on('x', async (event, more) => event.stop());  // => watch.Event.stop
each((name, event) => event.stop());  // => watch.Event.stop
""",
    },
    "elements of collections": {
        "bag.ts": """\
class Item { use() {} }
function go(bag: Map<string, Item>, all: Item[]) {
  bag.get('a').use();  // => bag.Item.use
  all.filter(Boolean).pop().use();  // => bag.Item.use
}
""",
        "bag.py": """\
class Item:
    def use(self) -> None: ...

def go(bag: dict[str, Item], all: list[Item]) -> None:
    bag.get("a").use()  # => bag.Item.use
    for item in bag.values():
        item.use()  # => bag.Item.use
    all.pop().use()  # => bag.Item.use
""",
    },
    "Python tells what a function returns, what a name was before, and what a member holds": {
        "web.py": """\
class Url:
    def join(self, other: str) -> "Url": ...
    def clean(self) -> None: ...

class Page:
    url = None
    def __init__(self, kind=Url) -> None:
        self.url = Url()
        self.kind = Url

    def load(self) -> None:
        self.url.clean()  # => web.Url.clean
        self.kind()  # => -

def make():
    url = Url()
    return url

def go(url: Url) -> None:
    url = url.join("a")  # => web.Url.join
    url.clean()  # => web.Url.clean
    make().clean()  # => web.Url.clean
""",
    },
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_calls_mean_what_the_source_says(form: str, tmp_path: Path) -> None:
    wanted = {}
    for path, source in FORMS[form].items():
        (tmp_path / path).write_text(source, encoding="utf-8")
        for number, line in enumerate(source.splitlines(), 1):
            says = SAYS.search(line)
            if says:
                wanted[path, number] = says[1]
    with Graph.open(tmp_path) as graph:
        database = tmp_path / graph.sync().db
    sql = "SELECT from_file, line, target_qualified FROM refs WHERE kind = 'call' AND confidence <> 'fuzzy_name' ORDER BY from_span_end"
    found = {(path, line): target for path, line, target in apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY).execute(sql)}
    assert {at: found.get(at) or "-" for at in wanted} == wanted
