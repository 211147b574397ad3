#include "core/partition/edge/edge_flow.h"

#include "core/partition/options.h"

#define NONE UINT32_MAX

typedef struct work {
  cm_kway *state;
  cm_flow_region region;
} work;

static uint32_t ties(const void *context, uint32_t v)
{
  return cm_kway_ties(((const work *)context)->state, v);
}

static int64_t tie_at(const void *context, uint32_t v, uint32_t i, uint32_t *part)
{
  return cm_kway_tie_at(((const work *)context)->state, v, i, part);
}

static int64_t tie(const void *context, uint32_t v, uint32_t part)
{
  return cm_kway_tie(((const work *)context)->state, v, part);
}

static void spread(void *context, unsigned side, uint32_t v, uint32_t depth, bool farther)
{
  work *w = context;
  const cm_csr_graph *g = w->state->graph;
  cm_flow_region *r = &w->region;
  for (uint64_t i = g->first[v]; farther && i < g->first[v + 1] && r->load[side] < r->most; i++) {
    uint32_t u = g->neighbour[i];
    if (w->state->part[u] == r->part[side] && r->node[u] == NONE)
      cm_flow_region_take(r, side, u, depth);
  }
}

/* The edges of a vertex: to others of the region, each once, and out of it to the source and the sink. What it has to both of these is
 * cut whatever happens, and left out. */
static cm_status add_vertex(const cm_kway *s, cm_flow_region *r, uint32_t node, cm_error *error)
{
  const cm_csr_graph *g = s->graph;
  uint32_t v = r->vertex[node];
  unsigned own = node >= r->count[0];
  r->looks += cm_csr_graph_degree(g, v);
  int64_t outside[2] = {cm_kway_tie(s, v, r->part[0]), cm_kway_tie(s, v, r->part[1])};
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t other = r->node[g->neighbour[i]];
    if (other == NONE)
      continue;
    int64_t weight = (int64_t)cm_csr_graph_weight(g, i);
    unsigned side = other >= r->count[0];
    outside[side] -= weight;
    if (node < other) {
      r->cut += own != side ? weight : 0;
      CM_TRY(cm_flow_add(&r->flow, node, other, weight, weight, error));
    }
  }
  int64_t both = outside[0] < outside[1] ? outside[0] : outside[1];
  uint32_t source = cm_flow_region_vertices(r);
  r->cut += outside[1 - own] - both;
  if (outside[0] > both)
    return cm_flow_add(&r->flow, source, node, outside[0] - both, 0, error);
  return outside[1] > both ? cm_flow_add(&r->flow, node, source + 1, outside[1] - both, 0, error) : CM_OK;
}

cm_status cm_edge_flow_network(const cm_kway *s, cm_flow_region *r, cm_error *error)
{
  uint32_t count = cm_flow_region_vertices(r);
  CM_TRY(cm_flow_begin(&r->flow, count + 2, error));
  r->cut = 0;
  for (uint32_t node = 0; node < count; node++)
    CM_TRY(add_vertex(s, r, node, error));
  return cm_flow_ready(&r->flow, error);
}

static cm_status network(void *context, cm_error *error)
{
  work *w = context;
  return cm_edge_flow_network(w->state, &w->region, error);
}

static int64_t move(void *context, uint32_t v, uint32_t to)
{
  cm_kway *s = ((work *)context)->state;
  int64_t before = s->cut;
  cm_kway_move(s, v, to);
  return before - s->cut;
}

cm_status cm_edge_flow(cm_kway *state, const cm_flow_options *options, int64_t *gain, cm_error *error)
{
  work w = {.state = state};
  const cm_csr_graph *g = state->graph;
  cm_flow_view view = {.context = &w, .vertices = g->vertex_count, .parts = state->parts, .size_total = g->size_total,
                       .part = state->part, .load = state->load, .region = &w.region, .border = state->border,
                       .border_count = &state->border_count, .ties = ties, .tie_at = tie_at, .tie = tie, .spread = spread, .network = network, .move = move};
  cm_random_init(&view.random, options->seed, CM_STREAM_EDGE_FLOW, options->stream);
  cm_status status = cm_flow_region_new(g->vertex_count, g->size, state->run, &w.region, error);
  *gain = 0;
  CM_THEN(status, cm_flow_refine(&view, options, state->run, gain, error));
  cm_flow_region_free(&w.region);
  return status;
}
