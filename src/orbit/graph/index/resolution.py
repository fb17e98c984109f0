"""From unresolved facts to edges: runs the native resolver over units and writes what it found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from orbit.graph.facts import NONE
from orbit.graph.index.commands import aim_commands
from orbit.graph.index.rules import kind_bits, make_rules
from orbit.graph.index.texts import Texts
from orbit.graph.index.unit import SQL_RESOLVED, Unit, load_unit
from orbit.graph.languages import NAMES, language
from orbit.graph.store.writer import REF_SHIFT, SYMBOL_SHIFT, Writer
from orbit.model import CONFIDENCE_CODES, REF_KIND_CODES
from orbit_native.resolve import Resolver, Rules

FUZZY, USE = CONFIDENCE_CODES["fuzzy_name"], REF_KIND_CODES["use"]
KNOWN_ELSEWHERE = -2  # the resolver's word for a local, or something outside the worktree


class StoreLoader:
    """Gives the resolver definitions from the database when it first asks for them."""

    def __init__(self, writer: Writer, resolution: Resolution) -> None:
        self._writer, self._resolution = writer, resolution

    def members(self, family: int, container: int, name: int) -> list[tuple[int, int, list[int]]]:
        return self._of_family(family, self._writer.members(container, name, SQL_RESOLVED))

    def owned(self, family: int, name: int) -> list[tuple[int, int, list[int]]]:
        return self._of_family(family, self._writer.owned(name, SQL_RESOLVED))

    def _of_family(self, family: int, rows: Iterable[tuple[Any, ...]]) -> list[tuple[int, int, list[int]]]:
        return [(row[0] >> SYMBOL_SHIFT, row[0] & 0xFFFFF, list(row[2:])) for row in rows if self._resolution.rules(row[1]).family == family]

    def module_files(self, family: int, module: int) -> list[int]:
        return [file for file, lang in self._writer.files_of_module(module) if self._resolution.rules(lang).family == family]

    def load_file(self, resolver: Resolver, file: int) -> None:
        found = self._writer.file_row(file)
        if found is not None:
            path, lang, module = found
            self._resolution.add(load_unit(self._writer, file, path, lang, module))


class Resolution:
    """One resolver over the files of a sync. `complete`: all files will be added; otherwise others are loaded when needed."""

    def __init__(self, texts: Texts, writer: Writer, *, complete: bool) -> None:
        self._texts, self._writer = texts, writer
        self._rules: dict[str, Rules] = {}
        self._families: dict[str, int] = {}
        for name in NAMES:  # in a fixed order, so that family numbers never depend on the files
            table = language(name)
            self._families.setdefault(table.family or table.name, len(self._families))
        self._resolver = Resolver(texts, kind_bits(), None if complete else StoreLoader(writer, self))

    def rules(self, lang: str) -> Rules:
        if lang not in self._rules:
            self._rules[lang] = make_rules(lang, self._texts, self._families)
        return self._rules[lang]

    def add(self, unit: Unit) -> None:
        symbols = np.ascontiguousarray(unit["symbol"][:, _RESOLVED])
        self._resolver.add_file(
            unit.file, unit.module, self.rules(unit.lang), symbols, unit.import_rows(), unit.relation_rows(), unit["bind"], unit["export"]
        )

    def index(self, units: Iterable[Unit]) -> None:
        """Make all definitions of all files findable; for a complete build, in order of path."""
        for unit in units:
            self._resolver.index_file(unit.file)

    def resolve(self, unit: Unit) -> int:
        """Resolve one file and write its edges; returns the number of references kept."""
        resolver, file = self._resolver, unit.file
        resolver.take_consulted()
        kept = self._write_refs(unit)
        self._write_relations(unit)
        self._write_commands(unit)
        consulted = resolver.take_consulted()
        consulted.update(unit.hints(self._texts))
        self._writer.drop_uses(file)
        self._writer.set_uses(file, consulted)
        return kept

    def _write_refs(self, unit: Unit) -> int:
        refs = unit["ref"]
        found, others = self._resolver.resolve_refs(unit.file, refs)
        start = unit.file << REF_SHIFT
        rows: list[tuple[Any, ...]] = []
        equals: dict[int, list[tuple[int, int]]] = {}
        for index, target, target_file in others:
            equals.setdefault(index, []).append((target, target_file))
        for index, (ref, (target, target_file, confidence)) in enumerate(zip(refs.tolist(), found.tolist(), strict=True)):
            kind, name, begin, end, line, _, scope, _, _ = ref
            if target < 0 and kind == USE:
                continue  # a local, or nothing of ours: not an edge
            held = (scope | unit.file << SYMBOL_SHIFT) if scope != NONE else None
            for qualified, home in [(target, target_file), *equals.get(index, ())]:
                edge = (qualified, home if home >= 0 else None) if qualified >= 0 else (None, None)
                rows.append((start + len(rows), kind, confidence, name, begin, end, line, held, *edge))
        rows += self._import_refs(unit, start + len(rows))
        self._writer.replace_refs(unit.file, rows)
        return len(rows)

    def _import_refs(self, unit: Unit, start: int) -> list[tuple[Any, ...]]:
        """An import of a name refers to what it names."""
        rows: list[tuple[Any, ...]] = []
        imported = [row for row in unit["import"].tolist() if row[1] != NONE]
        targets = [row for row in unit.import_rows().tolist() if row[1] != NONE]
        for row, (module, name, _, _, _) in zip(imported, targets, strict=True):
            target = self._resolver.follow_import(unit.file, module, name) if module != NONE else None
            if target is None:
                continue
            scope = (row[7] | unit.file << SYMBOL_SHIFT) if row[7] != NONE else None
            rows.append((start + len(rows), USE, CONFIDENCE_CODES["import_resolved"], name, row[4], row[5], row[6], scope, target[0], target[1]))
        return rows

    def _write_relations(self, unit: Unit) -> None:
        given = unit["relation"]
        found = self._resolver.resolve_relations(unit.file, unit.relation_rows())
        rows, start = [], unit.file << SYMBOL_SHIFT
        for index, (row, (source, target, confidence)) in enumerate(zip(given.tolist(), found.tolist(), strict=True)):
            kind, written, begin, end, line, scope, owner = row
            if source == NONE:
                source = owner if owner != NONE else unit.module
            last = self._texts.text(written).partition("<")[0].rpartition(".")[2]
            rows.append((
                start + index, kind, confidence, source, target if target != NONE else written, self._texts.id(last), begin, end, line, scope, owner, written,
            ))  # fmt: skip
        self._writer.replace_relations(unit.file, rows)

    def _write_commands(self, unit: Unit) -> None:
        if len(unit["command"]):
            self._writer.aim_commands(aim_commands(unit, self._texts, self._resolver))


_RESOLVED = [0, 1, 2, 3, 9, 4, 5, 11, 12, 13, 14, 15]  # DEFINITION_COLUMNS in a symbol row of `pack`
