"""Parse a source and run a language's query over it, without the GIL: bytes in, rows of integers out.

A pattern of the query states one fact. Its head capture (`@define.class`, `@call`, ...) names the fact and spans it; the captures
named in ROLES fill the columns of the row. What the facts mean is not known here.
"""
from libc.stdint cimport int32_t, uint32_t, uint8_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy
from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from orbit_native.expression cimport UNKNOWN, canonical_expression, canonical_type
from orbit_native.names cimport Names
from orbit_native.row cimport Row
from orbit_native.tree_sitter cimport *

cdef extern from "time.h" nogil:
    cdef struct timespec:
        long tv_sec
        long tv_nsec
    int timespec_get(timespec *moment, int clock)
    int TIME_UTC

ROLES = ("name", "receiver", "type", "value", "alias", "path", "text", "args", "body", "owner")
COLUMNS = ("head", "start", "end", "line", "end_line", "name_start", "name_end", "name_line",
           "name", "receiver", "type", "value", "alias", "path", "argc", "body")
# Bits of the status that capture() returns with its rows.
PARSE_TIMED_OUT, QUERY_TIMED_OUT, HAS_ERRORS, TOO_MANY_MATCHES = 1, 2, 4, 8

cdef enum:
    ROLE_NAME, ROLE_RECEIVER, ROLE_TYPE, ROLE_VALUE, ROLE_ALIAS, ROLE_PATH, ROLE_TEXT, ROLE_ARGS, ROLE_BODY, ROLE_OWNER, ROLE_HEAD, ROLE_NONE

cdef const char *MISSING_TOKENS = b"(MISSING) @broken"

cdef enum:
    WIDTH = 16
    NO_ID = -1
    TIMED_OUT_PARSE = 1
    TIMED_OUT_QUERY = 2
    ERRORS_SEEN = 4
    LIMIT_SEEN = 8
    OUT_OF_MEMORY = 64
    EXPRESSION_ROOM = 240     # longer canonical forms are unknown
    STRING_ROOM = 200         # bytes kept of a string literal
    MATCH_LIMIT = 65536       # matches in progress at one moment
    VISITS = 1024             # nodes between two looks at the clock
    UNWATCHED_NODES = 20000   # trees this small cannot cost more than about a second, whatever the query

cdef struct Rows:
    Row *items
    size_t count, room


cdef struct Test:          # one text predicate of a pattern
    int pattern
    uint32_t capture
    bint negated
    uint32_t first, count  # of its words


cdef struct Word:
    const char *text
    uint32_t size


cdef struct Source:
    const char *text
    uint32_t size
    bint final_newline     # let the parser see a line end behind the last byte


cdef struct Budget:
    double deadline        # seconds of the system clock; 0 for none
    bint tight             # less than the default: even a small tree may outlast it
    bint spent


cdef int push(Rows *rows, const Row *row) noexcept nogil:
    """Append a row; 0, or OUT_OF_MEMORY."""
    cdef void *grown
    if rows.count == rows.room:
        grown = realloc(rows.items, 2 * rows.room * sizeof(Row))
        if not grown:
            return OUT_OF_MEMORY
        rows.items = <Row *>grown
        rows.room *= 2
    rows.items[rows.count] = row[0]
    rows.count += 1
    return 0


cdef double clock_now() noexcept nogil:
    cdef timespec moment
    timespec_get(&moment, TIME_UTC)
    return <double>moment.tv_sec + <double>moment.tv_nsec * 1e-9


cdef const char *read_source(void *payload, uint32_t byte_index, TSPoint position, uint32_t *bytes_read) noexcept nogil:
    cdef Source *source = <Source *>payload
    if byte_index >= source.size:
        bytes_read[0] = 1 if source.final_newline and byte_index == source.size else 0
        return b"\n"
    bytes_read[0] = source.size - byte_index
    return source.text + byte_index


cdef bool parse_progress(TSParseState *state) noexcept nogil:
    cdef Budget *budget = <Budget *>state.payload
    if budget.deadline and clock_now() > budget.deadline:
        budget.spent = True
    return budget.spent


cdef bool query_progress(TSQueryCursorState *state) noexcept nogil:
    cdef Budget *budget = <Budget *>state.payload
    if budget.deadline and clock_now() > budget.deadline:
        budget.spent = True
    return budget.spent


cdef inline bint is_space(char c) noexcept nogil:
    return c == b' ' or c == b'\t' or c == b'\n' or c == b'\r'


cdef inline bint is_letter(char c) noexcept nogil:
    return b'a' <= c <= b'z' or b'A' <= c <= b'Z' or <unsigned char>c >= 0x80


cdef bint unquote(const char **text, int *size) noexcept nogil:
    """Strip string prefix letters and quotes, or angle brackets; True if there were any."""
    cdef const char *s = text[0]
    cdef int n = size[0], skip = 0, quotes = 1
    while skip < n and skip < 3 and (is_letter(s[skip]) or s[skip] == b'@' or s[skip] == b'$'):
        skip += 1
    while skip < n and s[skip] == b'#':
        skip += 1
    if skip >= n or not (s[skip] == b'"' or s[skip] == b"'" or s[skip] == b'`' or (s[skip] == b'<' and skip == 0)):
        return False
    while n > skip and s[n - 1] == b'#':
        n -= 1
    if n - skip >= 6 and s[skip + 1] == s[skip] and s[skip + 2] == s[skip]:
        quotes = 3
    if n - skip < 2 * quotes:
        text[0], size[0] = s + skip, 0
        return True
    text[0], size[0] = s + skip + quotes, n - skip - 2 * quotes
    return True


cdef int notable(const char *text, int size, char *out) noexcept nogil:
    """A string literal worth keeping, white space folded, cut at STRING_ROOM on a character; 0 if it is not.

    Worth keeping: six bytes or more, not only punctuation, not only format directives.
    """
    cdef int used = 0, letters = 0, i = 0
    cdef char c
    while i < size and used < STRING_ROOM:
        c = text[i]
        if c == b'%' and i + 1 < size and is_letter(text[i + 1]):
            out[used] = c
            if used + 1 < STRING_ROOM:
                out[used + 1] = text[i + 1]
                used += 1
            used += 1
            i += 2
            continue
        if c == b'{':                       # {name} directives carry no letters of their own
            while i < size and used < STRING_ROOM and text[i] != b'}':
                out[used] = b' ' if is_space(text[i]) else text[i]
                used += 1
                i += 1
            continue
        if is_space(c) or c == 0:
            if used and out[used - 1] != b' ':
                out[used] = b' '
                used += 1
        else:
            letters += is_letter(c)
            out[used] = c
            used += 1
        i += 1
    if i < size:
        while used and (<unsigned char>out[used - 1] & 0xC0) == 0x80:
            used -= 1
        if used and <unsigned char>out[used - 1] >= 0xC0:
            used -= 1
    while used and out[used - 1] == b' ':
        used -= 1
    return used if used >= 6 and letters > 0 else 0


cdef inline int32_t put_text(Names names, const char *text, int size, int role) noexcept nogil:
    """Intern what a role's text stands for."""
    cdef char out[EXPRESSION_ROOM]
    cdef int used
    if role == ROLE_RECEIVER or role == ROLE_VALUE:
        used = canonical_expression(text, size, out, EXPRESSION_ROOM)
    elif role == ROLE_TYPE or role == ROLE_OWNER:
        used = canonical_type(text, size, out, EXPRESSION_ROOM)
    elif role == ROLE_PATH:
        unquote(&text, &size)
        return names.put(text, size)
    else:
        return names.put(text, size)
    if used == UNKNOWN:
        return names.put(b"?", 1)
    return names.put(out, used)


cdef bint may_loop(bytes source):
    """Does the source end in a line of the kind that some scanners never leave: an annotation or a comment without a line end?"""
    cdef bytes last = source[source.rfind(b"\n") + 1:]
    return b"@" in last or b"/" in last


cdef TSPoint point_at(const char *text, uint32_t at) noexcept nogil:
    cdef TSPoint point
    cdef uint32_t i
    point.row = point.column = 0
    for i in range(at):
        if text[i] == b'\n':
            point.row += 1
            point.column = 0
        else:
            point.column += 1
    return point


cdef class Arena:
    """Memory of one parse at a time, kept for the next."""

    cdef OrbitArena *memory

    def __cinit__(self):
        self.memory = orbit_new_arena()
        if not self.memory:
            raise MemoryError

    def __dealloc__(self):
        if self.memory:
            orbit_delete_arena(self.memory)


cdef list idle_arenas = []     # as many as there were captures at one moment


cdef class Past:
    """The tree of the version of a source that was captured last, kept for the next one. For one language, and one thread at a time."""

    cdef TSTree *tree          # none before the first, and after a source with errors: how those are mended depends on what came before
    cdef bytes source

    def __dealloc__(self):
        if self.tree:
            ts_tree_delete(self.tree)

    cdef void edit(self, bytes source):
        """Tell the tree what differs: whole lines, from the first that is different to the last."""
        cdef const char *old = <const char *>self.source if self.tree else NULL
        cdef const char *new = source
        cdef uint32_t old_end = <uint32_t>len(self.source) if self.tree else 0, new_end = <uint32_t>len(source), start = 0
        cdef TSInputEdit change
        if not self.tree:
            return
        while start < old_end and start < new_end and old[start] == new[start]:
            start += 1
        while start and old[start - 1] != b'\n':
            start -= 1
        while old_end > start and new_end > start and old[old_end - 1] == new[new_end - 1]:
            old_end -= 1
            new_end -= 1
        while old_end < <uint32_t>len(self.source) and old_end > start and old[old_end - 1] != b'\n':
            old_end += 1
            new_end += 1
        change.start_byte, change.old_end_byte, change.new_end_byte = start, old_end, new_end
        change.start_point, change.old_end_point, change.new_end_point = point_at(old, start), point_at(old, old_end), point_at(new, new_end)
        ts_tree_edit(self.tree, &change)


cdef class Query:
    """A language's query, compiled once; capture() may be called from several threads."""

    cdef const TSLanguage *language
    cdef TSQuery *query
    cdef TSQuery *missing      # finds tokens the grammar only supposes; a wildcard, so it runs on sources with errors only
    cdef object capsule
    cdef bint final_newline    # some grammars loop for ever on a last line without an end
    cdef uint8_t *roles        # by capture id
    cdef uint8_t *wanted       # by symbol: may a pattern begin with it? NULL if with any
    cdef Test *tests
    cdef Word *words
    cdef uint32_t *first_test  # by pattern, with one more at the end
    cdef int32_t broken        # capture id of the heads that say where the source is broken

    def __cinit__(self, capsule, str text not None, *, bint final_newline=False, bint analyse=False):
        cdef uint32_t offset = 0
        cdef TSQueryError error = TSQueryErrorNone
        cdef bytes raw = text.encode() + b"\n(ERROR) @broken\n"
        cdef const char *start = raw
        cdef uint32_t size = <uint32_t>len(raw)
        self.capsule, self.final_newline = capsule, final_newline
        self.language = <const TSLanguage *>PyCapsule_GetPointer(capsule, b"tree_sitter.Language")
        with nogil:
            orbit_set_full_analysis(analyse)       # finds patterns that can match nothing: some hundred milliseconds for a large query
            self.query = ts_query_new(self.language, start, size, &offset, &error)
            orbit_set_full_analysis(False)
        if not self.query:
            line = raw[:offset].count(b"\n")
            kind = ("", "syntax", "node type", "field", "capture", "structure", "language")[<int>error]
            raise ValueError(f"query line {line + 1}: bad {kind} at {raw[offset:offset + 40].decode(errors='replace')!r}")
        self.missing = ts_query_new(self.language, MISSING_TOKENS, <uint32_t>len(MISSING_TOKENS), &offset, &error)
        if not self.missing:
            raise MemoryError
        self.wanted = orbit_pattern_symbols(self.query)
        self.read_captures()
        self.read_tests()

    def __dealloc__(self):
        if self.query:
            ts_query_delete(self.query)
        if self.missing:
            ts_query_delete(self.missing)
        free(self.wanted)
        free(self.roles)
        free(self.tests)
        free(self.words)
        free(self.first_test)

    cdef str capture_name(self, uint32_t capture):
        cdef uint32_t size = 0
        cdef const char *name = ts_query_capture_name_for_id(self.query, capture, &size)
        return name[:size].decode()

    cdef void read_captures(self) except *:
        cdef uint32_t captures = ts_query_capture_count(self.query), capture
        self.roles = <uint8_t *>malloc(captures + 1)
        if not self.roles:
            raise MemoryError
        for capture in range(captures):
            name = self.capture_name(capture)
            if name == "broken":
                self.broken = <int32_t>capture
            self.roles[capture] = <uint8_t>ROLES.index(name) if name in ROLES else (ROLE_NONE if name.startswith("_") else ROLE_HEAD)

    cdef void read_tests(self) except *:
        """Text predicates: #eq?, #not-eq?, #any-of?, #not-any-of? of a capture against words."""
        cdef uint32_t patterns = ts_query_pattern_count(self.query), pattern, steps, i, size
        cdef const TSQueryPredicateStep *step
        cdef const char *value
        found, words = [], []
        for pattern in range(patterns):
            step = ts_query_predicates_for_pattern(self.query, pattern, &steps)
            sentence = []
            for i in range(steps):
                if step[i].type == TSQueryPredicateStepTypeDone:
                    found.append((pattern, self.read_test(pattern, sentence, words)))
                    sentence = []
                elif step[i].type == TSQueryPredicateStepTypeCapture:
                    sentence.append((True, step[i].value_id))
                else:
                    sentence.append((False, step[i].value_id))
        self.tests = <Test *>malloc((len(found) + 1) * sizeof(Test))
        self.words = <Word *>malloc((len(words) + 1) * sizeof(Word))
        self.first_test = <uint32_t *>malloc((patterns + 1) * sizeof(uint32_t))
        if not self.tests or not self.words or not self.first_test:
            raise MemoryError
        for i, word in enumerate(words):
            value = ts_query_string_value_for_id(self.query, word, &size)
            self.words[i].text, self.words[i].size = value, size
        for i, (at, (capture, negated, first, count)) in enumerate(found):
            self.tests[i].pattern, self.tests[i].capture, self.tests[i].negated = at, capture, negated
            self.tests[i].first, self.tests[i].count = first, count
        counts = [0] * (patterns + 1)
        for at, _ in found:
            counts[at + 1] += 1
        total = 0
        for pattern in range(patterns + 1):
            total += counts[pattern]
            self.first_test[pattern] = total

    cdef tuple read_test(self, uint32_t pattern, list sentence, list words):
        cdef uint32_t size = 0
        cdef const char *value = ts_query_string_value_for_id(self.query, sentence[0][1], &size)
        name = value[:size].decode()
        if name not in ("eq?", "not-eq?", "any-of?", "not-any-of?") or len(sentence) < 3 or not sentence[1][0] or any(part[0] for part in sentence[2:]):
            raise ValueError(f"pattern {pattern}: #{name} is not a test of a capture against words")
        first = len(words)
        words += [part[1] for part in sentence[2:]]
        return sentence[1][1], name.startswith("not-"), first, len(sentence) - 2

    def capture_names(self):
        """Names of all captures, by id."""
        return [self.capture_name(i) for i in range(ts_query_capture_count(self.query))]

    cdef bint passes(self, TSQueryMatch *match, const char *text) noexcept nogil:
        cdef uint32_t t, i, w, start, size
        cdef bint equal
        for t in range(self.first_test[match.pattern_index], self.first_test[match.pattern_index + 1]):
            for i in range(match.capture_count):
                if match.captures[i].index == self.tests[t].capture:
                    break
            else:
                continue               # an optional capture that is absent passes
            start = ts_node_start_byte(match.captures[i].node)
            size = ts_node_end_byte(match.captures[i].node) - start
            equal = False
            for w in range(self.tests[t].first, self.tests[t].first + self.tests[t].count):
                if self.words[w].size == size and memcmp(self.words[w].text, text + start, size) == 0:
                    equal = True
                    break
            if equal == self.tests[t].negated:
                return False
        return True

    cdef int add_row(self, Rows *rows, TSQueryMatch *match, const char *text, uint32_t size_of_source, Names names) noexcept nogil:
        """One row from one match; 0 when it was added or dropped, OUT_OF_MEMORY otherwise."""
        cdef Row row
        cdef uint32_t i, start, end
        cdef int role, size
        cdef TSNode node
        cdef const char *piece
        cdef char kept[STRING_ROOM + 8]
        cdef bint headed = False
        row.start = row.end = row.line = row.end_line = row.name_start = row.name_end = row.name_line = NO_ID
        row.name = row.receiver = row.type = row.value = row.alias = row.path = row.argc = row.body = NO_ID
        for i in range(match.capture_count):
            role = self.roles[match.captures[i].index]
            if role == ROLE_NONE:
                continue
            node = match.captures[i].node
            start, end = ts_node_start_byte(node), min(ts_node_end_byte(node), size_of_source)
            start = min(start, end)
            if role == ROLE_HEAD:
                if headed:
                    continue
                headed = True
                row.start, row.end = start, end
                row.line = ts_node_start_point(node).row
                row.end_line = ts_node_end_point(node).row
                row.head = <int32_t>match.captures[i].index
            elif role == ROLE_NAME:
                if row.name == NO_ID:
                    row.name_start, row.name_end = start, end
                    row.name_line = ts_node_start_point(node).row
                    row.name = names.put(text + start, end - start)
            elif role == ROLE_RECEIVER or role == ROLE_OWNER:   # an owner is a type, a receiver an expression
                if row.receiver == NO_ID:
                    row.receiver = put_text(names, text + start, end - start, role)
            elif role == ROLE_TYPE:
                if row.type == NO_ID:
                    row.type = put_text(names, text + start, end - start, role)
            elif role == ROLE_VALUE:
                if row.value == NO_ID:
                    row.value = put_text(names, text + start, end - start, role)
            elif role == ROLE_ALIAS:
                if row.alias == NO_ID:
                    row.alias = names.put(text + start, end - start)
            elif role == ROLE_PATH:
                if row.path == NO_ID:
                    row.path = put_text(names, text + start, end - start, role)
            elif role == ROLE_TEXT:
                piece, size = text + start, end - start
                unquote(&piece, &size)
                size = notable(piece, size, kept)
                if size == 0:
                    return 0
                row.path = names.put(kept, size)
            elif role == ROLE_ARGS:
                row.argc = self.count_arguments(node)
            elif role == ROLE_BODY:
                row.body = start
        if not headed:
            return 0
        return push(rows, &row)

    cdef int add_hidden_error(self, Rows *rows, TSNode root, uint32_t size_of_source) noexcept nogil:
        """A row for an error no pattern can see (a missing token without a name): the innermost node that has it."""
        cdef size_t i
        cdef TSNode node = root
        cdef TSTreeCursor cursor
        for i in range(rows.count):
            if rows.items[i].head == self.broken:
                return 0
        cursor = ts_tree_cursor_new(root)
        while ts_tree_cursor_goto_first_child(&cursor):
            while not ts_node_has_error(ts_tree_cursor_current_node(&cursor)):
                if not ts_tree_cursor_goto_next_sibling(&cursor):
                    break
            else:
                node = ts_tree_cursor_current_node(&cursor)
                continue
            break
        ts_tree_cursor_delete(&cursor)
        return self.add_broken(rows, node, size_of_source)

    cdef int add_broken(self, Rows *rows, TSNode node, uint32_t size_of_source) noexcept nogil:
        cdef Row row
        row.name_start = row.name_end = row.name_line = NO_ID
        row.name = row.receiver = row.type = row.value = row.alias = row.path = row.argc = row.body = NO_ID
        row.head, row.end = self.broken, min(ts_node_end_byte(node), size_of_source)
        row.start = min(ts_node_start_byte(node), <uint32_t>row.end)
        row.line, row.end_line = ts_node_start_point(node).row, ts_node_end_point(node).row
        return push(rows, &row)

    cdef int count_arguments(self, TSNode node) noexcept nogil:
        cdef uint32_t count = ts_node_named_child_count(node), i, extras = 0
        if count > 64:
            return <int>count
        for i in range(count):
            extras += ts_node_is_extra(ts_node_named_child(node, i))
        return <int>(count - extras)

    cdef int add_matches(self, TSQueryCursor *cursor, Source *source, Names names, Rows *rows) noexcept nogil:
        """Rows of all matches the cursor finds; status bits."""
        cdef TSQueryMatch match
        while ts_query_cursor_next_match(cursor, &match):
            if self.passes(&match, source.text) and self.add_row(rows, &match, source.text, source.size, names):
                return OUT_OF_MEMORY
        return LIMIT_SEEN if ts_query_cursor_did_exceed_match_limit(cursor) else 0

    cdef void begin(self, TSQueryCursor *cursor, TSNode node, Budget *budget, TSQueryCursorOptions *options) noexcept nogil:
        """Asking the clock makes the cursor find its position at every node, so it is left out where it cannot matter."""
        if budget.tight or ts_node_descendant_count(node) > UNWATCHED_NODES:
            ts_query_cursor_exec_with_options(cursor, self.query, node, options)
        else:
            ts_query_cursor_exec(cursor, self.query, node)

    cdef int query_tree(self, TSQueryCursor *cursor, TSTree *tree, Source *source, Budget *budget, Names names, Rows *rows) noexcept nogil:
        """Rows of all patterns anywhere in a tree; status bits."""
        cdef TSQueryCursorOptions options
        cdef OrbitWalk walk
        cdef TSNode node
        cdef uint32_t visited = 0
        cdef int status = 0
        options.payload, options.progress_callback = budget, query_progress
        if not self.wanted:
            self.begin(cursor, ts_tree_root_node(tree), budget, &options)
            return self.add_matches(cursor, source, names, rows)
        ts_query_cursor_set_max_start_depth(cursor, 0)
        orbit_walk_begin(&walk, tree, self.wanted)
        while not status & OUT_OF_MEMORY and orbit_walk_next(&walk, &node):
            self.begin(cursor, node, budget, &options)
            status |= self.add_matches(cursor, source, names, rows)
            visited += 1
            if visited % VISITS == 0 and budget.deadline and clock_now() > budget.deadline:
                budget.spent = True
            if budget.spent:
                break
        if walk.failed:
            status |= OUT_OF_MEMORY
        orbit_walk_end(&walk)
        ts_query_cursor_set_max_start_depth(cursor, <uint32_t>-1)
        return status

    cdef TSTree *parse_source(self, TSParser *parser, Source *source, Budget *budget, TSTree *before) noexcept nogil:
        """The tree of a source, from that of the version before if there is one, which is deleted; NULL if time ran out."""
        cdef TSInput given
        cdef TSParseOptions options
        cdef TSTree *tree
        given.payload, given.read, given.encoding, given.decode = source, read_source, TSInputEncodingUTF8, NULL
        options.payload, options.progress_callback = budget, parse_progress
        ts_parser_set_language(parser, self.language)
        tree = ts_parser_parse_with_options(parser, before, given, options)
        if before:
            ts_tree_delete(before)
            if tree and ts_node_has_error(ts_tree_root_node(tree)):
                ts_tree_delete(tree)
                tree = ts_parser_parse_with_options(parser, NULL, given, options)
        return tree

    cdef int run(self, Source *source, Budget *budget, Names names, Rows *rows, TSTree **past, OrbitArena *arena) noexcept nogil:
        """Parse and query. `past` has an edited tree to start from, or none, and gets the new one; with an arena no tree survives."""
        cdef TSParser *parser
        cdef TSQueryCursor *cursor
        cdef TSQueryCursorOptions options
        cdef TSQueryMatch match
        cdef TSTree *tree
        cdef int status = 0
        orbit_use_arena(arena)
        parser = ts_parser_new()
        tree = self.parse_source(parser, source, budget, past[0] if past else NULL)
        if past:
            past[0] = NULL
        if not tree:
            status = TIMED_OUT_PARSE
        elif ts_node_has_error(ts_tree_root_node(tree)):
            status = ERRORS_SEEN
        if tree and rows:
            cursor = ts_query_cursor_new()
            ts_query_cursor_set_match_limit(cursor, MATCH_LIMIT)
            status |= self.query_tree(cursor, tree, source, budget, names, rows)
            if status & ERRORS_SEEN and not status & OUT_OF_MEMORY:
                options.payload, options.progress_callback = budget, query_progress
                ts_query_cursor_exec_with_options(cursor, self.missing, ts_tree_root_node(tree), &options)
                while ts_query_cursor_next_match(cursor, &match):
                    if self.add_broken(rows, match.captures[0].node, source.size):
                        status |= OUT_OF_MEMORY
                        break
            if budget.spent:
                status |= TIMED_OUT_QUERY
            ts_query_cursor_delete(cursor)
            if status & ERRORS_SEEN and self.add_hidden_error(rows, ts_tree_root_node(tree), source.size):
                status |= OUT_OF_MEMORY
        if past and not status & ERRORS_SEEN:
            past[0] = tree
        elif tree and not arena:
            ts_tree_delete(tree)
        ts_parser_delete(parser)       # a scanner may have memory of its own
        orbit_use_arena(NULL)
        if arena:
            orbit_clear_arena(arena)
        return status

    def capture(self, bytes source not None, Names names not None, double budget_seconds=5.0, Past past=None):
        """(status, rows): rows is int32[n, len(COLUMNS)]; texts are ids in `names`; column `head` is the id of the head capture.

        With `past`, only what differs from the version captured with it before is parsed; the rows are the same.
        """
        cdef Source given
        cdef Budget budget
        cdef Rows rows
        cdef int status
        cdef TSTree **tree = NULL
        cdef Arena arena = None
        cdef OrbitArena *memory = NULL
        cdef int32_t[:, ::1] view
        given.text, given.size, given.final_newline = source, <uint32_t>len(source), self.final_newline and may_loop(source)
        if len(source) >= 1 << 31:
            raise ValueError("sources of 2 GiB and more are not supported")
        rows.room, rows.count = 256, 0
        rows.items = <Row *>malloc(rows.room * sizeof(Row))
        if not rows.items:
            raise MemoryError
        if given.final_newline:    # the tree has a byte more than the source
            past = None
        if past is not None:
            past.edit(source)
            tree = &past.tree
        else:
            arena = idle_arenas.pop() if idle_arenas else Arena()
            memory = arena.memory
        try:
            with nogil:
                budget.tight = 0 < budget_seconds < 2
                budget.deadline, budget.spent = clock_now() + budget_seconds if budget_seconds > 0 else 0, False
                status = self.run(&given, &budget, names, &rows, tree, memory)
            if past is not None:
                past.source = source
            if status & OUT_OF_MEMORY:
                raise MemoryError
            found = np.empty((rows.count, WIDTH), dtype=np.int32)
            if rows.count:
                view = found
                memcpy(&view[0, 0], rows.items, rows.count * sizeof(Row))
        finally:
            free(rows.items)
            if arena is not None:
                idle_arenas.append(arena)
        return status, found

    def parse(self, bytes source not None):
        """Only parse: the floor that benchmarks compare with. Returns the status."""
        cdef Source given
        cdef Budget budget
        cdef int status
        given.text, given.size, given.final_newline = source, <uint32_t>len(source), self.final_newline and may_loop(source)
        budget.deadline, budget.tight, budget.spent = 0, False, False
        with nogil:
            status = self.run(&given, &budget, None, NULL, NULL, NULL)
        return status
