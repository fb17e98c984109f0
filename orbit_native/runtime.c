/* The tree-sitter runtime as one unit, untouched, with one decision taken outside it: whether a new query is analysed.
 *
 * The runtime analyses every pattern against the grammar's parse tables: is it possible at all, and which of its steps cannot fail? That takes 1.4 s
 * of CPU over our languages, more than parsing 200,000 lines. An impossible pattern is a mistake in a .scm file, which tests find once and for all
 * (they ask for the analysis); which steps cannot fail only spares some copies of match states. So by default no step is taken for granted: the
 * runtime itself does the same with patterns that are too large for its analysis.
 *
 * How: the analysis is one static function, defined once and called once. The macro renames the definition (its first argument begins with the
 * word TSQuery) and sends the call (its first argument is the word self) to the function below.
 */
#include <stdbool.h>

#define ts_query__analyze_patterns(first, second) ORBIT_PASTE(first), second)
#define ORBIT_PASTE(first) orbit_##first
#define orbit_TSQuery analyse_fully(TSQuery
#define orbit_self analyse(self

typedef struct TSQuery TSQuery;
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
