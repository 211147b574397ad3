#include "core/partition/axon/axon_search.h"

/* What the axons pay, from scratch, and what they pay on average. */
static cm_status add_up(cm_axon_search *w, cm_axon_solution *s, cm_error *error)
{
  const cm_hypergraph *g = w->levels.graph[0];
  double sum = 0, ways = 0;
  uint32_t *seen;
  CM_TRY(CM_NEW(w->run->memory, seen, w->prices->parts, error));
  for (uint32_t e = 0; e < g->net_count; e++) {
    uint64_t price = 0, reached = 0;
    uint32_t home = s->part[g->net_source[e]];
    for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
      uint32_t p = s->part[cm_targets_next(&t)];
      bool new = seen[p] != e + 1;
      price += new ? cm_price(w->prices, home, p) : 0;
      reached += new && p != home;
      seen[p] = e + 1;
    }
    sum += (double)g->net_weight[e] * (double)price;
    ways += (double)g->net_weight[e] * (double)reached;
  }
  cm_free(seen);
  s->cost = sum;
  w->mean_price = ways > 0 ? sum / ways : 1;
  return CM_OK;
}

cm_status cm_axon_take_places(cm_axon_search *w, cm_axon_solution *s, cm_error *error)
{
  const cm_axon_places *places = w->options->places;
  const cm_hypergraph *g = w->levels.graph[0];
  uint32_t *at;
  CM_TRY(CM_NEW(w->run->memory, at, s->parts, error));
  for (uint32_t v = 0; v < g->vertex_count; v++)
    w->scratch[v] = s->part[g->number[v]];
  cm_status status = w->prices == NULL ? places->place(places->context, w->scratch, s->parts, at, &w->prices, error)
                                       : places->rearrange(places->context, w->scratch, at, error);
  if (status == CM_OK) {
    for (uint32_t v = 0; v < g->vertex_count; v++)
      s->part[v] = at[s->part[v]];
    s->parts = w->prices->parts;
    status = add_up(w, s, error);
  }
  cm_free(at);
  return status;
}
