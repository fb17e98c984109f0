"""TypeScript and TSX: what the captures of ecmascript.scm, typescript.scm and jsx.scm mean. JavaScript shares the fix-ups.

Exports: `export default x` is named `default`; `module.exports = x` is that and, once more without a name, the whole module. An anonymous
default is a definition named `default`. An import of a default has the name `default`; one of a whole module (`* as ns`, `require`) has none.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np

from orbit.graph.facts import BIND_FORMS, NONE, Export
from orbit.graph.languages.language import Language
from orbit.graph.languages.script_modules import MANIFESTS, import_target, module_of
from orbit.model import REF_KIND_CODES

if TYPE_CHECKING:
    from orbit.graph.facts import Definition, FileFacts, Import, Mark

CALL, TYPE, USE = (REF_KIND_CODES[kind] for kind in ("call", "type", "use"))
# Columns of the arrays of FileFacts.
BIND_NAME, BIND_TYPE, BIND_VALUE, BIND_SCOPE, BIND_START = 1, 2, 3, 4, 5
LOADED = frozenset({"require", "dynamic"})
GLOBALS = ("window", "globalThis", "global")
OWNER = re.compile(r"[\w$]+(?:\.[\w$]+)*")
GIVEN_FORM, GIVEN_ROOM = BIND_FORMS.index("given"), 120  # bytes
TYPE_ONLY = frozenset({"type"})
# `exports = function name`, from the word `exports` on.
NAMED = re.compile(rb"exports\s*=\s*(?:async\s+)?(?:function\s*\*?|class)\s+([\w$]+)")
# From a name to its type, also with the parameters of a type alias.
BEFORE_TYPE = re.compile(rb"#?[\w$\x80-\xff]+\s*(?:<[^=;{}]*>)?\s*[?!]?\s*[:=]?\s*")
STATIC = re.compile(rb"(?:(?:public|protected|private|declare|override|abstract|accessor|readonly|async)\s+)*static\s")
TYPE_NAME = re.compile(r":[\w$]+(?:<[^.]*>)?")
PATTERN_KEY = re.compile(rb"([\w$\x80-\xff]+)\s*:\s*\Z")
# From the bracket of a call to a parameter of a function in it: the second argument of the call, or its first; parameters before.
GIVEN = re.compile(rb"\(\s*((?:[\w$.]+|'[^'\n]*'|\"[^\"\n]*\")\s*,\s*)?(?:async\s*)?\(([\w$\s,]*)\Z")
DEFAULT = re.compile(rb"(?:@[^@]{0,400}?\s)*?export\s+default\b")  # decorators may stand before


def fix_up(facts: FileFacts) -> None:
    """Names and owners of assigned functions, merged imports, exports by their public names, bindings that are something else."""
    constructors = _name_definitions(facts)
    _merge_imports(facts)
    _name_exports(facts)
    _number_given(facts)
    _drop_binds(facts, constructors)
    _drop_refs(facts)
    _drop_strings(facts)
    _correct_types(facts)
    for mark in facts.marks:
        if "pattern" in mark.flags and (mark.value != NONE or mark.type != NONE):
            take_apart(facts, mark, facts.text(mark.value) or f":{facts.text(mark.type)}")


def take_apart(facts: FileFacts, pattern: Mark, whole: str) -> None:
    """`const { a, b: c } = whole`: a is `whole.a`, c is `whole.b`."""
    if whole == "?" or (whole[0] == ":" and not TYPE_NAME.fullmatch(whole)):
        return
    source, binds = facts.source, facts.binds
    inside = np.flatnonzero((binds[:, BIND_START] > pattern.start) & (binds[:, BIND_START] < pattern.end))
    for index in inside.tolist():
        start = int(binds[index, BIND_START])
        if source.count(b"{", pattern.start, start) - source.count(b"}", pattern.start, start) == 1:
            key = PATTERN_KEY.search(source, pattern.start, start)
            binds[index, BIND_VALUE] = facts.id(f"{whole}.{key[1].decode('utf-8', 'replace') if key else facts.text(int(binds[index, BIND_NAME]))}")


def _name_definitions(facts: FileFacts) -> dict[int, int]:
    """Names without quotes, the number of parameters of `x => y`, owners. Returns the constructor of each property declared in its head."""
    constructors = {}
    known: set[str] | None = None
    for found in facts.definitions:
        if found.name[:1] in ("'", '"'):
            found.name = found.name[1:-1]
        if found.argc == NONE and found.kind in ("function", "method"):
            found.argc = 1
        if found.kind in ("method", "property") and STATIC.match(facts.source, found.start):
            found.flags |= {"static"}
        if "assigned" in found.flags:
            if known is None:
                known = {defined.name for defined in facts.definitions if "assigned" not in defined.flags}
            _own(facts, found, known)
        elif "param" in found.flags:
            constructors[found.name_start] = found.parent
            found.flags, found.parent = frozenset(), _type_around(facts, found.parent)
    return constructors


def _own(facts: FileFacts, found: Definition, known: set[str]) -> None:
    """Whose member `a.b = function` defines: the module's, the enclosing type's, or that of `a` where that is no mere local."""
    owner, found.owner, found.flags = facts.text(found.owner), NONE, frozenset()
    function = "function" if found.kind == "method" else found.kind
    if owner == "module" and found.name == "exports":
        found.kind, found.name = function, "default"
        facts.add_export("default", found.start, flags=frozenset({"commonjs"}))
        named = NAMED.match(facts.source, found.name_start)
        if named and named[1] != b"extends":
            found.name, found.name_start = named[1].decode("utf-8", "replace"), named.start(1)
            facts.exports[-1].value = facts.id(found.name)
    elif owner in ("exports", "module.exports") or owner in GLOBALS:
        found.kind = function
    elif owner == "this":
        found.parent = _type_around(facts, found.parent)
    elif OWNER.fullmatch(owner) and not owner.startswith("this.") and (found.parent == NONE or owner.partition(".")[0] in known):
        found.owner = facts.id(owner.removesuffix(".prototype"))
        if not owner.endswith(".prototype"):
            found.flags = frozenset({"static"})


def _type_around(facts: FileFacts, index: int) -> int:
    """The class of a constructor or method; the function itself where that is the constructor."""
    if index == NONE:
        return NONE
    around = facts.definitions[index]
    inside_class = around.kind in ("method", "property") and around.parent != NONE and facts.definitions[around.parent].kind == "class"
    return around.parent if inside_class else index


def _merge_imports(facts: FileFacts) -> None:
    """Names get the path of their statement; of what names none (`export { a }`) exports are made; a module loaded into a variable is one row."""
    sources = sorted((mark.start, mark.end, mark.path) for mark in facts.marks if "source" in mark.flags)
    types = sorted((mark.start, mark.end, NONE) for mark in facts.marks if "type" in mark.flags)
    named = {(found.path, found.scope) for found in facts.imports if found.flags & LOADED and (found.alias != NONE or found.name != NONE)}
    written = {found.start for found in facts.imports if found.flags == TYPE_ONLY}
    kept: list[Import] = []
    for found in facts.imports:
        if found.path == NONE:
            around = _around(sources, found.start)
            if around is None:
                continue
            if around[2] == NONE:
                facts.add_export(facts.text(found.alias if found.alias != NONE else found.name), found.start, value=facts.text(found.name))
                continue
            found.path = around[2]
            if types and _around(types, found.start) is not None:
                found.flags |= TYPE_ONLY
        elif found.flags & LOADED and found.alias == NONE and found.name == NONE and ((found.path, found.scope) in named or found.start in written):
            continue
        if "default" in found.flags:
            found.name, found.flags = facts.id("default"), found.flags - {"default"}
        kept.append(found)
    facts.imports = kept


def _around(spans: list[tuple[int, int, int]], start: int) -> tuple[int, int, int] | None:
    """The last span that begins at or before `start`, if it reaches beyond; for one inside another, the outer one is asked too."""
    at = bisect_right(spans, (start, 1 << 31, 0)) - 1
    for span in spans[max(0, at - 1) : at + 1]:
        if span[0] <= start < span[1]:
            return span
    return None


def _name_exports(facts: FileFacts) -> None:
    """`export default function f` exports `default`, and so does `module.exports = f`; what a namespace exports is not the module's."""
    if not facts.exports:
        return
    starts = {found.start for found in facts.definitions}
    spaces = [(found.start, found.end) for found in facts.definitions if found.kind == "namespace"]
    default, defaulted, kept = facts.id("default"), False, []
    for found in facts.exports:
        if any(start < found.start < end for start, end in spaces):
            continue
        if found.name == NONE:
            if defaulted:
                continue
            found.name = default
        elif found.value == NONE and DEFAULT.match(facts.source, found.start):
            found.name, found.value = default, found.name
        elif found.start in starts and "commonjs" not in found.flags:
            found.value = NONE
        if facts.text(found.name)[:1] in ("'", '"'):
            found.name = facts.id(facts.text(found.name)[1:-1])
        defaulted = defaulted or found.name == default
        kept.append(found)
        if "commonjs" in found.flags:
            kept.append(Export(name=NONE, value=default if found.value == NONE else found.value, start=found.start, flags=frozenset({"whole"})))
    facts.exports = kept


def _number_given(facts: FileFacts) -> None:
    """Parameters of a function that is given to a call: `f!0!1` is what the first argument of f gets second."""
    binds, kept = facts.binds, np.ones(len(facts.binds), dtype=bool)
    for index in np.flatnonzero(binds[:, 0] == GIVEN_FORM).tolist():
        start, value = int(binds[index, BIND_START]), facts.text(int(binds[index, BIND_VALUE]))
        before = GIVEN.search(facts.source, max(0, start - GIVEN_ROOM), start) if OWNER.fullmatch(value) else None
        if before is None:
            kept[index] = False
        else:
            binds[index, BIND_VALUE] = facts.id(f"{value}!{int(before[1] is not None)}!{before[2].count(b',')}")
    facts.binds = binds[kept]


def _drop_binds(facts: FileFacts, constructors: dict[int, int]) -> None:
    """A name is bound once; a definition or an import is no local; a property declared in a constructor's head is also its parameter."""
    if not len(facts.binds):
        return
    taken = {found.name_start for found in facts.definitions}
    taken.update(found.start for found in facts.imports)
    taken.difference_update(constructors)
    kept: list[int] = []
    last = NONE
    for index, (form, _, type_, value, _, start) in enumerate(facts.binds.tolist()):
        if start in taken:
            continue
        if start == last:  # a parameter that is also what a callback gets: the row that says more stays
            if (type_ != NONE or value != NONE) and (form != GIVEN_FORM or facts.binds[kept[-1], BIND_VALUE] == NONE):
                kept[-1] = index
            continue
        last = start
        kept.append(index)
    if len(kept) < len(facts.binds):
        facts.binds = facts.binds[kept]
    for start, index in constructors.items():
        facts.binds[facts.binds[:, BIND_START] == start, BIND_SCOPE] = index


def _drop_refs(facts: FileFacts) -> None:
    """Not references: type parameters where they are declared, locals used where they are bound, plain JSX elements, `require`."""
    refs, binds, source = facts.refs, facts.binds, facts.source
    if not len(refs):
        return
    bound = set(zip(binds[:, BIND_SCOPE].tolist(), binds[:, BIND_NAME].tolist(), strict=True))
    declared = set(binds[:, BIND_START].tolist())
    require = facts.id("require")
    kept = []
    for index, (kind, name, start, _, _, receiver, scope, argc, _) in enumerate(refs.tolist()):
        if receiver == NONE:
            if kind == USE:
                if (scope, name) in bound:
                    continue
            elif kind == TYPE:
                if start in declared:
                    continue
            elif kind == CALL and (name == require or (argc == NONE and source[start - 1 : start] == b"<" and source[start : start + 1].islower())):
                continue
        kept.append(index)
    if len(kept) < len(refs):
        facts.refs = refs[kept]


def _drop_strings(facts: FileFacts) -> None:
    """The path of an import is no string of the program."""
    if not facts.imports or not len(facts.strings):
        return
    paths = {found.path for found in facts.imports}
    kept = [index for index, (text, _, scope) in enumerate(facts.strings.tolist()) if scope != NONE or text not in paths]
    if len(kept) < len(facts.strings):
        facts.strings = facts.strings[kept]


def _correct_types(facts: FileFacts) -> None:
    """`x: T["y"]` is not a T, and `x: import("m").T` is one."""
    unknown = facts.id("?")
    said = [(mark.start, unknown) for mark in facts.marks if "unknown" in mark.flags]
    for found in facts.imports:
        if found.flags == TYPE_ONLY and found.name != NONE and facts.source.startswith(b"import", found.start):
            said.append((found.start, found.name))
    if not said:
        return
    binds, definitions = facts.binds, facts.definitions
    bound = sorted((start, index) for index, start in enumerate(binds[:, BIND_START].tolist()))
    defined = sorted((found.name_start, index) for index, found in enumerate(definitions) if found.type != NONE)
    for start, type_id in said:
        nearest = _named_before(facts, bound, start)
        if nearest != NONE:
            binds[nearest, BIND_TYPE] = type_id
        nearest = _named_before(facts, defined, start)
        if nearest != NONE:
            definitions[nearest].type = type_id


def _named_before(facts: FileFacts, names: list[tuple[int, int]], start: int) -> int:
    """The index of what is named right before a type written at `start`, or NONE."""
    at = bisect_left(names, (start, NONE)) - 1
    if at < 0 or names[at][0] < max(0, start - 200):
        return NONE
    return names[at][1] if BEFORE_TYPE.fullmatch(facts.source, names[at][0], start) else NONE


SELF_NAMES = ("this",)
TRANSPARENT = (
    "Promise", "PromiseLike", "Awaited", "Partial", "Required", "Readonly", "NonNullable", "DeepReadonly", "DeepPartial", "Pick", "Omit",
)  # fmt: skip
COLLECTIONS = (
    "[]", "Array", "ReadonlyArray", "Set", "ReadonlySet", "Map", "ReadonlyMap", "WeakMap", "WeakSet", "Iterable", "Iterator",
    "IterableIterator", "AsyncIterable", "AsyncIterator", "AsyncIterableIterator", "Generator", "AsyncGenerator", "Record", "NodeListOf",
)  # fmt: skip
PASSING = ("values", "filter", "slice", "reverse", "sort", "concat")
PICKING = ("get", "pop", "shift", "find", "findLast", "at")
GLOBAL_NAMES = """
    AbortController AbortSignal AggregateError Array ArrayBuffer AsyncGenerator AsyncIterable AsyncIterator Atomics Awaited BigInt
    BigInt64Array BigUint64Array Blob Boolean Buffer Capitalize ConstructorParameters CustomEvent DataView Date Document Element Error
    EvalError Event EventTarget Exclude Extract FinalizationRegistry Float32Array Float64Array FormData Function Generator HTMLElement
    Headers Infinity InstanceType Int16Array Int32Array Int8Array Intl Iterable IterableIterator Iterator JSON Lowercase Map Math
    MessageChannel MutationObserver NaN Node NodeJS NodeList NonNullable Number Object Omit OmitThisParameter Parameters Partial Pick Promise
    PromiseLike PropertyKey Proxy RangeError ReadableStream Readonly ReadonlyArray ReadonlyMap ReadonlySet Record ReferenceError Reflect
    RegExp Request Required Response ReturnType Set SharedArrayBuffer String Symbol SyntaxError TextDecoder TextEncoder ThisParameterType
    ThisType TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray Uncapitalize Uppercase WeakMap
    WeakRef WeakSet Window WritableStream XMLHttpRequest
    __dirname __filename alert atob btoa cancelAnimationFrame clearImmediate clearInterval clearTimeout confirm console crypto
    decodeURI decodeURIComponent document encodeURI encodeURIComponent escape eval fetch global globalThis isFinite isNaN
    localStorage location module navigator parseFloat parseInt performance process prompt queueMicrotask requestAnimationFrame require
    self sessionStorage setImmediate setInterval setTimeout structuredClone super undefined unescape window
"""
BUILTINS = frozenset(GLOBAL_NAMES.split())
TEST_FILES = (
    "*.test.*", "*.spec.*", "*-test.*", "*_test.*", "*.cy.*", "*.e2e.*", "**/__tests__/**", "**/__mocks__/**", "**/test/**", "**/tests/**",
    "**/e2e/**", "**/cypress/**",
)  # fmt: skip


def _table(name: str, grammar: str, suffixes: tuple[str, ...], query: str) -> Language:
    return Language(
        name=name,
        grammar=("tree_sitter_typescript", grammar),
        suffixes=suffixes,
        query=query,
        family="typescript",
        manifests=MANIFESTS,
        module_of=module_of,
        import_target=import_target, aims_by_folder=True,
        fix_up=fix_up,
        self_names=SELF_NAMES,
        super_names=("super",),
        class_words=("constructor",),
        root_names=("exports",),
        makes_objects=True,
        passing=PASSING,
        picking=PICKING,
        import_binds="none",
        transparent=TRANSPARENT,
        collections=COLLECTIONS,
        builtins=BUILTINS,
        test_files=TEST_FILES,
    )


LANGUAGES = {
    "typescript": _table("typescript", "language_typescript", (".ts", ".mts", ".cts"), "ecmascript.scm typescript.scm"),
    "tsx": _table("tsx", "language_tsx", (".tsx",), "ecmascript.scm jsx.scm typescript.scm"),
}
