"""Rust: what the captures of rust.scm mean. `use` trees become flat imports, impl blocks own their methods, attributes reach their items."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from orbit.graph.languages import cargo, clap, use_trees
from orbit.graph.languages.language import Language
from orbit.graph.languages.use_trees import inline_modules
from orbit.model import REF_KIND_CODES

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts, Mark

NONE = -1
CALL, TYPE, USE, BOUND = (REF_KIND_CODES[kind] for kind in ("call", "type", "use", "trait_bound"))
KIND, NAME, START, END, LINE, RECEIVER, SCOPE, ARGC, FLAGS = range(9)  # columns of a reference
NEW, MACRO = 1, 2
ASSIGN, PARAM, FIELD, FOR = 0, 1, 2, 3  # forms of a binding

TEST_ATTRIBUTES = frozenset({"test", "rstest", "test_case", "wasm_bindgen_test", "quickcheck", "bench", "proptest"})
STANDARD_DERIVES = frozenset({"Debug", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Default"})
FILLER = re.compile(rb"\s+|//[^\n]*|/\*.*?\*/|#!?\[(?:[^\[\]\"]|\"(?:[^\"\\]|\\.)*\"|\[[^\]]*\])*\]", re.S)
DERIVED = re.compile(rb"\bderive\s*\(([^()]*)\)")
SELF_PARAMETER = re.compile(rb"\w+\s*(?:<[^(){}]*>)?\s*\(\s*(?:&\s*(?:'\w+\s+)?)?(?:mut\s+)?self\b")
PATH = re.compile(rb"\w+(?:\s*::\s*\w+)*")
HELD_BACKWARDS = re.compile(rb"(?:\s*(?:\.|::)\s*(?:\)\()?\w+)+")
ADAPTORS = (".iter()", ".iter_mut()", ".into_iter()", ".enumerate()", ".drain()", ".values()", ".values_mut()", ".rev()", ".skip()", ".take()", ".cloned()",
            ".copied()", ".peekable()", ".by_ref()", ".filter()", ".into_values()")  # fmt: skip


def fix_up(facts: FileFacts) -> None:
    """Everything rust.scm cannot say, in the order the parts need each other."""
    spans = np.array([(i.start, i.end) for i in facts.imports], dtype=np.int32).reshape(-1, 2)
    use_trees.flatten(facts)
    _own_members(facts)
    marks: dict[str, list[Mark]] = {}
    for mark in facts.marks:
        for word in mark.flags:
            marks.setdefault(word, []).append(mark)
    attributes = _attach(facts, marks.get("attribute", []))
    _read_attributes(facts, attributes)
    _name_slots(facts, marks.get("slot", []))
    _bind_patterns(facts, marks.get("pattern", []))
    _clean_refs(facts, spans, marks.get("attribute", []))
    _drop_generics(facts, marks.get("generic", []))
    _plain_loops(facts)
    clap.find_commands(facts, attributes, marks.get("arm", []))


def _own_members(facts: FileFacts) -> None:
    """Impl blocks are called `<T>` or `<T as Trait>`; what is inside belongs to T: `T::m`, or `<T as Trait>::m`."""
    inside = {
        (tuple(inline_modules(facts, found.parent)), found.name)
        for found in facts.definitions
        if found.parent != NONE and found.kind in ("struct", "enum", "union", "trait") and facts.definitions[found.parent].kind == "module"
    }
    for relation in facts.relations:
        if relation.owner != NONE:
            relation.owner = facts.id(_bare(facts.text(relation.owner)))
    for found in facts.definitions:
        if found.kind in ("method", "test", "function") and SELF_PARAMETER.match(facts.source, found.name_start):
            found.argc = max(found.argc - 1, 0)
        if found.kind == "impl":
            owner = _bare(facts.text(found.owner))
            trait = _last(facts.text(found.type))
            modules = tuple(inline_modules(facts, found.parent))
            found.owner = facts.id(".".join([*modules, owner]) if (modules, owner) in inside else owner)
            found.name = f"<{owner.replace('.', '::')} as {trait}>" if trait else f"<{owner.replace('.', '::')}>"
            found.name_start = found.start
            found.local = "::".join([*_around(facts, found.parent), found.name])
        elif found.parent != NONE and facts.definitions[found.parent].kind == "impl":
            block = facts.definitions[found.parent]
            found.owner = block.owner
            around = block.local if block.type != NONE else "::".join([*_around(facts, block.parent), block.name[1:-1]])
            found.local = f"{around}::{found.name}"


def _bare(text: str) -> str:
    return text.partition("<")[0] or text


def _last(text: str) -> str:
    """A type without the path before its name: however it was imported, it is called the same."""
    head, opening, arguments = text.partition("<")
    return f"{head.rpartition('.')[2]}{opening}{arguments}".replace(".", "::")


def _around(facts: FileFacts, index: int) -> list[str]:
    names: list[str] = []
    while index != NONE and len(names) < use_trees.DEPTH_LIMIT:
        names.insert(0, facts.definitions[index].name)
        index = facts.definitions[index].parent
    return names


def _attach(facts: FileFacts, marks: list[Mark]) -> dict[int, list[Mark]]:
    """Attributes by the index of the definition they stand before."""
    if not marks:
        return {}
    starts = [d.start for d in facts.definitions]
    held: dict[int, list[Mark]] = {}
    later, later_target = len(facts.source) + 1, NONE  # the attribute that follows, and what it stands before
    for mark in reversed(marks):
        index = bisect_left(starts, mark.end)
        until = starts[index] if index < len(starts) else len(facts.source)
        target = index if index < len(starts) else NONE
        if mark.end <= later <= until:
            until, target = later, later_target
        if target != NONE and not _only_filler(facts.source, mark.end, until):
            target = NONE
        if target != NONE:
            held.setdefault(target, []).insert(0, mark)
        later, later_target = mark.start, target
    return held


def _only_filler(source: bytes, at: int, until: int) -> bool:
    """Is there nothing but white space, comments and attributes in between?"""
    while at < until:
        token = FILLER.match(source, at, until)
        if token is None:
            return False
        at = token.end()
    return True


def _read_attributes(facts: FileFacts, attributes: dict[int, list[Mark]]) -> None:
    """Tests, and derived traits as relations and references."""
    rows: list[tuple[int, ...]] = []
    for index, marks in attributes.items():
        found = facts.definitions[index]
        for mark in marks:
            name = facts.text(mark.name).rpartition("::")[2]
            if name in TEST_ATTRIBUTES and found.kind in ("function", "method"):
                found.kind = "test"
            elif name in ("derive", "cfg_attr"):
                rows += _derive(facts, index, mark)
    facts.add_refs(rows)


def _derive(facts: FileFacts, index: int, mark: Mark) -> Iterator[tuple[int, ...]]:
    for group in DERIVED.finditer(facts.source, mark.start, mark.end):
        for path in PATH.finditer(facts.source, group.start(1), group.end(1)):
            parts = re.split(r"\s*::\s*", path.group().decode("utf-8", "replace"))
            line = mark.line + facts.source.count(b"\n", mark.start, path.start())
            at = path.end() - len(parts[-1].encode())
            facts.add_relation("impl", ".".join(parts), at, path.end(), line, scope=index)
            if parts[-1] not in STANDARD_DERIVES:
                yield facts.ref("trait_bound", parts[-1], at, line, receiver=".".join(parts[:-1]), scope=index)


def _name_slots(facts: FileFacts, marks: list[Mark]) -> None:
    """Fields of tuple structs and variants are called 0, 1, ...; a variant with one of them has its type."""
    count: dict[int, int] = {}
    rows = []
    for mark in marks:
        if mark.scope == NONE or facts.definitions[mark.scope].kind not in ("struct", "enum_member"):
            continue
        slot = count[mark.scope] = count.get(mark.scope, -1) + 1
        rows.append((FIELD, facts.id(str(slot)), mark.type, NONE, mark.scope, mark.start))
        found = facts.definitions[mark.scope]
        if found.kind == "enum_member":
            found.type = mark.type if slot == 0 else NONE
    facts.add_binds(rows)


def _bind_patterns(facts: FileFacts, marks: list[Mark]) -> None:
    """Names taken out of a struct or variant: `Foo().field`, `Enum.Variant.0`."""
    rows = []
    for mark in marks:
        type_ = _bare(facts.text(mark.type))
        path = type_.split(".")
        is_tuple = facts.source[mark.end - 1 : mark.end] == b")"
        if is_tuple and type_ in ("Some", "Ok", "Err"):
            continue
        is_variant = is_tuple or (len(path) > 1 and path[-2][:1].isupper())
        slot = facts.text(mark.path) if mark.path != NONE else facts.text(mark.name)
        if is_tuple:
            slot = "0"
        at = max(facts.source.find(facts.names.text(mark.name), mark.start + len(type_), mark.end), mark.start)
        rows.append((ASSIGN, mark.name, NONE, facts.id(f"{type_}.{slot}" if is_variant else f"{type_}().{slot}"), mark.scope, at))
    facts.add_binds(rows)
    _drop_empty_binds(facts)


def _drop_empty_binds(facts: FileFacts) -> None:
    """Of several bindings of one name at one place, those that say nothing are not needed."""
    binds = facts.binds
    empty = (binds[:, 2] == NONE) & (binds[:, 3] == NONE)
    if empty.any():
        told = set(binds[~empty, 5].tolist())
        empty[empty] = [start in told for start in binds[empty, 5].tolist()]
        facts.binds = binds[~empty]


def _clean_refs(facts: FileFacts, imports: np.ndarray, attributes: list[Mark]) -> None:
    """Drop what is no reference: paths of imports, lower-case path heads, uses of locals, token trees that are no calls."""
    refs = facts.refs
    if not len(refs):
        return
    source = np.frombuffer(facts.source + b"\0\0", dtype=np.uint8)
    keep = ~_within(refs[:, START], imports)
    heads = (refs[:, KIND] == TYPE) & (refs[:, FLAGS] == NEW)
    first = source[refs[:, START]]
    keep &= ~heads | ((first >= 65) & (first <= 90))
    refs[heads, FLAGS] = 0
    uses = np.flatnonzero((refs[:, KIND] == USE) & (refs[:, RECEIVER] == NONE) & (refs[:, FLAGS] == 0))
    if len(uses):
        bound = set(zip(facts.binds[:, 4].tolist(), facts.binds[:, 1].tolist(), strict=True))
        keep[uses] &= [key not in bound for key in zip(refs[uses, SCOPE].tolist(), refs[uses, NAME].tolist(), strict=True)]
    tokens = keep & (refs[:, KIND] == CALL) & (refs[:, ARGC] == NONE) & (refs[:, FLAGS] == 0)
    after = source[refs[:, END]]
    keep &= ~tokens | (after == ord("(")) | (after == ord("!"))
    if attributes:
        spans = np.array([(m.start, m.end) for m in attributes], dtype=np.int32)
        keep &= ~(tokens & _within(refs[:, START], spans))
    for i in np.flatnonzero(tokens & keep).tolist():
        start = int(refs[i, START])
        if after[i] == ord("!"):
            refs[i, FLAGS] = MACRO
        if facts.source[start - 1 : start] in (b".", b":"):
            refs[i, RECEIVER] = facts.id(_held(facts.source[max(start - 120, 0) : start]))
    facts.refs = refs[keep]


def _within(starts: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Which positions are inside one of the sorted spans that do not overlap?"""
    if not len(spans):
        return np.zeros(len(starts), dtype=bool)
    before = np.searchsorted(spans[:, 0], starts, side="right") - 1
    inside: np.ndarray = (before >= 0) & (starts < spans[np.maximum(before, 0), 1])
    return inside


def _held(text: bytes) -> str:
    """What a call inside a token tree is made on, where that is a plain path."""
    found = HELD_BACKWARDS.match(text[::-1])
    if found is None:
        return "?"
    begin = len(text) - found.end()
    if text[begin - 1 : begin] in (b".", b")", b"]", b"?", b">", b":"):
        return "?"
    return text[begin:].decode("utf-8", "replace").replace("::", ".").replace(" ", "").replace("\n", "").rstrip(".")


def _drop_generics(facts: FileFacts, marks: list[Mark]) -> None:
    """Type parameters are locals of their item, with their first bound as type; they refer to nothing outside."""
    if not marks:
        return
    declared: set[tuple[int, int]] = set()
    rows = []
    for mark in marks:
        if mark.scope != NONE:
            declared.add((mark.scope, mark.name))
            rows.append((PARAM, mark.name, mark.type, NONE, mark.scope, mark.start))
    facts.add_binds(rows)
    refs, names = facts.refs, {name for _, name in declared}
    keep = np.ones(len(refs), dtype=bool)
    for i in np.flatnonzero((refs[:, KIND] != CALL) & (refs[:, RECEIVER] == NONE)).tolist():
        name = int(refs[i, NAME])
        if name in names:
            keep[i] = not _is_declared(facts, declared, int(refs[i, SCOPE]), name)
    facts.refs = refs[keep]


def _is_declared(facts: FileFacts, declared: set[tuple[int, int]], scope: int, name: int) -> bool:
    """Is the name a type parameter of the scope or of what encloses it?"""
    for _ in range(use_trees.DEPTH_LIMIT):
        if scope == NONE:
            return False
        if (scope, name) in declared:
            return True
        scope = facts.definitions[scope].parent
    return False


def _plain_loops(facts: FileFacts) -> None:
    """A loop over `xs.iter().enumerate()` goes over xs."""
    for i in np.flatnonzero(facts.binds[:, 0] == FOR).tolist():
        text = short = facts.text(int(facts.binds[i, 3]))
        while short.endswith(ADAPTORS):
            short = short[: short.rindex(".")]
        if short != text:
            facts.binds[i, 3] = facts.id(short)


LANGUAGES = {
    "rust": Language(
        name="rust",
        grammar=("tree_sitter_rust", "language"),
        suffixes=(".rs",),
        separator="::",
        member_kinds={"function": "method"},
        manifests=("Cargo.toml",),
        module_of=cargo.module_of,
        import_target=cargo.import_target,
        fix_up=fix_up,
        self_names=("self",),
        class_names=("Self",),
        bound_after=True,
        root_names=("crate",),
        outer_names=("super",),
        module_paths=True,
        passing=("unwrap", "expect", "clone", "cloned", "as_ref", "as_mut", "as_deref", "as_deref_mut", "to_owned", "borrow", "borrow_mut", "lock", "read",
                 "write", "unwrap_or_default", "unwrap_or", "unwrap_or_else", "ok", "ok_or", "ok_or_else", "map_err", "take", "context", "with_context",
                 "by_ref", "or_else", "filter", "inspect", "get_mut", "into_inner", "iter", "iter_mut", "into_iter", "load"),
        transparent=("Option", "Result", "Box", "Rc", "Arc", "RefCell", "Cell", "Mutex", "RwLock", "MutexGuard", "RwLockReadGuard", "RwLockWriteGuard", "Ref",
                     "RefMut", "Cow", "Pin", "Weak", "OnceCell", "OnceLock", "LazyLock", "ManuallyDrop", "Wrapping"),
        collections=("Result", "[]", "Vec", "VecDeque", "HashMap", "BTreeMap", "HashSet", "BTreeSet", "LinkedList", "BinaryHeap", "IndexMap", "IndexSet",
                     "SmallVec", "Iterator", "IntoIterator", "Iter", "IntoIter", "Peekable"),
        builtins=frozenset({
            "Some", "None", "Ok", "Err", "Box", "Vec", "String", "Option", "Result", "drop", "println", "print", "eprintln", "eprint", "format",
            "write", "writeln", "panic", "assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne", "vec", "matches",
            "todo", "unimplemented", "unreachable", "dbg", "env", "option_env", "concat", "stringify", "include_str", "include_bytes", "include",
            "line", "file", "column", "module_path", "cfg", "compile_error", "format_args", "thread_local", "Clone", "Copy", "Debug", "Default",
            "Drop", "Eq", "PartialEq", "Ord", "PartialOrd", "Hash", "Iterator", "IntoIterator", "DoubleEndedIterator", "ExactSizeIterator", "Extend",
            "From", "Into", "TryFrom", "TryInto", "AsRef", "AsMut", "ToOwned", "ToString", "Send", "Sync", "Sized", "Unpin", "Fn", "FnMut", "FnOnce",
        }),
        test_files=("tests/*.rs", "*/tests/*.rs", "*/tests.rs", "*/benches/*.rs", "benches/*.rs"),
    )
}  # fmt: skip
