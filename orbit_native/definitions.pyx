"""What a resolver knows, as arrays: definitions stay rows of integers, and become objects only when they are looked at.

A build of millions of definitions then costs the arrays, and an index over them: sorted by name, then by container.
"""
import numpy as np

DEFINITION_COLUMNS = ("kind", "name", "qualified", "container", "parent", "start", "end", "type", "value", "owner", "argc", "flags")
IMPORT_COLUMNS = ("module", "name", "local", "flags", "scope")

cdef enum:
    NAME = 1                   # columns of a definition
    CONTAINER = 3
    OWNER = 9
    NOBODY = -1
    MOST = 256                 # definitions of one name in one container that are looked at; those of the asking file are found apart


cdef class Rules:
    """What differs between languages, in ids."""


cdef class Symbol:
    """One definition."""


cdef Symbol make_symbol(int file, Py_ssize_t index, int family, const int32_t *row):
    cdef Symbol symbol = Symbol.__new__(Symbol)
    symbol.file, symbol.index, symbol.family = file, <int>index, family
    symbol.kind, symbol.name, symbol.qualified, symbol.container, symbol.parent, symbol.start = row[0], row[1], row[2], row[3], row[4], row[5]
    symbol.end, symbol.type, symbol.value, symbol.owner, symbol.argc, symbol.flags = row[6], row[7], row[8], row[9], row[10], row[11]
    return symbol


cdef class Facts:
    """What is known of one file, as int32 arrays: definitions (DEFINITION_COLUMNS), imports (IMPORT_COLUMNS), relations (scope, owner, target),
    binds (form, name, type, value, scope, start), exports (name, value)."""

    def __init__(self, int id, int module, Rules rules not None, definitions, imports, relations, binds, exports):
        self.id, self.module, self.rules = id, module, rules
        self.definitions = definitions
        self.imports, self.relations, self.binds, self.exports = imports, relations, binds, exports


cdef class File:
    """One file in the form in which names are looked up in it."""

    cdef Symbol at(self, Py_ssize_t index):
        found = self.symbols[index]
        if found is None:
            found = make_symbol(self.id, index, self.rules.family, &self.facts.definitions[index, 0])
            self.symbols[index] = found
        return <Symbol>found

    cdef list own_members(self, int container, int name):
        """This file's definitions of that name in that container, by position."""
        cdef Py_ssize_t i
        if self.own is None:
            self.own = {}
            for i in range(self.facts.definitions.shape[0]):
                key = self.facts.definitions[i, NAME]
                held = self.own.get(key)
                if held is None:
                    self.own[key] = [i]
                else:
                    (<list>held).append(i)
        positions = self.own.get(name)
        if positions is None:
            return []
        return [self.at(i) for i in <list>positions if self.facts.definitions[i, CONTAINER] == container]


cdef class Index:
    """All definitions of a complete build by name and container. Those that share both keep the order of the files, then of the source."""

    def __init__(self, list facts not None, Py_ssize_t name_count):
        cdef Facts one
        self.facts = facts
        counts = np.array([(<Facts>held).definitions.shape[0] for held in facts], dtype=np.int64)
        first_of = np.zeros(len(facts) + 1, dtype=np.int32)
        np.cumsum(counts, out=first_of[1:])
        total = int(first_of[len(facts)])
        names, containers, owners = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
        for at, one in enumerate(facts):
            part = slice(int(first_of[at]), int(first_of[at + 1]))
            rows = np.asarray(one.definitions)
            names[part], containers[part], owners[part] = rows[:, NAME], rows[:, CONTAINER], rows[:, OWNER]
        order = np.lexsort((containers, names)).astype(np.int32)
        first = np.zeros(name_count + 1, dtype=np.int32)
        np.cumsum(np.bincount(names, minlength=name_count), out=first[1:])
        self.order, self.containers, self.first = order, containers[order], first
        self.slot_of, self.first_of = np.repeat(np.arange(len(facts), dtype=np.int32), counts), first_of
        self.owned = {}
        for position in np.flatnonzero(owners != NOBODY).tolist():
            self.owned.setdefault(int(names[position]), []).append(position)

    cdef Symbol at(self, Py_ssize_t position):
        cdef int slot = self.slot_of[position]
        cdef Facts home = <Facts>self.facts[slot]
        cdef Py_ssize_t index = position - self.first_of[slot]
        return make_symbol(home.id, index, home.rules.family, &home.definitions[index, 0])

    cdef list find(self, int family, int container, int name):
        cdef Py_ssize_t low, high, end, middle
        cdef Symbol symbol
        found = []
        if name + 1 >= self.first.shape[0]:    # a name that came up after the index was made: nothing has it
            return found
        low, end = self.first[name], self.first[name + 1]
        high = end
        while low < high:
            middle = (low + high) // 2
            if self.containers[middle] < container:
                low = middle + 1
            else:
                high = middle
        while low < end and self.containers[low] == container and len(found) < MOST:
            symbol = self.at(self.order[low])
            if symbol.family == family:
                found.append(symbol)
            low += 1
        return found

    cdef list find_owned(self, int family, int name):
        found = [self.at(position) for position in self.owned.get(name, ())]
        return [symbol for symbol in found if (<Symbol>symbol).family == family]
