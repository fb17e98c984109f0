"""One file between extraction and database: its facts in text ids, and its interface to other files."""

from __future__ import annotations

import posixpath
from typing import Any, ClassVar

import numpy as np

from orbit.graph.facts import BIND_FORMS, NONE
from orbit.graph.index.layout import Worktree
from orbit.graph.index.pack import IMPORT_FLAGS, TABLES
from orbit.graph.index.spill import Held
from orbit.graph.index.texts import Texts
from orbit.graph.languages import language
from orbit.graph.store.writer import Writer
from orbit_native.catalogue import MODULES, OWNED, inside
from orbit_native.definitions import DEFINITION_COLUMNS, Facts, Rules

STAR, SIDE = IMPORT_FLAGS["star"], IMPORT_FLAGS["side"]
FIELD, PARAM = BIND_FORMS.index("field"), BIND_FORMS.index("param")
SHOWN = (FIELD, BIND_FORMS.index("return"))
_NAME, _QUALIFIED, _CONTAINER, _PARENT, _OWNER = map(DEFINITION_COLUMNS.index, ("name", "qualified", "container", "parent", "owner"))
SQL_DEFINITION = "kind, name, qualified, container, coalesce(parent & 1048575, -1), start, end, type, value, owner, argc, flags"


class Unit:
    """The facts of one file: int32 arrays in the column order of `pack` without the file; symbols in that of the resolver."""

    SYMBOL: ClassVar = [TABLES["symbol"].index(name) for name in DEFINITION_COLUMNS]
    symbols: Any
    refs: Held  # many, and needed once
    binds: Any
    exports: Any
    relations: Any
    imports: Any
    commands: Any  # without the name

    def __init__(self, file: int, path: str, lang: str, module: int) -> None:
        self.file, self.path, self.lang, self.module = file, path, lang, module
        self.targets = np.empty((0, 2), dtype=np.int32)  # per import: (module it means, name it binds)

    def facts(self, rules: Rules) -> Facts:
        """As the resolver takes it."""
        return Facts(self.file, self.module, rules, self.symbols, self.import_rows(), self.relation_rows(), self.binds, self.exports)

    def aim_imports(self, texts: Texts, layout: Worktree) -> None:
        """Find out what each import means in this worktree."""
        if not len(self.imports):
            return
        table, module = language(self.lang), texts.text(self.module)
        separator, binds_first, folder = table.separator, table.import_binds == "first", self.path.rpartition("/")[0]
        targets = []
        for path, name, alias, flags, *_ in self.imports.tolist():
            text = texts.text(path)
            if not table.aims_by_folder:
                target = table.import_target(text, self.path, module, layout)
            elif (key := (self.lang, text, folder)) in layout.targets:
                target = layout.targets[key]
            else:
                target = layout.targets[key] = table.import_target(text, self.path, module, layout)
            local = alias if alias != NONE else name
            if local == NONE and not flags & (STAR | SIDE) and table.import_binds != "none":
                parts = (target or text).replace("/", separator).split(separator)
                local = texts.id(text.split(separator)[0] if binds_first else parts[-1])
                if binds_first and target is not None and alias == NONE:
                    target = text.split(separator)[0]
            targets.append((texts.id(target) if target is not None else NONE, local))
        self.targets = np.array(targets, dtype=np.int32).reshape(-1, 2)

    def import_rows(self) -> Any:
        """Imports as the resolver takes them: module, name, local, flags, scope."""
        rows = np.empty((len(self.imports), 5), dtype=np.int32)
        if len(rows):
            rows[:, [0, 2]], rows[:, [1, 3, 4]] = self.targets, self.imports[:, [1, 3, 7]]
        return rows

    def relation_rows(self) -> Any:
        """Relations as the resolver takes them: scope, owner, target."""
        return np.ascontiguousarray(self.relations[:, [5, 6, 1]])

    def hints(self, texts: Texts) -> list[int]:
        """Names that decide what the imports of this file mean: when a file of that name comes or goes, they are aimed again."""
        found = list[int]()
        for path, name in self.imports[:, :2].tolist():
            text = texts.text(path)
            last = text.rpartition("/")[2]
            for part in (last, last.partition(".")[0], text.rpartition(".")[2], text.rpartition("::")[2]):
                if part:
                    found.append(texts.id(part))
            found.append(name)
        return found

    def interface(self) -> dict[int, tuple[Any, ...]]:
        """What other files' resolution can see of this one, by the name it is looked up under: the path, then (where it is looked up, fact ...) in the
        order of the source.

        Edges name the file they lead to and the first of equals wins, so both path and order are part of what is seen.
        """
        here = inside(self.file)
        seen: dict[int, list[Any]] = {self.module: [(MODULES, "module")]}

        def show(name: int, *what: Any) -> None:
            seen.setdefault(name, []).append(what)

        names, homes, owners = (self.symbols[:, at].tolist() for at in (_NAME, _CONTAINER, _OWNER))
        for kind, name, qualified, container, _, _, _, type_, value, owner, argc, flags in self.symbols.tolist():
            for where in (container,) if owner == NONE else (container, OWNED):
                show(name, where, "symbol", owner, kind, qualified, type_, value, argc, flags)
        owned = []
        for kind, target, _, _, _, scope, owner in self.relations.tolist():
            if owner != NONE:
                owned.append((target, owner))
            elif scope != NONE:
                show(names[scope], homes[scope], "relation", kind, target)
        if owned:  # an impl block speaks for a type of this file
            for name, home in set(zip(names, homes, strict=True)):
                show(name, home, "impl", *owned)
        for module, name, local, flags, scope in self.import_rows().tolist():
            within = NONE if scope == NONE else int(self.symbols[scope, _QUALIFIED])
            show(local if local != NONE else self.module, here, "import", module, name, flags, within)
            if flags & STAR:
                show(self.module, here, "star", module, flags, within)
        for name, value in self.exports.tolist():
            show(name if name != NONE else self.module, here, "export", value)
        scopes: dict[int, list[tuple[int, ...]]] = {}
        for form, name, type_, value, scope, _ in self.binds.tolist():
            if form == FIELD:
                for where in self._holders(name, scope):
                    show(name, where, "bind", form, type_, value)
            elif scope == NONE:
                show(name, here, "bind", form, type_, value)
            if scope != NONE:
                scopes.setdefault(scope, []).append((form, name, type_, value))
        for scope, rows in scopes.items():  # parameters show, and in a function that returns or assigns members all its names speak of those
            telling = any(form in SHOWN for form, *_ in rows)
            shown = rows if telling else [row for row in rows if row[0] == PARAM]
            if shown:
                for where in (homes[scope],) if owners[scope] == NONE else (homes[scope], OWNED):
                    show(names[scope], where, "inside", *shown)
            for name in sorted({row[1] for row in shown if row[0] == FIELD}):
                for where in self._holders(name, scope):
                    show(name, where, "members", *shown)
        return {name: (self.path, *facts) for name, facts in seen.items()}

    def _holders(self, name: int, scope: int) -> list[int]:
        """Where a member may be looked up that is assigned in a scope: in what is around it, in what that belongs to, and beside its namesakes."""
        symbols = self.symbols
        found = {inside(self.file), *symbols[symbols[:, _NAME] == name, _CONTAINER].tolist()}
        while scope != NONE:
            owner, around = int(symbols[scope, _OWNER]), int(symbols[scope, _QUALIFIED])
            found.add(around)
            if owner != NONE:
                found.update(symbols[symbols[:, _NAME] == owner, _QUALIFIED].tolist())
            scope = int(symbols[scope, _PARENT])
        return sorted(found)


def path_names(path: str) -> set[str]:
    """Names by which an import may mean this file: its stem, its name, its folder."""
    folder, name = posixpath.split(path)
    return {name, name.partition(".")[0], posixpath.splitext(name)[0], posixpath.basename(folder)} - {""}


def load_unit(writer: Writer, file: int, path: str, lang: str, module: int, *, to_resolve: bool = True) -> Unit:
    """A unit back from the database: what other files see of it, and what resolving it again takes. Strings and configs stay where they are."""
    unit = Unit(file, path, lang, module)
    unit.symbols = writer.rows("symbol", file, SQL_DEFINITION)
    unit.binds, unit.exports = writer.facts(file)
    unit.imports, unit.targets = load_imports(writer, file)
    unit.relations = writer.rows("relation", file, "kind, written, start, end, line, scope, owner")
    if to_resolve:
        unit.refs = Held(writer.refs(file))
        unit.commands = writer.rows("command", file, "start, line, scope, handler, grouped")
    return unit


def load_imports(writer: Writer, file: int) -> tuple[Any, Any]:
    """The imports of a file, and what each means as far as the database knows."""
    rows = writer.rows("import", file, "path, name, alias, flags, start, end, line, scope, module, local")
    return rows[:, :8], rows[:, 8:]
