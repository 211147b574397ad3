#include "core/partition/reference/bisect.h"

#include <math.h>
#include <string.h>

#include "base/heap.h"
#include "base/random.h"
#include "base/threads.h"
#include "core/partition/graph_rows.h"

enum { CHECK_EVERY = 4096 };
#define ABSENT UINT32_MAX

/* A binary heap of vertices by (cost, stamp); place[] finds a vertex to update it. */
typedef struct growth {
  const cm_graph *graph;
  cm_graph_rows rows;
  int64_t *cost;   /* [vertices] weight to unselected - weight to selected */
  uint32_t *stamp; /* [vertices] when the cost last changed: older first among equals */
  uint32_t *item;  /* [vertices] the heap */
  uint32_t *place; /* [vertices] position in the heap, ABSENT: selected */
  uint32_t count;
} growth;

static inline bool before(const growth *g, uint32_t a, uint32_t b)
{
  return g->cost[a] != g->cost[b] ? g->cost[a] < g->cost[b] : g->stamp[a] < g->stamp[b];
}

static inline void put(growth *g, size_t position, uint32_t v)
{
  g->item[position] = v;
  g->place[v] = (uint32_t)position;
}

CM_HEAP_DEFINE(growth, growth, uint32_t, 2, CM_HEAP_GET, put, before)

static void take(growth *g, uint32_t v)
{
  uint32_t position = g->place[v], last = g->item[--g->count];
  g->place[v] = ABSENT;
  if (last == v)
    return;
  growth_rise(g, position, last);
  growth_sink(g, g->count, g->place[last], last);
}

static void growth_free(growth *g)
{
  cm_graph_rows_free(&g->rows);
  CM_FREE(g->cost, g->stamp, g->item, g->place);
}

/* degree [vertices]: the weight of all edges of each vertex. */
static cm_status growth_new(const cm_graph *graph, const int64_t *degree, cm_random *random, cm_run *run, growth *made, cm_error *error)
{
  growth g = {.graph = graph, .count = graph->vertex_count};
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(g.cost, g.count), CM_ARRAY(g.stamp, g.count), CM_ARRAY(g.item, g.count),
                       CM_ARRAY(g.place, g.count)), growth_free(&g));
  CM_TRY_OR(cm_graph_rows_new(graph, run, &g.rows, error), growth_free(&g));
  cm_random_permutation(random, g.stamp, g.count);
  memcpy(g.cost, degree, g.count * sizeof *degree);
  for (uint32_t v = 0; v < g.count; v++)
    put(&g, v, v);
  for (uint32_t i = g.count / 2; i-- > 0;)
    growth_sink(&g, g.count, i, g.item[i]);
  *made = g;
  return CM_OK;
}

/* Moves v to the selected side and updates its neighbours' costs: the edge changes sides, twice its weight. */
static cm_status select_vertex(growth *g, uint32_t v, uint32_t now, cm_error *error)
{
  cm_graph_row row;
  CM_TRY(cm_graph_row_of(&g->rows, v, &row, error));
  take(g, v);
  for (uint64_t i = 0; i < row.count; i++) {
    uint32_t u = row.neighbour[i];
    if (g->place[u] == ABSENT || row.weight[i] == 0)
      continue;
    g->cost[u] -= 2 * (int64_t)row.weight[i];
    g->stamp[u] = now;
    growth_rise(g, g->place[u], u);
  }
  return CM_OK;
}

static cm_status grow(growth *g, cm_half half, cm_random *random, cm_run *run, uint64_t *cut, cm_error *error)
{
  const cm_graph *graph = g->graph;
  uint32_t next = (uint32_t)cm_random_below(random, graph->vertex_count), taken = 0;
  uint64_t held = 0;
  int64_t weight = 0;
  while (taken + 1 < graph->vertex_count) {
    uint64_t gain = half.by_size ? graph->size[next] : 1;
    uint64_t missing = half.target - held;
    /* A last vertex that overshoots by more than it helps stays out, unless the side would be empty. */
    if (gain > missing && taken > 0 && gain - missing > missing)
      break;
    weight += g->cost[next];
    CM_TRY(select_vertex(g, next, graph->vertex_count + taken, error));
    taken++;
    held += gain;
    if (held >= half.target)
      break;
    next = g->item[0];
    if (taken % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
  }
  *cut = (uint64_t)weight; /* each step changes the cut by exactly the cost of the vertex it takes */
  return CM_OK;
}

typedef struct tries {
  const cm_graph *graph;
  const cm_bisect_options *options;
  cm_run *run;
  int64_t *degree; /* [vertices] */
  uint8_t **side;  /* [tries][vertices] */
  uint64_t *cut;   /* [tries] */
} tries;

static cm_status bisect_once(void *context, size_t try, cm_error *error)
{
  tries *all = context;
  cm_random random;
  cm_random_init(&random, all->options->seed, (uint64_t)all->options->stream, all->options->node << 8 | try);
  growth g;
  CM_TRY(CM_NEW(all->run->memory, all->side[try], all->graph->vertex_count, error));
  CM_TRY(growth_new(all->graph, all->degree, &random, all->run, &g, error));
  cm_status status = grow(&g, all->options->half, &random, all->run, &all->cut[try], error);
  for (uint32_t v = 0; v < all->graph->vertex_count; v++)
    all->side[try][v] = g.place[v] == ABSENT;
  growth_free(&g);
  return status;
}

static cm_status sum_degrees(tries *all, cm_error *error)
{
  const cm_graph *graph = all->graph;
  CM_TRY(CM_NEW(all->run->memory, all->degree, graph->vertex_count, error));
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++)
      all->degree[v] += (int64_t)graph->weight[i];
    if (v % CHECK_EVERY == 0 && cm_run_check(all->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_bisect(const cm_graph *graph, const cm_bisect_options *options, cm_run *run, uint8_t *side, uint64_t *cut,
                    cm_error *error)
{
  tries all = {.graph = graph, .options = options, .run = run};
  uint32_t count = options->tries;
  if (graph->vertex_count == 0 || options->half.target == 0) {
    memset(side, 0, graph->vertex_count);
    *cut = 0;
    return CM_OK;
  }
  cm_status status = CM_NEW(run->memory, all.side, count, error);
  CM_THEN(status, CM_NEW(run->memory, all.cut, count, error));
  CM_THEN(status, sum_degrees(&all, error));
  CM_THEN(status, cm_parallel(run, count, bisect_once, &all, error));
  if (status == CM_OK) {
    uint32_t best = 0;
    for (uint32_t t = 1; t < count; t++)
      if (all.cut[t] < all.cut[best])
        best = t;
    memcpy(side, all.side[best], graph->vertex_count);
    *cut = all.cut[best];
  }
  for (uint32_t t = 0; all.side != NULL && t < count; t++)
    cm_free(all.side[t]);
  CM_FREE(all.side, all.cut, all.degree);
  return status;
}

/* ---- recursion ---- */

/* A set of vertices still to be split: a range of one shared array, and the graph of these alone, so that what was cut
 * once is not read again. */
typedef struct piece {
  uint32_t begin, end; /* in recursion->vertex */
  uint32_t parts;      /* that it is to become; 0: as the capacity asks */
  uint64_t node;       /* number in the tree of pieces, for its random stream */
  const cm_graph *graph; /* NULL: it is finished */
  cm_graph *own;         /* the same where the piece has it freed: not that of the first */
} piece;

typedef struct recursion {
  const cm_graph *graph;
  const cm_partition_options *options;
  cm_run *run;
  uint32_t *vertex;  /* [vertices] pieces as ranges */
  uint32_t *local;   /* [vertices] of the piece under way: the vertices of its halves, by its own numbers */
  uint32_t *scratch; /* [vertices] for splitting, then for cm_graph_induce */
  uint8_t *side;     /* [vertices] */
  piece *stack;      /* [vertices + 1] depth first, left side first */
  uint32_t depth, done;
} recursion;

/* Splits one piece's range and local numbers: selected vertices first, order kept inside both. How many are selected. */
static uint32_t split_range(recursion *r, piece p)
{
  uint32_t count = p.end - p.begin, left = 0;
  for (uint32_t i = 0; i < count; i++)
    left += r->side[i];
  uint32_t a = 0, b = left;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t to = r->side[i] ? a++ : b++;
    r->scratch[to] = r->vertex[p.begin + i];
    r->local[to] = i;
  }
  memcpy(r->vertex + p.begin, r->scratch, count * sizeof *r->vertex);
  return left;
}

static bool finished(const recursion *r, piece p)
{
  if (p.end - p.begin <= 1 || p.parts == 1)
    return true;
  if (p.parts > 1)
    return false;
  uint64_t size = 0;
  for (uint32_t i = p.begin; i < p.end; i++)
    size += r->graph->size[r->vertex[i]];
  return size <= r->options->capacity;
}

/* Puts one half of a piece on the stack. */
static cm_status push_half(recursion *r, piece whole, piece half, cm_error *error)
{
  if (!finished(r, half) && cm_graph_induce(whole.graph, r->local + (half.begin - whole.begin), half.end - half.begin,
                                            r->scratch, r->run, &half.own, error) != CM_OK)
    return error->status;
  half.graph = half.own;
  r->stack[r->depth++] = half;
  return CM_OK;
}

static cm_status split(recursion *r, piece p, cm_error *error)
{
  const cm_graph *graph = p.graph;
  uint64_t cut;
  uint32_t left_parts = (p.parts + 1) / 2;
  cm_bisect_options options = {.half = {.target = graph->vertex_count / 2},
                               .tries = r->options->bisection_tries,
                               .seed = r->options->seed,
                               .node = p.node,
                               .stream = CM_STREAM_BISECTION};
  if (p.parts > 0)
    options.half = (cm_half){.by_size = true, .target = (uint64_t)((unsigned __int128)graph->size_total * left_parts / p.parts)};
  CM_TRY(cm_bisect(graph, &options, r->run, r->side, &cut, error));
  uint32_t middle = p.begin + split_range(r, p);
  CM_TRY(push_half(r, p, (piece){middle, p.end, p.parts - left_parts, 2 * p.node + 1, NULL, NULL}, error));
  return push_half(r, p, (piece){p.begin, middle, left_parts, 2 * p.node, NULL, NULL}, error);
}

static void settle(recursion *r, piece p, uint32_t *part, uint32_t *next)
{
  for (uint32_t i = p.begin; i < p.end; i++)
    part[r->vertex[i]] = *next;
  r->done += p.end - p.begin;
  *next += p.end > p.begin ? 1 : 0;
}

static cm_status recurse(recursion *r, uint32_t *part, uint32_t *parts, cm_error *error)
{
  uint32_t n = r->graph->vertex_count, next = 0;
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < n; v++)
    r->vertex[v] = v;
  if (n > 0) {
    piece first = {0, n, r->options->parts, 1, NULL, NULL};
    first.graph = finished(r, first) ? NULL : r->graph;
    r->stack[r->depth++] = first;
  }
  while (r->depth > 0 && status == CM_OK) {
    piece p = r->stack[--r->depth];
    if (p.graph == NULL) {
      settle(r, p, part, &next);
      continue;
    }
    status = split(r, p, error);
    CM_THEN(status, cm_run_progress(r->run, (double)r->done / n, -1, n, NAN, error));
    cm_graph_free(p.own);
  }
  while (r->depth > 0)
    cm_graph_free(r->stack[--r->depth].own);
  if (status == CM_OK)
    *parts = next;
  return status;
}

cm_status cm_bisect_recursively(const cm_graph *graph, const cm_partition_options *options, cm_run *run,
                                uint32_t *part, uint32_t *parts, cm_error *error)
{
  recursion r = {.graph = graph, .options = options, .run = run};
  uint32_t n = graph->vertex_count;
  for (uint32_t v = 0; v < n; v++)
    if (graph->size[v] > options->capacity)
      return cm_fail(error, CM_INTERNAL, "vertex %u of size %u exceeds the capacity %llu", v, graph->size[v],
                     (unsigned long long)options->capacity);
  cm_status status = CM_NEW(run->memory, r.vertex, n, error);
  CM_THEN(status, CM_NEW(run->memory, r.local, n, error));
  CM_THEN(status, CM_NEW(run->memory, r.scratch, n, error));
  CM_THEN(status, CM_NEW(run->memory, r.side, n, error));
  CM_THEN(status, CM_NEW(run->memory, r.stack, (size_t)n + 1, error));
  CM_THEN(status, recurse(&r, part, parts, error));
  CM_FREE(r.vertex, r.local, r.scratch, r.side, r.stack);
  return status;
}
