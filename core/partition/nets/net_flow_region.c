#include "core/partition/nets/net_flow_region.h"

#define NONE UINT32_MAX

cm_status cm_net_region_new(const cm_net_state *state, cm_run *run, cm_net_region *r, cm_error *error)
{
  const cm_net_graph *g = state->graph;
  *r = (cm_net_region){.state = state};
  CM_TRY(cm_flow_region_new(g->vertex_count, g->size, run, &r->base, error));
  CM_TRY(CM_NEW(run->memory, r->inside[0], g->net_count, error));
  CM_TRY(CM_NEW(run->memory, r->inside[1], g->net_count, error));
  return CM_NEW(run->memory, r->net, g->net_count, error);
}

void cm_net_region_free(cm_net_region *r)
{
  cm_flow_region_free(&r->base);
  CM_FREE(r->inside[0], r->inside[1], r->net);
}

void cm_net_region_begin(cm_net_region *r)
{
  for (uint32_t i = 0; i < r->net_count; i++)
    r->inside[0][r->net[i]] = r->inside[1][r->net[i]] = 0;
  r->net_count = 0;
}

/* Pins that a net has in a part. */
static uint32_t pins_in(const cm_net_state *s, uint32_t e, uint32_t part)
{
  const cm_net_hold *row = s->hold + s->hold_first[e];
  for (uint32_t i = 0; i < s->lambda[e]; i++)
    if (row[i].part == part)
      return row[i].count;
  return 0;
}

/* Takes in the other pins that a net has in the part. */
static void take_pins(cm_net_region *r, unsigned side, uint32_t e, uint32_t depth)
{
  const cm_net_graph *g = r->state->graph;
  cm_flow_region *b = &r->base;
  for (uint64_t k = g->net_first[e]; k < g->net_first[e + 1] && b->load[side] < b->most; k++) {
    uint32_t u = g->pin[k];
    if (r->state->part[u] == b->part[side] && b->node[u] == NONE)
      cm_flow_region_take(b, side, u, depth);
  }
}

void cm_net_region_spread(cm_net_region *r, unsigned side, uint32_t v, uint32_t depth, bool farther)
{
  const cm_net_graph *g = r->state->graph;
  for (uint64_t j = g->vertex_first[v]; j < g->vertex_first[v + 1]; j++) {
    uint32_t e = g->net[j];
    if (r->inside[0][e] + r->inside[1][e] == 0)
      r->net[r->net_count++] = e;
    if (r->inside[side][e]++ == 0 && farther && r->base.load[side] < r->base.most && pins_in(r->state, e, r->base.part[side]) > 1)
      take_pins(r, side, e, depth);
  }
}

/* The pins of a net in both parts. */
typedef struct pins {
  uint32_t inside;  /* of the region */
  bool outside[2];  /* whether the parts have others */
  bool cut;         /* both parts have some */
} pins;

static pins pins_of(const cm_net_region *r, uint32_t e)
{
  uint32_t count[2];
  pins p = {.inside = r->inside[0][e] + r->inside[1][e]};
  for (unsigned side = 0; side < 2; side++) {
    count[side] = pins_in(r->state, e, r->base.part[side]);
    p.outside[side] = count[side] > r->inside[side][e];
  }
  p.cut = count[0] > 0 && count[1] > 0;
  return p;
}

/* Up to three ends of a net: nodes of the region, the source, the sink. All of them if they are no more. */
static void list_ends(const cm_net_region *r, uint32_t e, const pins *p, uint32_t end[3])
{
  const cm_net_graph *g = r->state->graph;
  uint32_t count = 0;
  for (uint64_t k = g->net_first[e]; k < g->net_first[e + 1] && count < p->inside && count < 3; k++)
    if (r->base.node[g->pin[k]] != NONE)
      end[count++] = r->base.node[g->pin[k]];
  for (unsigned side = 0; side < 2 && count < 3; side++)
    if (p->outside[side])
      end[count++] = cm_flow_region_vertices(&r->base) + side;
}

static cm_status add_edge(cm_net_region *r, uint32_t a, uint32_t b, int64_t weight, cm_error *error)
{
  return cm_flow_add(&r->base.flow, a, b, weight, weight, error);
}

/* Nets of two ends are edges, of three triangles of half the weight; of others all pins go into a node and come out of another one
 * (Lawler 1973), where the source needs no way in, and the sink none out. */
static cm_status add_net(cm_net_region *r, uint32_t e, const pins *p, uint32_t *nodes, cm_error *error)
{
  const cm_net_graph *g = r->state->graph;
  uint32_t end[3], ends = p->inside + p->outside[0] + p->outside[1], terminal = cm_flow_region_vertices(&r->base);
  int64_t weight = g->net_weight[e];
  list_ends(r, e, p, end);
  if (ends == 2)
    return add_edge(r, end[0], end[1], CM_NET_FLOW_UNIT * weight, error);
  if (ends == 3) {
    for (uint32_t i = 0; i < 3; i++)
      CM_TRY(add_edge(r, end[i], end[(i + 1) % 3], weight, error));
    return CM_OK;
  }
  uint32_t in = p->outside[0] ? terminal : (*nodes)++, out = p->outside[1] ? terminal + 1 : (*nodes)++;
  CM_TRY(cm_flow_add(&r->base.flow, in, out, CM_NET_FLOW_UNIT * weight, 0, error));
  for (uint64_t k = g->net_first[e]; k < g->net_first[e + 1]; k++) {
    uint32_t node = r->base.node[g->pin[k]];
    if (node == NONE)
      continue;
    if (!p->outside[0] && cm_flow_add(&r->base.flow, node, in, CM_FLOW_INFINITE, 0, error) != CM_OK)
      return error->status;
    if (!p->outside[1] && cm_flow_add(&r->base.flow, out, node, CM_FLOW_INFINITE, 0, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

cm_status cm_net_region_network(cm_net_region *r, cm_error *error)
{
  uint32_t nodes = cm_flow_region_vertices(&r->base) + 2;
  r->base.cut = 0;
  CM_TRY(cm_flow_begin(&r->base.flow, nodes + 2 * r->net_count, error));
  for (uint32_t i = 0; i < r->net_count; i++) {
    uint32_t e = r->net[i];
    pins p = pins_of(r, e);
    if ((p.outside[0] && p.outside[1]) || p.inside + p.outside[0] + p.outside[1] < 2)
      continue;
    r->base.cut += p.cut ? CM_NET_FLOW_UNIT * r->state->graph->net_weight[e] : 0;
    CM_TRY(add_net(r, e, &p, &nodes, error));
  }
  r->base.flow.nodes = nodes;
  return cm_flow_ready(&r->base.flow, error);
}
