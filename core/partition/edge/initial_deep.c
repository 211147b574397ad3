/* Deep multilevel bisection: a graph too large to be halved as it is, again and again, is coarsened until few vertices are left; on the
 * way back every block is halved as soon as its halves have vertices enough, so that a bisection looks at few of them. What can
 * fail: memory, a stop. */
#include <math.h>
#include <string.h>

#include "base/members.h"
#include "base/threads.h"
#include "core/partition/edge/clustering.h"
#include "core/partition/edge/initial.h"
#include "core/partition/edge/label_propagation.h"

/* A block is halved where that leaves so many vertices in each half; coarsening ends where two such halves are left. Blocks are
 * dealt out to so many tasks. */
enum { HALF_VERTICES = 60, ROUNDS = 3, TASKS = 64 };

typedef struct deep {
  const cm_initial_options *options;
  cm_run *run;
  cm_hierarchy hierarchy;
  const cm_csr_graph *graph;   /* the level under way */
  uint32_t *block;             /* [vertices of the finest level] */
  uint32_t *parts, *base;      /* [options->parts] that a block becomes, and the first of them; of the `blocks` there are */
  uint32_t blocks, depth;
  uint32_t *vertex, *local;    /* [vertices] by block; scratch of induced graphs */
  uint32_t *first;             /* [options->parts + 2] where a block begins in `vertex` */
  uint32_t *part;              /* [vertices of the finest level] what is asked for */
  uint64_t *load, *most;       /* [options->parts] */
} deep;

static void sort_by_block(deep *d)
{
  uint32_t n = d->graph->vertex_count;
  memset(d->first, 0, (d->blocks + (size_t)2) * sizeof *d->first);
  cm_sort_members(d->block, n, d->blocks, d->first, d->vertex);
}

/* Halves one block, or on the finest level makes its parts. Blocks share no vertices, so nothing that one writes is another's. */
static cm_status work_on(deep *d, uint32_t b, bool last, cm_error *error)
{
  const uint32_t *vertex = d->vertex + d->first[b];
  uint32_t count = d->first[b + 1] - d->first[b], *side;
  cm_csr_graph *piece;
  if (count == 0)
    return CM_OK;
  CM_TRY(cm_csr_graph_induce(d->graph, vertex, count, d->local, d->run, &piece, error));
  const cm_initial_block block = {.graph = piece, .vertex = vertex, .parts = d->parts[b], .base = d->base[b],
                                  .node = (UINT64_C(1) << d->depth) + b};
  if (last) {
    cm_status status = cm_initial_split(&block, d->options, d->run, d->part, error);
    cm_csr_graph_free(piece);
    return status;
  }
  cm_status status = CM_NEW(d->run->memory, side, count, error);
  CM_THEN(status, cm_initial_halve(&block, d->options, d->run, side, error));
  for (uint32_t i = 0; status == CM_OK && i < count; i++)
    d->block[vertex[i]] = 2 * b + side[i];
  cm_free(side);
  cm_csr_graph_free(piece);
  return status;
}

static cm_status work_on_share(deep *d, size_t task, bool last, cm_error *error)
{
  uint32_t end = (uint32_t)cm_slice_begin(d->blocks, task + 1, TASKS);
  for (uint32_t b = (uint32_t)cm_slice_begin(d->blocks, task, TASKS); b < end; b++)
    if (work_on(d, b, last, error) != CM_OK || cm_run_check(d->run, error) != CM_OK)
      return error->status;
  return CM_OK;
}

static cm_status halve_share(void *context, size_t task, cm_error *error)
{
  return work_on_share(context, task, false, error);
}

static cm_status finish_share(void *context, size_t task, cm_error *error)
{
  return work_on_share(context, task, true, error);
}

static cm_status halve_all(deep *d, cm_error *error)
{
  sort_by_block(d);
  CM_TRY(cm_parallel(d->run, TASKS, halve_share, d, error));
  for (uint32_t b = d->blocks; b-- > 0;) { /* from the last on: what is read is not yet written over */
    uint32_t parts = d->parts[b], base = d->base[b];
    d->parts[2 * b] = parts / 2;
    d->base[2 * b] = base;
    d->parts[2 * b + 1] = parts - parts / 2;
    d->base[2 * b + 1] = base + parts / 2;
  }
  d->blocks *= 2;
  d->depth++;
  return CM_OK;
}

/* Vertices go to the neighbouring block that they are tied to most. A block has its share of the slack that the limit leaves, and on
 * coarse levels room for a vertex. */
static cm_status refine(deep *d, cm_error *error)
{
  const cm_csr_graph *g = d->graph;
  double share = (double)g->size_total / d->options->parts, slack = (double)d->options->most / share;
  slack = pow(slack > 1 ? slack : 1, d->depth / ceil(log2(d->options->parts)));
  memset(d->load, 0, d->blocks * sizeof *d->load);
  for (uint32_t v = 0; v < g->vertex_count; v++)
    d->load[d->block[v]] += g->size[v];
  for (uint32_t b = 0; b < d->blocks; b++) {
    double mean = share * d->parts[b], coarse = g->size_max > 1 ? ceil(mean) + g->size_max : 0;
    d->most[b] = (uint64_t)fmax(mean * slack, coarse);
  }
  cm_label_propagation_options options = {.rounds = ROUNDS, .most_of = d->most, .seed = d->options->seed,
                                          .stream = (d->options->stream << 32) + (UINT64_C(1) << 31) + d->blocks};
  return cm_label_propagation(g, &options, d->run, &(cm_parts){d->block, d->blocks, d->load}, error);
}

/* Halves the blocks of a level as long as their halves have vertices enough; those of the finest level are made parts instead. */
static cm_status halve_on(deep *d, uint32_t level, cm_error *error)
{
  while (level > 0 && d->blocks <= d->options->parts / 2 && d->graph->vertex_count / d->blocks >= 2 * HALF_VERTICES)
    CM_TRY(halve_all(d, error));
  return CM_OK;
}

static cm_status refine_and_halve(void *context, const cm_hierarchy *h, uint32_t level, CM_UNUSED uint32_t *block, cm_error *error)
{
  deep *d = context;
  d->graph = h->level[level];
  if (d->blocks > 1 && refine(d, error) != CM_OK)
    return error->status;
  return halve_on(d, level, error);
}

static cm_status descend(deep *d, cm_error *error)
{
  d->graph = cm_hierarchy_coarsest(&d->hierarchy);
  CM_TRY(halve_on(d, d->hierarchy.levels - 1, error));
  CM_TRY(cm_hierarchy_descend(&d->hierarchy, refine_and_halve, d, d->block, error));
  sort_by_block(d);
  return cm_parallel(d->run, TASKS, finish_share, d, error);
}

cm_status cm_initial_deep(cm_csr_graph *graph, const cm_initial_options *options, cm_run *run, uint32_t *part, cm_error *error)
{
  deep d = {.options = options, .run = run, .part = part, .blocks = 1};
  uint32_t n = graph->vertex_count;
  cm_csr_coarsen_options levels = {.vertices_min = 2 * HALF_VERTICES, .growth = 4, .seed = options->seed + options->stream,
                                 .size_max = graph->size_total / HALF_VERTICES / 2 + 1};
  cm_memory *memory = run->memory;
  cm_status status = cm_csr_coarsen(graph, &levels, run, &d.hierarchy, error);
  if (status == CM_OK && (CM_NEW(memory, d.block, n, error) != CM_OK ||
                          CM_NEW(memory, d.vertex, n, error) != CM_OK || CM_NEW(memory, d.local, n, error) != CM_OK ||
                          CM_NEW(memory, d.parts, options->parts, error) != CM_OK || CM_NEW(memory, d.base, options->parts, error) != CM_OK ||
                          CM_NEW(memory, d.first, (size_t)options->parts + 2, error) != CM_OK ||
                          CM_NEW(memory, d.load, options->parts, error) != CM_OK || CM_NEW(memory, d.most, options->parts, error) != CM_OK))
    status = error->status;
  if (status == CM_OK) {
    d.parts[0] = options->parts;
    status = descend(&d, error);
  }
  void *const blocks[] = {d.block, d.vertex, d.local, d.parts, d.base, d.first, d.load, d.most};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    cm_free(blocks[i]);
  cm_hierarchy_free(&d.hierarchy);
  return status;
}
