"""Python: what the captures of python.scm mean, and how modules are named and found."""

from __future__ import annotations

import posixpath
import re
import sys
from bisect import bisect_left
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from orbit.graph.facts import BIND_FORMS, NONE, Command, Definition, FileFacts, Mark, among
from orbit.graph.languages.language import Language, Layout
from orbit.model import REF_KIND_CODES, TYPE_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ENDINGS = (".py", ".pyi", "/__init__.py", "/__init__.pyi")
SOURCE_FOLDERS = ("src", "lib", "python")
ASIDE = ("test", "tests", "doc", "docs", "example", "examples", "bench", "benchmarks", "scripts", "tools")
MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
# `where = ["src"]`, `package-dir = {"" = "lib"}`, `package_dir={"": "lib"}`, `from = "python"`, `python-source = "python"`, `pythonpath = ["lib"]`
SOURCE_SETTING = re.compile(
    r"""(?:\bwhere|package[-_]dir|python-source|pythonpath|\bfrom)["']?\s*[=:]\s*(?:\n\s*=\s*)?[\[{(]?\s*(?:["']{2}\s*[:=]\s*)?=?\s*["']?([\w./-]+)"""
)

PROPERTY_DECORATORS = frozenset({"property", "cached_property", "abstractproperty", "classproperty", "hybrid_property", "reify"})
PROPERTY_PARTS = frozenset({"setter", "getter", "deleter"})
FLAGS = {
    "staticmethod": "static", "classmethod": "class", "abstractmethod": "abstract", "overload": "overload",
    "contextmanager": "context", "asynccontextmanager": "context",
}  # fmt: skip

COMMAND_MODULES = frozenset({"click", "typer", "rich_click", "asyncclick", "cloup", "flask", "quart"})
CHAT_MODULES = frozenset({"discord", "nextcord", "disnake", "twitchio", "interactions"})  # their commands are not of a command line
COMMAND_MAKERS = frozenset({"command", "group"})
GROUP_TYPES = ("Typer", "Group")  # how the names of classes of groups end
FIRST_STRING = re.compile(rb"""[^(]*\(\s*[rRuU]?["']([^"']*)["']""")
SECOND_STRING = re.compile(rb"""[^(]*\([^,()]+,\s*[rRuU]?["']([^"']*)["']""")
FIRST_VALUE = re.compile(rb"[^(]*\(\s*[A-Za-z_*][^=,()]*[,)]")  # the first argument is no literal and has no keyword
NAME_KEYWORD = re.compile(rb"""\bname\s*=\s*[rRuU]?["']([^"']*)["']""")

ANNOTATION_WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*(?:\s*\.\s*[A-Za-z_\x80-\xff][\w\x80-\xff]*)*")
NOT_TYPES = frozenset({
    b"str", b"int", b"float", b"bool", b"bytes", b"object", b"list", b"dict", b"tuple", b"set", b"frozenset", b"type", b"complex", b"Any", b"None",
    b"Optional", b"Union", b"List", b"Dict", b"Tuple", b"Set", b"Callable", b"Type", b"True", b"False",
})  # fmt: skip
LITERAL_LOOK_BACK = 400  # bytes
USE, FIELD, RETURN = REF_KIND_CODES["use"], BIND_FORMS.index("field"), BIND_FORMS.index("return")

BUILTINS = frozenset({
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError", "BrokenPipeError", "BufferError",
    "BytesWarning", "ChildProcessError", "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
    "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning", "EnvironmentError", "Exception", "ExceptionGroup", "False", "FileExistsError",
    "FileNotFoundError", "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError", "ImportError", "ImportWarning", "IndentationError",
    "IndexError", "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError",
    "NameError", "None", "NotADirectoryError", "NotImplemented", "NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning",
    "PermissionError", "ProcessLookupError", "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning",
    "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError", "True", "TypeError",
    "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError", "UnicodeWarning", "UserWarning",
    "ValueError", "Warning", "ZeroDivisionError", "__build_class__", "__import__", "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool",
    "breakpoint", "bytearray", "bytes", "callable", "chr", "classmethod", "compile", "complex", "copyright", "credits", "delattr", "dict", "dir",
    "divmod", "enumerate", "eval", "exec", "exit", "filter", "float", "format", "frozenset", "getattr", "globals", "hasattr", "hash", "help", "hex", "id",
    "input", "int", "isinstance", "issubclass", "iter", "len", "license", "list", "locals", "map", "max", "memoryview", "min", "next", "object", "oct",
    "open", "ord", "pow", "print", "property", "quit", "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str",
    "sum", "super", "tuple", "type", "vars", "zip", "reveal_type",
})  # fmt: skip

# ---------------------------------------------------------------- modules


class _Modules:
    """Where modules may start in one worktree, and what was found there."""

    def __init__(self, layout: Layout) -> None:
        declared, homes = set(), {""}
        self.namespaces: set[str] = set()
        for name in MANIFESTS:
            for manifest in layout.manifests(name):
                home = posixpath.dirname(manifest)
                homes.add(home)
                text = layout.text(manifest) or ""
                for folder in SOURCE_SETTING.findall(text):
                    folder = posixpath.normpath(posixpath.join(home, folder.strip("/")))
                    if folder != home and folder != "." and not folder.startswith(".."):
                        declared.add(folder)
                if "namespace" in text:
                    self.namespaces.add(home)
        for home in homes:
            declared.update(f"{home}/{folder}" if home else folder for folder in SOURCE_FOLDERS)
        self.declared = frozenset(declared)
        self.homes = frozenset(homes)
        self.roots = sorted(self.declared | self.homes)
        self.folders: dict[str, tuple[str, bool]] = {}  # folder -> (prefix of its modules, is it a package)


_MODULES: WeakKeyDictionary[Layout, _Modules] = WeakKeyDictionary()


def _modules(layout: Layout) -> _Modules:
    try:
        known = _MODULES.get(layout)
        if known is None:
            known = _MODULES[layout] = _Modules(layout)
        return known
    except TypeError:  # a layout that cannot be kept
        return _Modules(layout)


def _ancestors(folder: str) -> Iterator[str]:
    """The folder itself, then those around it; the root last, as ''."""
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _is_package(folder: str, layout: Layout) -> bool:
    return layout.has(f"{folder}/__init__.py") or layout.has(f"{folder}/__init__.pyi")


def _folder_module(folder: str, layout: Layout) -> str:
    """Qualified name of a folder as a package; empty for a folder where modules start."""
    modules = _modules(layout)
    known = modules.folders.get(folder)
    if known is not None:
        return known[0]
    top = folder
    while top and _is_package(top, layout):
        top = posixpath.dirname(top)
    start = next((place for place in _ancestors(top) if place in modules.declared), None)
    if start is None and (top == folder or not top):  # not in a package: named from the nearest place where modules may start
        start = next(place for place in _ancestors(top) if place in modules.homes)
    if start is None:
        home = next(place for place in _ancestors(top) if place in modules.homes)
        start = home if home in modules.namespaces and not _is_aside(top, home) else top
    inside = folder[len(start) :].strip("/").replace("/", ".")
    first, dot, rest = inside.partition(".")
    name = first.removesuffix("-stubs") + dot + rest
    modules.folders[folder] = (name, top != folder)
    return name


def _is_aside(folder: str, home: str) -> bool:
    """Does the folder hold tests, documents or examples, not what a distribution installs?"""
    return folder[len(home) :].strip("/").partition("/")[0] in ASIDE


def module_of(path: str, layout: Layout) -> str:
    """Dotted name of a module: from the top of its chain of packages, below a source folder or the folder of a manifest."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    package = _folder_module(folder, layout)
    if stem == "__init__":
        return package or stem
    return f"{package}.{stem}" if package else stem


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    """Relative imports climb from the importing package; absolute ones are looked up where modules may start, nearest first."""
    text = "".join(text.split())
    folder = posixpath.dirname(path)
    if text.startswith("."):
        rest = text.lstrip(".")
        climb = len(text) - len(rest) - 1
        parts = folder.split("/") if folder else []
        if climb > len(parts):
            return None
        there = "/".join(parts[: len(parts) - climb])
        return _at(there, rest, layout) or _joined(_folder_module(there, layout), rest)
    return _look_up(text, folder, module, layout)


def _joined(package: str, rest: str) -> str:
    return f"{package}.{rest}" if package and rest else package or rest


def _at(folder: str, dotted: str, layout: Layout) -> str | None:
    """The module of that dotted name below a folder, if a file holds it."""
    place = "/".join(filter(None, (folder, dotted.replace(".", "/"))))
    endings = ENDINGS if dotted else ENDINGS[2:]
    for ending in endings:
        if place and layout.has(place + ending):
            return module_of(place + ending, layout)
    return None


def _look_up(text: str, folder: str, module: str, layout: Layout) -> str | None:
    modules = _modules(layout)
    first = text.partition(".")[0]
    around = list(_ancestors(folder))
    near = [place for place in around if place in modules.declared or place in modules.homes or not _is_package(place, layout)]
    places = list(dict.fromkeys([*_with_sources(near, modules), *modules.roots])) if layout.has_part(first) else []
    for place in places:
        target = _at(place, text, layout)
        if target is not None:
            return target
    for place in places:  # the package is here, the module is not: generated, compiled, or a folder without __init__
        if _at(place, first, layout) is not None:
            return _joined(_folder_module("/".join(filter(None, (place, first))), layout), text[len(first) + 1 :])
    if first == module.partition(".")[0] and first not in sys.stdlib_module_names:
        return text  # the same namespace package, here or elsewhere
    return None


def _with_sources(places: Iterable[str], modules: _Modules) -> Iterator[str]:
    for place in places:
        yield place
        for folder in SOURCE_FOLDERS:
            below = f"{place}/{folder}" if place else folder
            if below in modules.declared:
                yield below


# ---------------------------------------------------------------- fix-up


def fix_up(facts: FileFacts) -> None:
    """Decorators make properties, flags and commands; annotations in quotes are read; names that are local are told apart."""
    if facts.marks:
        _read_decorators(facts)
        _read_annotations(facts)
    _mark_unit_tests(facts)
    _read_commands(facts)
    _settle_binds(facts)
    _drop_local_uses(facts)


def _decorated(facts: FileFacts) -> Iterator[tuple[Mark, int]]:
    """Each decorator with the definition that follows it."""
    starts = [found.start for found in facts.definitions]
    for mark in facts.marks:
        if "decorator" in mark.flags:
            index = bisect_left(starts, mark.end)
            if index < len(starts):
                yield mark, index


def _read_decorators(facts: FileFacts) -> None:
    for mark, index in _decorated(facts):
        found, name = facts.definitions[index], facts.text(mark.name)
        if found.kind == "class":
            continue
        if name in PROPERTY_DECORATORS or name in PROPERTY_PARTS and mark.receiver != NONE:
            found.kind = "property"
        elif name in FLAGS:
            found.flags = found.flags | {FLAGS[name]}


def _mark_unit_tests(facts: FileFacts) -> None:
    """Methods named `testThing` of a class whose name or bases say it holds tests. `test_thing` of any other class is none: `Flask.test_client`."""
    suites = {relation.scope for relation in facts.relations if facts.text(relation.target).endswith(("TestCase", "TestSuite"))}
    tested = {relation.scope for relation in facts.relations if "test" in facts.text(relation.target).lower()}
    for found in facts.definitions:
        if found.kind == "test" and found.parent >= 0 and facts.definitions[found.parent].kind in TYPE_KINDS:
            if found.parent not in tested and "test" not in facts.definitions[found.parent].name.lower():
                found.kind = "method"
            continue
        if found.kind != "method" or not found.name.startswith("test") or not found.name[4:5].isupper():
            continue
        if found.parent in suites or facts.definitions[found.parent].name.startswith("Test"):
            found.kind = "test"


def _read_annotations(facts: FileFacts) -> None:
    """Type references in annotations a query cannot take apart: quoted ones, alternatives, subscripts of dotted names."""
    rows = {row[2]: row for mark in facts.marks if "annotation" in mark.flags for row in _types_in(facts, mark)}
    if rows:
        starts, refs = np.array(list(rows), dtype=np.int32), facts.refs
        new = ~among(starts, refs[:, 2])
        refs[(refs[:, 0] == USE) & among(refs[:, 2], starts), 0] = REF_KIND_CODES["type"]
        facts.add_refs(row for row, keep in zip(rows.values(), new.tolist(), strict=True) if keep)
        facts.refs = facts.refs[np.argsort(facts.refs[:, 2], kind="stable")]


def _types_in(facts: FileFacts, mark: Mark) -> Iterator[tuple[int, ...]]:
    source, at = facts.source, mark.start
    if "quoted" in mark.flags and _is_literal(source, at):
        return
    while (word := ANNOTATION_WORD.search(source, at, mark.end)) is not None:
        at = word.end()
        receiver, _, name = word.group().rpartition(b".")
        name = name.strip()
        if name == b"Literal":
            at = _after_brackets(source, at, mark.end)
        elif name not in NOT_TYPES:
            line = mark.line + source.count(b"\n", mark.start, word.start())
            holder = "".join(receiver.decode("utf-8", "replace").split())
            yield facts.ref("type", name.decode("utf-8", "replace"), word.end() - len(name), line, receiver=holder, scope=mark.scope)


def _is_literal(source: bytes, at: int) -> bool:
    """Does the quoted text at this place stand inside `Literal[...]`?"""
    opening = source.rfind(b"[", max(0, at - LITERAL_LOOK_BACK), at)
    return opening >= 0 and b"]" not in source[opening:at] and source[max(0, opening - 20) : opening].rstrip().endswith(b"Literal")


def _after_brackets(source: bytes, at: int, end: int) -> int:
    depth = 0
    for i in range(at, end):
        if source[i] == 0x5B:
            depth += 1
        elif source[i] == 0x5D:
            depth -= 1
        if depth <= 0:
            return i + 1
    return end


def _settle_binds(facts: FileFacts) -> None:
    """What a definition binds is that definition; what says more about a name hides what says less; names declared global are the module's;
    returns count where no type is declared."""
    binds = facts.binds
    if not len(binds):
        return
    telling = (binds[:, 2] != NONE) | (binds[:, 3] != NONE) & (binds[:, 3] != facts.id("?"))
    kept = telling | ~among(binds[:, 5], binds[telling, 5])
    if facts.definitions:
        kept &= ~among(binds[:, 5], np.array([found.name_start for found in facts.definitions], dtype=np.int32))
        typed = np.array([found.type != NONE or found.kind == "class" for found in facts.definitions] + [True])
        kept &= (binds[:, 0] != RETURN) | ~typed[binds[:, 4]]
    moved = {(mark.scope, mark.name): "global" in mark.flags for mark in facts.marks if mark.name != NONE and mark.flags & {"global", "nonlocal"}}
    if moved:
        for i, (_, name, _, value, scope, _) in enumerate(binds.tolist()):
            if (scope, name) in moved:
                binds[i, 4] = NONE if moved[scope, name] else facts.definitions[scope].parent
                if not facts.text(value).endswith("()"):  # a name of the function means nothing outside it
                    binds[i, 3] = NONE
    facts.binds = binds[kept]


def _drop_local_uses(facts: FileFacts) -> None:
    """A bare name that the same scope binds is no reference to a definition."""
    refs, binds = facts.refs, facts.binds
    if not len(refs) or not len(binds):
        return
    local = binds[(binds[:, 4] >= 0) & (binds[:, 0] != FIELD)].astype(np.int64)
    uses = (refs[:, 0] == USE) & (refs[:, 5] == NONE) & (refs[:, 6] >= 0)
    asked = refs[uses].astype(np.int64)
    hidden = among((asked[:, 6] << 32) | asked[:, 1], (local[:, 4] << 32) | local[:, 1])
    kept = np.ones(len(refs), dtype=bool)
    kept[np.flatnonzero(uses)[hidden]] = False
    facts.refs = refs[kept]


# ---------------------------------------------------------------- commands


def _read_commands(facts: FileFacts) -> None:
    """Click and Typer: decorated functions, group objects, and calls that hang one on another.

    A row whose name is empty is the group itself (a Typer object, its callback); `?name` is the name the handler was declared with, wherever that
    is, and `name` if it was given none.
    """
    if not any(mark.name != NONE and not mark.flags.isdisjoint(("decorator", "nest")) for mark in facts.marks):
        return
    modules: set[str] = set()
    makers: set[str] = set()
    imported: set[str] = set()
    is_chat = False
    for row in facts.imports:
        first, name, alias = facts.text(row.path).partition(".")[0], facts.text(row.name), facts.text(row.alias)
        is_chat = is_chat or first in CHAT_MODULES
        if first in COMMAND_MODULES:
            (makers if name else modules).add(alias or name or first)
        else:
            imported.add(alias or name or first)
    if is_chat and not modules:
        return
    if modules or makers:
        _take_groups(facts)
    for mark, index in _decorated(facts):
        _take_decorator(facts, mark, index, modules, makers, imported)
    nests = [mark for mark in facts.marks if "nest" in mark.flags]
    known = {*imported, "self", "cls"}.union(found.name for found in facts.definitions) if nests else set()
    for mark in nests:
        _take_nesting(facts, mark, modules, known)


def _take_groups(facts: FileFacts) -> None:
    for index, found in enumerate(facts.definitions):
        if found.kind in ("const", "field") and found.value != NONE:
            made = facts.text(found.value)
            if made.removesuffix("()").endswith(GROUP_TYPES) and made.endswith("()"):
                text = facts.source[found.start : found.end]
                name = _word(NAME_KEYWORD.search(text) or FIRST_STRING.match(text))
                facts.commands.append(Command(name=name, start=found.start, line=found.line, scope=index, handler=_expression(facts, found)))


def _take_decorator(facts: FileFacts, mark: Mark, index: int, modules: set[str], makers: set[str], imported: set[str]) -> None:
    name, receiver = facts.text(mark.name), facts.text(mark.receiver)
    found = facts.definitions[index]
    if found.kind == "class" or receiver.endswith("optgroup") or not (name in COMMAND_MAKERS or name == "callback" and receiver and modules | makers):
        return
    if not receiver and name not in makers or receiver and not (modules or makers or receiver.endswith("cli") or receiver.partition(".")[0] in imported):
        return
    text = facts.source[mark.start : mark.end]
    given = _word(NAME_KEYWORD.search(text) or FIRST_STRING.match(text))
    group = "" if receiver in modules else receiver
    own = "" if name == "callback" else given or _dashed(found.name)
    facts.commands.append(Command(name=own, start=mark.start, line=mark.line, scope=index, handler=_expression(facts, found), group=group))


def _take_nesting(facts: FileFacts, mark: Mark, modules: set[str], known: set[str]) -> None:
    handler, receiver = facts.text(mark.value), facts.text(mark.receiver)
    text, last = facts.source[mark.start : mark.end], _dashed(handler.rpartition(".")[2])
    is_made = facts.text(mark.name) in COMMAND_MAKERS  # cli.command("x")(function)
    given = _word(NAME_KEYWORD.search(text) or (FIRST_STRING if is_made else SECOND_STRING).match(text))
    if not last.replace("-", "_").isidentifier() or not given and (handler.partition(".")[0] not in known or is_made and FIRST_VALUE.match(text)):
        return  # no name of a thing, or a local that may be many, or a name only a run can tell
    given = given or (last if is_made else f"?{last}")
    group = "" if receiver in modules else receiver
    facts.commands.append(Command(name=given, start=mark.start, line=mark.line, scope=mark.scope, handler=handler, group=group))


def _expression(facts: FileFacts, found: Definition) -> str:
    """How a definition is called at the top of its file."""
    names = [found.name]
    while found.parent != NONE:
        found = facts.definitions[found.parent]
        names.append(found.name)
    return ".".join(reversed(names))


def _word(found: re.Match[bytes] | None) -> str:
    return found.group(1).decode("utf-8", "replace") if found else ""


def _dashed(name: str) -> str:
    return name.lower().replace("_", "-")


LANGUAGES = {
    "python": Language(
        name="python",
        grammar=("tree_sitter_python", "language"),
        suffixes=(".py", ".pyi"),
        member_kinds={"function": "method", "const": "field"},
        outer_kinds=frozenset({"const", "type_alias"}),
        manifests=MANIFESTS,
        module_of=module_of,
        import_target=import_target, aims_by_folder=True,
        fix_up=fix_up,
        self_names=("self",),
        class_names=("cls", "mcs"),
        super_names=("super",),
        import_binds="first",
        passing=("values", "copy"),
        picking=("get", "pop", "popleft", "setdefault"),
        reexports_all=True,
        module_symbols=True,
        transparent=(
            "Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar", "Type", "type", "Awaitable", "Self",
        ),
        collections=(
            "list", "List", "set", "Set", "frozenset", "FrozenSet", "tuple", "Tuple", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection",
            "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "deque", "Deque", "AbstractSet", "MutableSet", "KeysView", "ValuesView",
            "dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict",
        ),
        builtins=BUILTINS,
        test_names=("test_",),
        test_files=("test_*.py", "*_test.py", "tests.py", "conftest.py", "test/**", "tests/**"),
    )
}  # fmt: skip
