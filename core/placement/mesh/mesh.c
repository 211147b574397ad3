/* Happy path: three quick descents try what suits the network (merging by weight, merging by algebraic distance, a
 * spectral start) -> a full descent of the best kind: several coarse starts, each from one cell of all cores on,
 * halving the cells as long as the graph has vertices for them; the best goes on to finer graphs and cells, annealed on
 * every level; within the limits on the finest; more such descents, where asked for, and V-cycles inside what two of
 * them have in common -> V-cycles inside the cores. */
#include "core/placement/mesh/mesh.h"

#include <math.h>
#include <string.h>

#include "core/base/threads.h"
#include "core/partition/options.h"
#include "core/placement/mesh/mesh_anneal.h"
#include "core/placement/mesh/mesh_coarsen.h"

/* Vertices per cell before cells are halved; those of a quick spectral start and of its V-cycles are many times
 * more, as it knows nothing of limits. */
static const double per_cell = 40, per_cell_layout = 200;
/* Temperatures, in typical costs of a move (cm_mesh_typical): after halving the cells, where all is new; at the end of
 * every level. */
static const double hot_split = 1, cold_end = 0.05;
/* Coarser levels get (vertices of the finest / theirs) ^ power times as many visits of each vertex; the finest at least
 * so many. */
static const double power = 0.5, sweeps_least = 40;
/* More cores take more visits. */
static const double cells_power = 0.25;
/* On 64 cores moves of vertices with more neighbours than this cost so much that fewer visits are paid for. */
static const double dense_degree = 300;

/* Ways to begin. */
typedef enum kind { BY_WEIGHT, BY_DISTANCE, BY_LAYOUT, KINDS } kind;

/* Temperatures at which a level starts that comes from a coarser one, and in a V-cycle: a spectral start is straight in
 * the large and must not be melted. */
static const double hot_fine[] = {[BY_WEIGHT] = 0.4, [BY_DISTANCE] = 0.5, [BY_LAYOUT] = 0.05};
static const double hot_cycle[] = {[BY_WEIGHT] = 0.25, [BY_DISTANCE] = 0.1, [BY_LAYOUT] = 0.05};
/* Cold sweeps pass over few vertices, so more of them are paid for. */
static const double sweeps_of[] = {[BY_WEIGHT] = 1, [BY_DISTANCE] = 1, [BY_LAYOUT] = 10};
/* So much of it is spent on each trial. */
static const double trial_share[] = {[BY_WEIGHT] = 0.1, [BY_DISTANCE] = 0.1, [BY_LAYOUT] = 0.02};
/* What a full descent makes of a trial's cost, compared with other kinds: a layout is nearly done from the outset. */
static const double yet_to_gain[] = {[BY_WEIGHT] = 1, [BY_DISTANCE] = 1, [BY_LAYOUT] = 1.1};

/* A descent on its way: graph level, grid and assignment. */
typedef struct descent {
  uint32_t level;
  cm_mesh_grid *grid;
  uint32_t *cell; /* [vertices of the level] */
  uint64_t cost;
} descent;

typedef struct work {
  const cm_axes *axes;
  const cm_mesh_options *options;
  cm_run *run;
  kind kind;
  double sweeps; /* on the finest level */
  uint64_t seed;
  const cm_hierarchy *hierarchy; /* borrowed */
  const float *chance; /* [CM_CHANCES] */
  descent *start;      /* [starts] */
  descent best;        /* result */
  uint32_t **other;    /* [descents] cells that the other descents found, NULL for the best one's */
} work;

/* Vertices of the coarsest graph, about. */
enum { COARSEST = 100 };

static void descent_free(descent *d)
{
  cm_mesh_grid_free(d->grid);
  cm_free(d->cell);
  *d = (descent){0};
}

/* Limits of the cells: exact on the finest graph, with room for one more vertex on coarser ones. */
static cm_status cell_limits(const work *w, const descent *d, uint64_t **most, cm_error *error)
{
  uint32_t cells = d->grid->columns * d->grid->rows;
  const cm_compact *g = w->hierarchy->level[d->level];
  if (CM_NEW(w->run->memory, *most, cells, error) != CM_OK)
    return error->status;
  for (uint32_t c = 0; c < cells; c++)
    if (d->grid->cores[c] > 0)
      (*most)[c] = d->grid->cores[c] * w->options->most + (d->level > 0 ? g->size_max : 0);
  return CM_OK;
}

/* Anneals the descent's level. */
static cm_status refine(const work *w, descent *d, double hot, cm_random *random, cm_error *error)
{
  cm_mesh_state *s;
  uint64_t *most;
  const cm_compact *g = w->hierarchy->level[d->level];
  if (cell_limits(w, d, &most, error) != CM_OK)
    return error->status;
  cm_status status = cm_mesh_state_new(g, d->grid, d->cell, most, w->run, &s, error);
  cm_free(most);
  if (status != CM_OK)
    return status;
  double unit = cm_mesh_typical(s), ratio = (double)w->hierarchy->level[0]->vertex_count / g->vertex_count;
  cm_mesh_schedule schedule = {hot * unit, cold_end * unit, sweeps_of[w->kind] * w->sweeps * pow(ratio, power),
                               w->chance};
  status = cm_mesh_rebalance(s, error);
  if (status == CM_LIMIT_BROKEN && d->level > 0)
    status = CM_OK; /* finer vertices will fit */
  if (status == CM_OK)
    status = cm_mesh_anneal(s, &schedule, random, error);
  if (status == CM_OK)
    status = cm_mesh_settle(s, 10, error);
  cm_mesh_state_free(s);
  d->cost = cm_mesh_total(g, d->grid, d->cell);
  return status;
}

/* Halves the cells. */
static cm_status split(const work *w, descent *d, cm_random *random, cm_error *error)
{
  cm_mesh_grid *finer;
  if (cm_mesh_halve_cells(w->hierarchy->level[d->level], d->grid, w->axes, random, w->run, d->cell, &finer, error) !=
      CM_OK)
    return error->status;
  cm_mesh_grid_free(d->grid);
  d->grid = finer;
  return CM_OK;
}

static cm_status uncoarsen(const work *w, descent *d, cm_error *error)
{
  uint32_t finer = d->level - 1, n = w->hierarchy->level[finer]->vertex_count, *cell;
  const uint32_t *map = w->hierarchy->map[finer];
  if (CM_NEW(w->run->memory, cell, n, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < n; v++)
    cell[v] = d->cell[map[v]];
  cm_free(d->cell);
  d->cell = cell;
  d->level = finer;
  return CM_OK;
}

/* Whether the graph has vertices enough for cells half as large. */
static bool splits_next(const work *w, const descent *d)
{
  double cells = (double)d->grid->columns * d->grid->rows;
  return !cm_mesh_grid_done(d->grid, w->axes) && w->hierarchy->level[d->level]->vertex_count >= 2 * cells * per_cell;
}

/* One step down: finer cells while the graph has vertices for them, else a finer graph. False at the end. */
static cm_status step(const work *w, descent *d, cm_random *random, bool *done, cm_error *error)
{
  bool fine_grid = cm_mesh_grid_done(d->grid, w->axes);
  *done = fine_grid && d->level == 0;
  if (*done)
    return CM_OK;
  if (splits_next(w, d) || (!fine_grid && d->level == 0)) {
    cm_status status = split(w, d, random, error);
    return status == CM_OK ? refine(w, d, hot_split, random, error) : status;
  }
  cm_status status = uncoarsen(w, d, error);
  return status == CM_OK ? refine(w, d, hot_fine[w->kind], random, error) : status;
}

/* The level to which all starts go. */
static uint32_t start_level(const work *w)
{
  uint32_t level = w->hierarchy->levels - 1;
  while (level > 0 && (double)w->hierarchy->level[level - 1]->vertex_count < 0.1 * w->hierarchy->level[0]->vertex_count)
    level--;
  return level;
}

static cm_status start_one(void *context, size_t index, cm_error *error)
{
  work *w = context;
  descent *d = &w->start[index];
  cm_random random;
  bool done = false;
  uint32_t last = start_level(w);
  cm_random_init(&random, w->seed, CM_STREAM_MESH, index);
  d->level = w->hierarchy->levels - 1;
  if (cm_mesh_grid_new(w->axes, w->run, &d->grid, error) != CM_OK ||
      CM_NEW(w->run->memory, d->cell, w->hierarchy->level[d->level]->vertex_count, error) != CM_OK)
    return error->status;
  while (!done && (d->level > last || splits_next(w, d)))
    if (step(w, d, &random, &done, error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* The ways of coarsening, each shared by the kinds that use it. */
typedef struct hierarchies {
  const work *work;
  cm_compact *graph;
  cm_hierarchy by[2]; /* cm_mesh_rating */
} hierarchies;

static cm_mesh_rating rating_of(kind k)
{
  return k == BY_WEIGHT ? CM_RATE_WEIGHT : CM_RATE_DISTANCE;
}

static cm_status coarsen_one(void *context, size_t index, cm_error *error)
{
  hierarchies *h = context;
  const work *w = h->work;
  return cm_mesh_coarsen(h->graph, (cm_mesh_rating)index, NULL, COARSEST, w->seed, w->run, &h->by[index], error);
}

/* The best of several coarse starts. */
static cm_status start_best(work *w, uint32_t starts, descent *d, cm_error *error)
{
  uint32_t best = 0;
  if (CM_NEW(w->run->memory, w->start, starts, error) != CM_OK)
    return error->status;
  cm_status status = cm_parallel(w->run, starts, start_one, w, error);
  for (uint32_t i = 1; i < starts; i++)
    best = w->start[i].cost < w->start[best].cost ? i : best;
  *d = w->start[best];
  w->start[best] = (descent){0};
  for (uint32_t i = 0; i < starts; i++)
    descent_free(&w->start[i]);
  cm_free(w->start);
  w->start = NULL;
  return status;
}

/* A spectral start on the finest level, or, quickly, on the coarsest level that has enough vertices for all cells. */
static cm_status start_by_layout(const work *w, bool quick, descent *d, cm_random *random, cm_error *error)
{
  double cells = (double)w->axes->columns * w->axes->rows;
  d->level = quick ? w->hierarchy->levels - 1 : 0;
  while (d->level > 0 && w->hierarchy->level[d->level]->vertex_count < cells * per_cell_layout)
    d->level--;
  cm_status status = cm_mesh_grid_new(w->axes, w->run, &d->grid, error);
  while (status == CM_OK && !cm_mesh_grid_done(d->grid, w->axes)) {
    cm_mesh_grid *finer;
    uint32_t *parent;
    status = cm_mesh_grid_split(d->grid, w->axes, w->run, &finer, &parent, error);
    if (status == CM_OK) {
      cm_free(parent);
      cm_mesh_grid_free(d->grid);
      d->grid = finer;
    }
  }
  if (status == CM_OK)
    status = CM_NEW(w->run->memory, d->cell, w->hierarchy->level[d->level]->vertex_count, error);
  if (status == CM_OK)
    status = cm_mesh_layout(w->hierarchy, d->level, d->grid, w->seed, w->run, d->cell, error);
  return status == CM_OK ? refine(w, d, hot_fine[w->kind], random, error) : status;
}

/* A whole descent into w->best; quick: from one start. */
static cm_status descend(work *w, bool quick, cm_error *error)
{
  descent d = {0};
  cm_random random;
  cm_random_init(&random, w->seed, CM_STREAM_MESH, UINT64_MAX);
  cm_status status = w->kind == BY_LAYOUT ? start_by_layout(w, quick, &d, &random, error)
                                          : start_best(w, quick ? 1 : w->options->starts, &d, error);
  for (bool done = false; status == CM_OK && !done;)
    status = step(w, &d, &random, &done, error);
  if (status != CM_OK)
    descent_free(&d);
  w->best = d;
  return status;
}

/* Anneals on the way back from a graph that was coarsened inside the cores. */
static cm_status climb(work *w, uint64_t round, cm_error *error)
{
  descent *d = &w->best;
  const cm_hierarchy *h = w->hierarchy;
  cm_random random;
  for (uint32_t level = 0; level + 1 < h->levels; level++) {
    uint32_t *cell;
    if (CM_NEW(w->run->memory, cell, h->level[level + 1]->vertex_count, error) != CM_OK)
      return error->status;
    for (uint32_t v = 0; v < h->level[level]->vertex_count; v++)
      cell[h->map[level][v]] = d->cell[v];
    cm_free(d->cell);
    d->cell = cell;
    d->level = level + 1;
  }
  cm_random_init(&random, w->seed, CM_STREAM_MESH, UINT64_MAX - round);
  while (d->level > 0)
    if (uncoarsen(w, d, error) != CM_OK || refine(w, d, hot_cycle[w->kind], &random, error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* Labels that keep apart what either mapping has in different cores; where pairs of cores have no numbers of 32 bits,
 * what the first has. */
static void overlay(uint32_t *label, const uint32_t *other, uint32_t vertices, uint32_t cells)
{
  if (other == NULL || cells > UINT16_MAX)
    return;
  for (uint32_t v = 0; v < vertices; v++)
    label[v] = label[v] * cells + other[v];
}

/* A V-cycle inside the cores, or inside what these and another mapping have in common; kept when better. */
static cm_status cycle(work *w, cm_compact *graph, const uint32_t *other, uint64_t round, cm_error *error)
{
  descent *d = &w->best;
  cm_hierarchy h;
  uint32_t n = graph->vertex_count, *kept, *label = NULL, all = w->axes->columns * w->axes->rows;
  uint64_t before = d->cost;
  /* Cells are kept, and fill badly with few vertices each; a layout is right in the large. */
  double cells = (w->kind == BY_LAYOUT ? per_cell_layout : per_cell) * all;
  uint32_t least = cells > COARSEST ? (uint32_t)fmin(cells, UINT32_MAX) : COARSEST;
  if (CM_NEW(w->run->memory, kept, n, error) != CM_OK)
    return error->status;
  memcpy(kept, d->cell, n * sizeof *kept);
  cm_status status = CM_NEW(w->run->memory, label, n, error);
  if (status == CM_OK) {
    memcpy(label, kept, n * sizeof *label);
    overlay(label, other, n, all);
    status = cm_mesh_coarsen(graph, rating_of(w->kind), label, least, w->seed + round, w->run, &h, error);
  }
  cm_free(label);
  if (status == CM_OK) {
    w->hierarchy = &h;
    status = climb(w, round, error);
    w->hierarchy = NULL;
    cm_hierarchy_free(&h);
  }
  if (status == CM_OK && d->cost > before) {
    memcpy(d->cell, kept, n * sizeof *kept);
    d->cost = before;
  }
  cm_free(kept);
  return status;
}

/* Cells of the final grid as numbers of cores. */
static cm_status number_cores(const work *w, uint32_t vertices, uint32_t *at, cm_error *error)
{
  uint32_t *core_at;
  const cm_axes *a = w->axes;
  if (CM_NEW(w->run->memory, core_at, (size_t)a->columns * a->rows, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < a->count; i++)
    core_at[(size_t)a->row[i] * a->columns + a->column[i]] = i;
  for (uint32_t v = 0; v < vertices; v++)
    at[v] = core_at[w->best.cell[v]];
  cm_free(core_at);
  return CM_OK;
}

/* One of the quick descents that compare the kinds. */
static cm_status try_one(void *context, size_t index, cm_error *error)
{
  work *trial = context;
  return descend(&trial[index], true, error);
}

/* The kind that suits the network best; its trial's result stays in `best`. */
static cm_status choose_kind(const work *model, const hierarchies *h, kind *chosen, descent *best, cm_error *error)
{
  work w[KINDS];
  double cells = (double)model->axes->columns * model->axes->rows;
  int kinds = h->graph->vertex_count < cells * per_cell ? BY_LAYOUT : KINDS; /* a layout shows only with many a cell */
  for (int k = 0; k < kinds; k++) {
    w[k] = *model;
    w[k].kind = (kind)k;
    w[k].sweeps = model->sweeps * trial_share[k];
    w[k].hierarchy = &h->by[rating_of((kind)k)];
  }
  cm_status status = cm_parallel(model->run, (size_t)kinds, try_one, w, error);
  int least = 0;
  for (int k = 1; k < kinds; k++)
    least = yet_to_gain[k] * (double)w[k].best.cost < yet_to_gain[least] * (double)w[least].best.cost ? k : least;
  if (status == CM_OK) {
    *chosen = (kind)least;
    *best = w[least].best;
    w[least].best = (descent){0};
  }
  for (int k = 0; k < kinds; k++)
    descent_free(&w[k].best);
  return status;
}

static cm_status descend_one(void *context, size_t index, cm_error *error)
{
  work *full = context;
  return descend(&full[index], false, error);
}

/* As many full descents as the options say; the best goes to `best`, the cells of the others to `other`. */
static cm_status descend_fully(work *w, cm_error *error)
{
  uint32_t count = w->options->descents, least = 0;
  work *full;
  if (CM_NEW(w->run->memory, full, count, error) != CM_OK ||
      CM_NEW(w->run->memory, w->other, count, error) != CM_OK) {
    cm_free(full);
    return error->status;
  }
  for (uint32_t k = 0; k < count; k++) {
    full[k] = *w;
    full[k].seed += k * UINT64_C(0x9e3779b97f4a7c15);
  }
  cm_status status = cm_parallel(w->run, count, descend_one, full, error);
  for (uint32_t k = 1; k < count && status == CM_OK; k++)
    least = full[k].best.cost < full[least].best.cost ? k : least;
  for (uint32_t k = 0; k < count && status == CM_OK; k++) {
    descent *d = &full[k].best;
    if (k == least) {
      w->best = *d;
      *d = (descent){0};
    } else {
      w->other[k] = d->cell;
      d->cell = NULL;
    }
  }
  for (uint32_t k = 0; k < count; k++)
    descent_free(&full[k].best);
  cm_free(full);
  return status;
}

/* The descents: quick ones, and full ones of the kind that was best. */
static cm_status descend_best_kind(work *w, cm_compact *graph, cm_error *error)
{
  descent trial = {0};
  hierarchies h = {.work = w, .graph = graph};
  cm_run_phase(w->run, "start");
  cm_status status = cm_parallel(w->run, 2, coarsen_one, &h, error);
  if (status == CM_OK)
    status = choose_kind(w, &h, &w->kind, &trial, error);
  cm_run_phase(w->run, "refine");
  if (status == CM_OK) {
    cm_hierarchy_free(&h.by[1 - rating_of(w->kind)]);
    w->hierarchy = &h.by[rating_of(w->kind)];
    status = descend_fully(w, error);
    w->hierarchy = NULL;
  }
  if (status == CM_OK && trial.cost < w->best.cost) {
    descent kept = w->best;
    w->best = trial;
    trial = kept;
  }
  descent_free(&trial);
  cm_hierarchy_free(&h.by[0]);
  cm_hierarchy_free(&h.by[1]);
  return status;
}

static cm_status search(work *w, cm_compact *graph, cm_error *error)
{
  uint32_t round = 0;
  cm_status status = descend_best_kind(w, graph, error);
  for (uint32_t k = 0; status == CM_OK && k < w->options->descents; k++)
    if (w->other[k] != NULL)
      status = cycle(w, graph, w->other[k], ++round, error);
  for (uint32_t k = 0; status == CM_OK && k < w->options->cycles; k++)
    status = cycle(w, graph, NULL, ++round, error);
  for (uint32_t k = 0; w->other != NULL && k < w->options->descents; k++)
    cm_free(w->other[k]);
  cm_free(w->other);
  w->other = NULL;
  return status;
}

cm_status cm_map_on_mesh(cm_compact *graph, const cm_axes *axes, const cm_mesh_options *options, cm_run *run,
                         uint32_t *at, uint64_t *cost, cm_error *error)
{
  float chance[CM_CHANCES];
  double cells = axes->count, n = graph->vertex_count > 0 ? graph->vertex_count : 1;
  work w = {.axes = axes, .options = options, .run = run, .seed = options->seed, .chance = chance};
  double degree = (double)graph->entry_count / n;
  double dense = degree / (dense_degree * fmax(1, cells / 64));
  w.sweeps = fmin(fmax(options->visits / n / (1 + dense), sweeps_least), options->sweeps_max);
  w.sweeps *= pow(cells / 64, cells_power);
  cm_mesh_chances(chance);
  cm_status status = search(&w, graph, error);
  if (status == CM_OK)
    status = number_cores(&w, graph->vertex_count, at, error);
  if (status == CM_OK)
    *cost = w.best.cost;
  descent_free(&w.best);
  return status;
}
