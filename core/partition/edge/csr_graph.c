#include "core/partition/edge/csr_graph.h"

#include <string.h>

#include "core/base/threads.h"
#include "core/partition/members.h"

enum {
  CHECK_EVERY = 4096,
  CHUNK_ENTRIES = 1 << 20, /* entries of one parallel piece of contraction */
  CHUNKS_MAX = 32,
  RANGE_PINS = 1 << 21,    /* pins of one parallel piece of building */
  RANGES_MAX = 64
};
#define NONE UINT32_MAX

void cm_csr_graph_free(cm_csr_graph *graph)
{
  if (graph == NULL)
    return;
  cm_free(graph->first);
  cm_free(graph->neighbour);
  cm_free(graph->weight);
  cm_free(graph->wide);
  cm_free(graph->size);
  cm_free(graph);
}

/* How weights are kept. */
typedef enum width { UNIFORM, NARROW, WIDE } width;

static cm_status new_weights(cm_run *run, cm_csr_graph *graph, width kept, cm_error *error)
{
  return kept == NARROW ? CM_NEW(run->memory, graph->weight, graph->entry_count, error)
         : kept == WIDE ? CM_NEW(run->memory, graph->wide, graph->entry_count, error)
                        : CM_OK;
}

static cm_status new_graph(cm_run *run, uint32_t vertices, cm_csr_graph **graph, cm_error *error)
{
  cm_csr_graph *made;
  if (CM_NEW(run->memory, made, 1, error) != CM_OK)
    return error->status;
  made->vertex_count = vertices;
  made->weight_unit = 1;
  if (CM_NEW(run->memory, made->first, (size_t)vertices + 1, error) != CM_OK ||
      CM_NEW(run->memory, made->size, vertices, error) != CM_OK) {
    cm_csr_graph_free(made);
    return error->status;
  }
  *graph = made;
  return CM_OK;
}

static void put(cm_csr_graph *graph, uint64_t at, uint32_t neighbour, uint64_t weight)
{
  graph->neighbour[at] = neighbour;
  if (graph->weight != NULL)
    graph->weight[at] = (uint32_t)weight;
  else if (graph->wide != NULL)
    graph->wide[at] = weight;
}

static void count_sizes(cm_csr_graph *graph)
{
  graph->size_total = 0;
  graph->size_max = 0;
  for (uint32_t v = 0; v < graph->vertex_count; v++) {
    graph->size_total += graph->size[v];
    graph->size_max = graph->size[v] > graph->size_max ? graph->size[v] : graph->size_max;
  }
}

static void count_weights(cm_csr_graph *graph)
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
static width survey_weights(const cm_topology *topology, uint64_t *unit)
{
  survey s = {.least = UINT64_MAX};
  if (topology->pin_weight != NULL)
    for (uint64_t i = 0; i < topology->pin_count; i++)
      survey_weight(&s, topology->pin_weight[i]);
  else if (topology->net_weight != NULL)
    for (uint32_t e = 0; e < topology->net_count; e++)
      survey_weight(&s, topology->net_weight[e]);
  else
    survey_weight(&s, topology->weight_scale);
  *unit = s.common > 0 ? s.common : 1;
  return s.least == s.most && s.most > 0 ? UNIFORM : s.most / *unit <= UINT32_MAX ? NARROW : WIDE;
}

typedef struct builder {
  const cm_topology *topology;
  cm_csr_graph *graph;
  cm_run *run;
  uint64_t *next;   /* [vertices] where a row's next entry goes */
  uint32_t *border; /* [ranges + 1] vertices of each range */
} builder;

/* Counts the entries that pins into one range of vertices bring. */
static cm_status count_range(void *context, size_t range, cm_error *error)
{
  builder *b = context;
  const cm_topology *t = b->topology;
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
  const cm_topology *t = b->topology;
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
        put(b->graph, b->next[source]++, t->pin[i], cm_topology_pin_weight(t, e, i) / unit);
    for (uint64_t i = cm_topology_first_pin(t, e, begin); i < last && t->pin[i] < end; i++)
      if (t->pin[i] != source)
        put(b->graph, b->next[t->pin[i]]++, source, cm_topology_pin_weight(t, e, i) / unit);
  }
  return CM_OK;
}

/* Cuts the vertices into ranges of about equal numbers of own pins. Many short nets make few ranges: each walks all
 * nets. */
static uint32_t cut_ranges(const builder *b)
{
  const cm_topology *t = b->topology;
  uint64_t ranges = t->pin_count / RANGE_PINS + 1;
  uint64_t short_nets = t->net_count > 0 ? t->pin_count / t->net_count / 32 + 2 : 1;
  ranges = ranges < RANGES_MAX ? ranges : RANGES_MAX;
  ranges = ranges < short_nets ? ranges : short_nets;
  uint32_t n = t->vertex_count;
  for (uint64_t r = 0; r <= ranges; r++)
    b->border[r] = (uint32_t)((uint64_t)n * r / ranges);
  return (uint32_t)ranges;
}

static cm_status build_directed(builder *b, width kept, cm_error *error)
{
  cm_csr_graph *g = b->graph;
  uint32_t n = g->vertex_count;
  if (CM_NEW(b->run->memory, b->next, n, error) != CM_OK ||
      CM_NEW(b->run->memory, b->border, RANGES_MAX + 1, error) != CM_OK)
    return error->status;
  uint32_t ranges = cut_ranges(b);
  if (cm_parallel(b->run, ranges, count_range, b, error) != CM_OK)
    return error->status;
  for (uint32_t v = 0; v < n; v++) {
    b->next[v] = g->first[v];
    g->first[v + 1] += g->first[v];
  }
  g->entry_count = g->first[n];
  if (CM_NEW(b->run->memory, g->neighbour, g->entry_count, error) != CM_OK ||
      new_weights(b->run, g, kept, error) != CM_OK)
    return error->status;
  return cm_parallel(b->run, ranges, fill_range, b, error);
}

static cm_status build_undirected(builder *b, width kept, cm_error *error)
{
  const cm_topology *t = b->topology;
  cm_csr_graph *g = b->graph;
  g->entry_count = t->pin_count;
  if (CM_NEW(b->run->memory, g->neighbour, g->entry_count, error) != CM_OK ||
      new_weights(b->run, g, kept, error) != CM_OK)
    return error->status;
  memcpy(g->first, t->net_first, ((size_t)g->vertex_count + 1) * sizeof *g->first);
  for (uint64_t i = 0; i < t->pin_count; i++)
    put(g, i, t->pin[i], cm_topology_pin_weight(t, 0, i) / g->weight_unit);
  return CM_OK;
}

cm_status cm_csr_graph_from_topology(const cm_topology *topology, cm_run *run, cm_csr_graph **graph, cm_error *error)
{
  builder b = {.topology = topology, .run = run};
  if (new_graph(run, topology->vertex_count, &b.graph, error) != CM_OK)
    return error->status;
  width kept = survey_weights(topology, &b.graph->weight_unit);
  b.graph->repeats = topology->directed;
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    b.graph->size[v] = cm_topology_size(topology, v);
  cm_status status = topology->directed ? build_directed(&b, kept, error) : build_undirected(&b, kept, error);
  cm_free(b.next);
  cm_free(b.border);
  if (status != CM_OK) {
    cm_csr_graph_free(b.graph);
    return status;
  }
  count_sizes(b.graph);
  count_weights(b.graph);
  *graph = b.graph;
  return CM_OK;
}

/* ---- contraction ---- */

/* The rows of some consecutive coarse vertices. */
typedef struct piece {
  uint32_t begin, end; /* coarse vertices */
  uint64_t bound;      /* entries of their members */
  uint64_t count, room;
  uint32_t *neighbour; /* [room] */
  uint64_t *weight;    /* [room] */
  uint64_t most;       /* the largest weight */
} piece;

typedef struct contraction {
  const cm_csr_graph *graph;
  const uint32_t *map;
  cm_run *run;
  uint32_t *first, *member; /* members of each coarse vertex */
  cm_csr_graph *coarse;
  piece *piece;
  uint32_t pieces;
} contraction;

static uint64_t member_entries(const contraction *c, uint32_t u)
{
  uint64_t entries = 0;
  for (uint32_t j = c->first[u]; j < c->first[u + 1]; j++)
    entries += cm_csr_graph_degree(c->graph, c->member[j]);
  return entries;
}

/* Pieces of about equal work; their borders depend on the graph alone. */
static void cut_pieces(contraction *c)
{
  uint64_t share = c->graph->entry_count / CHUNKS_MAX + 1, bound = 0;
  share = share > CHUNK_ENTRIES ? share : CHUNK_ENTRIES;
  piece *p = c->piece;
  for (uint32_t u = 0; u < c->coarse->vertex_count; u++) {
    bound += member_entries(c, u);
    p->end = u + 1;
    p->bound = bound;
    if (bound >= share && c->pieces + 1 < CHUNKS_MAX && u + 1 < c->coarse->vertex_count) {
      p++;
      c->pieces++;
      p->begin = u + 1;
      bound = 0;
    }
  }
  c->pieces++;
}

static cm_status grow(contraction *c, piece *p, uint64_t wanted, cm_error *error)
{
  if (wanted <= p->room)
    return CM_OK;
  uint64_t room = p->room + p->room / 2 > wanted ? p->room + p->room / 2 : wanted;
  room = room < p->bound ? room : p->bound;
  uint32_t *neighbour = cm_reallocate(c->run->memory, p->neighbour, room, sizeof *neighbour, error);
  if (neighbour == NULL)
    return error->status;
  p->neighbour = neighbour;
  uint64_t *weight = cm_reallocate(c->run->memory, p->weight, room, sizeof *weight, error);
  if (weight == NULL)
    return error->status;
  p->weight = weight;
  p->room = room;
  return CM_OK;
}

/* One coarse row; `place` tells where in it a neighbour stands already. */
static void merge_row(const contraction *c, piece *p, uint32_t u, uint32_t *place)
{
  const cm_csr_graph *g = c->graph;
  uint64_t begin = p->count, size = 0;
  for (uint32_t j = c->first[u]; j < c->first[u + 1]; j++) {
    uint32_t v = c->member[j];
    size += g->size[v];
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
      uint32_t other = c->map[g->neighbour[i]];
      if (other == u)
        continue;
      if (place[other] == NONE) {
        place[other] = (uint32_t)(p->count - begin);
        p->neighbour[p->count] = other;
        p->weight[p->count++] = 0;
      }
      p->weight[begin + place[other]] += cm_csr_graph_weight(g, i);
    }
  }
  for (uint64_t i = begin; i < p->count; i++) {
    place[p->neighbour[i]] = NONE;
    p->most = p->weight[i] > p->most ? p->weight[i] : p->most;
  }
  c->coarse->size[u] = (uint32_t)size;
  c->coarse->first[u + 1] = p->count - begin;
}

static cm_status merge_piece(void *context, size_t index, cm_error *error)
{
  contraction *c = context;
  piece *p = &c->piece[index];
  uint32_t *place, coarse = c->coarse->vertex_count;
  if (CM_NEW(c->run->memory, place, coarse, error) != CM_OK)
    return error->status;
  memset(place, 0xff, coarse * sizeof *place);
  cm_status status = grow(c, p, p->bound / 4 + 16, error);
  for (uint32_t u = p->begin; u < p->end && status == CM_OK; u++) {
    uint64_t most = member_entries(c, u);
    status = grow(c, p, p->count + (most < coarse ? most : coarse), error);
    if (status == CM_OK)
      merge_row(c, p, u, place);
    if (status == CM_OK && u % CHECK_EVERY == 0)
      status = cm_run_check(c->run, error);
  }
  cm_free(place);
  return status;
}

static cm_status copy_piece(void *context, size_t index, cm_error *error)
{
  (void)error;
  contraction *c = context;
  piece *p = &c->piece[index];
  uint64_t at = c->coarse->first[p->begin];
  for (uint64_t i = 0; i < p->count; i++)
    put(c->coarse, at + i, p->neighbour[i], p->weight[i]);
  cm_free(p->neighbour);
  cm_free(p->weight);
  p->neighbour = NULL;
  p->weight = NULL;
  return CM_OK;
}

static cm_status contract(contraction *c, cm_error *error)
{
  cm_csr_graph *coarse = c->coarse;
  cm_memory *memory = c->run->memory;
  uint64_t most = 0;
  if (CM_NEW(memory, c->first, (size_t)coarse->vertex_count + 2, error) != CM_OK ||
      CM_NEW(memory, c->member, c->graph->vertex_count, error) != CM_OK ||
      CM_NEW(memory, c->piece, CHUNKS_MAX, error) != CM_OK)
    return error->status;
  cm_sort_members(c->map, c->graph->vertex_count, c->coarse->vertex_count, c->first, c->member);
  cut_pieces(c);
  if (cm_parallel(c->run, c->pieces, merge_piece, c, error) != CM_OK)
    return error->status;
  for (uint32_t u = 0; u < coarse->vertex_count; u++)
    coarse->first[u + 1] += coarse->first[u];
  coarse->entry_count = coarse->first[coarse->vertex_count];
  for (uint32_t p = 0; p < c->pieces; p++)
    most = c->piece[p].most > most ? c->piece[p].most : most;
  if (CM_NEW(memory, coarse->neighbour, coarse->entry_count, error) != CM_OK ||
      new_weights(c->run, coarse, most <= UINT32_MAX ? NARROW : WIDE, error) != CM_OK)
    return error->status;
  return cm_parallel(c->run, c->pieces, copy_piece, c, error);
}

cm_status cm_csr_graph_contract(const cm_csr_graph *graph, const uint32_t *map, uint32_t coarse_count, cm_run *run,
                              cm_csr_graph **coarse, cm_error *error)
{
  contraction c = {.graph = graph, .map = map, .run = run};
  if (new_graph(run, coarse_count, &c.coarse, error) != CM_OK)
    return error->status;
  cm_status status = contract(&c, error);
  for (uint32_t p = 0; c.piece != NULL && p < c.pieces; p++) {
    cm_free(c.piece[p].neighbour);
    cm_free(c.piece[p].weight);
  }
  cm_free(c.piece);
  cm_free(c.first);
  cm_free(c.member);
  if (status != CM_OK) {
    cm_csr_graph_free(c.coarse);
    return status;
  }
  c.coarse->weight_unit = graph->weight_unit;
  count_sizes(c.coarse);
  count_weights(c.coarse);
  *coarse = c.coarse;
  return CM_OK;
}

/* ---- pieces of a graph, and its cut ---- */

cm_status cm_csr_graph_induce(const cm_csr_graph *graph, const uint32_t *vertex, uint32_t count, uint32_t *local,
                            cm_run *run, cm_csr_graph **induced, cm_error *error)
{
  cm_csr_graph *made;
  if (new_graph(run, count, &made, error) != CM_OK)
    return error->status;
  uint64_t entries = 0, used = 0;
  for (uint32_t i = 0; i < count; i++) {
    local[vertex[i]] = i;
    entries += cm_csr_graph_degree(graph, vertex[i]);
  }
  made->entry_count = entries;
  made->weight_unit = graph->weight_unit;
  made->repeats = graph->repeats;
  width kept = graph->weight != NULL ? NARROW : graph->wide != NULL ? WIDE : UNIFORM;
  if (CM_NEW(run->memory, made->neighbour, entries, error) != CM_OK || new_weights(run, made, kept, error) != CM_OK) {
    cm_csr_graph_free(made);
    return error->status;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t v = vertex[i];
    made->size[i] = graph->size[v];
    for (uint64_t j = graph->first[v]; j < graph->first[v + 1]; j++) {
      /* A stale value is told apart by looking whom it names. */
      uint32_t other = graph->neighbour[j], at = local[other];
      if (at < count && vertex[at] == other)
        put(made, used++, at, cm_csr_graph_weight(graph, j));
    }
    made->first[i + 1] = used;
  }
  made->entry_count = used;
  count_sizes(made);
  count_weights(made);
  *induced = made;
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
