"""Kotlin: what the captures of kotlin.scm mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orbit.graph.facts import MACRO, NONE
from orbit.graph.languages import packages
from orbit.graph.languages.closures import end_locals
from orbit.graph.languages.language import Language

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts

COUNTED = frozenset({"function", "method", "test", "constructor"})
KOTLIN = """
    Int String Boolean Unit Any Long Double Float Short Byte Char Nothing UInt ULong Number Array IntArray ByteArray CharArray LongArray List MutableList
    Set MutableSet Map MutableMap Collection MutableCollection Iterable Iterator Sequence Pair Triple Comparable CharSequence StringBuilder Throwable
    Exception RuntimeException Error IllegalArgumentException IllegalStateException IndexOutOfBoundsException NullPointerException
    UnsupportedOperationException NoSuchElementException ClassCastException NumberFormatException Lazy Result Function Enum Annotation
    println print listOf mutableListOf setOf mutableSetOf mapOf mutableMapOf arrayOf emptyList emptyMap emptySet sequenceOf require requireNotNull check
    checkNotNull error TODO lazy run with repeat
"""


def fix_up(facts: FileFacts) -> None:
    """The package holds the file; import paths are cut; unnamed objects and constructors get names; extensions stand under their receiver."""
    _cut_imports(facts)
    for mark in facts.marks:
        if "test" in mark.flags and mark.scope != NONE and facts.definitions[mark.scope].kind in ("function", "method"):
            facts.definitions[mark.scope].kind = "test"
    for relation in facts.relations:
        if relation.scope != NONE and facts.definitions[relation.scope].kind == "interface":
            relation.kind = "extends"
    for found in facts.definitions:
        if found.kind == "companion_object" and not found.name:
            found.name, found.name_start = "Companion", found.start
        elif found.kind == "constructor" and found.parent != NONE:
            found.name = facts.definitions[found.parent].name or found.name
        elif found.name.startswith("`"):
            found.name = found.name.strip("`")
        if found.kind == "function" and found.parent != NONE and facts.definitions[found.parent].kind == "enum_member":
            found.kind = "method"
    _count_lambdas(facts)
    if b"this@" in facts.source:
        _name_outer_this(facts)
    packages.count_parameters(facts, COUNTED)
    packages.take_parameter_marks(facts)
    packages.drop_type_parameters(facts)
    packages.hold_file(facts, "package")
    packages.name_anonymous(facts)
    _place_extensions(facts)
    _take_receivers(facts)
    _open_companions(facts)
    _widen_qualifiers(facts)
    packages.drop_package_parts(facts)
    packages.add_qualifiers(facts)


def _cut_imports(facts: FileFacts) -> None:
    """`a.b.C` imports C of a.b; `a.b.*` all of a.b."""
    stars = {m.start for m in facts.marks if "star" in m.flags}
    for i in facts.imports:
        if i.start in stars:
            i.flags |= {"star"}
            continue
        path, dot, name = "".join(facts.text(i.path).split()).replace("`", "").rpartition(".")
        if dot:
            i.path, i.name = facts.id(path), facts.id(name)


def _count_lambdas(facts: FileFacts) -> None:
    """A trailing lambda is an argument."""
    refs = facts.refs
    if len(refs):
        trailing = (refs[:, packages.REF_FLAGS] & MACRO) > 0
        refs[trailing, packages.REF_ARGC] += 1
        refs[trailing, packages.REF_FLAGS] &= ~MACRO


def _name_outer_this(facts: FileFacts) -> None:
    """`this@Outer` is written `Outer.this`, as Java writes it; labels of functions stay."""
    for column in (facts.refs[:, packages.REF_RECEIVER], facts.binds[:, packages.BIND_VALUE]):
        for text_id in set(column.tolist()):
            text = facts.text(text_id)
            if text.startswith("this@") and text[5:6].isupper():
                outer, dot, rest = text.removeprefix("this@").partition(".")
                column[column == text_id] = facts.id(f"{outer}.this{dot}{rest}")


def _place_extensions(facts: FileFacts) -> None:
    """An extension is named `Receiver.name` where it is written; `this` in it is the receiver."""
    this, rows = facts.id("this"), []
    for index, found in enumerate(facts.definitions):
        if found.owner != NONE and "extension" in found.flags:
            receiver = facts.text(found.owner).partition("<")[0].rpartition(".")[2]
            around = packages.chain(facts, found.parent)
            found.local = ".".join(part for part in (around, receiver, found.name) if part)
            rows.append((packages.PARAM, this, found.owner, NONE, index, found.start))
    if rows:
        facts.add_binds(rows)


def _take_receivers(facts: FileFacts) -> None:
    """In `with(x) { }` and `x.apply { }`, `this` is x."""
    this, scopes = facts.id("this"), [mark for mark in facts.marks if "receiver" in mark.flags]
    facts.add_binds([(0, this, NONE, mark.receiver, mark.scope, mark.start) for mark in scopes])
    end_locals(facts, [(mark.start, mark.end) for mark in scopes])


def _open_companions(facts: FileFacts) -> None:
    """What stands in a companion object is called on its class."""
    for found in facts.definitions:
        around = facts.definitions[found.parent] if found.parent != NONE else None
        if around is not None and around.kind == "companion_object" and around.parent != NONE and found.owner == NONE:
            found.local = f"{packages.chain(facts, found.parent)}.{found.name}"
            found.owner = facts.id(packages.chain(facts, around.parent))


def _widen_qualifiers(facts: FileFacts) -> None:
    """`a.b.C` is a flat list of names in the tree: the qualifier of C is all that stands before it."""
    refs, source = facts.refs, facts.source
    if not len(refs):
        return
    rows = (refs[:, packages.REF_KIND] == packages.TYPE) & (refs[:, packages.REF_RECEIVER] != NONE)
    for row in np.flatnonzero(rows).tolist():
        start = at = int(refs[row, packages.REF_START]) - 1
        while at > 0 and (source[at - 1 : at].isalnum() or source[at - 1 : at] in (b".", b"_")):
            at -= 1
        path = source[at:start].decode("utf-8", "replace").strip(".")
        if "." in path:
            refs[row, packages.REF_RECEIVER] = facts.id(path)


LANGUAGES = {
    "kotlin": Language(
        name="kotlin",
        grammar=("tree_sitter_kotlin", "language"),
        suffixes=(".kt", ".kts"),
        family="jvm",
        member_kinds={"function": "method"},
        module_of=packages.module_of,
        import_target=packages.import_target,
        fix_up=fix_up,
        final_newline=True,  # its scanner never returns from an annotation that ends the file
        self_names=("this",),
        super_names=("super",),
        implicit_self=True,
        overloads=True,
        bound_after=True,
        collections=("[]", "Array", "Iterable", "Iterator", "Collection", "MutableCollection", "List", "MutableList", "ArrayList", "Set", "MutableSet",
                     "HashSet", "LinkedHashSet", "Sequence", "ArrayDeque", "Flow"),
        builtins=frozenset(KOTLIN.split()),
        test_files=("**/src/test/**", "**/src/*Test/**", "**/*Test.kt", "**/*Tests.kt"),
    )
}  # fmt: skip
