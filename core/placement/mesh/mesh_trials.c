/* Which way to begin suits a network is tried: quick descents, then full ones of the best kind. */
#include "core/placement/mesh/mesh_descent.h"

#include "base/threads.h"

/* So many of the visits are spent on each trial. */
static const double trial_share[] = {[CM_BY_WEIGHT] = 0.1, [CM_BY_DISTANCE] = 0.1, [CM_BY_LAYOUT] = 0.02};
/* What a full descent makes of a trial's cost, compared with other kinds: a layout is nearly done from the outset. */
static const double yet_to_gain[] = {[CM_BY_WEIGHT] = 1, [CM_BY_DISTANCE] = 1, [CM_BY_LAYOUT] = 1.3};
/* A trial that costs so many times as much as another before the finest level ends there. */
static const double hopeless = 1.2;

/* The ways of coarsening, each shared by the kinds that use it. */
typedef struct hierarchies {
  cm_csr_graph *graph;
  cm_hierarchy by[2]; /* cm_mesh_rating */
} hierarchies;

/* The trials under way. */
typedef struct trials {
  cm_mesh_work work[CM_KINDS];
  bool dropped[CM_KINDS];
} trials;

/* One of the quick descents that compare the kinds, as far as the finest level but one. */
static cm_status try_one(void *context, size_t index, cm_error *error)
{
  trials *t = context;
  return cm_mesh_descend(&t->work[index], true, 1, error);
}

static cm_status finish_one(void *context, size_t index, cm_error *error)
{
  trials *t = context;
  return t->dropped[index] ? CM_OK : cm_mesh_descend_on(&t->work[index], 0, error);
}

/* What a full descent is expected to make of the trial. */
static double promise(const cm_mesh_work *w)
{
  return yet_to_gain[w->kind] * (double)w->best.cost / w->best.grid->unit;
}

/* Drops the trials that are far behind another on the same grid. */
static void drop_hopeless(trials *t, int kinds)
{
  for (int k = 0; k < kinds; k++)
    for (int other = 0; other < kinds; other++) {
      const cm_mesh_grid *a = t->work[k].best.grid, *b = t->work[other].best.grid;
      if (a->columns == b->columns && a->rows == b->rows &&
          promise(&t->work[k]) > hopeless * promise(&t->work[other]))
        t->dropped[k] = true;
    }
}

/* The kind that suits the network best; its trial's result stays in `best`. */
static cm_status choose_kind(const cm_mesh_work *model, const hierarchies *h, cm_mesh_kind *chosen,
                             cm_mesh_descent *best, cm_error *error)
{
  trials t = {0};
  double cells = (double)model->axes->columns * model->axes->rows;
  /* a layout shows only with many vertices a cell */
  int kinds = h->graph->vertex_count < cells * cm_mesh_vertices_per_core(CM_BY_DISTANCE) ? CM_BY_LAYOUT : CM_KINDS;
  for (int k = 0; k < kinds; k++) {
    t.work[k] = *model;
    t.work[k].kind = (cm_mesh_kind)k;
    t.work[k].sweeps = model->sweeps * trial_share[k];
    t.work[k].hierarchy = &h->by[cm_mesh_rating_of((cm_mesh_kind)k)];
    t.work[k].finest = 1 / (kinds * cm_mesh_levels_take(model, t.work[k].hierarchy, 1));
  }
  cm_status status = cm_parallel(model->run, (size_t)kinds, try_one, &t, error);
  if (status == CM_OK) {
    drop_hopeless(&t, kinds);
    status = cm_parallel(model->run, (size_t)kinds, finish_one, &t, error);
  }
  if (status == CM_OK) {
    int least = 0;
    while (t.dropped[least])
      least++;
    for (int k = least + 1; k < kinds; k++)
      if (!t.dropped[k] && promise(&t.work[k]) < promise(&t.work[least]))
        least = k;
    *chosen = (cm_mesh_kind)least;
    *best = t.work[least].best;
    t.work[least].best = (cm_mesh_descent){0};
  }
  for (int k = 0; k < kinds; k++)
    cm_mesh_descent_free(&t.work[k].best);
  return status;
}

static cm_status descend_one(void *context, size_t index, cm_error *error)
{
  cm_mesh_work *full = context;
  return cm_mesh_descend(&full[index], false, 0, error);
}

/* Of the time of descents, what annealing their levels is told to be: cells that split take the rest. */
static const double annealed = 0.85;

/* As many full descents as the options say; the best goes to `best`, the cells of the others to `other`. */
static cm_status descend_fully(cm_mesh_work *w, cm_error *error)
{
  uint32_t count = w->options->descents, least = 0;
  cm_mesh_work *full;
  CM_TRY_OR(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(full, count), CM_ARRAY(w->other, count)), cm_free(full));
  for (uint32_t k = 0; k < count; k++) {
    full[k] = *w;
    full[k].finest = annealed / (count * cm_mesh_levels_take(w, w->hierarchy, w->options->starts));
    full[k].seed += k * UINT64_C(0x9e3779b97f4a7c15);
  }
  cm_status status = cm_parallel(w->run, count, descend_one, full, error);
  for (uint32_t k = 1; k < count && status == CM_OK; k++)
    least = full[k].best.cost < full[least].best.cost ? k : least;
  for (uint32_t k = 0; k < count && status == CM_OK; k++) {
    cm_mesh_descent *d = &full[k].best;
    if (k == least) {
      w->best = *d;
      *d = (cm_mesh_descent){0};
    } else {
      w->other[k] = d->cell;
      d->cell = NULL;
    }
  }
  for (uint32_t k = 0; k < count; k++)
    cm_mesh_descent_free(&full[k].best);
  cm_free(full);
  return status;
}

/* A cycle takes much less than a descent, which has starts before. */
static const double cycle_takes = 0.15;

/* What all descents are of the time of descents and cycles. */
static double share_of_descents(const cm_mesh_options *o)
{
  return o->descents / (o->descents + cycle_takes * (o->descents - 1 + o->cycles));
}

cm_status cm_mesh_descend_best_kind(cm_mesh_work *w, cm_hierarchy *by_distance, cm_error *error)
{
  cm_mesh_descent trial = {0};
  hierarchies h = {.graph = by_distance->level[0], .by = {[CM_RATE_DISTANCE] = *by_distance}};
  *by_distance = (cm_hierarchy){0};
  const cm_mesh_coarsening how = {CM_RATE_WEIGHT, NULL, CM_MESH_COARSEST, w->seed};
  cm_status status = cm_mesh_coarsen(h.graph, &how, w->run, &h.by[CM_RATE_WEIGHT], error);
  CM_THEN(status, choose_kind(w, &h, &w->kind, &trial, error));
  cm_run_phase(w->run, "refine");
  if (status == CM_OK) {
    cm_hierarchy_free(&h.by[1 - cm_mesh_rating_of(w->kind)]);
    w->hierarchy = &h.by[cm_mesh_rating_of(w->kind)];
    const size_t mark = cm_run_within(w->run, share_of_descents(w->options));
    status = descend_fully(w, error);
    cm_run_leave(w->run, mark);
    w->hierarchy = NULL;
  }
  if (status == CM_OK && trial.cost < w->best.cost) {
    cm_mesh_descent kept = w->best;
    w->best = trial;
    trial = kept;
  }
  cm_mesh_descent_free(&trial);
  cm_hierarchy_free(&h.by[0]);
  cm_hierarchy_free(&h.by[1]);
  return status;
}

