#include "core/partition/axon/axon_search.h"

#include <string.h>

/* Whether the neurons leave room in one part fewer: other limits ask for more parts then, and each costs axons. */
static bool spare_part(const cm_axon_search *w, const cm_axon_solution *s)
{
  const cm_hypergraph *g = w->levels.graph[0];
  uint64_t size = 0, used = 0;
  memset(w->scratch, 0, s->parts * sizeof *w->scratch);
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    size += g->size[v];
    used += w->scratch[s->part[v]]++ == 0;
  }
  uint64_t limit = w->options->limits.neurons;
  return used > 1 && (limit == 0 || (double)size <= cm_axon_full * (double)(used - 1) * (double)limit);
}

cm_status cm_axon_cycle(cm_axon_search *w, uint32_t number, cm_axon_solution *best, cm_error *error)
{
  cm_axon_solution made = {.part = w->trial, .parts = best->parts};
  cm_axon_descent d = {.number = number, .hot = w->options->cycle_hot, .cold = CM_AXON_COLD};
  if (w->prices != NULL) {
    d.hot = 0.03;
    d.bias = 0.3;
  } else if (number % 2 == spare_part(w, best)) {
    d.dissolve = true;
    d.slack = CM_AXON_SLACK;
  }
  memcpy(made.part, best->part, w->levels.graph[0]->vertex_count * sizeof *made.part);
  if (!w->flat && cm_axon_levels_build(&w->levels, w->options, w->seed + number, made.part, w->run, error) != CM_OK)
    return error->status;
  cm_status status = cm_axon_descend(w, &d, &made, error);
  CM_THEN_IF(status, w->prices != NULL && made.cost < best->cost, cm_axon_take_places(w, &made, error));
  if (status == CM_NO_ROOM) /* no core is left for a part that must be split: the cycle was in vain */
    return CM_OK;
  if (status == CM_OK)
    cm_axon_keep_better(w, &made, best);
  return status;
}
