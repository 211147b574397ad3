#include "core/partition/nets/net_initial.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "core/partition/nets/net_bisection.h"
#include "core/partition/nets/net_levels.h"
#include "core/partition/options.h"

/* Vertices of the coarsest level of a bisection, by its attempt: few are soon grown into sides and leave little to chance, more
 * have cuts that few do not. */
static const uint32_t coarsest[] = {60, 120, 240};

/* Passes of refinement at most: of each start, and on each level. */
enum { START_PASSES = 5, LEVEL_PASSES = 8 };

/* How side 0 grows: by what the cut gains, by what ties a vertex to it, or by distance. */
enum { BY_GAIN, BY_TIES, BY_DISTANCE, KINDS };

/* One bisection under way. */
typedef struct halving {
  cm_net_bisection *bisection; /* of the coarsest level */
  cm_run *run;
  cm_random random;
  uint64_t target;             /* size of side 0 */
  const uint64_t *most;
  int64_t *tied;               /* [vertices] weight of its nets that have a pin on side 0 */
} halving;

/* Notes for the neighbours of v which nets are new to side 0. */
static void tie(halving *h, uint32_t v)
{
  const cm_net_graph *g = h->bisection->graph;
  for (uint64_t j = g->vertex_first[v]; j < g->vertex_first[v + 1]; j++) {
    uint32_t e = g->net[j];
    for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1] && h->bisection->net[e].count[0] == 0; i++)
      h->tied[g->pin[i]] += g->net_weight[e];
  }
}

static int64_t key_of(const halving *h, uint32_t v, int kind, uint32_t taken)
{
  switch (kind) {
  case BY_GAIN:
    return h->bisection->gain[v];
  case BY_TIES:
    return h->tied[v] - h->bisection->degree[v];
  default:
    return -(int64_t)taken;
  }
}

/* Everything is on side 1; vertices come over one by one. */
static cm_status grow(halving *h, int kind, cm_error *error)
{
  cm_net_bisection *b = h->bisection;
  cm_indexed_heap *heap = &b->heap[1];
  uint32_t n = b->graph->vertex_count, next = 0, taken = 0;
  for (uint32_t v = 0; v < n; v++)
    b->side[v] = 1;
  memset(h->tied, 0, n * sizeof *h->tied);
  cm_net_bisection_fill(b);
  cm_random_permutation(&h->random, b->order, n);
  while (b->load[0] < h->target) {
    uint32_t v = heap->count > 0 ? heap->item[0].vertex : CM_INDEXED_HEAP_ABSENT;
    if (v == CM_INDEXED_HEAP_ABSENT) {
      while (next < n && b->side[b->order[next]] == 0)
        next++;
      if (next == n)
        break;
      v = b->order[next];
    } else
      cm_indexed_heap_remove(heap, v);
    uint64_t after = b->load[0] + b->graph->size[v];
    if (after > h->target && after - h->target > h->target - b->load[0])
      break;
    if (kind == BY_TIES)
      tie(h, v);
    cm_net_bisection_move(b, v);
    taken++;
    for (uint32_t i = 0; i < b->touched_count; i++) {
      uint32_t u = b->touched[i];
      if (b->side[u] == 0)
        continue;
      if (b->place[u] == CM_INDEXED_HEAP_ABSENT) {
        CM_TRY(cm_indexed_heap_push(heap, u, key_of(h, u, kind, taken), h->run->memory, error));
      } else if (kind != BY_DISTANCE)
        cm_indexed_heap_change(heap, u, key_of(h, u, kind, taken));
    }
  }
  cm_indexed_heap_clear(heap);
  return CM_OK;
}

/* The best of all starts, after refinement: least excess, then least cut. side [vertices of the coarsest]. */
static cm_status best_start(halving *h, const cm_net_initial_options *o, uint32_t *side, cm_error *error)
{
  cm_net_bisection *b = h->bisection;
  uint64_t least_excess = UINT64_MAX;
  int64_t least = INT64_MAX;
  for (uint32_t t = 0; t < o->tries * KINDS; t++) {
    CM_TRY(grow(h, (int)(t % KINDS), error));
    CM_TRY(cm_net_bisection_refine(b, h->most, START_PASSES, &h->random, h->run, error));
    uint64_t excess = cm_net_bisection_excess(b, h->most);
    if (excess > least_excess || (excess == least_excess && b->cut >= least))
      continue;
    least_excess = excess;
    least = b->cut;
    memcpy(side, b->side, b->graph->vertex_count * sizeof *side);
  }
  return CM_OK;
}

/* What a bisection is to make of a graph. */
typedef struct cutting {
  uint64_t most[2]; /* size of either side */
  uint64_t target;  /* of side 0 */
  cm_net_initial_options options;
  cm_run *run;
} cutting;

static cm_status start(const cm_net_graph *g, const cutting *task, uint32_t *side, cm_error *error)
{
  cm_run *run = task->run;
  halving h = {.run = run, .target = task->target, .most = task->most};
  uint32_t *held;
  cm_random_init(&h.random, task->options.seed, CM_STREAM_NETS, task->options.stream);
  CM_TRY(CM_NEW(run->memory, held, g->vertex_count, error));
  cm_status status = CM_NEW(run->memory, h.tied, g->vertex_count, error);
  CM_THEN(status, cm_net_bisection_new(g, held, run, &h.bisection, error));
  CM_THEN(status, best_start(&h, &task->options, side, error));
  cm_net_bisection_free(h.bisection);
  CM_FREE(h.tied, held);
  return status;
}

/* What a bisection is judged by: the excess first. */
typedef struct score {
  uint64_t excess;
  int64_t cut;
} score;

/* Two sides on their way down. */
typedef struct descent {
  const cutting *task;
  score reached;
} descent;

static cm_status refine(void *context, const cm_hierarchy *levels, uint32_t level, uint32_t *side, cm_error *error)
{
  descent *d = context;
  const cutting *task = d->task;
  cm_net_bisection *b;
  cm_random random;
  cm_random_init(&random, task->options.seed, CM_STREAM_NETS_FM, task->options.stream + level);
  CM_TRY(cm_net_bisection_new(levels->level[level], side, task->run, &b, error));
  cm_net_bisection_fill(b);
  cm_status status = cm_net_bisection_refine(b, task->most, LEVEL_PASSES, &random, task->run, error);
  d->reached = (score){cm_net_bisection_excess(b, task->most), b->cut};
  cm_net_bisection_free(b);
  return status;
}

/* Two sides through levels, down from so many vertices. */
static cm_status bisect_once(cm_net_graph *g, const cutting *task, uint32_t vertices, uint32_t *side, score *reached,
                             cm_error *error)
{
  const cm_net_initial_options *o = &task->options;
  descent d = {.task = task};
  cm_hierarchy levels;
  cm_net_levels_options options = {
      .vertices_min = vertices, .size_max = 1 + g->size_total / vertices, .seed = o->seed, .stream = o->stream};
  CM_TRY(cm_net_levels_build(g, &options, task->run, &levels, error));
  cm_status status = start(cm_hierarchy_coarsest(&levels), task, side, error);
  CM_THEN(status, refine(&d, &levels, levels.levels - 1, side, error));
  CM_THEN(status, cm_hierarchy_descend(&levels, refine, &d, side, error));
  if (status == CM_OK)
    *reached = d.reached;
  cm_hierarchy_free(&levels);
  return status;
}

/* The best of some attempts: where a bisection is cut is a matter of luck, and those above decide for all below. */
static cm_status bisect(cm_net_graph *g, const cutting *all, uint32_t *side, cm_error *error)
{
  cutting once = *all;
  score best = {UINT64_MAX, INT64_MAX}, reached = best;
  uint32_t *trial, n = g->vertex_count;
  CM_TRY(CM_NEW(all->run->memory, trial, n, error));
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < all->options.attempts && status == CM_OK; i++) {
    once.options.stream = all->options.stream + ((uint64_t)i << 48);
    status = bisect_once(g, &once, coarsest[i % (sizeof coarsest / sizeof *coarsest)], trial, &reached, error);
    cm_run_add(all->run, all->options.share / all->options.attempts);
    if (status != CM_OK || reached.excess > best.excess || (reached.excess == best.excess && reached.cut >= best.cut))
      continue;
    best = reached;
    memcpy(side, trial, n * sizeof *side);
  }
  cm_free(trial);
  return status;
}

/* One piece of the graph and the parts that it is for. */
typedef struct piece {
  cm_net_graph *graph;
  uint32_t *vertex; /* [vertices of graph] their numbers in the whole */
  uint32_t first, parts;
} piece;

static void piece_free(piece *p)
{
  cm_net_graph_free(p->graph);
  cm_free(p->vertex);
}

/* One side of a piece. */
static cm_status cut_out(const piece *whole, cm_net_side side, uint32_t *local, cm_run *run, piece *made, cm_error *error)
{
  CM_TRY(cm_net_graph_induce(whole->graph, side, local, run, &made->graph, error));
  if (CM_NEW(run->memory, made->vertex, made->graph->vertex_count, error) != CM_OK) {
    cm_net_graph_free(made->graph);
    made->graph = NULL;
    return error->status;
  }
  for (uint32_t v = 0; v < whole->graph->vertex_count; v++)
    if (side.part[v] == side.which)
      made->vertex[local[v]] = whole->vertex[v];
  return CM_OK;
}

/* Splits a piece in two. The room is shared out as if every bisection to come needed as much. */
static cm_status split(const piece *whole, const cm_net_initial_options *options, cm_run *run, piece half[2],
                       cm_error *error)
{
  cutting halves = {.options = *options, .run = run};
  cm_net_graph *g = whole->graph;
  uint32_t parts[2] = {whole->parts / 2, whole->parts - whole->parts / 2}, *side, *local;
  double mean = (double)g->size_total / whole->parts, room = fmax((double)options->most / fmax(mean, 1e-9), 1);
  double share = pow(room, 1 / ceil(log2((double)whole->parts)));
  for (int i = 0; i < 2; i++) {
    half[i] = (piece){.first = whole->first + (i == 0 ? 0 : parts[0]), .parts = parts[i]};
    halves.most[i] = (uint64_t)fmin(mean * parts[i] * share + 1e-6, (double)options->most * parts[i]);
  }
  halves.target = (uint64_t)(mean * parts[0]);
  halves.options.stream = (options->stream << 24) + ((uint64_t)whole->first << 12) + whole->parts;
  CM_TRY(CM_NEW(run->memory, side, g->vertex_count, error));
  cm_status status = CM_NEW(run->memory, local, g->vertex_count, error);
  if (status == CM_OK) {
    status = bisect(g, &halves, side, error);
    for (uint32_t i = 0; i < 2 && status == CM_OK; i++)
      status = cut_out(whole, (cm_net_side){side, i}, local, run, &half[i], error);
    cm_free(local);
  }
  cm_free(side);
  return status;
}

/* Works off the pieces of a stack: the deepest first, so that there are never more than a few. */
static cm_status split_all(piece *stack, uint32_t count, const cm_net_initial_options *options, cm_run *run,
                           uint32_t *part, cm_error *error)
{
  cm_status status = CM_OK;
  const double all = (double)stack[0].graph->vertex_count * ceil(log2((double)options->parts));
  while (count > 0) {
    piece whole = stack[--count], half[2] = {{0}, {0}};
    if (status == CM_OK && whole.parts > 1) {
      cm_net_initial_options once = *options;
      once.share *= whole.graph->vertex_count / all;
      status = split(&whole, &once, run, half, error);
      stack[count++] = half[1];
      stack[count++] = half[0];
    } else if (status == CM_OK)
      for (uint32_t v = 0; v < whole.graph->vertex_count; v++)
        part[whole.vertex[v]] = whole.first;
    piece_free(&whole);
  }
  return status;
}

cm_status cm_net_initial(const cm_net_graph *graph, const cm_net_initial_options *options, cm_run *run, uint32_t *part,
                         cm_error *error)
{
  enum { DEPTH = 40 };
  piece stack[DEPTH] = {{.parts = options->parts}};
  uint32_t *all, n = graph->vertex_count;
  CM_TRY(CM_NEW(run->memory, all, n, error));
  cm_status status = CM_NEW(run->memory, stack[0].vertex, n, error);
  CM_THEN(status, cm_net_graph_induce(graph, (cm_net_side){all, 0}, stack[0].vertex, run, &stack[0].graph, error));
  cm_free(all);
  CM_TRY_OR(status, piece_free(&stack[0]));
  return split_all(stack, 1, options, run, part, error);
}
