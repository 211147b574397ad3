#include "core/partition/step/step_window.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "core/partition/axon/signature.h"

double cm_step_growth_looks(const cm_topology *t, uint32_t parts)
{
  double looks = 0;
  for (uint32_t e = 0; e < t->net_count; e++) {
    double targets = (double)(t->net_first[e + 1] - t->net_first[e]);
    looks += targets * parts * -expm1(-targets / parts);
  }
  return looks;
}

cm_status cm_step_window_new(const cm_step_state *s, uint64_t seed, cm_step_window *window, cm_error *error)
{
  const cm_topology *t = s->demand->network;
  cm_step_window w = {0};
  cm_hypergraph *graph = NULL;
  cm_memory *memory = s->run->memory;
  cm_status status = CM_OK;
  if (CM_NEW(memory, w.order, t->vertex_count, error) != CM_OK ||
      CM_NEW(memory, w.from, t->net_count, error) != CM_OK ||
      cm_hypergraph_from_topology(s->demand, (cm_hypergraph_kind){.unordered = true}, s->run, &graph, error) != CM_OK ||
      cm_hypergraph_list_inbound(graph, s->run, error) != CM_OK || cm_order_by_sources(graph, cm_mix(seed), s->run, w.order, error) != CM_OK)
    status = error->status;
  cm_hypergraph_free(graph);
  CM_THEN(status, CM_NEW(memory, w.target, t->pin_count, error));
  CM_END(status, *window = w, cm_step_window_free(&w));
}

void cm_step_window_free(cm_step_window *window)
{
  CM_FREE(window->order, window->target, window->from);
  *window = (cm_step_window){0};
}

void cm_step_window_reset(cm_step_window *w, const cm_step_state *s)
{
  const cm_topology *t = s->demand->network;
  size_t bytes = t->net_count * sizeof *w->from;
  memcpy(w->from, t->net_first, bytes);
  for (uint32_t i = 0; i < t->vertex_count; i++) {
    uint32_t v = w->order[i];
    for (uint64_t k = s->in_first[v]; k < s->in_first[v + 1]; k++)
      w->target[w->from[s->in_net[k]]++] = i;
  }
  memcpy(w->from, t->net_first, bytes);
}
