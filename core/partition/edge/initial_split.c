/* Recursive bisection: each half is grown from a random vertex, then refined; the best of several stays. */
#include "core/partition/edge/initial.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "core/partition/edge/two_way_fm.h"
#include "core/partition/indexed_heap.h"
#include "core/partition/options.h"

/* One bisection under way. */
typedef struct halving {
  const cm_csr_graph *graph;
  const cm_initial_options *options;
  cm_run *run;
  cm_pair_table table;
  cm_indexed_heap queue;
  uint32_t *side, *best; /* [vertices] 0 or 1 */
  cm_pair_seed *seed;    /* [vertices] those with an edge into the other half */
  uint64_t target;       /* of side 0 */
  uint64_t most[2];
  uint64_t load[2];
  uint64_t best_excess, best_cut;
} halving;

static void halving_free(halving *h)
{
  cm_pair_table_free(&h->table);
  cm_indexed_heap_free(&h->queue);
  CM_FREE(h->side, h->best, h->seed);
}

/* Weight of a vertex's edges to side 0 less that of the others: what the cut gains when it joins side 0. */
static int64_t gain_of(const halving *h, uint32_t v)
{
  const cm_csr_graph *g = h->graph;
  int64_t gain = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
    gain += h->side[g->neighbour[i]] == 0 ? (int64_t)cm_csr_graph_weight(g, i) : -(int64_t)cm_csr_graph_weight(g, i);
  return gain;
}

/* Takes v into side 0 and offers its neighbours. */
static cm_status take(halving *h, uint32_t v, cm_error *error)
{
  const cm_csr_graph *g = h->graph;
  if (h->queue.place[v] != CM_INDEXED_HEAP_ABSENT)
    cm_indexed_heap_remove(&h->queue, v);
  h->side[v] = 0;
  h->load[0] += g->size[v];
  h->load[1] -= g->size[v];
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t u = g->neighbour[i];
    if (h->side[u] == 0)
      continue;
    if (h->queue.place[u] == CM_INDEXED_HEAP_ABSENT) {
      CM_TRY(cm_indexed_heap_push(&h->queue, u, gain_of(h, u), h->run->memory, error));
    } else
      cm_indexed_heap_change(&h->queue, u, h->queue.item[h->queue.place[u]].key + 2 * (int64_t)cm_csr_graph_weight(g, i));
  }
  return CM_OK;
}

/* Side 0 grows from a random vertex; from another one where a piece of the graph is used up. */
static cm_status grow(halving *h, cm_random *random, cm_error *error)
{
  uint32_t n = h->graph->vertex_count, next = (uint32_t)cm_random_below(random, n);
  for (uint32_t v = 0; v < n; v++)
    h->side[v] = 1;
  h->load[0] = 0;
  h->load[1] = h->graph->size_total;
  while (h->load[0] < h->target) {
    uint32_t v;
    if (h->queue.count > 0)
      v = h->queue.item[0].vertex;
    else {
      while (h->side[next] == 0)
        next = next + 1 < n ? next + 1 : 0;
      v = next;
    }
    uint64_t after = h->load[0] + h->graph->size[v];
    if (after > h->target && after - h->target > h->target - h->load[0])
      break;
    CM_TRY(take(h, v, error));
  }
  cm_indexed_heap_clear(&h->queue);
  return CM_OK;
}

static uint32_t find_border(halving *h)
{
  const cm_csr_graph *g = h->graph;
  uint32_t count = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    int64_t gain = 0, degree = 0;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      int64_t weight = (int64_t)cm_csr_graph_weight(g, i);
      gain += h->side[g->neighbour[i]] != h->side[v] ? weight : -weight;
      degree += weight;
    }
    if (gain > -degree)
      h->seed[count++] = (cm_pair_seed){v, gain};
  }
  return count;
}

static cm_status refine(halving *h, cm_error *error)
{
  cm_pair pair = {.part = {0, 1}, .most = {h->most[0], h->most[1]}, .patience = 30 + h->graph->vertex_count / 20,
                  .work = UINT64_MAX, .seed = h->seed};
  for (uint32_t pass = 0; pass < h->options->passes; pass++) {
    pair.load[0] = h->load[0];
    pair.load[1] = h->load[1];
    pair.seeds = find_border(h);
    CM_TRY(cm_pair_refine(h->graph, h->side, &h->table, &pair, h->run, error));
    h->load[0] = pair.load[0];
    h->load[1] = pair.load[1];
    if (!pair.moved)
      break;
  }
  return CM_OK;
}

static cm_status bisect(halving *h, uint64_t node, cm_error *error)
{
  uint32_t n = h->graph->vertex_count;
  cm_memory *memory = h->run->memory;
  if (cm_pair_table_new(n, h->run, &h->table, error) != CM_OK || CM_NEW(memory, h->side, n, error) != CM_OK ||
      CM_NEW(memory, h->best, n, error) != CM_OK || CM_NEW(memory, h->seed, n, error) != CM_OK)
    return error->status;
  h->queue.place = h->table.place;
  h->best_excess = h->best_cut = UINT64_MAX;
  for (uint32_t try = 0; try < h->options->tries; try++) {
    cm_random random;
    cm_random_init(&random, h->options->seed, CM_STREAM_BISECTION, (h->options->stream << 40) + (node << 8) + try);
    if (grow(h, &random, error) != CM_OK || refine(h, error) != CM_OK || cm_run_check(h->run, error) != CM_OK)
      return error->status;
    uint64_t cut = cm_csr_graph_cut(h->graph, h->side), excess = 0;
    for (unsigned side = 0; side < 2; side++)
      excess += h->load[side] > h->most[side] ? h->load[side] - h->most[side] : 0;
    if (excess < h->best_excess || (excess == h->best_excess && cut < h->best_cut)) {
      h->best_excess = excess;
      h->best_cut = cut;
      memcpy(h->best, h->side, n * sizeof *h->best);
    }
  }
  return CM_OK;
}

cm_status cm_initial_halve(const cm_initial_block *block, const cm_initial_options *options, cm_run *run, uint32_t *side, cm_error *error)
{
  const cm_csr_graph *graph = block->graph;
  halving h = {.graph = graph, .options = options, .run = run};
  uint32_t parts = block->parts, low = parts / 2;
  double total = (double)graph->size_total, slack = (double)options->most * parts / total;
  slack = pow(slack > 1 ? slack : 1, 1 / ceil(log2(parts)));
  h.target = (uint64_t)(total * low / parts);
  h.most[0] = (uint64_t)(total * low / parts * slack);
  h.most[1] = (uint64_t)(total * (parts - low) / parts * slack);
  cm_status status = bisect(&h, block->node, error);
  if (status == CM_OK)
    memcpy(side, h.best, graph->vertex_count * sizeof *side);
  halving_free(&h);
  return status;
}

/* What the recursion carries. */
typedef struct recursion {
  const cm_initial_options *options;
  cm_run *run;
  uint32_t *part;
} recursion;

static cm_status split(const recursion *r, const cm_initial_block *block, cm_error *error);

/* One half, 0 or 1: its induced graph, then on. */
static cm_status descend(const recursion *r, const cm_initial_block *block, const uint32_t *side, uint32_t which, cm_error *error)
{
  const uint32_t n = block->graph->vertex_count, low = block->parts / 2;
  uint32_t *chosen = NULL, *local = NULL, *names = NULL, count = 0;
  cm_csr_graph *piece = NULL;
  cm_status status = CM_NEW(r->run->memory, chosen, n, error);
  CM_THEN(status, CM_NEW(r->run->memory, local, n, error));
  CM_THEN(status, CM_NEW(r->run->memory, names, n, error));
  if (status == CM_OK) {
    for (uint32_t v = 0; v < n; v++)
      if (side[v] == which) {
        names[count] = block->vertex[v];
        chosen[count++] = v;
      }
    status = cm_csr_graph_induce(block->graph, chosen, count, local, r->run, &piece, error);
  }
  CM_FREE(chosen, local);
  if (status == CM_OK)
    status = split(r, &(cm_initial_block){.graph = piece, .vertex = names, .parts = which == 0 ? low : block->parts - low,
                                          .base = block->base + which * low, .node = 2 * block->node + which}, error);
  cm_csr_graph_free(piece);
  cm_free(names);
  return status;
}

static cm_status split(const recursion *r, const cm_initial_block *block, cm_error *error)
{
  uint32_t *side, n = block->graph->vertex_count;
  if (block->parts == 1 || n == 0) {
    for (uint32_t v = 0; v < n; v++)
      r->part[block->vertex[v]] = block->base;
    return CM_OK;
  }
  cm_status status = CM_NEW(r->run->memory, side, n, error);
  CM_THEN(status, cm_initial_halve(block, r->options, r->run, side, error));
  for (uint32_t which = 0; which < 2 && status == CM_OK; which++)
    status = descend(r, block, side, which, error);
  cm_free(side);
  return status;
}

cm_status cm_initial_split(const cm_initial_block *block, const cm_initial_options *options, cm_run *run, uint32_t *part, cm_error *error)
{
  return split(&(recursion){.options = options, .run = run, .part = part}, block, error);
}
