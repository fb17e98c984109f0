# C declarations of the tree-sitter runtime, as far as capture.pyx uses it.
from libc.stdint cimport uint8_t, uint16_t, uint32_t


cdef extern from "stdbool.h":
    ctypedef bint bool


cdef extern from "tree_sitter/api.h" nogil:
    ctypedef struct TSLanguage
    ctypedef struct TSParser
    ctypedef struct TSTree
    ctypedef struct TSQuery
    ctypedef struct TSQueryCursor

    ctypedef struct TSPoint:
        uint32_t row
        uint32_t column

    ctypedef struct TSNode:
        pass

    ctypedef struct TSInputEdit:
        uint32_t start_byte, old_end_byte, new_end_byte
        TSPoint start_point, old_end_point, new_end_point

    ctypedef enum TSInputEncoding:
        TSInputEncodingUTF8

    ctypedef struct TSInput:
        void *payload
        const char *(*read)(void *payload, uint32_t byte_index, TSPoint position, uint32_t *bytes_read) noexcept nogil
        TSInputEncoding encoding
        void *decode

    ctypedef struct TSParseState:
        void *payload

    ctypedef struct TSParseOptions:
        void *payload
        bool (*progress_callback)(TSParseState *state) noexcept nogil

    ctypedef struct TSQueryCursorState:
        void *payload

    ctypedef struct TSQueryCursorOptions:
        void *payload
        bool (*progress_callback)(TSQueryCursorState *state) noexcept nogil

    ctypedef struct TSQueryCapture:
        TSNode node
        uint32_t index

    ctypedef struct TSQueryMatch:
        uint32_t id
        uint16_t pattern_index
        uint16_t capture_count
        const TSQueryCapture *captures

    ctypedef enum TSQueryError:
        TSQueryErrorNone

    ctypedef enum TSQueryPredicateStepType:
        TSQueryPredicateStepTypeDone
        TSQueryPredicateStepTypeCapture
        TSQueryPredicateStepTypeString

    ctypedef struct TSQueryPredicateStep:
        TSQueryPredicateStepType type
        uint32_t value_id

    uint32_t ts_language_abi_version(const TSLanguage *self)

    TSParser *ts_parser_new()
    void ts_parser_delete(TSParser *self)
    bint ts_parser_set_language(TSParser *self, const TSLanguage *language)
    TSTree *ts_parser_parse_with_options(TSParser *self, const TSTree *old_tree, TSInput input, TSParseOptions options)

    TSNode ts_tree_root_node(const TSTree *self)
    void ts_tree_delete(TSTree *self)
    void ts_tree_edit(TSTree *self, const TSInputEdit *edit)

    uint32_t ts_node_start_byte(TSNode self)
    uint32_t ts_node_end_byte(TSNode self)
    TSPoint ts_node_start_point(TSNode self)
    TSPoint ts_node_end_point(TSNode self)
    uint32_t ts_node_named_child_count(TSNode self)
    TSNode ts_node_named_child(TSNode self, uint32_t child_index)
    bint ts_node_is_extra(TSNode self)
    bint ts_node_has_error(TSNode self)
    uint32_t ts_node_descendant_count(TSNode self)

    ctypedef struct TSTreeCursor:
        pass
    TSTreeCursor ts_tree_cursor_new(TSNode node)
    void ts_tree_cursor_delete(TSTreeCursor *self)
    TSNode ts_tree_cursor_current_node(const TSTreeCursor *self)
    bint ts_tree_cursor_goto_first_child(TSTreeCursor *self)
    bint ts_tree_cursor_goto_next_sibling(TSTreeCursor *self)

    TSQuery *ts_query_new(const TSLanguage *language, const char *source, uint32_t source_len, uint32_t *error_offset, TSQueryError *error_type)
    void ts_query_delete(TSQuery *self)
    uint32_t ts_query_pattern_count(const TSQuery *self)
    uint32_t ts_query_capture_count(const TSQuery *self)
    uint32_t ts_query_start_byte_for_pattern(const TSQuery *self, uint32_t pattern_index)
    const TSQueryPredicateStep *ts_query_predicates_for_pattern(const TSQuery *self, uint32_t pattern_index, uint32_t *step_count)
    const char *ts_query_capture_name_for_id(const TSQuery *self, uint32_t index, uint32_t *length)
    const char *ts_query_string_value_for_id(const TSQuery *self, uint32_t index, uint32_t *length)

    TSQueryCursor *ts_query_cursor_new()
    void ts_query_cursor_delete(TSQueryCursor *self)
    void ts_query_cursor_exec(TSQueryCursor *self, const TSQuery *query, TSNode node)
    void ts_query_cursor_exec_with_options(TSQueryCursor *self, const TSQuery *query, TSNode node, const TSQueryCursorOptions *options)
    bint ts_query_cursor_next_match(TSQueryCursor *self, TSQueryMatch *match)
    bint ts_query_cursor_did_exceed_match_limit(const TSQueryCursor *self)
    void ts_query_cursor_set_match_limit(TSQueryCursor *self, uint32_t limit)
    void ts_query_cursor_set_max_start_depth(TSQueryCursor *self, uint32_t max_start_depth)


cdef extern from "runtime.h" nogil:
    void orbit_set_full_analysis(bint wanted)

    ctypedef struct OrbitArena:
        pass
    OrbitArena *orbit_new_arena()
    void orbit_use_arena(OrbitArena *arena)
    void orbit_clear_arena(OrbitArena *arena)
    void orbit_delete_arena(OrbitArena *arena)

    ctypedef struct OrbitWalk:
        bint failed
    uint8_t *orbit_pattern_symbols(const TSQuery *query)
    void orbit_walk_begin(OrbitWalk *walk, const TSTree *tree, const uint8_t *wanted)
    bint orbit_walk_next(OrbitWalk *walk, TSNode *found)
    void orbit_walk_end(OrbitWalk *walk)
