"""Ruby: what the captures of ruby.scm mean. Names are chains of constants; files have no module of their own."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

import numpy as np

from orbit.graph.languages.language import Language, Layout
from orbit.model import REF_KIND_CODES

if TYPE_CHECKING:
    from orbit.graph.facts import Definition, FileFacts

NONE = -1
SPACES = frozenset({"module", "class", "singleton_class"})  # kinds that open a scope of constants
CALL, TYPE, USE = REF_KIND_CODES["call"], REF_KIND_CODES["type"], REF_KIND_CODES["use"]
KIND, NAME, START, END, LINE, RECEIVER, SCOPE, ARGC, FLAGS = range(9)  # REF_COLUMNS
FOR = 3  # of BIND_FORMS


def module_of(path: str, layout: Layout) -> str:
    """A constant is known by its chain, wherever it stands."""
    return ""


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    """The required file from the root, without its extension; None when no file of the worktree can be meant.

    `text` is a path as `require` takes it, or one that starts with `./` or `../` when it is relative to the file.
    """
    text = text[:-3] if text.endswith(".rb") else text
    if text.startswith("."):
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
        from_root = posixpath.normpath(text)  # `require "./x"` counts from where the program runs
        target = from_root if not layout.has(f"{beside}.rb") and layout.has(f"{from_root}.rb") else beside
        return None if target.startswith("..") else target
    if not text or text.startswith("/"):
        return None
    folder = posixpath.dirname(path)
    while True:
        for root in ("lib", "app", "test", "spec", ""):
            target = posixpath.normpath(posixpath.join(folder, root, text))
            if layout.has(f"{target}.rb"):
                return target
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def fix_up(facts: FileFacts) -> None:
    """Symbols lose their colon, names their qualifier; `class << self` and `module_function` make singleton methods; locals are no calls."""
    for found in facts.definitions:
        _read_name(facts, found)
    shared = _shared_modules(facts)
    known: set[str] = set()  # modules and classes of this file, by qualified name
    for found in facts.definitions:
        _place(facts, found, shared, known)
    for relation in facts.relations:  # `base.extend ClassMethods` in a hook says so of what includes the module
        relation.scope = _space(facts, relation.scope)
        while relation.scope != NONE and facts.definitions[relation.scope].kind == "singleton_class":
            relation.scope = _space(facts, facts.definitions[relation.scope].parent)
    for one in facts.imports:
        if "relative" in one.flags and not facts.text(one.path).startswith("."):
            one.path = facts.id(f"./{facts.text(one.path)}")
        if one.name != NONE:
            one.name = facts.id(facts.text(one.name).lstrip(":"))
    _settle_binds(facts)
    _settle_refs(facts)
    symbols = [
        facts.ref("use", name[1:], mark.start + at + 1, mark.line, receiver=facts.text(mark.receiver), scope=mark.scope)
        for mark in facts.marks
        if "symbol" in mark.flags
        for name in [facts.text(mark.name)]
        for at in [facts.source[mark.start : mark.end].find(name.encode())]
        if at >= 0 and len(name) > 1
    ]
    if symbols:
        facts.add_refs(symbols)


def _read_name(facts: FileFacts, found: Definition) -> None:
    """`:name` and `"name"` -> name."""
    name = found.name
    if name[:1] in ("'", '"') and len(name) >= 2:
        found.name, found.name_start = name[1:-1], found.name_start + 1
    elif name[:1] == ":" and len(name) > 1:
        found.name, found.name_start = name[1:].strip('"'), found.name_start + 1
    if "alias" in found.flags:
        found.value, found.path = facts.id(facts.text(found.path).lstrip(":")), NONE
    if "made" in found.flags:
        found.value = NONE
    if "attr" in found.flags and found.kind == "method" and not found.name.endswith("="):
        found.value = facts.id(f"@{found.name}")  # a reader gives what the variable holds
    if found.kind in ("method", "singleton_method") and found.argc == NONE and not found.flags:
        found.argc = 0


def _shared_modules(facts: FileFacts) -> dict[int, tuple[int, set[str]]]:
    """Module -> (where its methods start to be callable on it, names of those that are by name)."""
    shared: dict[int, tuple[int, set[str]]] = {}
    for mark in facts.marks:
        space = _space(facts, mark.scope)
        if space == NONE or not mark.flags & {"module_function", "extend_self"}:
            continue
        since, names = shared.setdefault(space, (1 << 31, set()))
        name = facts.text(mark.name)
        if "extend_self" in mark.flags:
            since = 0
        elif name.startswith(":"):
            names.add(name[1:])
        elif mark.scope == space:
            since = min(since, mark.start)
        shared[space] = (since, names)
    return shared


def _space(facts: FileFacts, scope: int) -> int:
    """The innermost module or class around a scope, itself included."""
    while scope != NONE and facts.definitions[scope].kind not in SPACES:
        scope = facts.definitions[scope].parent
    return scope


def _place(facts: FileFacts, found: Definition, shared: dict[int, tuple[int, set[str]]], known: set[str]) -> None:
    """The kind of a method and the qualified name of anything."""
    space = _space(facts, found.parent)
    around = facts.definitions[space].local if space != NONE else ""
    path = facts.text(found.path).replace(" ", "")
    if found.kind == "method" and space != NONE:
        since, names = shared.get(space, (1 << 31, set()))
        if facts.definitions[space].kind == "singleton_class":
            found.kind, around = "singleton_method", around.rpartition(".")[0]
        elif found.start >= since or found.name in names:
            found.kind, found.flags = "singleton_method", found.flags | {"module_function"}
    if found.kind == "method":
        found.local = f"{around}#{found.name}" if around else found.name
    elif found.kind == "singleton_method":
        if path not in ("", "self") and path != around.rpartition("::")[2]:
            inside = f"{around}::{path}"
            around = inside if inside in known else path if path[:1].isupper() or not around else f"{around}.{path}"
        found.local = f"{around}.{found.name}" if around else found.name
        found.flags |= {"static"}
    elif found.kind == "singleton_class":
        target = around if found.name == "self" else found.name
        found.owner = facts.id(target) if target else NONE
        found.local = f"{target}.self" if target else "self"
    else:
        absolute = found.path == NONE and facts.source[found.name_start - 2 : found.name_start] == b"::" and found.name_start >= 2
        chain = path.removeprefix("::") if path else ""
        around = "" if absolute or path.startswith("::") else around.removesuffix(".self")
        outer = around.split("::")
        if chain.partition("::")[0] in outer:  # `class A::B` inside A means that A, not one within
            around = "::".join(outer[: outer.index(chain.partition("::")[0])])
        found.local = "::".join(part for part in (around, chain, found.name) if part)
        if found.kind in SPACES:
            known.add(found.local)


def _settle_binds(facts: FileFacts) -> None:
    """One binding per place: a known type tells most, then what is iterated."""
    binds = facts.binds
    if len(binds) > 1:
        worth = 2 * (binds[:, 2] >= 0) + (binds[:, 0] == FOR)
        order = np.lexsort((-worth, binds[:, 5]))
        at = binds[order, 5]
        first = np.ones(len(binds), dtype=bool)
        first[1:] = at[1:] != at[:-1]
        facts.binds = binds[order[first]]


def _settle_refs(facts: FileFacts) -> None:
    """Identifiers that name a local are no calls; constants in capitals are values."""
    refs = facts.refs
    if not len(refs):
        return
    kinds = refs[:, KIND]
    constants = np.flatnonzero(kinds == TYPE)
    names = refs[constants, NAME].tolist()
    values = {name for name in set(names) if len(text := facts.text(name)) > 1 and text.isupper()}
    if values:
        refs[constants[[name in values for name in names]], KIND] = USE
    bare = np.flatnonzero((kinds == CALL) & (refs[:, RECEIVER] == NONE) & (refs[:, ARGC] == NONE))
    if len(bare):
        bound = set(zip(facts.binds[:, 4].tolist(), facts.binds[:, 1].tolist(), strict=True))
        words = {facts.id(word) for word in DECLARING}
        local = [at for at, name, scope in zip(bare.tolist(), refs[bare, NAME].tolist(), refs[bare, SCOPE].tolist(), strict=True)
                 if name in words or (scope, name) in bound or _bound_around(facts, bound, scope, name)]  # fmt: skip
        facts.refs = np.delete(refs, local, axis=0) if local else refs


def _bound_around(facts: FileFacts, bound: set[tuple[int, int]], scope: int, name: int) -> bool:
    """A constant's value and the block of define_method see the locals around them."""
    while scope != NONE and (facts.definitions[scope].kind == "constant" or "dynamic" in facts.definitions[scope].flags):
        scope = facts.definitions[scope].parent
        if (scope, name) in bound:
            return True
    return False


DECLARING = ("private", "public", "protected", "module_function", "it", "_1", "_2", "_", "binding", "__method__", "__dir__")
BUILTINS = """
Array BasicObject Class Comparable Complex Data Dir ENV Encoding Enumerable Enumerator Exception FalseClass Fiber File Float Hash IO
Integer Kernel Marshal MatchData Math Method Module Mutex NilClass Numeric Object ObjectSpace Proc Process Queue Random Range Rational
Regexp RuntimeError Set Signal StandardError String StringIO Struct Symbol Thread Time TrueClass ArgumentError EOFError IOError IndexError
KeyError LoadError NameError NoMethodError NotImplementedError RangeError ScriptError SystemExit TypeError ZeroDivisionError
abort at_exit block_given? binding caller catch eval exit fail format freeze gets lambda loop p pp print printf proc puts putc raise rand
sleep sprintf srand system throw trap warn instance_variable_get instance_variable_set instance_eval class_eval module_eval
"""

LANGUAGES = {
    "ruby": Language(
        name="ruby",
        grammar=("tree_sitter_ruby", "language"),
        suffixes=(".rb", ".rake", ".gemspec"),
        filenames=("Rakefile", "Gemfile"),
        separator="::",
        separators={"method": "#", "singleton_method": ".", "singleton_class": "."},
        module_of=module_of,
        import_target=import_target,
        fix_up=fix_up,
        self_names=("self",),
        super_names=("super",),
        class_words=("class",),
        class_sides=True,
        bound_after=True,
        constructors=("new",),
        passing=("freeze", "dup", "clone", "tap", "itself"),
        global_names=True,
        implicit_self=True,
        builtins=frozenset(BUILTINS.split()),
        test_files=("*_test.rb", "test_*.rb", "*_spec.rb", "test/**", "spec/**"),
    )
}
