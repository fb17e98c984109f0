"""From bytes to facts: a pure function of (language, source). Rows come from the kernel; here they get their meaning and their scope."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import islice
from operator import le
from typing import Any

import numpy as np

from orbit.graph.facts import (
    BIND_FORMS,
    DECORATOR,
    KEY_FORMS,
    MACRO,
    NEW,
    NONE,
    Config,
    Definition,
    Export,
    FileFacts,
    Import,
    Mark,
    Relation,
)
from orbit.graph.languages import Language
from orbit.graph.languages import language as find_language
from orbit.model import REF_KIND_CODES, TYPE_KINDS
from orbit_native.arrange import CLASSES, arrange
from orbit_native.capture import COLUMNS, PARSE_TIMED_OUT, Past, Query
from orbit_native.names import Names

PARSE_BUDGET_SECONDS = 5.0
SIGNATURE_ROOM = 200  # bytes

HEAD, START, END, LINE, END_LINE, NAME_START, NAME_END, NAME_LINE, NAME, RECEIVER, TYPE, VALUE, ALIAS, PATH, ARGC, BODY = range(len(COLUMNS))
DEFINE, CALL, REF, RELATE, IMPORT, BIND, EXPORT, STRING, ENV, CONFIG, MARK, BROKEN = range(len(CLASSES))
REF_FLAGS = {"new": NEW, "macro": MACRO, "decorator": DECORATOR}
REF_WORDS = {"type": "type", "use": "use", "bound": "trait_bound"}

# Classes of head captures that only use what others define. In Go the type of a parameter makes a function a test.
USES = frozenset({"call", "ref", "string", "env", "export", "import", "bind"})
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|;[^\n]*')
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[()\[\]\n]')
_HEAD = re.compile(r"@([a-z]+)\b")


class Heads:
    """What each head capture of a language's query stands for, as lookup arrays by capture id."""

    def __init__(self, query: Query, outer_kinds: frozenset[str] = frozenset()) -> None:
        names = query.capture_names()
        self.classes = np.full(len(names), NONE, dtype=np.int32)
        self.codes = np.zeros(len(names), dtype=np.int32)
        self.flags = np.zeros(len(names), dtype=np.int32)
        self.outer, self.types = np.zeros(len(names), dtype=np.uint8), np.zeros(len(names), dtype=np.uint8)
        self.kinds = [NONE] * len(names)  # the classes again, for single rows
        self.words: list[str] = [""] * len(names)  # the first word after the class
        self.marks: list[frozenset[str]] = [frozenset()] * len(names)  # all words after it; of a definition, those after its kind
        for i, name in enumerate(names):
            kind, *words = name.split(".")
            if kind not in CLASSES:
                continue
            self.classes[i] = self.kinds[i] = CLASSES.index(kind)
            self.words[i], self.marks[i] = words[0] if words else "", frozenset(words[1:] if kind == "define" else words)
            if kind == "ref":
                self.codes[i] = REF_KIND_CODES[REF_WORDS[words[0]]]
            elif kind == "bind":
                self.codes[i] = BIND_FORMS.index(words[0]) if words else 0
            elif kind == "config":
                self.codes[i] = KEY_FORMS.index(words[0])
            self.outer[i], self.types[i] = kind == "define" and words[0] in outer_kinds, kind == "define" and words[0] in TYPE_KINDS
            self.flags[i] = sum(REF_FLAGS.get(word, 0) for word in words)


def split_patterns(text: str, leave_out: frozenset[str]) -> list[str]:
    """The patterns of a query one by one, without comments, less those whose head capture is of a class to leave out."""
    found, depth, begin = list[str](), 0, 0
    text = _COMMENT.sub(lambda match: match[1] or "", text)
    for match in _BRACKETS.finditer(text):
        sign = match[0]
        if sign == "\n" and depth == 0:
            found.append(text[begin : match.end()])
            begin = match.end()
        elif sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
    found.append(text[begin:])
    return [pattern for pattern in found if pattern.strip() and not any(head in leave_out for head in _HEAD.findall(pattern))]


@cache
def kernel(name: str, only_definitions: bool = False) -> tuple[Query, Heads]:
    """The compiled query of a language. Kept for the life of the process: grammars are static."""
    query = compile_query(name, only_definitions)
    return query, Heads(query, find_language(name).outer_kinds)


def compile_query(name: str, only_definitions: bool = False, *, analyse: bool = False) -> Query:
    """Compile the query of a language; `analyse` also refuses patterns that can match nothing, at a hundred times the cost."""
    language = find_language(name)
    module, function = language.grammar
    capsule = getattr(import_module(module), function)()
    folder = files("orbit.graph.languages")
    names = (language.query or f"{language.name}.scm").split()
    text = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
    text = "\n".join(split_patterns(text, leave_out=USES - {"bind"} if name == "go" else USES)) if only_definitions else text
    return Query(capsule, text, final_newline=language.final_newline, analyse=analyse)


def extract(
    language: Language, source: bytes, names: Names, budget_seconds: float = PARSE_BUDGET_SECONDS, *, only_definitions: bool = False, past: Past | None = None
) -> FileFacts:
    """All facts of one source; with `only_definitions` the definitions are complete, unsigned, and what merely uses them is left out.
    `past` is what the kernel keeps from one version of a file to the next."""
    if language.reader is not None:
        facts = FileFacts(source, names, 0)
        language.reader(facts)
    else:
        query, heads = kernel(language.name, only_definitions)
        status, rows = query.capture(source, names, budget_seconds, past)
        facts = FileFacts(source, names, status)
        if status & PARSE_TIMED_OUT:
            facts.broken.append((0, len(source)))
        definitions, parents, facts.refs, facts.binds, facts.strings, facts.keys, rest, scopes = arrange(
            rows, heads.classes, heads.codes, heads.flags, heads.outer, heads.types, bool(language.outer_kinds)
        )
        _take_definitions(facts, language, heads, definitions, parents)
        _take_rest(facts, heads, rest, scopes)
        if language.fix_up is not None and not status & PARSE_TIMED_OUT:
            language.fix_up(facts)
            _sort_definitions(facts)
    _qualify(facts, language)
    if not only_definitions:
        _sign(facts)
    return facts


def _take_definitions(facts: FileFacts, language: Language, heads: Heads, rows: Any, parents: Any) -> None:
    members, tests, found = language.member_kinds, language.test_names, facts.definitions
    for row, parent in zip(rows.tolist(), parents.tolist(), strict=True):
        head, start, end, line, end_line, name_start, _, _, name_id, receiver, type_, value, _, path, argc, body = row
        kind = heads.words[head]
        if parent >= 0 and kind in members and found[parent].kind in TYPE_KINDS:
            kind = members[kind]
        name = facts.text(name_id)
        if tests and kind in ("function", "method") and name.startswith(tests):
            kind = "test"
        found.append(
            Definition(
                kind=kind, name=name, start=start, end=end, name_start=name_start, line=line + 1, end_line=end_line + 1, parent=parent, body=body,
                type=type_, value=value, owner=receiver, path=path, argc=argc, flags=heads.marks[head],
            )
        )  # fmt: skip


def _take_rest(facts: FileFacts, heads: Heads, rows: Any, scopes: Any) -> None:
    """Relations, imports, exports, environment reads, marks and broken ranges: few, so they become structs."""
    for row, scope in zip(rows.tolist(), scopes.tolist(), strict=True):
        kind, words = heads.kinds[row[HEAD]], heads.marks[row[HEAD]]
        start, end, line = row[START], row[END], row[LINE] + 1
        if kind == RELATE:
            at, until = (row[NAME_START], row[NAME_END]) if row[NAME] >= 0 else (start, end)
            target = row[TYPE] if row[TYPE] >= 0 else row[NAME]
            facts.relations.append(Relation(kind=heads.words[row[HEAD]], target=target, start=at, end=until, line=line, scope=scope, owner=row[RECEIVER]))
        elif kind == IMPORT:
            facts.imports.append(
                Import(path=row[PATH], name=row[NAME], alias=row[ALIAS], flags=words, start=start, end=end, line=line, scope=scope)
            )
        elif kind == EXPORT:
            facts.exports.append(Export(name=row[NAME], value=row[VALUE], start=start, flags=words))
        elif kind == ENV:
            facts.configs.append(Config(key=facts.text(row[PATH]), kind="env", line=line))
        elif kind == BROKEN:
            facts.broken.append((min(start, len(facts.source)), min(end, len(facts.source))))
        else:
            facts.marks.append(
                Mark(
                    flags=words, start=start, end=end, line=line, name=row[NAME], receiver=row[RECEIVER], type=row[TYPE],
                    value=row[VALUE], path=row[PATH], argc=row[ARGC], scope=scope,
                )
            )  # fmt: skip


def _sort_definitions(facts: FileFacts) -> None:
    """Definitions that a fix-up added take their place by position; what points at definitions follows."""
    spans = [(found.start, -found.end) for found in facts.definitions]
    if all(map(le, spans, islice(spans, 1, None))):
        return
    order = sorted(range(len(spans)), key=spans.__getitem__)
    place = np.empty(len(order) + 1, dtype=np.int32)
    place[order], place[NONE] = np.arange(len(order)), NONE
    facts.definitions = [facts.definitions[index] for index in order]
    for found in facts.definitions:
        found.parent = int(place[found.parent])
    scoped: list[Any] = [*facts.imports, *facts.relations, *facts.commands, *facts.marks]
    for one in scoped:
        one.scope = int(place[one.scope])
    facts.refs[:, 6], facts.binds[:, 4], facts.strings[:, 2] = place[facts.refs[:, 6]], place[facts.binds[:, 4]], place[facts.strings[:, 2]]


def _qualify(facts: FileFacts, language: Language) -> None:
    """Names within the file: the chain of enclosing definitions, or of the owner; repeats of (qualified, kind) get #2, #3 by position."""
    seen: dict[tuple[str, str], int] = {}
    for found in facts.definitions:
        if not found.local:
            around = facts.text(found.owner).partition("<")[0] if found.owner != NONE else facts.definitions[found.parent].local if found.parent != NONE else ""
            separator = language.separators.get(found.kind, language.separator)
            found.local = f"{around}{separator}{found.name}" if around else found.name
        count = seen[found.local, found.kind] = seen.get((found.local, found.kind), 0) + 1
        if count > 1:
            found.local = f"{found.local}#{count}"


def _sign(facts: FileFacts) -> None:
    """One-line signatures: from the start of a definition to its body."""
    if not facts.definitions:
        return
    starts = np.array([d.start for d in facts.definitions], dtype=np.int32)
    ends = np.array([d.body if d.body != NONE else d.end for d in facts.definitions], dtype=np.int32)
    for found, signature in zip(facts.definitions, facts.names.add_folded(facts.source, starts, ends, SIGNATURE_ROOM).tolist(), strict=True):
        if found.signature == NONE:
            found.signature = signature


def outline(facts: FileFacts) -> str:
    """The facts of a file as text, one per line, in order of position: what golden tests compare."""
    lines: list[tuple[int, int, str]] = []
    text = facts.text

    def scope_of(index: int) -> str:
        return facts.definitions[index].local if index != NONE else "-"

    for d in facts.definitions:
        extra = "".join(f" {label}={text(value)}" for label, value in (("type", d.type), ("value", d.value), ("owner", d.owner)) if value != NONE)
        flags = f" [{','.join(sorted(d.flags))}]" if d.flags else ""
        lines.append((d.start, 0, f"{d.line}-{d.end_line} {d.kind} {d.local}{flags}{extra} | {text(d.signature)}"))
    kinds = {code: kind for kind, code in REF_KIND_CODES.items()}
    for kind, name, start, _, line, receiver, scope, argc, bits in facts.refs.tolist():
        what = "".join(f" {word}" for word, bit in REF_FLAGS.items() if bits & bit)
        held = f" on {text(receiver)}" if receiver != NONE else ""
        lines.append((start, 1, f"  {line} {kinds[kind]}{what} {text(name)}{held}{f' /{argc}' if argc != NONE else ''} in {scope_of(scope)}"))
    for form, name, type_, value, scope, start in facts.binds.tolist():
        lines.append((start, 2, f"  bind {BIND_FORMS[form]} {text(name)}: {text(type_) or '-'} = {text(value) or '-'} in {scope_of(scope)}"))
    for value, line, scope in facts.strings.tolist():
        lines.append((1 << 30, line, f"  {line} string {text(value)!r} in {scope_of(scope)}"))
    for i in facts.imports:
        flags = f" [{','.join(sorted(i.flags))}]" if i.flags else ""
        lines.append((i.start, 3, f"  {i.line} import{flags} {text(i.path)} {text(i.name) or '-'} as {text(i.alias) or '-'} in {scope_of(i.scope)}"))
    for r in facts.relations:
        lines.append((r.start, 4, f"  {r.line} {r.kind} {text(r.owner) or scope_of(r.scope)} -> {text(r.target)}"))
    for e in facts.exports:
        lines.append((e.start, 5, f"  export {text(e.name) or '-'} = {text(e.value) or '-'}"))
    for c in facts.commands:
        lines.append((c.start, 6, f"  {c.line} command {c.name!r} handler={c.handler or '-'} group={c.group or '-'} in {scope_of(c.scope)}"))
    for k in facts.configs:
        lines.append((1 << 30, k.line, f"  {k.line} config {k.kind} {k.key}"))
    for start, end in facts.broken:
        lines.append((start, 7, f"  broken {start}-{end}"))
    return "".join(f"{line}\n" for _, _, line in sorted(lines))

