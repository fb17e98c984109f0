"""C#: what the captures of csharp.scm mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from orbit.graph.facts import NONE
from orbit.graph.languages import packages
from orbit.graph.languages.language import Language

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts

FIELDS = frozenset({"field", "event"})
COUNTED = frozenset({"method", "constructor", "test", "function", "delegate"})
HEADED = frozenset({"class", "struct", "interface"})
HEADER = re.compile(rb"\b(?:class|struct|interface)\s+(\w+)[^\n]*\n\s*#if")
BUILTINS = """
    Object String Console Math Convert Environment Exception ArgumentException ArgumentNullException ArgumentOutOfRangeException InvalidOperationException
    NotSupportedException NotImplementedException FormatException OverflowException NullReferenceException IndexOutOfRangeException AggregateException
    TimeoutException OperationCanceledException ObjectDisposedException Type Attribute Enum Delegate Nullable Guid DateTime DateTimeOffset TimeSpan Uri
    Version Random Lazy Tuple ValueTuple Array Buffer GC Activator AppDomain Func Action Predicate Comparison EventHandler EventArgs IDisposable
    IComparable IEquatable IFormattable ICloneable IConvertible IAsyncDisposable IEnumerable IEnumerator ICollection IList IDictionary IReadOnlyList
    IReadOnlyCollection IReadOnlyDictionary List Dictionary HashSet Queue Stack LinkedList KeyValuePair Task ValueTask CancellationToken
    CancellationTokenSource StringBuilder Regex Stream MemoryStream TextReader TextWriter StreamReader StreamWriter Span ReadOnlySpan Memory nameof
"""


def fix_up(facts: FileFacts) -> None:
    """A file-scoped namespace holds the file; interfaces are told from base classes; imports, operators and tests get their names and flags."""
    for mark in facts.marks:
        found = facts.definitions[mark.scope] if mark.scope != NONE else None
        if found is None:
            continue
        if "test" in mark.flags and found.kind == "method":
            found.kind = "test"
        elif mark.flags & {"partial", "static"}:
            found.flags |= mark.flags
        elif "extension" in mark.flags:
            found.owner = mark.type  # the type it extends
    for relation in facts.relations:
        if relation.scope != NONE:
            relation.kind = _relation_kind(facts.definitions[relation.scope].kind, facts.text(relation.target))
    for found in facts.definitions:
        if "destructor" in found.flags:
            found.name = f"~{found.name}"
        elif "operator" in found.flags:
            found.name = f"operator {found.name or facts.text(found.type)}"
            found.name_start = found.name_start if found.name_start != NONE else found.start
        elif "indexer" in found.flags:
            found.name = "this[]"
    if facts.broken:
        _mend_headers(facts)
    _flag_imports(facts)
    _drop_names(facts)
    if b"global::" in facts.source:
        _drop_global(facts)
    packages.join_declarators(facts, FIELDS)
    packages.count_parameters(facts, COUNTED)
    packages.take_parameter_marks(facts)
    packages.drop_type_parameters(facts)
    packages.hold_file(facts, "namespace")
    for index, found in enumerate(facts.definitions):
        if "extension" in found.flags and found.owner != NONE:
            found.local = packages.chain(facts, index)
    packages.add_qualifiers(facts, packages.USE)  # a property may be capitalised too


def _relation_kind(kind: str, target: str) -> str:
    """An interface extends interfaces, a struct only implements; for a class the habit of naming interfaces `IName` decides."""
    if kind == "interface":
        return "extends"
    name = target.partition("<")[0].rpartition(".")[2]
    return "implements" if kind == "struct" or (name[:1] == "I" and name[1:2].isupper()) else "extends"


def _mend_headers(facts: FileFacts) -> None:
    """`class Name` with an `#if` before its bases: the grammar takes the condition for the name."""
    for found in facts.definitions:
        if found.kind in HEADED:
            written = HEADER.search(facts.source, found.start, found.name_start)
            if written:
                found.name, found.name_start = written[1].decode("utf-8", "replace"), written.start(1)


def _flag_imports(facts: FileFacts) -> None:
    """`using static` and `global using`; an alias loses the type arguments of what it stands for."""
    words = {m.start: m.flags & {"static", "global"} for m in facts.marks if m.flags & {"static", "global"}}
    both = {m.start for m in facts.marks if "static" in m.flags} & {m.start for m in facts.marks if "global" in m.flags}
    for i in facts.imports:
        i.flags |= {"static", "global"} if i.start in both else words.get(i.start, frozenset())
        text = facts.text(i.path)
        plain = text.partition("<")[0].replace("::", ".").removeprefix("global.").rstrip(".")
        if plain != text:
            i.path = facts.id(plain)


def _drop_names(facts: FileFacts) -> None:
    """No reference: the parts of an imported or declared namespace, and bare uses of names that are not capitalised (locals)."""
    refs = facts.refs
    if not len(refs):
        return
    spans = [(i.start, i.end) for i in facts.imports]
    spans += [(d.name_start, d.name_start + len(d.name.encode())) for d in facts.definitions if d.kind == "namespace"]
    keep = np.ones(len(refs), dtype=bool)
    if spans:
        bounds = np.array(sorted(spans), dtype=np.int32)
        before = np.searchsorted(bounds[:, 0], refs[:, packages.REF_START], side="right") - 1
        keep = (before < 0) | (refs[:, packages.REF_START] >= bounds[np.maximum(before, 0), 1])
    bare = keep & (refs[:, packages.REF_KIND] == packages.USE) & (refs[:, packages.REF_RECEIVER] == NONE)
    names = refs[bare, packages.REF_NAME].tolist()
    capital = {name for name in set(names) if facts.names.text(name)[:1].isupper()}
    keep[bare] = [name in capital for name in names]
    facts.refs = refs[keep]


def _drop_global(facts: FileFacts) -> None:
    """`global::A.B` is `A.B`."""
    receivers = facts.refs[:, packages.REF_RECEIVER]
    for text_id in np.unique(receivers).tolist():
        text = facts.text(text_id)
        if text.startswith("global."):
            receivers[receivers == text_id] = facts.id(text.removeprefix("global."))


LANGUAGES = {
    "csharp": Language(
        name="csharp",
        grammar=("tree_sitter_c_sharp", "language"),
        suffixes=(".cs",),
        module_of=packages.module_of,
        import_target=packages.import_target,
        fix_up=fix_up,
        self_names=("this",),
        super_names=("base",),
        nested_modules=True,
        implicit_self=True,
        overloads=True,
        transparent=("Task", "ValueTask", "Nullable"),
        collections=("[]", "IEnumerable", "IAsyncEnumerable", "IEnumerator", "ICollection", "IList", "IReadOnlyList", "IReadOnlyCollection", "ISet", "List",
                     "HashSet", "SortedSet", "Queue", "Stack", "LinkedList", "Span", "ReadOnlySpan", "Memory", "ImmutableArray", "ImmutableList",
                     "ConcurrentBag", "ConcurrentQueue", "Collection", "ObservableCollection"),
        builtins=frozenset(BUILTINS.split()),
        test_files=("**/*Tests.cs", "**/*Test.cs", "**/*.Tests/**", "**/test/**", "**/tests/**"),
    )
}  # fmt: skip
