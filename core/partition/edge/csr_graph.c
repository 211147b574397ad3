#include "core/partition/edge/csr_graph.h"

#include <string.h>

#include "base/threads.h"
#include "core/partition/edge/csr_graph_rows.h"

enum {
  CHECK_EVERY = 4096,
  RANGE_PINS = 1 << 21, /* pins of one parallel piece of building */
  RANGES_MAX = 64
};

void cm_csr_graph_free(cm_csr_graph *graph)
{
  if (graph == NULL)
    return;
  CM_FREE(graph->first, graph->neighbour, graph->weight, graph->wide, graph->size, graph);
}

cm_status cm_csr_new_weights(cm_run *run, cm_csr_graph *graph, cm_csr_width kept, cm_error *error)
{
  return kept == CM_CSR_NARROW ? CM_NEW(run->memory, graph->weight, graph->entry_count, error)
         : kept == CM_CSR_WIDE ? CM_NEW(run->memory, graph->wide, graph->entry_count, error)
                               : CM_OK;
}

cm_status cm_csr_new_graph(cm_run *run, uint32_t vertices, cm_csr_graph **graph, cm_error *error)
{
  cm_csr_graph *made;
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  made->vertex_count = vertices;
  made->weight_unit = 1;
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(made->first, (size_t)vertices + 1), CM_ARRAY(made->size, vertices)),
            cm_csr_graph_free(made));
  *graph = made;
  return CM_OK;
}

void cm_csr_count_sizes(cm_csr_graph *graph)
{
  graph->size_total = 0;
  graph->size_max = 0;
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    graph->size_total += graph->size[v];
    graph->size_max = graph->size[v] > graph->size_max ? graph->size[v] : graph->size_max;
  }
}

void cm_csr_count_weights(cm_csr_graph *graph)
{
  uint64_t sum = 0;
  for (uint64_t i = 0; i < graph->entry_count; i++)
    sum += cm_csr_graph_weight(graph, i);
  graph->weight_total = sum / 2;
}

/* ---- from a topology ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

typedef struct survey {
  uint64_t common, least, most;
} survey;

static void survey_weight(survey *s, uint64_t weight)
{
  if (weight == s->most && weight == s->least)
    return;
  if (s->common != 1)
    s->common = common_divisor(weight, s->common);
  s->least = weight < s->least ? weight : s->least;
  s->most = weight > s->most ? weight : s->most;
}

/* What all weights have in common, and whether what remains is 1 everywhere, or fits in 32 bits. */
static cm_csr_width survey_weights(const cm_demand *demand, uint64_t *unit)
{
  const cm_topology *topology = demand->network;
  survey s = {.least = UINT64_MAX};
  if (topology->pin_weight != NULL)
    for (uint64_t i = 0; i < topology->pin_count; i++)
      survey_weight(&s, topology->pin_weight[i]);
  else if (demand->net_weight != NULL)
    for (uint32_t e = 0; e < topology->net_count; e++)
      survey_weight(&s, demand->net_weight[e]);
  else
    survey_weight(&s, topology->weight_scale);
  *unit = s.common > 0 ? s.common : 1;
  return s.least == s.most && s.most > 0 ? CM_CSR_UNIFORM : s.most / *unit <= UINT32_MAX ? CM_CSR_NARROW : CM_CSR_WIDE;
}

typedef struct builder {
  const cm_demand *demand;
  cm_csr_graph *graph;
  cm_run *run;
  uint64_t *next;   /* [vertices] where a row's next entry goes */
  uint32_t *border; /* [ranges + 1] vertices of each range */
} builder;

/* Counts the entries that pins into one range of vertices bring. */
static cm_status count_range(void *context, size_t range, cm_error *error)
{
  builder *b = context;
  const cm_topology *t = b->demand->network;
  uint32_t begin = b->border[range], end = b->border[range + 1];
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    uint64_t last = t->net_first[e + 1];
    if (e % CHECK_EVERY == 0 && cm_run_check(b->run, error) != CM_OK)
      return error->status;
    for (uint64_t i = cm_topology_first_pin(t, e, begin); i < last && t->pin[i] < end; i++)
      b->graph->first[(size_t)t->pin[i] + 1] += t->pin[i] != source;
    if (source >= begin && source < end) {
      uint64_t self = cm_topology_first_pin(t, e, source);
      b->graph->first[(size_t)source + 1] += last - t->net_first[e] - (self < last && t->pin[self] == source);
    }
  }
  return CM_OK;
}

static cm_status fill_range(void *context, size_t range, cm_error *error)
{
  builder *b = context;
  const cm_topology *t = b->demand->network;
  uint32_t begin = b->border[range], end = b->border[range + 1];
  uint64_t unit = b->graph->weight_unit;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    bool own = source >= begin && source < end;
    uint64_t last = t->net_first[e + 1];
    if (e % CHECK_EVERY == 0 && cm_run_check(b->run, error) != CM_OK)
      return error->status;
    for (uint64_t i = t->net_first[e]; own && i < last; i++)
      if (t->pin[i] != source)
        cm_csr_put(b->graph, b->next[source]++, t->pin[i], cm_demand_pin_weight(b->demand, e, i) / unit);
    for (uint64_t i = cm_topology_first_pin(t, e, begin); i < last && t->pin[i] < end; i++)
      if (t->pin[i] != source)
        cm_csr_put(b->graph, b->next[t->pin[i]]++, source, cm_demand_pin_weight(b->demand, e, i) / unit);
  }
  return CM_OK;
}

/* Cuts the vertices into ranges of about equal numbers of own pins. Many short nets make few ranges: each walks all
 * nets. */
static uint32_t cut_ranges(const builder *b)
{
  const cm_topology *t = b->demand->network;
  uint64_t ranges = t->pin_count / RANGE_PINS + 1;
  uint64_t short_nets = t->net_count > 0 ? t->pin_count / t->net_count / 32 + 2 : 1;
  ranges = ranges < RANGES_MAX ? ranges : RANGES_MAX;
  ranges = ranges < short_nets ? ranges : short_nets;
  uint32_t n = t->vertex_count;
  for (uint64_t r = 0; r <= ranges; r++)
    b->border[r] = (uint32_t)((uint64_t)n * r / ranges);
  return (uint32_t)ranges;
}

static cm_status build_directed(builder *b, cm_csr_width kept, cm_error *error)
{
  cm_csr_graph *g = b->graph;
  uint32_t n = g->vertex_count;
  CM_TRY(CM_NEW(b->run->memory, b->next, n, error));
  CM_TRY(CM_NEW(b->run->memory, b->border, RANGES_MAX + 1, error));
  uint32_t ranges = cut_ranges(b);
  CM_TRY(cm_parallel(b->run, ranges, count_range, b, error));
  cm_run_add(b->run, 0.4);
  for (uint32_t v = 0; v < n; v++) {
    b->next[v] = g->first[v];
    g->first[v + 1] += g->first[v];
  }
  g->entry_count = g->first[n];
  CM_TRY(CM_NEW(b->run->memory, g->neighbour, g->entry_count, error));
  CM_TRY(cm_csr_new_weights(b->run, g, kept, error));
  return cm_parallel(b->run, ranges, fill_range, b, error);
}

static cm_status build_undirected(builder *b, cm_csr_width kept, cm_error *error)
{
  const cm_topology *t = b->demand->network;
  cm_csr_graph *g = b->graph;
  g->entry_count = t->pin_count;
  CM_TRY(CM_NEW(b->run->memory, g->neighbour, g->entry_count, error));
  CM_TRY(cm_csr_new_weights(b->run, g, kept, error));
  memcpy(g->first, t->net_first, ((size_t)g->vertex_count + 1) * sizeof *g->first);
  for (uint64_t i = 0; i < t->pin_count; i++)
    cm_csr_put(g, i, t->pin[i], cm_demand_pin_weight(b->demand, 0, i) / g->weight_unit);
  return CM_OK;
}

cm_status cm_csr_graph_from_topology(const cm_demand *demand, cm_run *run, cm_csr_graph **graph, cm_error *error)
{
  const cm_topology *topology = demand->network;
  builder b = {.demand = demand, .run = run};
  CM_TRY(cm_csr_new_graph(run, topology->vertex_count, &b.graph, error));
  cm_csr_width kept = survey_weights(demand, &b.graph->weight_unit);
  b.graph->repeats = topology->directed;
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    b.graph->size[v] = cm_demand_size(demand, v);
  cm_status status = topology->directed ? build_directed(&b, kept, error) : build_undirected(&b, kept, error);
  CM_FREE(b.next, b.border);
  CM_TRY_OR(status, cm_csr_graph_free(b.graph));
  cm_csr_count_sizes(b.graph);
  cm_csr_count_weights(b.graph);
  *graph = b.graph;
  return CM_OK;
}

uint64_t cm_csr_graph_cut(const cm_csr_graph *graph, const uint32_t *part)
{
  uint64_t cut = 0;
  for (uint32_t v = 0; v < graph->vertex_count; v++)
    for (uint64_t i = graph->first[v]; i < graph->first[v + 1]; i++)
      if (part[v] != part[graph->neighbour[i]])
        cut += cm_csr_graph_weight(graph, i);
  return cut / 2;
}
