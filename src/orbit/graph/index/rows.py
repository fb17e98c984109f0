"""Rows of a batch as the database takes them: whole columns at a time, ids made of the file and the position in it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from orbit.graph.index.pack import SAID, TABLES, TEXT, Packed
from orbit.graph.index.pool import Done
from orbit.graph.index.scan import Scan
from orbit.graph.index.spill import Spill
from orbit.graph.index.texts import Texts
from orbit.graph.index.unit import Unit
from orbit.graph.store.writer import REF_SHIFT, SYMBOL_SHIFT, WIDTHS, Writer

# Columns of table `symbol` after the id, as positions in a symbol row of `pack` (file first).
_SYMBOL = [TABLES["symbol"].index(name) for name in (
    "name", "qualified", "container", "kind", "start", "end", "line", "end_line", "name_start", "parent", "signature", "type", "value", "owner", "argc",
    "flags",
)]  # fmt: skip
_PARENT, _SIGNATURE = (_SYMBOL.index(TABLES["symbol"].index(name)) for name in ("parent", "signature"))


def write_batch(writer: Writer, texts: Texts, done: Done, found: Scan, modules: list[str], ids: dict[str, int], spill: Spill) -> list[Unit]:
    """Write what needs no resolving; the files of the batch as units, with the text ids of the database."""
    packed = done.packed
    kept = [position for position, digest in zip(done.positions, done.outcome, strict=True) if isinstance(digest, bytes)]
    digests = [digest for digest in done.outcome if isinstance(digest, bytes)]
    said = {table: _read(packed, packed.tables[table][:, TABLES[table].index(column)]) for table, column in SAID.items()}
    _translate(packed, texts)
    units = [Unit(ids[found.paths[at]], found.paths[at], found.languages[at], texts.id(modules[at])) for at in kept]
    now = time.time_ns()
    writer.put_files(
        (unit.file, unit.path, unit.lang, unit.module, digest, size, int(found.mtimes[at]), now, status, msgspec.json.encode(broken).decode(), test, generated)
        for unit, at, digest, size, status, broken, test, generated in zip(
            units, kept, digests, done.sizes, packed.status, packed.broken, packed.tests, packed.generated, strict=True
        )
    )
    files = np.array([unit.file for unit in units], dtype=np.int64)
    tables = {name: packed.tables[name] for name in TABLES}
    _write_tables(writer, texts, tables, said, files, [unit.file for unit in units])
    refs = _share_out(units, tables, spill)
    writer.add_facts((unit.file, unit.binds, unit.exports, part) for unit, part in zip(units, refs, strict=True))
    return units


def _translate(packed: Packed, texts: Texts) -> None:
    """Text ids of the batch become those of the database."""
    columns = [packed.tables[name][:, TABLES[name].index(column)] for name, found in TEXT.items() for column in found]
    wanted = np.zeros(len(packed.offsets), dtype=np.uint8)  # one more than there are texts: -1 is no text
    for column in columns:
        wanted[column] = 1
    table = np.append(texts.take(packed.texts, packed.offsets, wanted), np.int32(-1))
    for column in columns:
        column[:] = table[column]


def _read(packed: Packed, ids: Any) -> list[str]:
    """Texts of the batch."""
    bounds = packed.offsets.tolist()
    return [packed.texts[bounds[at] : bounds[at + 1]].decode() for at in ids.tolist()]


def _write_tables(writer: Writer, texts: Texts, tables: dict[str, Any], said: dict[str, list[str]], files: Any, ids: list[int]) -> None:
    symbols = tables["symbol"]
    held = files[symbols[:, 0]] << SYMBOL_SHIFT
    columns = [symbols[:, at] for at in _SYMBOL]
    columns[_PARENT] = optional(columns[_PARENT], held)
    rows = [number(symbols[:, 0], files, SYMBOL_SHIFT).tolist(), *(column.tolist() for column in columns)]
    rows[1 + _SIGNATURE] = said["symbol"]
    writer.put_rows("symbol", ids, zip(*rows, strict=True))
    strings = tables["string"]
    scopes = optional(strings[:, 3], files[strings[:, 0]] << SYMBOL_SHIFT)
    lines = strings[:, 2].tolist()
    writer.put_rows("string", ids, zip(number(strings[:, 0], files, REF_SHIFT).tolist(), lines, said["string"], scopes.tolist(), strict=True))
    configs = tables["config"]
    writer.put_rows("config", ids, as_rows(number(configs[:, 0], files, REF_SHIFT), configs[:, 3], configs[:, 1], configs[:, 2]))
    commands = tables["command"]
    writer.put_rows("command", ids, [
        (row, texts.text(name), texts.text(name), start, line, scope, handler, group, *(None,) * 5)
        for row, (_, name, start, line, scope, handler, group)
        in zip(number(commands[:, 0], files, SYMBOL_SHIFT).tolist(), commands.tolist(), strict=True)
    ])  # fmt: skip


def import_table(units: list[Unit]) -> Any:
    """Rows of table `import`, as an int64 array: all there is to write of imports once they are aimed."""
    parts = []
    for unit in units:
        part = np.empty((len(unit.imports), WIDTHS["import"]), dtype=np.int64)
        part[:, 0] = (unit.file << SYMBOL_SHIFT) + np.arange(len(part))
        part[:, 1:5], part[:, 5:7], part[:, 7], part[:, 8:] = unit.imports[:, :4], unit.targets, unit.imports[:, 7], unit.imports[:, 4:7]
        parts.append(part)
    return np.concatenate(parts)


def _share_out(units: list[Unit], tables: dict[str, Any], spill: Spill) -> list[Any]:
    """Each unit gets its part of the arrays; returns the references of each."""
    places = np.arange(len(units) + 1)
    cuts = {name: np.searchsorted(array[:, 0], places).tolist() for name, array in tables.items()}
    bodies = {name: np.ascontiguousarray(array[:, 1:]) for name, array in tables.items() if name not in ("symbol", "string", "config")}
    bodies["symbol"] = np.ascontiguousarray(tables["symbol"][:, Unit.SYMBOL])
    held, bounds = spill.hold(bodies["ref"]), list(pairwise(cuts["ref"]))
    for index, unit in enumerate(units):
        part = {name: body[cuts[name][index] : cuts[name][index + 1]] for name, body in bodies.items()}
        unit.symbols, unit.refs, unit.binds, unit.exports = part["symbol"], held.rows(*bounds[index]), part["bind"], part["export"]
        unit.relations, unit.imports, unit.commands = part["relation"], part["import"], part["command"][:, 1:]
    return [bodies["ref"][start:end] for start, end in bounds]


def number(positions: Any, files: Any, shift: int) -> Any:
    """Ids of rows that stand in order of their files."""
    first = np.searchsorted(positions, np.arange(len(files)))
    return (files[positions] << shift) + np.arange(len(positions)) - first[positions]


def optional(column: Any, base: Any = 0) -> Any:
    """The column plus `base`, with nothing where it is negative."""
    made = (column + base).astype(object)
    made[column < 0] = None
    return made


def as_rows(*columns: Any) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)
