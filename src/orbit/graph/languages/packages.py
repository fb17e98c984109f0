"""What Java, Kotlin and C# share: names come from the package or namespace written in the source, never from the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orbit.graph.facts import NONE
from orbit.model import REF_KIND_CODES, TYPE_KINDS

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts
    from orbit.graph.languages.language import Layout

REF_KIND, REF_NAME, REF_START, REF_END, REF_LINE, REF_RECEIVER, REF_SCOPE, REF_ARGC, REF_FLAGS = range(9)
BIND_NAME, BIND_TYPE, BIND_VALUE, BIND_SCOPE, BIND_START = range(1, 6)
PARAM = 1
MEMBERS = ("field", "property")
TYPE, USE = REF_KIND_CODES["type"], REF_KIND_CODES["use"]


def module_of(path: str, layout: Layout) -> str:
    """Nothing: the qualified names of these languages are complete in the source."""
    return ""


def import_target(text: str, path: str, module: str, layout: Layout) -> str | None:
    """Imports spell qualified names already."""
    return text


def hold_file(facts: FileFacts, kind: str) -> None:
    """A package header or file-scoped namespace holds the rest of the file: it becomes parent and scope of what stood in nothing."""
    index = next((i for i, d in enumerate(facts.definitions) if d.kind == kind and "file" in d.flags and d.parent == NONE), NONE)
    if index == NONE:
        return
    held = facts.definitions[index]
    held.body, held.end, held.end_line = held.end, len(facts.source), facts.source.count(b"\n") + 1
    for found in facts.definitions[index + 1 :]:
        if found.parent == NONE:
            found.parent = index
    refs, binds, strings = facts.refs, facts.binds, facts.strings
    refs[(refs[:, REF_SCOPE] == NONE) & (refs[:, REF_START] >= held.start), REF_SCOPE] = index
    binds[(binds[:, BIND_SCOPE] == NONE) & (binds[:, BIND_START] >= held.start), BIND_SCOPE] = index
    strings[(strings[:, 2] == NONE) & (strings[:, 1] > held.line), 2] = index


def join_declarators(facts: FileFacts, kinds: frozenset[str]) -> None:
    """`int a, b;` spans both names with the first; the second is its sibling all the same."""
    for found in facts.definitions:
        if found.kind in kinds and found.parent != NONE and "more" in found.flags:
            found.flags -= {"more"}
            if facts.definitions[found.parent].kind in kinds:
                found.parent = facts.definitions[found.parent].parent


def chain(facts: FileFacts, index: int) -> str:
    """The qualified name a definition is going to have, but for the numbers of overloads."""
    names: list[str] = []
    while index != NONE:
        found = facts.definitions[index]
        if found.local:
            names.append(found.local)
            break
        names.append(found.name)
        index = found.parent
    return ".".join(reversed(names))


def name_anonymous(facts: FileFacts) -> None:
    """Anonymous classes are named as the JVM names them: `Outer$1`, numbered within the type around them."""
    counts: dict[str, int] = {}
    for found in facts.definitions:
        if "anonymous" not in found.flags:
            continue
        around = found.parent
        while around != NONE and facts.definitions[around].kind not in TYPE_KINDS:
            around = facts.definitions[around].parent
        prefix = chain(facts, around if around != NONE else found.parent)
        number = counts[prefix] = counts.get(prefix, 0) + 1
        found.local = f"{prefix}${number}"
        found.name = found.local.rpartition(".")[2]
        found.name_start = found.start
        if found.type != NONE:
            found.signature, found.type = facts.id(f"new {facts.text(found.type)}()"), NONE


def drop_type_parameters(facts: FileFacts) -> None:
    """Type parameters are no types of the repository: uses of them inside their definition are dropped, their own bind stays."""
    marks = [m for m in facts.marks if "generic" in m.flags]
    if not marks or not len(facts.refs):
        return
    refs = facts.refs
    drop = np.zeros(len(refs), dtype=bool)
    plain = (refs[:, REF_KIND] != REF_KIND_CODES["call"]) & (refs[:, REF_RECEIVER] == NONE)
    for mark in marks:
        around = facts.definitions[mark.scope] if mark.scope != NONE else None
        start, end = (around.start, around.end) if around else (mark.start, mark.end)
        drop |= plain & (refs[:, REF_NAME] == mark.name) & (refs[:, REF_START] >= start) & (refs[:, REF_END] <= end)
    facts.refs = refs[~drop]


def add_qualifiers(facts: FileFacts, kind: int = TYPE) -> None:
    """A capitalised name left of a dot (`Registry.open()`, `Color.RED`, `Item::price`) is a use of that type too."""
    refs, source = facts.refs, facts.source
    receivers = refs[:, REF_RECEIVER].tolist()
    types = {}
    for text_id in set(receivers) - {NONE}:
        text = facts.names.text(text_id)
        if text[:1].isupper() and text.replace(b"_", b"").isalnum():
            types[text_id] = text
    if not types:
        return
    rows, taken = [], set(refs[:, REF_START].tolist())
    for row in refs[[at for at, text_id in enumerate(receivers) if text_id in types]].tolist():
        text_id, start = row[REF_RECEIVER], row[REF_START]
        text = types[text_id]
        at = start - len(text) - (2 if source[start - 2 : start] in (b"::", b"?.") else 1)
        if at >= 0 and at not in taken and source.startswith(text, at):
            rows.append((kind, text_id, at, at + len(text), row[REF_LINE], NONE, row[REF_SCOPE], NONE, 0))
    facts.add_refs(rows)


def drop_package_parts(facts: FileFacts) -> None:
    """`java.util.List` in a type names one type: its lower-case qualifiers are packages, no types."""
    refs, source = facts.refs, facts.source
    types = refs[:, REF_KIND] == TYPE
    small = {text_id for text_id in set(refs[types, REF_NAME].tolist()) if facts.names.text(text_id)[:1].islower()}
    if small:
        rows = refs[:, : REF_END + 1].tolist()
        gone = [at for at, (kind, name, _, end) in enumerate(rows) if kind == TYPE and name in small and source.startswith(b".", end)]
        facts.refs = np.delete(refs, gone, axis=0)


def count_parameters(facts: FileFacts, kinds: frozenset[str]) -> None:
    """Parameters of the definitions of these kinds, counted by what they bind before the body: for grammars whose lists hold more than parameters."""
    binds, count = facts.binds, len(facts.definitions)
    if not count:
        return
    heads = np.array([d.body if d.body != NONE else d.end for d in facts.definitions], dtype=np.int32)
    params = binds[(binds[:, 0] == PARAM) & (binds[:, BIND_SCOPE] >= 0)]
    params = params[params[:, BIND_START] < heads[params[:, BIND_SCOPE]]]
    counts = np.bincount(params[:, BIND_SCOPE], minlength=count).tolist()
    for found, number in zip(facts.definitions, counts, strict=True):
        if found.kind in kinds and found.argc != NONE:
            found.argc = number


def take_parameter_marks(facts: FileFacts) -> None:
    """Marks of parameters that change how many arguments fit: `varargs` and `defaults` flag the definition; variable ones bind a list."""
    for mark in facts.marks:
        words = mark.flags & {"varargs", "defaults", "extension"}
        if words and mark.scope != NONE:
            found = facts.definitions[mark.scope]
            if found.kind in MEMBERS and found.parent != NONE:  # a parameter that is a member too: its type is what takes arguments
                if "varargs" in words and found.type != NONE:
                    found.type = facts.id(f"[]<{facts.text(found.type)}>")
                found = facts.definitions[found.parent]
            found.flags |= words
            if "varargs" in words and mark.name != NONE:
                rows = facts.binds
                here = (rows[:, BIND_SCOPE] == mark.scope) & (rows[:, BIND_NAME] == mark.name) & (rows[:, BIND_START] >= mark.start)
                here &= rows[:, BIND_START] < mark.end
                for at in np.flatnonzero(here).tolist():
                    held = facts.text(int(rows[at, BIND_TYPE]))
                    if held and not held.startswith("[]<"):
                        rows[at, BIND_TYPE] = facts.id(f"[]<{held}>")
