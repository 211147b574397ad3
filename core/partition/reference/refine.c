#include "core/partition/reference/refine.h"

#include <math.h>

#include "base/random.h"
#include "core/partition/graph_rows.h"

enum { CHECK_EVERY = 4096 };

/* Weights of one vertex's edges into the parts around it. */
typedef struct neighbourhood {
  uint64_t *weight;  /* [parts] zero where not touched */
  uint32_t *touched; /* [parts] */
  uint8_t *seen;     /* [parts] */
  uint32_t count;
} neighbourhood;

typedef struct refinement {
  const cm_graph *graph;
  const cm_partition_options *options;
  cm_run *run;
  uint32_t *part;
  uint32_t parts;
  uint64_t *size;   /* [parts] */
  uint32_t *filled; /* [parts] number of vertices */
  neighbourhood around;
  cm_graph_rows rows;
  uint32_t *order; /* [vertices] of a pass */
  uint64_t gain, moves;
} refinement;

static void refinement_free(refinement *r)
{
  CM_FREE(r->size, r->filled, r->around.weight, r->around.touched, r->around.seen);
  cm_graph_rows_free(&r->rows);
}

static cm_status refinement_begin(refinement *r, cm_error *error)
{
  cm_memory *memory = r->run->memory;
  if (CM_NEW(memory, r->size, r->parts, error) != CM_OK || CM_NEW(memory, r->filled, r->parts, error) != CM_OK ||
      CM_NEW(memory, r->around.weight, r->parts, error) != CM_OK || CM_NEW(memory, r->around.touched, r->parts, error) != CM_OK ||
      CM_NEW(memory, r->around.seen, r->parts, error) != CM_OK || cm_graph_rows_new(r->graph, r->run, &r->rows, error) != CM_OK) {
    refinement_free(r);
    return error->status;
  }
  for (uint32_t v = 0; v < r->graph->vertex_count; v++) {
    r->size[r->part[v]] += r->graph->size[v];
    r->filled[r->part[v]]++;
  }
  return CM_OK;
}

static cm_status look_around(refinement *r, uint32_t v, cm_error *error)
{
  neighbourhood *around = &r->around;
  for (uint32_t i = 0; i < around->count; i++) {
    around->weight[around->touched[i]] = 0;
    around->seen[around->touched[i]] = 0;
  }
  around->count = 0;
  cm_graph_row row;
  CM_TRY(cm_graph_row_of(&r->rows, v, &row, error));
  for (uint64_t i = 0; i < row.count; i++) {
    uint32_t p = r->part[row.neighbour[i]];
    if (!around->seen[p]) {
      around->seen[p] = 1;
      around->touched[around->count++] = p;
    }
    around->weight[p] += row.weight[i];
  }
  return CM_OK;
}

static bool has_room(const refinement *r, uint32_t v, uint32_t p)
{
  return r->size[p] + r->graph->size[v] <= r->options->capacity;
}

static void move(refinement *r, uint32_t v, uint32_t to)
{
  uint32_t from = r->part[v];
  r->size[from] -= r->graph->size[v];
  r->size[to] += r->graph->size[v];
  r->filled[from]--;
  r->filled[to]++;
  r->part[v] = to;
}

/* The part of greatest weight above `least` around v that has room; v's own part when there is none. Trying the next
 * best when the best is full is the same as taking the best of those with room. */
static uint32_t best_part(const refinement *r, uint32_t v, uint64_t least)
{
  uint32_t own = r->part[v], best = own;
  uint64_t weight = least;
  for (uint32_t i = 0; i < r->around.count; i++) {
    uint32_t p = r->around.touched[i];
    uint64_t w = r->around.weight[p];
    if (p == own || w < weight || (best == own && w == weight) || (best != own && w == weight && p > best) ||
        !has_room(r, v, p))
      continue;
    best = p;
    weight = w;
  }
  return best;
}

static cm_status refine_once(refinement *r, uint32_t level, uint32_t pass, cm_error *error)
{
  cm_random random;
  uint32_t n = r->graph->vertex_count, *order = r->order;
  r->moves = 0;
  cm_random_init(&random, r->options->seed, CM_STREAM_REFINEMENT, (uint64_t)level << 32 | pass);
  cm_random_permutation(&random, order, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t v = order[i], own = r->part[v];
    if (i % CHECK_EVERY == 0 && cm_run_progress(r->run, 1 - (1 - 0.5 * i / n) / (pass < 30 ? 1U << pass : 1U << 30), (int)level, n, NAN, error) != CM_OK)
      return error->status;
    if (r->options->parts > 0 && r->filled[own] == 1)
      continue;
    CM_TRY(look_around(r, v, error));
    uint64_t weight_own = r->around.weight[own];
    uint32_t to = best_part(r, v, weight_own);
    if (to == own)
      continue;
    r->gain += r->around.weight[to] - weight_own;
    r->moves++;
    move(r, v, to);
  }
  return CM_OK;
}

cm_status cm_refine(const cm_graph *graph, const cm_partition_options *options, uint32_t level, cm_run *run,
                    uint32_t *part, uint32_t parts, uint64_t *gain, cm_error *error)
{
  refinement r = {.graph = graph, .options = options, .run = run, .part = part, .parts = parts, .moves = 1};
  CM_TRY(refinement_begin(&r, error));
  cm_status status = CM_NEW(run->memory, r.order, graph->vertex_count, error);
  for (uint32_t pass = 0; status == CM_OK && r.moves > 0 && pass < options->refinement_passes; pass++)
    status = refine_once(&r, level, pass, error);
  cm_free(r.order);
  refinement_free(&r);
  if (status == CM_OK)
    *gain = r.gain;
  return status;
}

/* A part with room for v: the one v has most weight to, else the emptiest. */
static uint32_t refuge(const refinement *r, uint32_t v)
{
  uint32_t own = r->part[v], best = own;
  for (uint32_t i = 0; i < r->around.count; i++) {
    uint32_t p = r->around.touched[i];
    if (p != own && has_room(r, v, p) && (best == own || r->around.weight[p] > r->around.weight[best]))
      best = p;
  }
  if (best != own)
    return best;
  for (uint32_t p = 0; p < r->parts; p++)
    if (p != own && has_room(r, v, p) && (best == own || r->size[p] < r->size[best]))
      best = p;
  return best;
}

/* Empties one part until it fits: each time the member whose leaving costs least. */
static cm_status relieve(refinement *r, uint32_t full, const uint32_t *member, uint32_t count, cm_error *error)
{
  while (r->size[full] > r->options->capacity) {
    uint32_t chosen = UINT32_MAX, chosen_to = full;
    int64_t least = INT64_MAX;
    CM_TRY(cm_run_check(r->run, error));
    for (uint32_t i = 0; i < count; i++) {
      uint32_t v = member[i];
      if (r->part[v] != full || r->graph->size[v] == 0)
        continue;
      CM_TRY(look_around(r, v, error));
      uint32_t to = refuge(r, v);
      int64_t cost = (int64_t)r->around.weight[full] - (int64_t)r->around.weight[to];
      if (to != full && cost < least) {
        least = cost;
        chosen = v;
        chosen_to = to;
      }
    }
    if (chosen == UINT32_MAX) {
      cm_fail(error, CM_LIMIT_BROKEN,
              "%u parts of at most %llu cannot hold the network: a part of %llu finds no part with room for one of its "
              "neurons; allow more imbalance or more parts",
              r->parts, (unsigned long long)r->options->capacity, (unsigned long long)r->size[full]);
      return error->status;
    }
    move(r, chosen, chosen_to);
  }
  return CM_OK;
}

cm_status cm_rebalance(const cm_graph *graph, const cm_partition_options *options, cm_run *run, uint32_t *part,
                       uint32_t parts, cm_error *error)
{
  refinement r = {.graph = graph, .options = options, .run = run, .part = part, .parts = parts};
  CM_TRY(refinement_begin(&r, error));
  uint32_t *member;
  cm_status status = CM_NEW(run->memory, member, graph->vertex_count, error);
  for (uint32_t p = 0; p < parts && status == CM_OK; p++) {
    if (r.size[p] <= options->capacity)
      continue;
    uint32_t count = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++)
      if (part[v] == p)
        member[count++] = v;
    status = relieve(&r, p, member, count, error);
  }
  cm_free(member);
  refinement_free(&r);
  return status;
}
