/* Happy path: the graph and the books -> every vertex in turn: its ties, the best part, the move, the look at the books
 * -> until a round moves nothing. A move that breaks a limit is made back. What can fail: memory, a stop. */
#include "core/partition/edge/within.h"

#include "core/partition/books.h"
#include "core/partition/edge/ties.h"

enum { CHECK_EVERY = 256, CHOICES = 2 /* parts that a vertex tries */ };

typedef struct within {
  cm_books books;
  cm_compact *graph;
  cm_ties ties;
  cm_run *run;
} within;

/* Whether v has gone to `to`. */
static cm_status try_part(within *w, uint32_t v, uint32_t to, bool *gone, cm_error *error)
{
  cm_books *b = &w->books;
  uint32_t from = b->part[v];
  if (cm_books_move(b, v, to, error) != CM_OK)
    return error->status;
  *gone = cm_books_settle(b, false) <= 0; /* no part was over a limit, and none is now */
  cm_status status = *gone ? CM_OK : cm_books_move(b, v, from, error);
  (void)cm_books_settle(b, true);
  return status;
}

static cm_status visit(within *w, uint32_t v, bool *gone, cm_error *error)
{
  cm_ties *t = &w->ties;
  *gone = false;
  if (w->books.roll[w->books.part[v]].count == 1)
    return CM_OK;
  cm_ties_gather(t, w->graph, w->books.part, v);
  for (uint32_t choice = 0; choice < CHOICES && !*gone; choice++) {
    uint32_t best = CM_NO_PART;
    for (uint32_t i = 0; i < t->count; i++) {
      uint32_t p = t->touched[i];
      int64_t least = best == CM_NO_PART ? t->inner : t->weight[best];
      if (t->weight[p] > least || (best != CM_NO_PART && p < best && t->weight[p] == least))
        best = p;
    }
    if (best == CM_NO_PART)
      return CM_OK;
    if (try_part(w, v, best, gone, error) != CM_OK)
      return error->status;
    t->weight[best] = 0; /* not this one again */
  }
  return CM_OK;
}

static cm_status run_rounds(within *w, uint32_t rounds, cm_error *error)
{
  bool moved = true;
  for (uint32_t round = 0; round < rounds && moved; round++) {
    moved = false;
    for (uint32_t v = 0; v < w->graph->vertex_count; v++) {
      bool gone;
      if (visit(w, v, &gone, error) != CM_OK || (v % CHECK_EVERY == 0 && cm_run_check(w->run, error) != CM_OK))
        return error->status;
      moved |= gone;
    }
  }
  return CM_OK;
}

cm_status cm_lessen_cut_within(const cm_topology *topology, const cm_limits *limits, uint32_t rounds, cm_run *run,
                               uint32_t *part, uint32_t parts, cm_error *error)
{
  within w = {.run = run};
  cm_status status = cm_compact_from_topology(topology, run, &w.graph, error);
  if (status == CM_OK)
    status = cm_ties_new(run->memory, parts, &w.ties, error);
  if (status == CM_OK)
    status = cm_books_open(&w.books, topology, limits, part, parts, run, error);
  if (status == CM_OK)
    status = run_rounds(&w, rounds, error);
  cm_books_free(&w.books);
  cm_ties_free(&w.ties);
  cm_compact_free(w.graph);
  return status;
}
