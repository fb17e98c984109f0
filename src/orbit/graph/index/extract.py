"""From bytes to facts: a pure function of (language, source). Rows come from the kernel; here they get their meaning and their scope."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.resources import files
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
    among,
)
from orbit.graph.languages import Language
from orbit.graph.languages import language as find_language
from orbit.model import REF_KIND_CODES, TYPE_KINDS
from orbit_native.capture import COLUMNS, PARSE_TIMED_OUT, Query
from orbit_native.names import Names
from orbit_native.spans import innermost, nest

PARSE_BUDGET_SECONDS = 5.0
SIGNATURE_ROOM = 200  # bytes

HEAD, START, END, LINE, END_LINE, NAME_START, NAME_END, NAME_LINE, NAME, RECEIVER, TYPE, VALUE, ALIAS, PATH, ARGC, BODY = range(len(COLUMNS))
CLASSES = ("define", "call", "ref", "relate", "import", "bind", "export", "string", "env", "config", "mark", "broken")
DEFINE, CALL, REF, RELATE, IMPORT, BIND, EXPORT, STRING, ENV, CONFIG, MARK, BROKEN = range(len(CLASSES))
REF_FLAGS = {"new": NEW, "macro": MACRO, "decorator": DECORATOR}
REF_WORDS = {"type": "type", "use": "use", "bound": "trait_bound"}

# Classes of head captures that only use what others define. Bindings stay: the type of a parameter makes a Go function a test.
USES = frozenset({"call", "ref", "string", "env", "export"})
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
        self.outer, self.types = np.zeros(len(names), dtype=bool), np.zeros(len(names), dtype=bool)
        self.words: list[tuple[str, ...]] = [()] * len(names)
        for i, name in enumerate(names):
            kind, *words = name.split(".")
            if kind not in CLASSES:
                continue
            self.classes[i], self.words[i] = CLASSES.index(kind), tuple(words)
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
    """The compiled query of a language. Cached for the life of the process: grammars are static."""
    language = find_language(name)
    module, function = language.grammar
    capsule = getattr(import_module(module), function)()
    folder = files("orbit.graph.languages")
    names = (language.query or f"{language.name}.scm").split()
    text = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
    text = "\n".join(split_patterns(text, leave_out=USES)) if only_definitions else text
    query = Query(capsule, text, final_newline=language.final_newline)
    return query, Heads(query, language.outer_kinds)


def extract(
    language: Language, source: bytes, names: Names, budget_seconds: float = PARSE_BUDGET_SECONDS, *, only_definitions: bool = False
) -> FileFacts:
    """All facts of one source; with `only_definitions` the definitions are complete, and what merely uses them is left out."""
    if language.reader is not None:
        facts = FileFacts(source, names, 0)
        language.reader(facts)
    else:
        query, heads = kernel(language.name, only_definitions)
        status, rows = query.capture(source, names, budget_seconds)
        facts = FileFacts(source, names, status)
        if status & PARSE_TIMED_OUT:
            facts.broken.append((0, len(source)))
        rows = rows[(rows[:, NAME_START] < 0) | (rows[:, NAME_END] > rows[:, NAME_START])]  # a name the parser only missed states nothing
        classes = heads.classes[rows[:, HEAD]]
        _take_definitions(facts, language, heads, rows[classes == DEFINE])
        scopes = _Scopes(facts)
        _take_refs(facts, heads, rows[(classes == CALL) | (classes == REF)], scopes)
        _take_binds(facts, heads, rows[classes == BIND], scopes)
        _take_strings(facts, rows[classes == STRING], rows[classes == IMPORT], scopes)
        _take_keys(facts, heads, rows[classes == CONFIG])
        rest = rows[(classes >= RELATE) & (classes != BIND) & (classes != STRING) & (classes != CONFIG)]
        _take_rest(facts, heads, rest, scopes)
        if language.fix_up is not None and not status & PARSE_TIMED_OUT:
            language.fix_up(facts)
            _sort_definitions(facts)
    _qualify(facts, language)
    _sign(facts)
    return facts


class _Scopes:
    """Which definition encloses a span: the index of the innermost, or NONE."""

    def __init__(self, facts: FileFacts) -> None:
        spans = np.array([(d.start, d.end, d.parent) for d in facts.definitions], dtype=np.int32).reshape(-1, 3)
        self._files = np.zeros(len(spans), dtype=np.int32)
        self._starts, self._ends, self._parents = (np.ascontiguousarray(spans[:, i]) for i in range(3))

    def of(self, starts: Any, ends: Any) -> Any:
        zeros = np.zeros(len(starts), dtype=np.int32)
        return innermost(self._files, self._starts, self._ends, self._parents, zeros, np.ascontiguousarray(starts), np.ascontiguousarray(ends))


def _take_definitions(facts: FileFacts, language: Language, heads: Heads, rows: Any) -> None:
    rows = rows[(rows[:, NAME] < 0) | (rows[:, NAME_END] > rows[:, NAME_START])]  # a parser that repairs makes up empty names
    if not len(rows):
        return
    # One definition per name: where patterns overlap, the one written first in the query wins.
    rows = rows[np.lexsort((rows[:, HEAD], rows[:, NAME_START]))]
    named = rows[:, NAME_START] >= 0
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:, NAME_START] != rows[:-1, NAME_START]) | ~named[1:]
    rows = rows[first]
    rows = rows[np.lexsort((rows[:, NAME_START], -rows[:, END], rows[:, START]))]
    parents = _parents(rows)
    if language.outer_kinds:
        rows = rows[~heads.outer[rows[:, HEAD]] | (parents < 0) | heads.types[rows[parents, HEAD]]]
        parents = _parents(rows)
    for row, parent in zip(rows.tolist(), parents.tolist(), strict=True):
        kind, *words = heads.words[row[HEAD]]
        if parent >= 0 and kind in language.member_kinds and facts.definitions[parent].kind in TYPE_KINDS:
            kind = language.member_kinds[kind]
        name = facts.text(row[NAME])
        if language.test_names and kind in ("function", "method") and name.startswith(language.test_names):
            kind = "test"
        facts.definitions.append(
            Definition(
                kind=kind, name=name, start=row[START], end=row[END], name_start=row[NAME_START], line=row[LINE] + 1, end_line=row[END_LINE] + 1,
                parent=parent, body=row[BODY], type=row[TYPE], value=row[VALUE], owner=row[RECEIVER], path=row[PATH], argc=row[ARGC],
                flags=frozenset(words),
            )
        )  # fmt: skip


def _parents(rows: Any) -> Any:
    starts, ends = np.ascontiguousarray(rows[:, START]), np.ascontiguousarray(rows[:, END])
    return nest(np.zeros(len(rows), dtype=np.int32), starts, ends)


def _take_refs(facts: FileFacts, heads: Heads, rows: Any, scopes: _Scopes) -> None:
    defined = np.array([d.name_start for d in facts.definitions], dtype=np.int32)
    rows = rows[(rows[:, NAME_END] > rows[:, NAME_START]) & ~among(rows[:, NAME_START], defined)]
    if not len(rows):
        return
    rows = rows[np.lexsort((rows[:, HEAD], rows[:, NAME_END], rows[:, NAME_START]))]
    codes = heads.codes[rows[:, HEAD]]
    # A name refers once: of patterns that overlap on it, the one written first in the query wins.
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:, NAME_START] != rows[:-1, NAME_START]) | (rows[1:, NAME_END] != rows[:-1, NAME_END])
    rows, codes = rows[first], codes[first]
    found = np.empty((len(rows), 9), dtype=np.int32)
    found[:, 0], found[:, 1], found[:, 2], found[:, 3] = codes, rows[:, NAME], rows[:, NAME_START], rows[:, NAME_END]
    found[:, 4], found[:, 5], found[:, 7] = rows[:, NAME_LINE] + 1, rows[:, RECEIVER], rows[:, ARGC]
    found[:, 6] = scopes.of(rows[:, NAME_START], rows[:, NAME_END])
    found[:, 8] = heads.flags[rows[:, HEAD]]
    facts.refs = found


def _take_binds(facts: FileFacts, heads: Heads, rows: Any, scopes: _Scopes) -> None:
    if not len(rows):
        return
    rows = rows[rows[:, NAME] >= 0]
    rows = rows[np.lexsort((rows[:, HEAD], rows[:, NAME_START]))]
    found = np.empty((len(rows), 6), dtype=np.int32)
    found[:, 0], found[:, 1], found[:, 2], found[:, 3] = heads.codes[rows[:, HEAD]], rows[:, NAME], rows[:, TYPE], rows[:, VALUE]
    found[:, 4], found[:, 5] = scopes.of(rows[:, NAME_START], rows[:, NAME_END]), rows[:, NAME_START]
    facts.binds = found


def _take_strings(facts: FileFacts, rows: Any, imports: Any, scopes: _Scopes) -> None:
    if not len(rows):
        return
    rows = rows[np.argsort(rows[:, START], kind="stable")]
    if len(rows) and len(imports):  # what an import names is not a string of the program
        begins, ends = np.sort(imports[:, START]), np.maximum.accumulate(imports[np.argsort(imports[:, START], kind="stable"), END])
        before = np.searchsorted(begins, rows[:, START], side="right") - 1
        rows = rows[(before < 0) | (rows[:, START] >= ends[np.maximum(before, 0)])]
    found = np.empty((len(rows), 3), dtype=np.int32)
    found[:, 0], found[:, 1], found[:, 2] = rows[:, PATH], rows[:, LINE] + 1, scopes.of(rows[:, START], rows[:, END])
    facts.strings = found


def _take_keys(facts: FileFacts, heads: Heads, rows: Any) -> None:
    """Keys of configuration files: there may be very many, so they stay an array and the fix-up says which to keep."""
    if not len(rows):
        return
    rows = rows[np.lexsort((rows[:, HEAD], -rows[:, END], rows[:, START]))]
    found = np.empty((len(rows), 5), dtype=np.int32)
    found[:, 0], found[:, 1], found[:, 2], found[:, 4] = heads.codes[rows[:, HEAD]], rows[:, START], rows[:, END], rows[:, NAME]
    found[:, 3] = np.where(rows[:, NAME] >= 0, rows[:, NAME_LINE], rows[:, LINE]) + 1
    facts.keys = found


def _take_rest(facts: FileFacts, heads: Heads, rows: Any, scopes: _Scopes) -> None:
    """Relations, imports, exports, environment reads, marks and broken ranges: few, so they become structs."""
    if not len(rows):
        return
    rows = rows[np.lexsort((rows[:, HEAD], -rows[:, END], rows[:, START]))]
    around = scopes.of(rows[:, START], rows[:, END]).tolist()
    for row, scope in zip(rows.tolist(), around, strict=True):
        kind, words = heads.classes[row[HEAD]], heads.words[row[HEAD]]
        start, end, line = row[START], row[END], row[LINE] + 1
        if kind == RELATE:
            at, until = (row[NAME_START], row[NAME_END]) if row[NAME] >= 0 else (start, end)
            target = row[TYPE] if row[TYPE] >= 0 else row[NAME]
            facts.relations.append(Relation(kind=words[0], target=target, start=at, end=until, line=line, scope=scope, owner=row[RECEIVER]))
        elif kind == IMPORT:
            facts.imports.append(
                Import(path=row[PATH], name=row[NAME], alias=row[ALIAS], flags=frozenset(words), start=start, end=end, line=line, scope=scope)
            )
        elif kind == EXPORT:
            facts.exports.append(Export(name=row[NAME], value=row[VALUE], start=start, flags=frozenset(words)))
        elif kind == ENV:
            facts.configs.append(Config(key=facts.text(row[PATH]), kind="env", line=line))
        elif kind == BROKEN:
            facts.broken.append((min(start, len(facts.source)), min(end, len(facts.source))))
        else:
            facts.marks.append(
                Mark(
                    flags=frozenset(words), start=start, end=end, line=line, name=row[NAME], receiver=row[RECEIVER], type=row[TYPE],
                    value=row[VALUE], path=row[PATH], argc=row[ARGC], scope=scope,
                )
            )  # fmt: skip


def _sort_definitions(facts: FileFacts) -> None:
    """Definitions that a fix-up added take their place by position; what points at definitions follows."""
    order = sorted(range(len(facts.definitions)), key=lambda index: (facts.definitions[index].start, -facts.definitions[index].end))
    if all(index == at for at, index in enumerate(order)):
        return
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
        lines.append((e.start, 5, f"  export {text(e.name)} = {text(e.value) or '-'}"))
    for c in facts.commands:
        lines.append((c.start, 6, f"  {c.line} command {c.name!r} handler={c.handler or '-'} group={c.group or '-'} in {scope_of(c.scope)}"))
    for k in facts.configs:
        lines.append((1 << 30, k.line, f"  {k.line} config {k.kind} {k.key}"))
    for start, end in facts.broken:
        lines.append((start, 7, f"  broken {start}-{end}"))
    return "".join(f"{line}\n" for _, _, line in sorted(lines))

