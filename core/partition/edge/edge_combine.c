/* Several partitions are combined (Sanders and Schulz 2012: KaFFPaE): two are combined by coarsening inside what both agree
 * on, which leaves refinement to choose between them on every level. */
#include "core/partition/edge/edge_search.h"

#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/partition/edge/rebalance.h"
#include "core/partition/options.h"

/* Numbers of random choices before these are those of cycles. */
enum { UNIONS_FROM = 1000 };

typedef struct member {
  uint32_t *part; /* [vertices] */
  uint64_t cut;   /* UINT64_MAX: no way was found to keep the limit */
} member;

typedef struct work {
  cm_csr_graph *graph;
  const cm_edge_options *options;
  cm_run *run;
  bool apart;        /* tasks are single-threaded and run at the same time; else one after another, each on all threads */
  uint32_t count;    /* of members */
  member *member;    /* [count] */
  uint32_t *order;   /* [count] the pairs of a round */
  uint32_t unions;   /* so far */
} work;

/* What a search has found, or that it found nothing: limits that cannot be kept end no other search. */
static cm_status judge(const work *w, cm_run *run, cm_status status, member *m, cm_error *error)
{
  if (status == CM_LIMIT_BROKEN) {
    m->cut = UINT64_MAX;
    return CM_OK;
  }
  if (status != CM_OK || cm_fill_empty(w->graph, run, m->part, w->options->parts, error) != CM_OK)
    return error->status;
  m->cut = cm_csr_graph_cut(w->graph, m->part);
  return CM_OK;
}

static cm_status for_all(work *w, size_t count, cm_task task, cm_error *error)
{
  if (w->apart)
    return cm_parallel(w->run, count, task, w, error);
  for (size_t i = 0; i < count; i++)
    CM_TRY(task(w, i, error));
  return CM_OK;
}

/* The context of one task: phases and progress are the caller's. */
static cm_run task_run(const work *w)
{
  cm_run quiet = *w->run;
  quiet.on_progress = NULL;
  quiet.threads = w->apart ? 1 : quiet.threads;
  return quiet;
}

static cm_status make_member(void *context, size_t i, cm_error *error)
{
  work *w = context;
  cm_edge_options o = i < w->options->members ? *w->options->below : *w->options; /* the last by this effort's own starts */
  cm_run run = task_run(w);
  uint32_t *scratch;
  o.parts = w->options->parts;
  o.most = w->options->most;
  o.seed = w->options->seed;
  if (i > 0 && i < w->options->members) { /* the first is what the smaller effort finds */
    cm_random random;
    cm_random_init(&random, w->options->seed, CM_STREAM_EDGE_MEMBERS, i);
    o.seed = cm_random_next(&random);
  }
  CM_TRY(CM_NEW(run.memory, w->member[i].part, w->graph->vertex_count, error));
  CM_TRY(CM_NEW(run.memory, scratch, w->graph->vertex_count, error));
  cm_status status = cm_edge_search_anew(w->graph, &o, &run, scratch, w->member[i].part, error);
  cm_free(scratch);
  cm_run_add(w->run, 1.0 / w->count);
  return judge(w, &run, status, &w->member[i], error);
}

/* The better of two and what refinement makes of both; it takes the place of the worse one where it is better than that. */
static cm_status unite(work *w, member *a, member *b, uint32_t number, cm_error *error)
{
  member *better = b->cut < a->cut ? b : a, *worse = better == a ? b : a, trial = {0};
  uint32_t n = w->graph->vertex_count, *label;
  cm_run run = task_run(w);
  if (better->cut == UINT64_MAX)
    return CM_OK;
  cm_status status = CM_NEW(run.memory, label, n, error);
  CM_THEN(status, CM_NEW(run.memory, trial.part, n, error));
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      label[v] = better->part[v] * w->options->parts + worse->part[v];
    memcpy(trial.part, better->part, n * sizeof *trial.part);
    status = cm_edge_search_inside(w->graph, w->options, label, UNIONS_FROM + number, &run, trial.part, error);
    status = judge(w, &run, status, &trial, error);
  }
  if (status == CM_OK && trial.cut < worse->cut) {
    memcpy(worse->part, trial.part, n * sizeof *trial.part);
    worse->cut = trial.cut;
  }
  CM_FREE(label, trial.part);
  return status;
}

static cm_status unite_pair(void *context, size_t i, cm_error *error)
{
  work *w = context;
  return unite(w, &w->member[w->order[2 * i]], &w->member[w->order[2 * i + 1]], w->unions + (uint32_t)i, error);
}

static uint32_t best_of(const work *w)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < w->count; i++)
    if (w->member[i].cut < w->member[best].cut)
      best = i;
  return best;
}

/* Rounds of disjoint pairs in random order; pairs of parts have 32 bits. */
static cm_status unite_all(work *w, cm_error *error)
{
  uint32_t count = w->count, left = w->options->parts <= UINT16_MAX ? w->options->unions : 0;
  cm_random random;
  cm_random_init(&random, w->options->seed, CM_STREAM_EDGE_MEMBERS, 0);
  while (left > 0 && count > 1) {
    uint32_t pairs = count / 2 < left ? count / 2 : left;
    cm_random_permutation(&random, w->order, count);
    CM_TRY(for_all(w, pairs, unite_pair, error));
    CM_TRY(cm_run_progress(w->run, (double)w->unions / w->options->unions, 0, w->graph->vertex_count,
                           (double)w->member[best_of(w)].cut, error));
    w->unions += pairs;
    left -= pairs;
  }
  return CM_OK;
}

static cm_status combine(work *w, uint32_t *best, cm_error *error)
{
  uint32_t count = w->count;
  cm_run_phase(w->run, "initial");
  CM_TRY(CM_NEW(w->run->memory, w->member, count, error));
  CM_TRY(CM_NEW(w->run->memory, w->order, count, error));
  CM_TRY(for_all(w, count, make_member, error));
  cm_run_phase(w->run, "refine");
  CM_TRY(unite_all(w, error));
  const member *m = &w->member[best_of(w)];
  if (m->cut == UINT64_MAX)
    return cm_fail(error, CM_LIMIT_BROKEN, "cannot pack the vertices into %u parts of size %llu", w->options->parts,
                   (unsigned long long)w->options->most);
  memcpy(best, m->part, w->graph->vertex_count * sizeof *best);
  return CM_OK;
}

cm_status cm_edge_combine(cm_csr_graph *graph, const cm_edge_options *options, cm_run *run, uint32_t *best, cm_error *error)
{
  work w = {.graph = graph, .options = options, .run = run, .count = options->members + 1,
            .apart = graph->entry_count <= CM_EDGE_ALL_ENTRIES};
  cm_status status = combine(&w, best, error);
  for (uint32_t i = 0; w.member != NULL && i < w.count; i++)
    cm_free(w.member[i].part);
  CM_FREE(w.member, w.order);
  return status;
}
