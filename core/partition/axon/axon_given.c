#include "core/partition/axon/axon_search.h"

#include <math.h>

#include "core/partition/axon/axon_repair.h"
#include "core/partition/axon/axon_state.h"

/* Parts that exceed limits by so much of them on average are mended at little cost. */
static const double mended_max = 0.02;

/* Where copies ask for too much, so many limits a part on average are. */
static const double copies_max = 1;

/* Parts that leave too little room for copies, brought within the limits by sweeps of the finest level, at the temperature at which these
 * end. No parts where that cannot be. */
static cm_status mend_copies(cm_axon_search *w, cm_axon_solution *made, cm_error *error)
{
  cm_anneal_options sweeps = {.sweeps = w->options->fine_sweeps, .hot = CM_AXON_COLD, .cold = CM_AXON_COLD};
  cm_status status = cm_axon_sweep_flat(w, CM_AXON_START_MENDED, &sweeps, made, error);
  if (status != CM_OK || isinf(made->cost))
    made->parts = 0;
  return status;
}

cm_status cm_axon_measure_start(cm_axon_search *w, const uint32_t *start, cm_axon_solution *made, cm_error *error)
{
  cm_hypergraph *g = w->levels.graph[0];
  cm_axon_state *s;
  uint32_t most = w->options->parts_max < g->vertex_count ? w->options->parts_max : g->vertex_count;
  made->parts = 0;
  made->cost = INFINITY;
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    made->part[g->number[v]] = start[v];
    made->parts = start[v] >= made->parts ? start[v] + 1 : made->parts;
  }
  cm_axon_state_options options = {.limits = &w->options->limits, .part = made->part, .parts = made->parts, .parts_max = most};
  CM_TRY(cm_hypergraph_list_inbound(g, w->run, error));
  CM_TRY(cm_axon_state_new(g, &options, w->run, &s, error));
  cm_error none = {0};
  cm_status status = CM_OK;
  bool legal = cm_count_overfull(s) == 0, copies = s->copies != NULL;
  s->parts_max = w->options->parts_max;
  if (!legal && !copies && cm_total_excess(s) <= mended_max * made->parts) {
    status = cm_repair(s, &none);
    legal = status == CM_OK;
  }
  made->parts = s->part_count;
  if (legal && made->parts <= w->options->parts_max)
    made->cost = cm_axon_cost(s);
  else if (!copies || cm_total_excess(s) > copies_max * made->parts)
    made->parts = 0;
  cm_axon_state_free(s);
  if (status == CM_OK && made->parts > 0 && isinf(made->cost))
    return mend_copies(w, made, error);
  if (status != CM_OK && status != CM_NO_ROOM)
    *error = none;
  return status == CM_NO_ROOM ? CM_OK : status;
}
