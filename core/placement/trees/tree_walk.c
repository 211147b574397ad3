#include "core/placement/trees/tree_walk.h"

#include <stdlib.h>

#include "base/order.h"
#include "core/partition/options.h"

void cm_tree_walk_seat(cm_tree_walk *w, uint32_t u, uint32_t there)
{
  uint32_t v = w->occupant[there], here = w->seat[u];
  w->occupant[there] = u;
  w->occupant[here] = v;
  w->seat[u] = there;
  if (v != CM_NO_PART)
    w->seat[v] = here;
  w->swaps++;
}

static cm_status sit(cm_tree_walk *w, const uint32_t *core, cm_error *error)
{
  const cm_region *r = w->region;
  CM_TRY(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->seat, w->casts->parts), CM_ARRAY(w->occupant, r->core_count)));
  for (uint32_t i = 0; i < r->core_count; i++)
    w->occupant[i] = CM_NO_PART;
  for (uint32_t p = 0; p < w->casts->parts; p++) {
    const uint32_t *found = bsearch(&core[p], r->cores, r->core_count, sizeof *r->cores, cm_ascending);
    w->seat[p] = (uint32_t)(found - r->cores);
    w->occupant[w->seat[p]] = p;
  }
  return CM_OK;
}

cm_status cm_tree_walk_new(const cm_tree_start *start, cm_tree_walk **walk, cm_error *error)
{
  const cm_place_task *task = start->task;
  cm_tree_walk *w;
  CM_TRY(CM_NEW(task->run->memory, w, 1, error));
  *w = (cm_tree_walk){.run = task->run, .chip = task->chip, .region = task->region, .casts = start->casts};
  cm_random_init(&w->random, task->seed, CM_STREAM_TREES, start->stream);
  if (sit(w, start->core, error) != CM_OK || start->kind->begin(w, start->core, error) != CM_OK) {
    cm_tree_walk_free(w);
    return error->status;
  }
  *walk = w;
  return CM_OK;
}

void cm_tree_walk_free(cm_tree_walk *w)
{
  if (w == NULL)
    return;
  CM_FREE(w->seat, w->occupant, w->number, w->chance, w->drawn, w->cell, w->price, w->least, w->at_home, w->first_slot, w->slot);
  cm_tree_prices_free(w->prices);
  cm_trees_free(w->trees);
  cm_way_trees_free(w->ways);
  cm_free(w);
}
