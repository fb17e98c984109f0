/* What runtime.c adds to the tree-sitter runtime. */
#ifndef ORBIT_RUNTIME_H
#define ORBIT_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>
#include "tree_sitter/api.h"

/* From now on new queries of this thread are analysed, or not. */
void orbit_set_full_analysis(bool wanted);

/* Memory of this thread's parses comes from an arena until it is told another, or NULL for the C library's. Nothing that was taken from an arena may
 * be used after it is cleared. A cleared arena keeps some memory for its next use. */
typedef struct OrbitArena OrbitArena;
OrbitArena *orbit_new_arena(void);
void orbit_use_arena(OrbitArena *arena);
void orbit_clear_arena(OrbitArena *arena);
void orbit_delete_arena(OrbitArena *arena);

/* Which symbols the patterns of a query begin with, one byte each, to be freed; NULL where a pattern may begin with any node, or with several. */
uint8_t *orbit_pattern_symbols(const TSQuery *query);

/* A walk over the nodes of those symbols, in the order of the source. It has failed if memory ran out. */
typedef struct {
  const TSTree *tree;
  const uint8_t *wanted;
  struct WalkStep *steps;
  uint32_t depth, room;
  bool begun, failed;
} OrbitWalk;
void orbit_walk_begin(OrbitWalk *walk, const TSTree *tree, const uint8_t *wanted);
bool orbit_walk_next(OrbitWalk *walk, TSNode *found);
void orbit_walk_end(OrbitWalk *walk);

#endif
