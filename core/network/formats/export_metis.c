/* Files of METIS and hMETIS: .graph, a graph as it is or a directed network with both ways added up; .hgr. */
#include <stdlib.h>

#include "base/order.h"
#include "core/network/formats/export_writer.h"
#include "core/network/net_order.h"

/* ---- weights ---- */

/* What the weights of a graph look like. METIS knows whole ones above 0 only, and adds them up in 32 bits: fractions
 * are written at a scale that a comment names, the topology's own or the largest below it whose sum fits; 0 is
 * written as 1. */
typedef struct graph_weights {
  bool any;       /* some weigh other than 1 */
  bool fractions;
  uint64_t total; /* of all weights, each edge seen from both ends */
} graph_weights;

static void graph_weights_see(graph_weights *g, const cm_topology *t, uint64_t weight)
{
  g->any = g->any || weight != t->weight_scale;
  g->fractions = g->fractions || weight % t->weight_scale != 0;
  g->total += weight;
}

/* What a scaled weight is divided by. */
static uint64_t graph_divisor(const graph_weights *g, const cm_topology *t)
{
  uint64_t divisor = g->fractions ? 1 : t->weight_scale;
  while (divisor < t->weight_scale && g->total / divisor > INT32_MAX)
    divisor *= 2;
  return divisor;
}

static uint64_t graph_weight(uint64_t weight, uint64_t divisor)
{
  uint64_t rounded = weight / divisor + (weight % divisor >= divisor - divisor / 2);
  return rounded > 0 ? rounded : 1;
}

/* A comment that names the scale of weights divided by `divisor`, unless that is 1. */
static void write_scale(const cm_export_writer *w, uint64_t divisor)
{
  if (divisor == w->topology->weight_scale)
    return;
  cm_sink_text(w->sink, "% weight_scale ");
  cm_sink_number(w->sink, w->topology->weight_scale / divisor);
  cm_sink_text(w->sink, "\n");
}

/* The comment and the header; gives the divisor of the weights. */
static uint64_t write_graph_head(const cm_export_writer *w, uint64_t edges, const graph_weights *g)
{
  const cm_topology *t = w->topology;
  uint64_t divisor = graph_divisor(g, t);
  write_scale(w, divisor);
  cm_sink_number(w->sink, t->vertex_count);
  cm_sink_text(w->sink, " ");
  cm_sink_number(w->sink, edges);
  if (g->any || t->size != NULL)
    cm_sink_text(w->sink, g->any && t->size != NULL ? " 011" : g->any ? " 001" : " 010");
  cm_sink_text(w->sink, "\n");
  return divisor;
}

static cm_status write_undirected(const cm_export_writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  graph_weights g = {0};
  for (uint64_t i = 0; t->pin_weight != NULL && i < t->pin_count; i++)
    graph_weights_see(&g, t, t->pin_weight[i]);
  uint64_t divisor = write_graph_head(w, t->pin_count / 2, &g);
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    cm_export_line l = {w->sink, false};
    CM_TRY(cm_export_step(w, v, t->vertex_count, error));
    if (t->size != NULL)
      cm_export_field(&l, t->size[v]);
    for (uint64_t i = t->net_first[v]; i < t->net_first[v + 1]; i++) {
      cm_export_field(&l, (uint64_t)t->pin[i] + 1);
      if (g.any)
        cm_export_field(&l, graph_weight(t->pin_weight[i], divisor));
    }
    cm_sink_text(w->sink, "\n");
  }
  return CM_OK;
}

/* The nets of a directed network seen from both ends. */
typedef struct both_ways {
  uint32_t *net_of;   /* [vertex_count + 1] the first net of each source */
  uint64_t *in_first; /* [vertex_count + 1] */
  uint32_t *in_net;   /* [pin_count] nets that reach a vertex */
  uint64_t *in_pin;   /* [pin_count] and by which pin */
  uint64_t *weight;   /* [vertex_count] to each neighbour of the vertex under way */
  uint32_t *neighbour;
  uint64_t neighbour_count, neighbour_room;
  bool *seen; /* [vertex_count] */
} both_ways;

static void both_ways_free(both_ways *b)
{
  CM_FREE(b->net_of, b->in_first, b->in_net, b->in_pin, b->weight, b->neighbour, b->seen);
}

static cm_status both_ways_make(const cm_topology *t, cm_memory *memory, both_ways *b, cm_error *error)
{
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(b->net_of, (size_t)t->vertex_count + 1),
                    CM_ARRAY(b->in_first, (size_t)t->vertex_count + 2), CM_ARRAY(b->in_net, t->pin_count),
                    CM_ARRAY(b->in_pin, t->pin_count), CM_ARRAY(b->weight, t->vertex_count), CM_ARRAY(b->seen, t->vertex_count)));
  cm_topology_nets_from(t, b->net_of);
  /* Counted one place too far, so that filling in moves every start to its place. */
  for (uint64_t i = 0; i < t->pin_count; i++)
    b->in_first[t->pin[i] + 2]++;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    b->in_first[v + 1] += b->in_first[v];
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint64_t at = b->in_first[t->pin[i] + 1]++;
      b->in_net[at] = e;
      b->in_pin[at] = i;
    }
  return CM_OK;
}

static cm_status add_neighbour(both_ways *b, cm_memory *memory, uint32_t vertex, uint32_t neighbour, uint64_t weight,
                               cm_error *error)
{
  if (neighbour == vertex)
    return CM_OK;
  if (!b->seen[neighbour]) {
    CM_TRY(CM_ROOM(memory, b->neighbour, &b->neighbour_room, b->neighbour_count + 1, error));
    b->seen[neighbour] = true;
    b->weight[neighbour] = 0;
    b->neighbour[b->neighbour_count++] = neighbour;
  }
  b->weight[neighbour] += weight;
  return CM_OK;
}

/* Fills b->neighbour (cm_ascending) and b->weight for one vertex: the sum of both directions. */
static cm_status gather(const cm_topology *t, both_ways *b, cm_memory *memory, uint32_t v, cm_error *error)
{
  for (uint64_t i = 0; i < b->neighbour_count; i++)
    b->seen[b->neighbour[i]] = false;
  b->neighbour_count = 0;
  for (uint32_t e = b->net_of[v]; e < b->net_of[v + 1]; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      CM_TRY(add_neighbour(b, memory, v, t->pin[i], cm_topology_pin_weight(t, e, i), error));
  for (uint64_t k = b->in_first[v]; k < b->in_first[v + 1]; k++) {
    uint32_t e = b->in_net[k];
    uint64_t weight = cm_topology_pin_weight(t, e, b->in_pin[k]);
    CM_TRY(add_neighbour(b, memory, v, cm_topology_source(t, e), weight, error));
  }
  if (b->neighbour_count > 0)
    qsort(b->neighbour, b->neighbour_count, sizeof *b->neighbour, cm_ascending);
  return CM_OK;
}

static cm_status write_symmetrised(const cm_export_writer *w, both_ways *b, cm_error *error)
{
  const cm_topology *t = w->topology;
  uint64_t ends = 0;
  graph_weights g = {0};
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    CM_TRY(cm_export_step(w, v, 2 * (uint64_t)t->vertex_count, error));
    CM_TRY(gather(t, b, w->run->memory, v, error));
    ends += b->neighbour_count;
    for (uint64_t i = 0; i < b->neighbour_count; i++)
      graph_weights_see(&g, t, b->weight[b->neighbour[i]]);
  }
  uint64_t divisor = write_graph_head(w, ends / 2, &g);
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    cm_export_line l = {w->sink, false};
    CM_TRY(cm_export_step(w, (uint64_t)t->vertex_count + v, 2 * (uint64_t)t->vertex_count, error));
    CM_TRY(gather(t, b, w->run->memory, v, error));
    if (t->size != NULL)
      cm_export_field(&l, t->size[v]);
    for (uint64_t i = 0; i < b->neighbour_count; i++) {
      cm_export_field(&l, (uint64_t)b->neighbour[i] + 1);
      if (g.any)
        cm_export_field(&l, graph_weight(b->weight[b->neighbour[i]], divisor));
    }
    cm_sink_text(w->sink, "\n");
  }
  return CM_OK;
}

cm_status cm_export_graph(const cm_export_writer *w, cm_error *error)
{
  if (!w->topology->directed)
    return write_undirected(w, error);
  both_ways b = {0};
  cm_status status = both_ways_make(w->topology, w->run->memory, &b, error);
  CM_THEN(status, write_symmetrised(w, &b, error));
  both_ways_free(&b);
  return status;
}

/* ---- hMETIS .hgr ---- */

static void write_net(const cm_export_writer *w, bool weighted, uint64_t weight, uint32_t source, const uint32_t *pin,
                      uint64_t count)
{
  cm_export_line l = {w->sink, false};
  if (weighted)
    cm_export_field(&l, weight);
  cm_export_field(&l, (uint64_t)source + 1);
  for (uint64_t i = 0; i < count; i++)
    if (pin[i] != source)
      cm_export_field(&l, (uint64_t)pin[i] + 1);
  cm_sink_text(w->sink, "\n");
}

/* An axon is a net of its source and its targets; an edge is a net of two. */
cm_status cm_export_hypergraph(const cm_export_writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  graph_weights g = {0};
  for (uint32_t e = 0; t->directed && e < t->net_count; e++)
    graph_weights_see(&g, t, cm_topology_net_weight(t, e));
  for (uint64_t i = 0; !t->directed && t->pin_weight != NULL && i < t->pin_count; i++)
    graph_weights_see(&g, t, t->pin_weight[i]);
  uint64_t divisor = graph_divisor(&g, t);
  write_scale(w, divisor);
  cm_sink_number(w->sink, t->directed ? t->net_count : t->pin_count / 2);
  cm_sink_text(w->sink, " ");
  cm_sink_number(w->sink, t->vertex_count);
  if (g.any || t->size != NULL)
    cm_sink_text(w->sink, g.any && t->size != NULL ? " 11" : g.any ? " 1" : " 10");
  cm_sink_text(w->sink, "\n");
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint64_t begin = t->net_first[e], end = t->net_first[e + 1];
    uint32_t source = cm_topology_source(t, e);
    CM_TRY(cm_export_step(w, e, t->net_count, error));
    if (t->directed)
      write_net(w, g.any, graph_weight(cm_topology_net_weight(t, e), divisor), source, t->pin + begin, end - begin);
    for (uint64_t i = begin; !t->directed && i < end; i++)
      if (t->pin[i] > source)
        write_net(w, g.any, graph_weight(cm_topology_pin_weight(t, e, i), divisor), source, t->pin + i, 1);
  }
  for (uint32_t v = 0; t->size != NULL && v < t->vertex_count; v++) {
    cm_sink_number(w->sink, t->size[v]);
    cm_sink_text(w->sink, "\n");
  }
  return CM_OK;
}
