#include "core/partition/merge_parts.h"

#include <stdlib.h>

#include "base/order.h"
#include "core/partition/partition.h"

enum { LOOKS = 32 };

/* A part with what it needs; of a part that has joined another `into` says which. */
typedef struct piece {
  uint32_t *source, sources;         /* that reach it, ascending */
  uint32_t *population, populations; /* ascending */
  uint64_t neurons, synapses;
  uint32_t into;
} piece;

typedef struct work {
  const cm_demand *demand;
  const cm_limits *limits;
  const uint32_t *group;
  cm_run *run;
  uint32_t parts;
  piece *piece;        /* [parts] */
  cm_part_size *order; /* [parts] smallest first, as they were before any joined */
} work;

static uint32_t distinct(uint32_t *list, uint32_t count)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (i == 0 || list[i] != list[i - 1])
      list[kept++] = list[i];
  return kept;
}

/* Every synapse puts its source down, so that sources ascend; then once each. */
static cm_status list_sources(work *w, const uint32_t *part, cm_error *error)
{
  const cm_topology *t = w->demand->network;
  for (uint64_t i = 0; i < t->pin_count; i++)
    w->piece[part[t->pin[i]]].synapses++;
  for (uint32_t p = 0; p < w->parts; p++)
    CM_TRY(CM_NEW(w->run->memory, w->piece[p].source, w->piece[p].synapses, error));
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      piece *p = &w->piece[part[t->pin[i]]];
      uint32_t source = cm_topology_source(t, e);
      if (p->sources == 0 || p->source[p->sources - 1] != source)
        p->source[p->sources++] = source;
    }
  return cm_run_check(w->run, error);
}

static cm_status list_populations(work *w, const uint32_t *part, cm_error *error)
{
  const cm_topology *t = w->demand->network;
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    w->piece[part[v]].neurons += cm_demand_size(w->demand, v);
    w->piece[part[v]].populations += t->population_of != NULL;
  }
  for (uint32_t p = 0; p < w->parts; p++) {
    CM_TRY(CM_NEW(w->run->memory, w->piece[p].population, w->piece[p].populations, error));
    w->piece[p].populations = 0;
    w->piece[p].into = p;
  }
  for (uint32_t v = 0; t->population_of != NULL && v < t->vertex_count; v++) {
    piece *p = &w->piece[part[v]];
    p->population[p->populations++] = t->population_of[v];
  }
  for (uint32_t p = 0; p < w->parts; p++) {
    if (w->piece[p].populations > 0)
      qsort(w->piece[p].population, w->piece[p].populations, sizeof(uint32_t), cm_ascending);
    w->piece[p].populations = distinct(w->piece[p].population, w->piece[p].populations);
  }
  return CM_OK;
}

/* How many numbers two ascending lists have in common. */
static uint32_t common(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
  uint32_t found = 0;
  for (uint32_t i = 0, j = 0; i < a_count && j < b_count;) {
    found += a[i] == b[j];
    uint32_t x = a[i], y = b[j];
    i += x <= y;
    j += y <= x;
  }
  return found;
}

/* The union of two ascending lists in place of the second. */
static cm_status unite(const uint32_t *a, uint32_t a_count, uint32_t **b, uint32_t *b_count, cm_run *run, cm_error *error)
{
  uint32_t *both, count = 0;
  CM_TRY(CM_NEW(run->memory, both, (size_t)a_count + *b_count, error));
  for (uint32_t i = 0, j = 0; i < a_count || j < *b_count;) {
    bool first = j == *b_count || (i < a_count && a[i] <= (*b)[j]), second = i == a_count || (j < *b_count && (*b)[j] <= a[i]);
    both[count++] = first ? a[i] : (*b)[j];
    i += first;
    j += second;
  }
  cm_free(*b);
  *b = both;
  *b_count = count;
  return CM_OK;
}

static bool within(uint64_t use, uint64_t limit)
{
  return limit == 0 || use <= limit;
}

/* Sources that two parts share, or -1 where they may not be one. */
static int64_t gain(const work *w, const piece *a, const piece *b)
{
  const cm_limits *l = w->limits;
  if (!within(a->neurons + b->neurons, l->neurons) || !within(a->synapses + b->synapses, l->synapses))
    return -1;
  if (!within(a->populations + b->populations - common(a->population, a->populations, b->population, b->populations), l->populations))
    return -1;
  uint32_t shared = common(a->source, a->sources, b->source, b->sources);
  uint64_t both = (uint64_t)a->sources + b->sources - shared;
  bool fits = within(both, l->inbound_axons) && cm_memory_holds(l, a->neurons + b->neurons, a->synapses + b->synapses, both);
  return fits ? (int64_t)shared : -1;
}

static cm_status join(work *w, uint32_t p, uint32_t q, cm_error *error)
{
  piece *a = &w->piece[p], *b = &w->piece[q];
  CM_TRY(unite(a->source, a->sources, &b->source, &b->sources, w->run, error));
  CM_TRY(unite(a->population, a->populations, &b->population, &b->populations, w->run, error));
  b->neurons += a->neurons;
  b->synapses += a->synapses;
  a->into = q;
  return CM_OK;
}

/* Each looks at the parts after it in size. */
static cm_status join_all(work *w, uint32_t least, uint32_t *left, cm_error *error)
{
  for (uint32_t i = 0; i < w->parts && *left > least; i++) {
    uint32_t p = w->order[i].part, best = UINT32_MAX;
    int64_t most = -1;
    for (uint32_t j = i + 1, looks = 0; j < w->parts && looks < LOOKS; j++) {
      if (w->group != NULL && w->group[w->order[j].part] != w->group[p])
        continue;
      int64_t here = gain(w, &w->piece[p], &w->piece[w->order[j].part]);
      looks += here >= 0;
      if (here > most) {
        most = here;
        best = w->order[j].part;
      }
    }
    if (best == UINT32_MAX)
      continue;
    CM_TRY(join(w, p, best, error));
    CM_TRY(cm_run_check(w->run, error));
    --*left;
  }
  return CM_OK;
}

static cm_status rank(work *w, cm_error *error)
{
  CM_TRY(CM_NEW(w->run->memory, w->order, w->parts, error));
  for (uint32_t p = 0; p < w->parts; p++)
    w->order[p] = (cm_part_size){w->piece[p].neurons, p};
  cm_sort_parts(w->order, w->parts);
  return CM_OK;
}

cm_status cm_merge_parts(const cm_demand *demand, const cm_merge_options *options, cm_run *run, uint32_t *part, uint32_t *parts, cm_error *error)
{
  const cm_topology *topology = demand->network;
  work w = {.demand = demand, .limits = options->limits, .group = options->group, .run = run, .parts = *parts};
  uint32_t left = *parts;
  cm_status status = CM_NEW(run->memory, w.piece, w.parts, error);
  CM_THEN(status, list_sources(&w, part, error));
  CM_THEN(status, list_populations(&w, part, error));
  CM_THEN(status, rank(&w, error));
  CM_THEN(status, join_all(&w, options->least > 1 ? options->least : 1, &left, error));
  for (uint32_t v = 0; status == CM_OK && v < topology->vertex_count; v++)
    while (w.piece[part[v]].into != part[v])
      part[v] = w.piece[part[v]].into;
  CM_THEN(status, cm_close_gaps(part, topology->vertex_count, parts, run, error));
  for (uint32_t p = 0; w.piece != NULL && p < w.parts; p++) {
    CM_FREE(w.piece[p].source, w.piece[p].population);
  }
  CM_FREE(w.piece, w.order);
  return status;
}
