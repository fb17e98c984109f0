/* The tree-sitter runtime as one unit, untouched, with three things taken outside it: whether a new query is analysed, where memory comes from, and
 * which nodes a query is tried on.
 *
 * Analysis. The runtime analyses every pattern against the grammar's parse tables: is it possible at all, and which of its steps cannot fail? That takes 1.4 s
 * of CPU over our languages, more than parsing 200,000 lines. An impossible pattern is a mistake in a .scm file, which tests find once and for all
 * (they ask for the analysis); which steps cannot fail only spares some copies of match states. So by default no step is taken for granted: the
 * runtime itself does the same with patterns that are too large for its analysis.
 *
 * How: the analysis is one static function, defined once and called once. The macro renames the definition (its first argument begins with the
 * word TSQuery) and sends the call (its first argument is the word self) to the function below.
 *
 * Memory. Parsing asks for some pieces of memory a node and gives them back one by one; between orbit_use_arena() and orbit_clear_arena() they come
 * from an arena of the caller's instead, and what is left is dropped at once.
 *
 * Nodes. The runtime's cursor asks of every node whether a pattern begins there, at a cost of a third of parsing. Most nodes are of a kind with which
 * no pattern begins: a plain walk over the tree finds the others (orbit_walk_*), and the cursor is sent to those alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* --- memory */

enum {
  STEP = 16,                   // sizes are multiples of it, less the header
  SMALL = 64,                  // free lists by exact size, then by powers of two
  LISTS = SMALL + 32,
  CHUNK = 1 << 20,
  KEPT = 4 << 20,              // bytes an arena keeps when it is cleared
};

typedef struct Chunk {
  struct Chunk *next;
  size_t size;
} Chunk;

struct OrbitArena {
  char *at, *end;
  Chunk *first, *current;      // chunks after the current one are unused
  void *lists[LISTS];
};

typedef struct {               // before each piece: bytes behind it, and whether an arena has it
  uint32_t size;
  uint32_t owned;
} Header;

static _Thread_local OrbitArena *arena = NULL;

static inline Header *header_of(void *piece) {
  return (Header *)piece - 1;
}

static void *out_of_memory(size_t size) {
  fprintf(stderr, "no memory for %zu bytes of a syntax tree\n", size);
  abort();
}

/* Room for `size` bytes from chunks; NULL if there is none. Pieces lie 8 behind a multiple of 16, so that what follows the header lies on one. */
static void *arena_grow(size_t size) {
  Chunk *next = arena->current ? arena->current->next : arena->first;
  size_t wanted = size + sizeof(Chunk) + STEP;
  if (!next || next->size < wanted) {
    Chunk *made = malloc(wanted > CHUNK ? wanted : CHUNK);
    if (!made) return NULL;
    made->size = wanted > CHUNK ? wanted : CHUNK;
    made->next = next;
    if (arena->current) arena->current->next = made; else arena->first = made;
    next = made;
  }
  arena->current = next;
  arena->at = (char *)(next + 1) + 8;
  arena->end = (char *)next + next->size;
  char *found = arena->at;
  arena->at += size;
  return found;
}

static inline unsigned list_for(size_t size, size_t *room) {
  size_t steps = (size + sizeof(Header) + STEP - 1) / STEP;
  unsigned list = (unsigned)steps;
  if (steps >= SMALL) {
    for (list = SMALL; (size_t)SMALL << (list - SMALL) < steps; list++) {}
    steps = (size_t)SMALL << (list - SMALL);
  }
  *room = steps * STEP;
  return list;
}

static void *orbit_malloc(size_t size) {
  if (size >= UINT32_MAX / 4) return out_of_memory(size);
  if (!arena) {
    Header *made = malloc(size + 2 * sizeof(Header));
    if (!made) return out_of_memory(size);
    made[1] = (Header) {(uint32_t)size, false};
    return made + 2;
  }
  size_t room;
  unsigned list = list_for(size, &room);
  void *found = arena->lists[list];
  if (found) {
    arena->lists[list] = *(void **)found;
    return found;
  }
  Header *made = (Header *)arena->at;
  if ((size_t)(arena->end - arena->at) >= room) arena->at += room;
  else made = arena_grow(room);
  if (!made) return out_of_memory(size);
  *made = (Header) {(uint32_t)(room - sizeof(Header)), true};
  return made + 1;
}

static void *orbit_calloc(size_t count, size_t size) {
  return memset(orbit_malloc(count * size), 0, count * size);
}

static void orbit_free(void *piece) {
  if (!piece) return;
  Header *header = header_of(piece);
  if (!header->owned) {
    free(header - 1);
  } else if (arena) {
    size_t room;
    unsigned list = list_for(header->size, &room);
    *(void **)piece = arena->lists[list];
    arena->lists[list] = piece;
  }
}

static void *orbit_realloc(void *piece, size_t size) {
  if (!piece) return orbit_malloc(size);
  Header *header = header_of(piece);
  if (header->size >= size) return piece;
  void *found = orbit_malloc(size);
  memcpy(found, piece, header->size);
  orbit_free(piece);
  return found;
}

OrbitArena *orbit_new_arena(void) {
  return calloc(1, sizeof(OrbitArena));
}

void orbit_clear_arena(OrbitArena *self) {
  size_t kept = 0;
  Chunk **link = &self->first;
  while (*link) {
    Chunk *chunk = *link;
    if (kept + chunk->size > KEPT) {
      *link = chunk->next;
      free(chunk);
    } else {
      kept += chunk->size;
      link = &chunk->next;
    }
  }
  memset(self->lists, 0, sizeof self->lists);
  self->current = NULL;
  self->at = self->end = NULL;
}

void orbit_delete_arena(OrbitArena *self) {
  while (self->first) {
    Chunk *chunk = self->first;
    self->first = chunk->next;
    free(chunk);
  }
  free(self);
}

void orbit_use_arena(OrbitArena *self) {
#if !defined(__SANITIZE_ADDRESS__)  // which watches each piece by itself
  arena = self;
#endif
}

#define ts_malloc orbit_malloc
#define ts_calloc orbit_calloc
#define ts_realloc orbit_realloc
#define ts_free orbit_free

/* --- the runtime, and its analysis */

#define ts_query__analyze_patterns(first, second) ORBIT_PASTE(first), second)
#define ORBIT_PASTE(first) orbit_##first
#define orbit_TSQuery analyse_fully(TSQuery
#define orbit_self analyse(self

static bool analyse(TSQuery *query, unsigned *error_offset);

#include "lib.c"

#undef ts_query__analyze_patterns

static _Thread_local bool full_analysis = false;

void orbit_set_full_analysis(bool wanted) {
  full_analysis = wanted;
}

static bool analyse(TSQuery *query, unsigned *error_offset) {
  if (full_analysis) return analyse_fully(query, error_offset);
  for (unsigned i = 0; i < query->steps.size; i++) {
    QueryStep *step = array_get(&query->steps, i);
    bool done = step->depth == PATTERN_DONE_MARKER;
    step->parent_pattern_guaranteed = step->root_pattern_guaranteed = done;
    if (done) continue;
    step->contains_captures = step->capture_ids[0] != NONE;
    for (unsigned j = i + 1; j < query->steps.size && !step->contains_captures; j++) {
      QueryStep *below = array_get(&query->steps, j);
      if (below->depth == PATTERN_DONE_MARKER || below->depth <= step->depth) break;
      step->contains_captures = below->capture_ids[0] != NONE;
    }
  }
  return true;
}

/* --- nodes */

uint8_t *orbit_pattern_symbols(const TSQuery *query) {
  if (query->wildcard_root_pattern_count) return NULL;
  for (unsigned i = 0; i < query->pattern_map.size; i++) {
    PatternEntry *entry = array_get(&query->pattern_map, i);
    QueryStep *step = array_get(&query->steps, entry->step_index);
    if (!entry->is_rooted || step->depth || step->field || step->supertype_symbol || step->is_last_child || step->symbol == WILDCARD_SYMBOL) return NULL;
  }
  uint32_t count = ts_language_symbol_count(query->language);
  uint8_t *wanted = calloc(count + 1u, 1);  // the last for errors
  if (!wanted) return NULL;
  for (TSSymbol symbol = 0; symbol < count; symbol++) {
    unsigned at;
    wanted[symbol] = ts_query__pattern_map_search(query, ts_language_public_symbol(query->language, symbol), &at);
  }
  unsigned at;
  wanted[count] = ts_query__pattern_map_search(query, ts_builtin_sym_error, &at);
  return wanted;
}

typedef struct WalkStep {      // a node whose children are being visited
  const Subtree *children;
  const TSSymbol *aliases;
  Length position;             // behind the children visited
  uint32_t index, count, structural;
} WalkStep;

static bool walk_enter(OrbitWalk *self, Subtree subtree, Length position) {
  if (self->depth == self->room) {
    uint32_t room = self->room ? 2 * self->room : 64;
    WalkStep *grown = realloc(self->steps, room * sizeof(WalkStep));
    if (!grown) {
      self->failed = true;
      return false;
    }
    self->steps = grown;
    self->room = room;
  }
  self->steps[self->depth++] = (WalkStep) {
    ts_subtree_children(subtree),
    ts_language_alias_sequence(self->tree->language, subtree.ptr->production_id),
    position, 0, subtree.ptr->child_count, 0,
  };
  return true;
}

static inline bool walk_wants(const OrbitWalk *self, Subtree subtree, TSSymbol alias) {
  TSSymbol symbol = alias ? alias : ts_subtree_symbol(subtree);
  uint32_t count = ts_language_symbol_count(self->tree->language);
  return symbol < count ? self->wanted[symbol] : symbol == ts_builtin_sym_error && self->wanted[count];
}

void orbit_walk_begin(OrbitWalk *self, const TSTree *tree, const uint8_t *wanted) {
  *self = (OrbitWalk) {.tree = tree, .wanted = wanted};
}

bool orbit_walk_next(OrbitWalk *self, TSNode *found) {
  if (!self->begun) {
    const Subtree *root = &self->tree->root;
    self->begun = true;
    if (ts_subtree_child_count(*root) && !walk_enter(self, *root, ts_subtree_padding(*root))) return false;
    if (walk_wants(self, *root, 0)) {
      *found = ts_tree_root_node(self->tree);
      return true;
    }
  }
  while (self->depth) {
    WalkStep *step = &self->steps[self->depth - 1];
    if (step->index == step->count) {
      self->depth--;
      continue;
    }
    const Subtree *child = &step->children[step->index];
    Length start = step->index ? length_add(step->position, ts_subtree_padding(*child)) : step->position;
    TSSymbol alias = 0;
    if (!ts_subtree_extra(*child)) {
      if (step->aliases) alias = step->aliases[step->structural];
      step->structural++;
    }
    step->index++;
    step->position = length_add(start, ts_subtree_size(*child));
    bool wanted = (ts_subtree_visible(*child) || alias) && walk_wants(self, *child, alias);
    if (ts_subtree_child_count(*child) && ts_subtree_visible_child_count(*child) && !walk_enter(self, *child, start)) return false;
    if (wanted) {
      *found = ts_node_new(self->tree, child, start, alias);
      return true;
    }
  }
  return false;
}

void orbit_walk_end(OrbitWalk *self) {
  free(self->steps);
}
