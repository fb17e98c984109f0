"""One file between extraction and database: its facts in text ids, its interface to other files, its rows."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from orbit.graph.facts import BIND_FORMS, NONE
from orbit.graph.index.pack import IMPORT_FLAGS, TABLES, TEXT, Packed
from orbit.graph.index.texts import Texts
from orbit.graph.languages import Layout, language
from orbit.graph.store.writer import Writer

STAR, SIDE = IMPORT_FLAGS["star"], IMPORT_FLAGS["side"]
FIELD = BIND_FORMS.index("field")
_S = {name: at - 1 for at, name in enumerate(TABLES["symbol"])}
_I = {name: at - 1 for at, name in enumerate(TABLES["import"])}
# Columns of a symbol row that the resolver takes (orbit_native.resolve.DEFINITION_COLUMNS).
RESOLVED = [_S[name] for name in ("kind", "name", "qualified", "container", "parent", "start", "end", "type", "value", "owner", "argc", "flags")]
SQL_RESOLVED = "kind, name, qualified, container, coalesce(parent & 1048575, -1), start, end, type, value, owner, argc, flags"


class Unit:
    """The facts of one file. Arrays are int32 in the column order of `pack`, without the batch position."""

    def __init__(self, file: int, path: str, lang: str, module: int) -> None:
        self.file, self.path, self.lang, self.module = file, path, lang, module
        self.tables: dict[str, Any] = {}
        self.targets = np.empty((0, 2), dtype=np.int32)  # per import: (module it means, name it binds)

    def __getitem__(self, table: str) -> Any:
        return self.tables[table]

    def aim_imports(self, texts: Texts, layout: Layout) -> None:
        """Find out what each import means in this worktree."""
        table, module = language(self.lang), texts.text(self.module)
        targets = []
        for row in self.tables["import"].tolist():
            path, name, alias, flags = (row[_I[column]] for column in ("path", "name", "alias", "flags"))
            text = texts.text(path)
            target = table.import_target(text, self.path, module, layout)
            local = alias if alias != NONE else name
            if local == NONE and not flags & (STAR | SIDE):
                parts = (target or text).replace("/", table.separator).split(table.separator)
                local = texts.id(text.split(table.separator)[0] if table.import_binds == "first" else parts[-1])
                if table.import_binds == "first" and target is not None and alias == NONE:
                    target = text.split(table.separator)[0]
            targets.append((texts.id(target) if target is not None else NONE, local))
        self.targets = np.array(targets, dtype=np.int32).reshape(-1, 2)

    def import_rows(self) -> Any:
        """Imports as the resolver takes them: module, name, local, flags, scope."""
        found = self.tables["import"]
        rows = np.empty((len(found), 5), dtype=np.int32)
        rows[:, 0], rows[:, 2] = self.targets[:, 0], self.targets[:, 1]
        rows[:, 1], rows[:, 3], rows[:, 4] = found[:, _I["name"]], found[:, _I["flags"]], found[:, _I["scope"]]
        return rows

    def relation_rows(self) -> Any:
        """Relations as the resolver takes them: scope, owner, target."""
        return np.ascontiguousarray(self.tables["relation"][:, [5, 6, 1]])

    def hints(self, texts: Texts) -> set[int]:
        """Names that decide what the imports of this file mean: when a file of that name comes or goes, they are aimed again."""
        found = set()
        for row in self.tables["import"].tolist():
            text = texts.text(row[_I["path"]])
            for part in {text.rpartition("/")[2].partition(".")[0], text.rpartition(".")[2], text.rpartition("::")[2], text.rpartition("/")[2]}:
                if part:
                    found.add(texts.id(part))
            found.update(column for column in (row[_I["name"]],) if column != NONE)
        return found

    def interface(self) -> dict[int, tuple[Any, ...]]:
        """What other files' resolution can see of this one, by the name it is looked up under: the path, then facts in the order of the source.

        Edges name the file they lead to and the first of equals wins, so both path and order are part of what is seen.
        """
        seen: dict[int, list[Any]] = {self.module: [("module",)]}

        def show(name: int, *what: Any) -> None:
            seen.setdefault(name, []).append(what)

        symbols = self.tables["symbol"]
        for row in symbols[:, RESOLVED].tolist():
            kind, name, qualified, container, _, _, _, type_, value, owner, argc, flags = row
            show(name, "symbol", kind, qualified, container, type_, value, owner, argc, flags)
        names = symbols[:, _S["name"]].tolist()
        for kind, target, _, _, _, scope, owner in self.tables["relation"].tolist():
            show(names[scope] if scope >= 0 else self.module, "relation", kind, target, owner)
            if owner != NONE:
                show(self.module, "relation", kind, target, owner)
                for name in names:  # an impl block speaks for a type of this file
                    show(name, "impl", target, owner)
        for module, name, local, flags, _ in self.import_rows().tolist():
            show(local if local != NONE else self.module, "import", module, name, flags)
            if flags & STAR:
                show(self.module, "star", module, flags)
        for name, value in self.tables["export"].tolist():
            show(name, "export", value)
        for form, name, type_, value, scope, _ in self.tables["bind"].tolist():
            if form == FIELD or scope == NONE:
                show(name, "bind", form, type_, value)
        return {name: (self.path, *facts) for name, facts in seen.items()}


def path_names(path: str) -> set[str]:
    """Names by which an import may mean this file: its stem, its name, its folder."""
    folder, name = posixpath.split(path)
    return {name, name.partition(".")[0], posixpath.splitext(name)[0], posixpath.basename(folder)} - {""}


def unpack(packed: Packed, texts: Texts, make: Callable[[int], Unit]) -> Iterator[Unit]:
    """Units of a batch with the batch's text ids turned into those of the database; `make` says which file a position is."""
    table = np.empty(len(packed.texts) + 1, dtype=np.int32)
    table[:-1] = [texts.id(text) for text in packed.texts]
    table[-1] = NONE  # index -1: no text
    for name, columns in TEXT.items():
        array = packed.tables[name]
        for column in columns:
            at = TABLES[name].index(column)
            array[:, at] = table[array[:, at]]
    count = len(packed.status)
    cuts = {name: np.searchsorted(array[:, 0], np.arange(count + 1)) for name, array in packed.tables.items()}
    for index in range(count):
        unit = make(index)
        unit.tables = {name: packed.tables[name][cuts[name][index] : cuts[name][index + 1], 1:] for name in TABLES}
        yield unit


def load_unit(writer: Writer, file: int, path: str, lang: str, module: int) -> Unit:
    """A unit back from the database: what resolving it again takes. Strings and configs stay where they are."""
    unit = Unit(file, path, lang, module)
    symbols = writer.rows("symbol", file, SQL_RESOLVED)
    wide = np.full((len(symbols), len(TABLES["symbol"]) - 1), NONE, dtype=np.int32)
    wide[:, RESOLVED] = symbols
    refs, binds, exports = writer.facts(file)
    imports = writer.rows("import", file, "path, name, alias, flags, start, end, line, scope, module, local")
    unit.tables = {
        "symbol": wide, "ref": refs, "bind": binds, "export": exports,
        "relation": writer.rows("relation", file, "kind, written, start, end, line, scope, owner"),
        "import": imports[:, :8],
        "command": writer.rows("command", file, "start, line, scope, handler, grouped"),
    }  # fmt: skip
    unit.targets = np.ascontiguousarray(imports[:, 8:])
    return unit
