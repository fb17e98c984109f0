"""From what somebody typed to the one symbol or file it means. Several: an error with all of them. None: an error with names like it."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

import apsw
import msgspec

from orbit.errors import AmbiguousError, NotFoundError, SymbolNotFoundError, UsageError
from orbit.graph.query.answer import Target
from orbit.graph.query.near import closest, near_names
from orbit.graph.selector import Selector, guess_path, normalise, parse
from orbit.model import SYMBOL_KIND_CODES, SYMBOL_KINDS, TYPE_KINDS

SYMBOL_SHIFT, REF_SHIFT = 20, 24
MOST_CANDIDATES = 20
DECLARATION = SYMBOL_KIND_CODES["function_declaration"]
_MODULE, _SECTION = SYMBOL_KIND_CODES["module"], SYMBOL_KIND_CODES["section"]
_PROPERTY = SYMBOL_KIND_CODES["property"]
_REOPENING, _REOPENED = frozenset({"ruby", "csharp", "typescript", "tsx"}), frozenset({*TYPE_KINDS, "module", "namespace"})
CALLABLE_KINDS = frozenset({"function", "method", "constructor", "singleton_method", "test"})
_BODIES = range(SYMBOL_KIND_CODES["class"], SYMBOL_KIND_CODES["property"] + 1)  # types, functions and the like
_LINE = re.compile(r":(\d{1,9})(?:[-:]\d+)*$")  # `a.py:12:3`, as compilers and stack traces write it
_SEPARATORS = re.compile(r"::|[.#/]")
_NUMBERS, _GENERICS, _IMPL = re.compile(r"#\d+(?=$|::|[.#/])"), re.compile(r"(?<=\w)<[^<>]*>"), re.compile(r"<([^<>]+?)(?: as [^<>]*)?>")
_REPEAT = re.compile(r"#\d+$")  # how qualified names tell apart what a file defines several times
COLUMNS = """SELECT s.id, f.path, f.lang, n.value, q.value, s.kind, s.start, s.end, s.line, s.end_line, s.signature, s.name, s.qualified,
    f.is_test OR f.is_generated, s.flags & 16
    FROM symbol s JOIN file f ON f.id = s.id >> 20 JOIN text n ON n.id = s.name JOIN text q ON q.id = s.qualified"""


class Symbol(msgspec.Struct, frozen=True):
    """A row of table `symbol` with its texts."""

    id: int
    path: str
    lang: str
    name: str
    qualified: str
    kind_code: int
    start: int
    end: int
    line: int
    end_line: int
    signature: str
    name_id: int
    qualified_id: int
    is_demoted: int  # in a test or in generated code
    is_overload: int = 0  # a signature only, of the function that follows it

    @property
    def file(self) -> int:
        return self.id >> SYMBOL_SHIFT

    @property
    def kind(self) -> str:
        return SYMBOL_KINDS[self.kind_code]

    @property
    def selector(self) -> str:
        return str(Selector("symbol", path=self.path, name=self.qualified, symbol_kind=self.kind))

    def as_target(self) -> Target:
        return Target(name=self.name, qualified=self.qualified, selector=self.selector, kind=self.kind, path=self.path, line=self.line)


class File(msgspec.Struct, frozen=True):
    """A row of table `file`, as far as questions need it."""

    id: int
    path: str
    lang: str
    module: str
    module_id: int
    size: int

    @property
    def selector(self) -> str:
        return str(Selector("file", path=self.path))

    def as_target(self) -> Target:
        return Target(name=self.path.rpartition("/")[2], qualified=self.module, selector=self.selector, kind="file", path=self.path, line=1)


def find_symbol(db: apsw.Connection, text: str, root: PurePath | None = None) -> Symbol:
    """The one symbol that `text` means. A file, folder or module is refused: it is not one symbol."""
    found = find_target(db, text, root)
    if isinstance(found, File):
        raise UsageError(f"{found.selector} is a file, not a symbol", hint=f"`orbit graph overview {found.selector}` lists its symbols")
    return found


def find_target(db: apsw.Connection, text: str, root: PurePath | None = None, *, with_near: bool = True) -> Symbol | File:
    """The one symbol or file that `text` means. Without `with_near` no names near a wrong one are looked for, which takes most of the time."""
    selector = parse(clean(text), root)
    if selector.kind == "symbol":
        return _choose(db, str(selector), symbols_of_selector(db, selector, with_near), with_near)
    if selector.kind == "file":
        return find_file(db, selector.path, with_near)
    if selector.kind == "dir":
        raise UsageError(f"{selector} is a folder, not a symbol", hint=f"`orbit graph overview {selector}` shows what is in it")
    if selector.kind == "module":
        return _find_module(db, selector.name, with_near)
    if selector.kind == "command":
        return _find_handler(db, selector.name, with_near)
    found = prefer_members(symbols_of_name(db, selector.name))
    if not found and selector.name.startswith(("/", "../", "./")):
        path = normalise(selector.name, root)
        return find_target(db, f"dir:{path}") if holds_files(db, path) else find_file(db, path, with_near)
    if not found:
        guess = guess_path(selector)
        if guess is not None and (file := read_file(db, guess.path)) is not None:
            return _at_line(db, file, selector.name)
        if files := _modules(db, selector.name) or (_files(db, "substr(f.path, -length(?1)) = ?1", f"/{guess.path}") if guess is not None else []):
            return files[0] if len(files) == 1 else _choose_file(selector.name, files)
        if guess is not None and holds_files(db, guess.path):
            return find_target(db, f"dir:{guess.path}")
        found = _in_named_file(db, selector.name)
    return _choose(db, selector.name, found, with_near)


def find_file(db: apsw.Connection, path: str, with_near: bool = True) -> File:
    """The indexed file at a path."""
    found = read_file(db, path)
    if found is None:
        near = _near_files(db, path) if with_near else []
        hint = f"did you mean {', '.join(near)}?" if near else f"`orbit graph why {path}` says why it is not indexed"
        raise NotFoundError(f"no file {path!r} in the graph", hint=hint, candidates=near, code="file-not-found")
    return found


def _near_files(db: apsw.Connection, path: str) -> list[str]:
    name = path.rpartition("/")[2]
    pool = [row[0] for row in db.execute("SELECT path FROM file WHERE path = ? OR substr(path, -length(?)) = ? LIMIT 50", (name, f"/{name}", f"/{name}"))]
    pool = pool or closest(path, (row[0] for row in db.execute("SELECT path FROM file ORDER BY path LIMIT 2000")))
    return [str(Selector("file", path=candidate)) for candidate in pool[:5]]


def read_file(db: apsw.Connection, path: str) -> File | None:
    row = db.execute(f"{_FILE_COLUMNS} WHERE f.path = ?", (path,)).fetchone()
    return File(*row) if row else None


def symbol_at(db: apsw.Connection, qualified: int | None, file: int | None) -> Symbol | None:
    """What a reference was resolved to: the function, not its prototype or a field of its name."""
    order = "ORDER BY s.kind = 18 OR s.kind BETWEEN 21 AND 29, s.id LIMIT 1"
    row = db.execute(f"{COLUMNS} WHERE s.qualified = ? AND s.id >> 20 = ? {order}", (qualified, file)).fetchone()
    return Symbol(*row) if row else None


def holds_files(db: apsw.Connection, folder: str) -> bool:
    """Are indexed files below this folder?"""
    return folder == "." or db.execute("SELECT 1 FROM file WHERE path >= ? AND path < ? LIMIT 1", (f"{folder}/", f"{folder}0")).get is not None


def text_id(db: apsw.Connection, value: str) -> int:
    """The id of a text; -2, which nothing has, when it does not occur."""
    found: int | None = db.execute("SELECT id FROM text WHERE value = ?", (value,)).get
    return -2 if found is None else found


def symbols_of_selector(db: apsw.Connection, selector: Selector, with_near: bool = True) -> list[Symbol]:
    """Symbols a `symbol:` selector may mean: by qualified name, else by name, else by the end of the qualified name."""
    whole = f"{selector.path}#{selector.name}"
    for at in (index for index, sign in enumerate(whole) if sign == "#"):  # a path may hold a `#`, too
        file, name = db.execute("SELECT id FROM file WHERE path = ?", (whole[:at],)).get, whole[at + 1 :]
        if file is not None and name:
            return _in_file(db, file, name, selector.symbol_kind)
    find_file(db, selector.path, with_near)
    return []


def _in_file(db: apsw.Connection, file: int, name: str, kind: str) -> list[Symbol]:
    where, bounds = "s.id >= ? AND s.id < ?", [file << SYMBOL_SHIFT, (file + 1) << SYMBOL_SHIFT]
    if kind:
        where, bounds = f"{where} AND s.kind = ?", [*bounds, SYMBOL_KIND_CODES[kind]]
    wanted = text_id(db, name)
    for column in ("qualified", "name"):
        found = _read(db, f"{where} AND s.{column} = ?", (*bounds, wanted))
        if found:
            return found if kind else _with_repeats(db, found)
    last = text_id(db, _SEPARATORS.split(name)[-1])
    return [symbol for symbol in _read(db, f"{where} AND s.name = ?", (*bounds, last)) if _ends_with(symbol.qualified, name)]


def symbols_of_name(db: apsw.Connection, name: str) -> list[Symbol]:
    """Symbols with this qualified name or this name; if none, those whose qualified name ends with it."""
    wanted = text_id(db, name)
    found = _read(db, "s.id IN (SELECT id FROM symbol WHERE qualified = ?1 UNION SELECT id FROM symbol WHERE name = ?1)", (wanted,))
    if found:
        exact = [symbol for symbol in found if symbol.qualified == name and _SEPARATORS.search(name)]
        return _with_repeats(db, exact) if exact else found
    parts = _SEPARATORS.split(name)
    if len(parts) < 2 or not parts[-1]:
        return []
    return [symbol for symbol in _read(db, "s.name = ?", (text_id(db, parts[-1]),)) if _ends_with(symbol.qualified, name)]


def _read(db: apsw.Connection, where: str, values: tuple[Any, ...]) -> list[Symbol]:
    return [Symbol(*row) for row in db.execute(f"{COLUMNS} WHERE {where} ORDER BY f.path, s.line, s.id", values)]


def _ends_with(qualified: str, name: str) -> bool:
    """Is `name` a run of whole parts at the end of a qualified name, whatever the separators?"""
    wanted = _SEPARATORS.split(name)
    return any(_SEPARATORS.split(held)[-len(wanted) :] == wanted for held in (qualified, as_typed(qualified)))


def as_typed(qualified: str) -> str:
    """A qualified name as people write it: without numbers, `Foo::clone` for `<Foo as Clone>::clone`."""
    name, count = _NUMBERS.sub("", qualified), 1
    while count:
        name, count = _GENERICS.subn("", name)
    return _IMPL.sub(r"\1", name)


def plain_name(qualified: str) -> str:
    """A qualified name without the number that tells it from others of its name in the file."""
    return _REPEAT.sub("", qualified)


def _with_repeats(db: apsw.Connection, found: list[Symbol]) -> list[Symbol]:
    """These, and what the same file defines again under the same name: overloads, branches."""
    known = {symbol.id: symbol for symbol in found}
    for symbol in found:
        bounds = (symbol.file << SYMBOL_SHIFT, (symbol.file + 1) << SYMBOL_SHIFT, symbol.name_id, symbol.kind_code)
        again = _read(db, "s.id >= ? AND s.id < ? AND s.name = ? AND s.kind = ?", bounds)
        known.update((other.id, other) for other in again if plain_name(other.qualified) == symbol.qualified)
    return sorted(known.values(), key=lambda symbol: (symbol.path, symbol.line, symbol.id))


def settle(found: list[Symbol]) -> list[Symbol]:
    """Without what only belongs to another of them: overloads to the function they describe, a setter to its getter, declarations to the body,
    parts of a type to its first."""
    groups: dict[tuple[str, str, int], list[Symbol]] = {}
    for symbol in found:
        groups.setdefault((symbol.path, plain_name(symbol.qualified), symbol.kind_code), []).append(symbol)
    left: list[Symbol] = []
    for group in groups.values():
        whole = [symbol for symbol in group if not symbol.is_overload] or group[:1]
        is_one = group[0].kind_code == _PROPERTY or group[0].lang in _REOPENING and group[0].kind in _REOPENED
        left += whole[:1] if is_one else whole
    if len(left) > 1 and len({symbol.qualified for symbol in left}) == 1:
        bodies = [symbol for symbol in left if symbol.kind_code != DECLARATION]
        left = bodies if len(bodies) == 1 else left
    return left


def prefer_members(found: list[Symbol]) -> list[Symbol]:
    """Without modules and headings, if anything else has the name: both are often called like the one thing in them. `module:` and `symbol:` name them."""
    return [symbol for symbol in found if symbol.kind_code not in (_MODULE, _SECTION)] or found


def _choose(db: apsw.Connection, text: str, found: list[Symbol], with_near: bool) -> Symbol:
    """The only one that is left."""
    found = settle(found)
    if len(found) == 1:
        return found[0]
    if not found:
        raise SymbolNotFoundError(text, near_selectors(db, text) if with_near else ())
    ranked = sorted(found, key=lambda symbol: symbol.is_demoted)
    raise AmbiguousError(text, [symbol.selector for symbol in ranked[:MOST_CANDIDATES]], total=len(found))


def near_selectors(db: apsw.Connection, text: str) -> list[str]:
    """What a mistyped name may have meant: members of the owner it names, else names like its last part."""
    selector = parse(text)
    name = selector.name
    if selector.kind == "symbol":
        held = db.execute(
            "SELECT DISTINCT n.value FROM file f JOIN symbol s ON s.id >= f.id << 20 AND s.id < (f.id + 1) << 20 JOIN text n ON n.id = s.name"
            " WHERE f.path = ? LIMIT 5000",
            (selector.path,),
        )
        near = closest(_SEPARATORS.split(name)[-1], (row[0] for row in held))
        if near:
            return [str(Selector("symbol", path=selector.path, name=member)) for member in near]
    last = _SEPARATORS.split(name)[-1]
    owner = name[: len(name) - len(last)].rstrip(".:#/")
    for symbol in symbols_of_name(db, owner)[:5] if owner else ():
        members = db.execute("SELECT DISTINCT n.value FROM symbol s JOIN text n ON n.id = s.name WHERE s.container = ? LIMIT 1000", (symbol.qualified_id,))
        near = closest(last, (row[0] for row in members))
        if near:
            return [name[: len(name) - len(last)] + member for member in near]
    return near_names(db, name)


_FILE_COLUMNS = "SELECT f.id, f.path, f.lang, m.value, f.module, f.size FROM file f JOIN text m ON m.id = f.module"


def _modules(db: apsw.Connection, name: str) -> list[File]:
    return _files(db, "f.module = ?", text_id(db, name))


def _files(db: apsw.Connection, where: str, value: int | str) -> list[File]:
    return [File(*row) for row in db.execute(f"{_FILE_COLUMNS} WHERE {where} ORDER BY f.path", (value,))]


def _at_line(db: apsw.Connection, file: File, text: str) -> Symbol | File:
    """The innermost function or type at the line that follows a path, else what else is defined there; without a line, the file."""
    found = _LINE.search(text)
    if found is None:
        return file
    bounds = (file.id << SYMBOL_SHIFT, (file.id + 1) << SYMBOL_SHIFT, int(found[1]), _MODULE)
    around = _read(db, "s.id >= ?1 AND s.id < ?2 AND s.line <= ?3 AND s.end_line >= ?3 AND s.kind != ?4", bounds)
    return min(around, key=lambda symbol: (symbol.kind_code not in _BODIES, symbol.end - symbol.start), default=file)


def _in_named_file(db: apsw.Connection, name: str) -> list[Symbol]:
    """Symbols by `<path>#<name>`, or `<path>::<name>` as test runners write it."""
    for mark in ("#", "::"):
        path, _, member = name.partition(mark)
        if member and read_file(db, path) is not None:
            return symbols_of_selector(db, parse(f"symbol:{path}#{member}"))
    return []


def _find_module(db: apsw.Connection, name: str, with_near: bool) -> Symbol | File:
    files = _modules(db, name)
    if len(files) == 1:
        return files[0]
    if files:
        return _choose_file(f"module:{name}", files)
    kinds = {SYMBOL_KIND_CODES[kind] for kind in ("module", "namespace", "package")}
    found = [symbol for symbol in symbols_of_name(db, name) if symbol.kind_code in kinds]
    if not found:
        pool = db.execute("SELECT DISTINCT m.value FROM file f JOIN text m ON m.id = f.module LIMIT 5000") if with_near else ()
        near = [f"module:{module}" for module in closest(name, (row[0] for row in pool))]
        hint = f"did you mean {', '.join(near)}?" if near else "`orbit graph overview` shows what there is"
        raise NotFoundError(f"no module named {name!r}", hint=hint, candidates=near, code="module-not-found")
    return _choose(db, f"module:{name}", found, with_near)


def _choose_file(text: str, files: list[File]) -> File:
    raise AmbiguousError(text, [file.selector for file in files[:MOST_CANDIDATES]], total=len(files))


def _find_handler(db: apsw.Connection, name: str, with_near: bool) -> Symbol:
    """What handles a command of a command line."""
    rows = commands_of_name(db, name)
    if not rows:
        near = [f"command:{command}" for command in near_commands(db, name)] if with_near else []
        hint = f"did you mean {', '.join(near)}?" if near else "no such command is declared in this worktree"
        raise NotFoundError(f"no command named {name!r}", hint=hint, candidates=near, code="command-not-found")
    found = only_handler(db, name, rows)
    if found is None:
        raise NotFoundError(f"the handler of command {name!r} is not known", hint=f"`orbit graph search {name!r}` may find it", code="handler-unresolved")
    return found[0]


CommandRow = tuple[int, str, int, int | None, int | None]  # id, full name, line, target, its file


def commands_of_name(db: apsw.Connection, name: str) -> list[CommandRow]:
    """Commands of this full name; if none, those whose full name ends with it; if none and a program is called by its first word, without that."""
    words = name.split()
    columns = "SELECT id, full_name, line, target, target_file FROM command WHERE"
    found = list(db.execute(f"{columns} full_name = ? ORDER BY id", (" ".join(words),))) if words else []
    found = found or list(db.execute(f"{columns} substr(full_name, -length(?1)) = ?1 ORDER BY id", (f" {' '.join(words)}",)))
    if not found and len(words) > 1:
        if words[0] == "cargo" and _is_program(db, "-".join(words[:2])):
            words = words[1:]
        elif not _is_program(db, words[0]):
            return []
        return commands_of_name(db, " ".join(words[1:])) if len(words) > 1 else []
    return found


def _is_program(db: apsw.Connection, name: str) -> bool:
    """Is it a script that pyproject.toml declares, or a crate?"""
    scripts = (f"project.scripts.{name}", f"tool.poetry.scripts.{name}")
    if db.execute("SELECT count(*) FROM config WHERE key IN (SELECT id FROM text WHERE value IN (?, ?))", scripts).get:
        return True
    crate = text_id(db, name.replace("-", "_"))
    return db.execute("SELECT 1 FROM file WHERE module = ? AND lang = 'rust' LIMIT 1", (crate,)).get is not None


def only_handler(db: apsw.Connection, name: str, rows: list[CommandRow]) -> tuple[Symbol, str] | None:
    """What runs these commands, with the full name. Functions go before objects that stand for groups, and tests come last. Several: an error."""
    found: dict[int, tuple[Symbol, str]] = {}
    for _, full_name, _, target, target_file in rows:
        if symbol := symbol_at(db, target, target_file):
            found[symbol.id] = (symbol, full_name)
    if not found:
        return None
    best = min(_rank(symbol) for symbol, _ in found.values())
    meant = [(symbol, full_name) for symbol, full_name in found.values() if _rank(symbol) == best]
    if len(meant) == 1:
        return meant[0]
    names = {full_name for _, full_name in meant}
    candidates = [f"command:{full_name}" for full_name in names] if len(names) > 1 else [symbol.selector for symbol, _ in meant]
    raise AmbiguousError(f"command:{name}", sorted(candidates)[:MOST_CANDIDATES], total=len(candidates))


def _rank(symbol: Symbol) -> tuple[int, bool]:
    return symbol.is_demoted, symbol.kind not in CALLABLE_KINDS


def near_commands(db: apsw.Connection, name: str) -> list[str]:
    """Full names of commands like one that is not there: all of it, or as many words of their end."""
    pool: dict[str, list[str]] = {}
    count = len(name.split())
    for (full,) in db.execute("SELECT DISTINCT full_name FROM command WHERE full_name != '' ORDER BY full_name"):
        words = full.split()
        for end in (full, " ".join(words[-count:]), *words[-1:]):
            pool.setdefault(end, []).append(full)
    near = closest(name, pool) or closest(name.split()[-1] if count else "", pool)
    return list(dict.fromkeys(full for end in near for full in pool[end]))[:5]


def clean(text: str) -> str:
    """Text that SQLite can be asked for: bytes that were no UTF-8 name nothing."""
    return text.encode("utf-8", "replace").decode()
