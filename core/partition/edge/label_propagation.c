#include "core/partition/edge/label_propagation.h"

#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/partition/edge/ties.h"
#include "core/partition/options.h"

enum { CHECK_EVERY = 4096, PARALLEL_ENTRIES = 1000000, BATCHES = 32 };
#define NONE UINT32_MAX

typedef struct propagation {
  const cm_csr_graph *graph;
  const cm_label_propagation_options *options;
  cm_run *run;
  uint32_t *part, parts;
  uint64_t *load;
  uint32_t *order, *next; /* [vertices] to visit in this round, and in the next */
  uint32_t count, next_count;
  uint8_t *waiting;       /* [vertices] is in `next` */
  uint32_t *proposal;     /* [vertices] of the batch */
  uint32_t begin, end;    /* the batch, in `order` */
  unsigned slices;
  cm_ties *ties;          /* [slices] */
} propagation;

static uint64_t most_in(const propagation *w, uint32_t part)
{
  return w->options->most_of != NULL ? w->options->most_of[part] : w->options->most;
}

/* Where v wants to go; NONE to stay. */
static uint32_t propose(const propagation *w, cm_ties *t, uint32_t v)
{
  const cm_csr_graph *g = w->graph;
  uint32_t own = w->part[v], best = NONE;
  cm_ties_gather(t, g, w->part, v);
  bool over = w->load[own] > most_in(w, own);
  int64_t least = over ? -1 : t->inner;
  for (uint32_t i = 0; i < t->count; i++) {
    uint32_t p = t->touched[i];
    uint64_t after = w->load[p] + g->size[v];
    if (t->weight[p] < least || after > most_in(w, p))
      continue;
    bool better = t->weight[p] > least || (best == NONE ? after < w->load[own] : w->load[p] < w->load[best]);
    if (!better)
      continue;
    least = t->weight[p];
    best = p;
  }
  return best;
}

static cm_status propose_slice(void *context, size_t slice, cm_error *error)
{
  propagation *w = context;
  uint32_t begin = w->begin + (uint32_t)cm_slice_begin(w->end - w->begin, slice, w->slices);
  uint32_t end = w->begin + (uint32_t)cm_slice_begin(w->end - w->begin, slice + 1, w->slices);
  for (uint32_t i = begin; i < end; i++) {
    w->proposal[i - w->begin] = propose(w, &w->ties[slice], w->order[i]);
    if (i % CHECK_EVERY == 0 && cm_run_check(w->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static void wake(propagation *w, uint32_t v)
{
  if (w->waiting[v])
    return;
  w->waiting[v] = 1;
  w->next[w->next_count++] = v;
}

static bool move(propagation *w, uint32_t v, uint32_t to)
{
  const cm_csr_graph *g = w->graph;
  if (w->load[to] + g->size[v] > most_in(w, to))
    return false;
  w->load[w->part[v]] -= g->size[v];
  w->load[to] += g->size[v];
  w->part[v] = to;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
    if (w->part[g->neighbour[i]] != to)
      wake(w, g->neighbour[i]);
  return true;
}

static cm_status visit_in_batches(propagation *w, cm_error *error)
{
  for (uint32_t b = 0; b < BATCHES; b++) {
    w->begin = (uint32_t)cm_slice_begin(w->count, b, BATCHES);
    w->end = (uint32_t)cm_slice_begin(w->count, b + 1, BATCHES);
    CM_TRY(cm_parallel(w->run, w->slices, propose_slice, w, error));
    for (uint32_t i = w->begin; i < w->end; i++)
      if (w->proposal[i - w->begin] != NONE)
        move(w, w->order[i], w->proposal[i - w->begin]);
  }
  return CM_OK;
}

static cm_status visit_one_by_one(propagation *w, cm_error *error)
{
  for (uint32_t i = 0; i < w->count; i++) {
    uint32_t to = propose(w, &w->ties[0], w->order[i]);
    if (to != NONE)
      move(w, w->order[i], to);
    if (i % CHECK_EVERY == 0 && cm_run_check(w->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static void shuffle(uint32_t *order, uint32_t count, cm_random *random)
{
  for (uint32_t i = count; i > 1; i--) {
    uint32_t other = (uint32_t)cm_random_below(random, i), held = order[i - 1];
    order[i - 1] = order[other];
    order[other] = held;
  }
}

static bool on_border(const propagation *w, uint32_t v)
{
  const cm_csr_graph *g = w->graph;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
    if (w->part[g->neighbour[i]] != w->part[v])
      return true;
  return false;
}

static cm_status run_rounds(propagation *w, cm_error *error)
{
  cm_random random;
  cm_random_init(&random, w->options->seed, CM_STREAM_REFINEMENT, w->options->stream);
  for (uint32_t v = 0; v < w->graph->vertex_count; v++) /* others have nowhere to go until a neighbour moves */
    if (on_border(w, v))
      w->order[w->count++] = v;
  for (uint32_t round = 0; round < w->options->rounds && w->count > 0; round++) {
    w->next_count = 0;
    memset(w->waiting, 0, w->graph->vertex_count);
    shuffle(w->order, w->count, &random);
    cm_status status =
        w->graph->entry_count >= PARALLEL_ENTRIES ? visit_in_batches(w, error) : visit_one_by_one(w, error);
    if (status != CM_OK)
      return status;
    uint32_t *held = w->order;
    w->order = w->next;
    w->next = held;
    w->count = w->next_count;
    cm_run_add(w->run, w->options->share / w->options->rounds);
  }
  return CM_OK;
}

static cm_status new_tables(propagation *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  uint32_t n = w->graph->vertex_count;
  w->slices = w->graph->entry_count >= PARALLEL_ENTRIES ? w->run->threads : 1;
  if (CM_NEW(memory, w->order, n, error) != CM_OK || CM_NEW(memory, w->next, n, error) != CM_OK ||
      CM_NEW(memory, w->waiting, n, error) != CM_OK || CM_NEW(memory, w->proposal, n / BATCHES + 2, error) != CM_OK ||
      CM_NEW(memory, w->ties, w->slices, error) != CM_OK)
    return error->status;
  for (unsigned s = 0; s < w->slices; s++)
    CM_TRY(cm_ties_new(memory, w->parts, &w->ties[s], error));
  return CM_OK;
}

cm_status cm_label_propagation(const cm_csr_graph *graph, const cm_label_propagation_options *options, cm_run *run,
                               const cm_parts *parts, cm_error *error)
{
  propagation w = {
    .graph = graph, .options = options, .run = run, .part = parts->part, .parts = parts->count, .load = parts->load};
  cm_status status = new_tables(&w, error);
  CM_THEN(status, run_rounds(&w, error));
  for (unsigned s = 0; w.ties != NULL && s < w.slices; s++)
    cm_ties_free(&w.ties[s]);
  CM_FREE(w.ties, w.order, w.next, w.waiting, w.proposal);
  return status;
}
