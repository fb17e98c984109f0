"""From unresolved facts to edges: runs the native resolver over units. What it found is kept as arrays until somebody writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from orbit.graph.facts import NONE
from orbit.graph.index.commands import Aimed, aim_commands
from orbit.graph.index.rows import as_rows, number, optional
from orbit.graph.index.rules import kind_bits, make_rules
from orbit.graph.index.texts import Texts
from orbit.graph.index.unit import SQL_DEFINITION, Unit, load_unit
from orbit.graph.languages import NAMES, language
from orbit.graph.store.writer import REF_SHIFT, SYMBOL_SHIFT, Uses, Writer
from orbit.model import CONFIDENCE_CODES, REF_KIND_CODES
from orbit_native.definitions import Facts, Rules
from orbit_native.resolve import Resolver

USE, IMPORTED = REF_KIND_CODES["use"], CONFIDENCE_CODES["import_resolved"]
AT_ONCE = 64  # files whose references become rows together
MOST_CANDIDATES = 256  # as in orbit_native.definitions
OFTEN, MOST_INSIDE = 3, 512  # questions about one container before its names are fetched, of which there are at most so many
MANY_MISSED = 64  # questions about modules that do not exist before all that do are fetched


class Edges(msgspec.Struct):
    """What resolving some files found."""

    files: list[int]
    refs: Any  # int32: position in `files`, kind, confidence, name, start, end, line, scope, target, target file
    relations: list[tuple[Any, ...]]  # rows of the table
    commands: list[Aimed]  # what commands and their groups are
    uses: list[Uses]  # per file

    def ref_rows(self) -> Iterator[tuple[Any, ...]]:
        files, refs = np.array(self.files, dtype=np.int64), self.refs
        held = files[refs[:, 0]] << SYMBOL_SHIFT
        columns = [refs[:, at] for at in range(1, 7)]
        return as_rows(number(refs[:, 0], files, REF_SHIFT), *columns, optional(refs[:, 7], held), optional(refs[:, 8]), optional(refs[:, 9]))


class StoreLoader:
    """Gives the resolver definitions from the database when it first asks for them."""

    def __init__(self, writer: Writer, resolution: Resolution) -> None:
        self._writer, self._resolution = writer, resolution
        self._asked: Counter[int] = Counter()  # how often for members of a container
        self._inside: dict[int, frozenset[int] | None] = {}  # the names in those that are asked for often, if they are not too many
        self._homes: dict[int, tuple[str, int]] = {}
        self._missed = 0
        self._modules: frozenset[int] | None = None

    def members(self, family: int, container: int, name: int) -> list[tuple[int, int, Any]]:
        self._asked[container] += 1
        if self._asked[container] == OFTEN:
            self._inside[container] = self._writer.names_inside(container, MOST_INSIDE)
        inside = self._inside.get(container)
        if inside is not None and name not in inside:
            return []
        if inside is None and not self._writer.has_member(container, name):
            return []
        return self._of_family(family, self._writer.members(container, name, SQL_DEFINITION))[:MOST_CANDIDATES]

    def owned(self, family: int, name: int) -> list[tuple[int, int, Any]]:
        return self._of_family(family, self._writer.owned(name, SQL_DEFINITION))

    def _of_family(self, family: int, rows: list[tuple[Any, ...]]) -> list[tuple[int, int, Any]]:
        """In order of path and position."""
        if len(rows) > 1:
            rows.sort(key=lambda row: (self._home(row[0])[0], row[0]))
        return [(row[0] >> SYMBOL_SHIFT, row[0] & 0xFFFFF, row[1:]) for row in rows if self._home(row[0])[1] == family]

    def _home(self, symbol: int) -> tuple[str, int]:
        """Path and family of the file of a symbol."""
        file = symbol >> SYMBOL_SHIFT
        home = self._homes.get(file)
        if home is None:
            path, lang, _ = self._writer.file_row(file) or ("", NAMES[0], NONE)
            home = self._homes[file] = path, self._resolution.families[lang]
        return home

    def module_files(self, family: int, module: int) -> list[int]:
        if self._modules is not None and module not in self._modules:
            return []
        found = self._writer.files_of_module(module)
        self._missed += not found
        if self._missed == MANY_MISSED:  # most of what might be a module is none
            self._modules = self._writer.modules()
        return [file for file, lang in found if self._resolution.families[lang] == family]

    def load_file(self, file: int) -> Facts | None:
        found = self._writer.file_row(file)
        if found is None:
            return None
        unit = load_unit(self._writer, file, *found, to_resolve=False)
        return unit.facts(self._resolution.rules(unit.lang))


class Resolution:
    """One resolver over the files of a sync. With a writer, what was not added is loaded from its database when needed."""

    def __init__(self, texts: Texts, writer: Writer | None = None, rules: dict[str, Rules] | None = None) -> None:
        self._texts = texts
        self._rules = {} if rules is None else rules  # by language, in the ids of `texts`
        numbers = dict[str, int]()  # in a fixed order, so that they never depend on the files
        self.families = {name: numbers.setdefault(language(name).family or name, len(numbers)) for name in NAMES}
        self._resolver = Resolver(texts, kind_bits(), None if writer is None else StoreLoader(writer, self))

    def rules(self, lang: str) -> Rules:
        if lang not in self._rules:
            self._rules[lang] = make_rules(lang, self._texts, self.families[lang])
        return self._rules[lang]

    def add(self, unit: Unit) -> None:
        self._resolver.add_file(unit.facts(self.rules(unit.lang)))

    def index(self, name_count: int) -> None:
        """All files are added, in order of path: make their definitions findable."""
        self._resolver.index(name_count)

    def forget(self) -> None:
        self._resolver.forget()

    def resolve(self, units: list[Unit]) -> Edges:
        """The edges of some files."""
        relations, commands, uses = list[tuple[Any, ...]](), list[Aimed](), list[Uses]()
        refs = [unit.refs.array() for unit in units]
        self._resolver.take_noted([])
        found, others, imported = [], list[tuple[int, int, int]](), list[tuple[int, ...]]()
        first = 0
        for position, unit in enumerate(units):
            targets, equals = self._resolver.resolve_refs(unit.file, refs[position])
            found.append(targets)
            others += [(first + index, target, home) for index, target, home in equals]
            first += len(targets)
            imported += self._import_refs(unit, position)
            relations += self._relations(unit)
            if len(unit.commands):
                commands += aim_commands(unit, self._texts, self._resolver)
            uses.append(self._resolver.take_noted(unit.hints(self._texts)))
        table = _as_table(refs, np.concatenate(found), others, imported)
        return Edges([unit.file for unit in units], table, relations, commands, uses)

    def _import_refs(self, unit: Unit, position: int) -> Iterator[tuple[int, ...]]:
        """An import of a name refers to what it names."""
        for (_, name, _, _, start, end, line, scope), (module, _) in zip(unit.imports.tolist(), unit.targets.tolist(), strict=True):
            target = self._resolver.follow_import(unit.file, module, name) if module != NONE and name != NONE else None
            if target is not None:
                yield position, USE, IMPORTED, name, start, end, line, scope, target[0], NONE if target[1] is None else target[1]

    def _relations(self, unit: Unit) -> Iterator[tuple[Any, ...]]:
        if not len(unit.relations):
            return
        resolved = self._resolver.resolve_relations(unit.file, unit.relation_rows())
        base = unit.file << SYMBOL_SHIFT
        for index, (row, (source, target, confidence)) in enumerate(zip(unit.relations.tolist(), resolved.tolist(), strict=True)):
            kind, written, begin, end, line, scope, owner = row
            if source == NONE:
                source = owner if owner != NONE else unit.module
            last = self._texts.id(self._texts.text(written).partition("<")[0].rpartition(".")[2])
            yield base + index, kind, confidence, source, target if target != NONE else written, last, begin, end, line, scope, owner, written


def _as_table(given: list[Any], found: Any, others: list[tuple[int, int, int]], imported: list[tuple[int, ...]]) -> Any:
    """References worth a row, in order of file and position; equally good targets follow the one picked, imports follow the rest of their file."""
    refs = np.concatenate(given)
    position = np.repeat(np.arange(len(given), dtype=np.int32), [len(part) for part in given])
    kept = np.flatnonzero((found[:, 0] >= 0) | (refs[:, 0] != USE))  # an unresolved use is a local, or nothing of ours: no edge
    targets = found[kept, :2]
    if others:
        more = np.array(others, dtype=np.int32)
        kept, targets = np.concatenate([kept, more[:, 0]]), np.concatenate([targets, more[:, 1:]])
        order = np.argsort(kept, kind="stable")
        kept, targets = kept[order], targets[order]
    table = np.empty((len(kept), 10), dtype=np.int32)
    table[:, 0], table[:, 2], table[:, 8:] = position[kept], found[kept, 2], targets
    table[:, [1, 3, 4, 5, 6, 7]] = refs[kept][:, [0, 1, 2, 3, 4, 6]]
    if imported:
        table = np.concatenate([table, np.array(imported, dtype=np.int32)])
        table = table[np.argsort(table[:, 0], kind="stable")]
    return table
