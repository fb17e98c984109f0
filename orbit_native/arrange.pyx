"""Sort the rows of one file into tables and find the scope of each, in one pass without the GIL: a file has few rows, so calls count.

What a head stands for comes in lookup arrays by capture id; what a definition or an import means is not known here.
"""
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy

import numpy as np

from orbit_native.row cimport Row

CLASSES = ("define", "call", "ref", "relate", "import", "bind", "export", "string", "env", "config", "mark", "broken")

cdef enum:                     # by position in CLASSES
    DEFINE, CALL, REF, RELATE, IMPORT, BIND, EXPORT, STRING, ENV, CONFIG, MARK, BROKEN

cdef enum:
    WIDTH = 16
    NOBODY = -1
    NAMELESS = 1 << 24         # more than a query has captures
    BY_NAME = 0                # name, then the order of patterns in the query
    BY_SPAN = 1                # outer before inner, then the order of patterns
    BY_START = 2               # start, imports first


cdef struct Item:              # a row and what it is sorted by
    int32_t first, second, third
    int32_t row


cdef struct Scope:             # one definition that was kept
    int32_t start, end, parent, head


cdef struct Work:
    const Row *rows
    const int32_t *classes
    Py_ssize_t count
    Item *items                # room for all rows
    Scope *scopes
    int32_t *defined           # where the names of definitions start, sorted
    Py_ssize_t scope_count


cdef int compare_items(const void *left, const void *right) noexcept nogil:
    cdef const Item *a = <const Item *>left
    cdef const Item *b = <const Item *>right
    if a.first != b.first:
        return -1 if a.first < b.first else 1
    if a.second != b.second:
        return -1 if a.second < b.second else 1
    if a.third != b.third:
        return -1 if a.third < b.third else 1
    return -1 if a.row < b.row else 1


cdef int compare_numbers(const void *left, const void *right) noexcept nogil:
    cdef int32_t a = (<const int32_t *>left)[0], b = (<const int32_t *>right)[0]
    return (a > b) - (a < b)


cdef void sort_items(Item *items, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(1, count):
        if compare_items(&items[i - 1], &items[i]) > 0:
            qsort(items, count, sizeof(Item), compare_items)
            return


cdef Py_ssize_t gather(Work *work, int wanted, int order) noexcept nogil:
    """Items of the rows whose class is in the set `wanted` (bits), sorted. A name the grammar only missed is no name: such rows are dropped."""
    cdef Py_ssize_t i, count = 0
    cdef const Row *row
    cdef int32_t kind
    cdef Item *item
    for i in range(work.count):
        row = &work.rows[i]
        kind = work.classes[row.head]
        if kind < 0 or not (wanted >> kind) & 1 or (row.name >= 0 and row.name_end <= row.name_start):
            continue
        item = &work.items[count]
        if order == BY_NAME:
            item.first, item.second, item.third = row.name_start, row.name_end if wanted != 1 << DEFINE and wanted != 1 << BIND else 0, row.head
        elif order == BY_SPAN:
            item.first, item.second, item.third = row.start, -row.end, row.head
        else:
            item.first, item.second, item.third = row.start, kind != IMPORT, 0
        item.row = <int32_t>i
        count += 1
    sort_items(work.items, count)
    return count


cdef void link(Work *work, Py_ssize_t count) noexcept nogil:
    """Parents of the items, which are definitions, outer before inner."""
    cdef Py_ssize_t i
    cdef int32_t above
    cdef const Row *row
    cdef Scope *scope
    for i in range(count):
        scope = &work.scopes[i]
        row = &work.rows[work.items[i].row]
        scope.start, scope.end, scope.head = row.start, row.end, row.head
        above = <int32_t>i - 1
        while above >= 0 and (work.scopes[above].end < scope.end or work.scopes[above].end <= scope.start):
            above = work.scopes[above].parent
        scope.parent = above
    work.scope_count = count


cdef int32_t scope_of(Work *work, int32_t start, int32_t end) noexcept nogil:
    """The innermost definition that holds a span whole."""
    cdef Py_ssize_t low = 0, high = work.scope_count, middle
    cdef int32_t at
    while low < high:
        middle = (low + high) // 2
        if work.scopes[middle].start <= start:
            low = middle + 1
        else:
            high = middle
    at = <int32_t>low - 1
    while at >= 0 and work.scopes[at].end < end:
        at = work.scopes[at].parent
    return at


cdef bint is_defined(Work *work, int32_t start) noexcept nogil:
    cdef Py_ssize_t low = 0, high = work.scope_count, middle
    while low < high:
        middle = (low + high) // 2
        if work.defined[middle] < start:
            low = middle + 1
        else:
            high = middle
    return low < work.scope_count and work.defined[low] == start


cdef Py_ssize_t keep_definitions(Work *work, const uint8_t *outer, const uint8_t *types, bint outer_matters) noexcept nogil:
    """One definition per name: where patterns overlap, the one written first in the query wins. Leaves them as sorted items."""
    cdef Py_ssize_t found = gather(work, 1 << DEFINE, BY_NAME), i, count = 0
    cdef int32_t last = NOBODY, parent
    cdef const Row *row
    cdef Item *item
    for i in range(found):
        row = &work.rows[work.items[i].row]
        if row.name_start >= 0 and row.name_start == last:
            continue
        last = row.name_start
        item = &work.items[count]
        item.first, item.second, item.row = row.start, -row.end, work.items[i].row
        item.third = row.name_start if row.name_start >= 0 else row.head - NAMELESS
        count += 1
    sort_items(work.items, count)
    link(work, count)
    if outer_matters:
        found, count = count, 0
        for i in range(found):
            parent = work.scopes[i].parent
            if outer[work.scopes[i].head] and parent >= 0 and not types[work.scopes[parent].head]:
                continue
            work.items[count] = work.items[i]
            count += 1
        link(work, count)
    for i in range(count):
        work.defined[i] = work.rows[work.items[i].row].name_start
    qsort(work.defined, count, sizeof(int32_t), compare_numbers)
    return count


cdef Py_ssize_t fill_refs(Work *work, const int32_t *codes, const int32_t *flags, int32_t *out) noexcept nogil:
    """A name refers once: of patterns that overlap on it, the one written first in the query wins; a name that is defined does not refer."""
    cdef Py_ssize_t found = gather(work, 1 << CALL | 1 << REF, BY_NAME), i, count = 0
    cdef int32_t last_start = NOBODY, last_end = NOBODY
    cdef const Row *row
    for i in range(found):
        row = &work.rows[work.items[i].row]
        if row.name < 0 or (row.name_start == last_start and row.name_end == last_end) or is_defined(work, row.name_start):
            continue
        last_start, last_end = row.name_start, row.name_end
        out[0], out[1], out[2], out[3], out[4] = codes[row.head], row.name, row.name_start, row.name_end, row.name_line + 1
        out[5], out[6], out[7], out[8] = row.receiver, scope_of(work, row.name_start, row.name_end), row.argc, flags[row.head]
        out += 9
        count += 1
    return count


cdef Py_ssize_t fill_binds(Work *work, const int32_t *codes, int32_t *out) noexcept nogil:
    cdef Py_ssize_t found = gather(work, 1 << BIND, BY_NAME), i, count = 0
    cdef const Row *row
    for i in range(found):
        row = &work.rows[work.items[i].row]
        if row.name < 0:
            continue
        out[0], out[1], out[2], out[3] = codes[row.head], row.name, row.type, row.value
        out[4], out[5] = scope_of(work, row.name_start, row.name_end), row.name_start
        out += 6
        count += 1
    return count


cdef Py_ssize_t fill_strings(Work *work, int32_t *out) noexcept nogil:
    """What an import names is not a string of the program."""
    cdef Py_ssize_t found = gather(work, 1 << STRING | 1 << IMPORT, BY_START), i, count = 0
    cdef int32_t imported = NOBODY        # where the imports so far end
    cdef const Row *row
    for i in range(found):
        row = &work.rows[work.items[i].row]
        if work.classes[row.head] == IMPORT:
            imported = max(imported, row.end)
        elif row.start >= imported:
            out[0], out[1], out[2] = row.path, row.line + 1, scope_of(work, row.start, row.end)
            out += 3
            count += 1
    return count


cdef Py_ssize_t fill_keys(Work *work, const int32_t *codes, int32_t *out) noexcept nogil:
    cdef Py_ssize_t found = gather(work, 1 << CONFIG, BY_SPAN), i
    cdef const Row *row
    for i in range(found):
        row = &work.rows[work.items[i].row]
        out[0], out[1], out[2], out[3], out[4] = codes[row.head], row.start, row.end, (row.name_line if row.name >= 0 else row.line) + 1, row.name
        out += 5
    return found


cdef Py_ssize_t fill_rest(Work *work, int32_t *out, int32_t *scopes) noexcept nogil:
    cdef Py_ssize_t found = gather(work, 1 << RELATE | 1 << IMPORT | 1 << EXPORT | 1 << ENV | 1 << MARK | 1 << BROKEN, BY_SPAN), i
    cdef const Row *row
    for i in range(found):
        row = &work.rows[work.items[i].row]
        memcpy(out + WIDTH * i, row, sizeof(Row))
        scopes[i] = scope_of(work, row.start, row.end)
    return found


def arrange(const int32_t[:, ::1] rows not None, const int32_t[::1] classes not None, const int32_t[::1] codes not None,
            const int32_t[::1] flags not None, const uint8_t[::1] outer not None, const uint8_t[::1] types not None, bint outer_matters):
    """(definitions, parents, refs, binds, strings, keys, rest, scopes of rest): tables of int32, in order of position.

    Definitions and the rest keep the columns of a capture; a parent or scope is a position among the definitions, or -1. Definitions whose
    head is in `outer` count only outside definitions other than `types`.
    """
    cdef Py_ssize_t room[12]
    cdef Py_ssize_t i, definition_count, ref_count, bind_count, string_count, key_count, rest_count
    cdef Work work
    work.count, work.scope_count = rows.shape[0], 0
    if not work.count:
        return NOTHING
    work.rows, work.classes = <const Row *>&rows[0, 0], &classes[0]
    for i in range(12):
        room[i] = 0
    for i in range(work.count):
        if classes[work.rows[i].head] >= 0:
            room[classes[work.rows[i].head]] += 1
    rest_count = room[RELATE] + room[IMPORT] + room[EXPORT] + room[ENV] + room[MARK] + room[BROKEN]
    definitions, parents = np.empty((room[DEFINE], WIDTH), dtype=np.int32), np.empty(room[DEFINE], dtype=np.int32)
    refs, binds = np.empty((room[CALL] + room[REF], 9), dtype=np.int32), np.empty((room[BIND], 6), dtype=np.int32)
    strings, keys = np.empty((room[STRING], 3), dtype=np.int32), np.empty((room[CONFIG], 5), dtype=np.int32)
    rest, scopes = np.empty((rest_count, WIDTH), dtype=np.int32), np.empty(rest_count, dtype=np.int32)
    cdef int32_t[:, ::1] definitions_out = definitions, refs_out = refs, binds_out = binds, strings_out = strings, keys_out = keys, rest_out = rest
    cdef int32_t[::1] parents_out = parents, scopes_out = scopes
    work.items = <Item *>malloc(work.count * sizeof(Item))
    work.scopes = <Scope *>malloc((room[DEFINE] + 1) * sizeof(Scope))
    work.defined = <int32_t *>malloc((room[DEFINE] + 1) * sizeof(int32_t))
    try:
        if not work.items or not work.scopes or not work.defined:
            raise MemoryError
        with nogil:
            definition_count = keep_definitions(&work, &outer[0], &types[0], outer_matters)
            for i in range(definition_count):
                memcpy(&definitions_out[i, 0], &work.rows[work.items[i].row], sizeof(Row))
                parents_out[i] = work.scopes[i].parent
            ref_count = fill_refs(&work, &codes[0], &flags[0], &refs_out[0, 0]) if room[CALL] + room[REF] else 0
            bind_count = fill_binds(&work, &codes[0], &binds_out[0, 0]) if room[BIND] else 0
            string_count = fill_strings(&work, &strings_out[0, 0]) if room[STRING] else 0
            key_count = fill_keys(&work, &codes[0], &keys_out[0, 0]) if room[CONFIG] else 0
            rest_count = fill_rest(&work, &rest_out[0, 0], &scopes_out[0]) if rest_count else 0
    finally:
        free(work.items)
        free(work.scopes)
        free(work.defined)
    return (definitions[:definition_count], parents[:definition_count], refs[:ref_count], binds[:bind_count], strings[:string_count], keys[:key_count],
            rest[:rest_count], scopes[:rest_count])


NOTHING = tuple(np.empty(shape, dtype=np.int32) for shape in ((0, WIDTH), (0,), (0, 9), (0, 6), (0, 3), (0, 5), (0, WIDTH), (0,)))
