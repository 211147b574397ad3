#include "core/partition/axon/grow.h"

#include <string.h>

#include "core/partition/indexed_heap.h"

#define NONE UINT32_MAX

typedef struct growth {
  const cm_hypergraph *graph;
  const cm_limits *limits;
  cm_run *run;
  uint32_t *part;
  uint32_t *net_part;  /* [nets] last part that took the net, NONE: none yet */
  uint32_t *axons_in;  /* [vertices] inbound axons */
  uint32_t *shared;    /* [vertices] of them that the growing part has */
  uint32_t *met;       /* [vertices] of them that any part has */
  cm_indexed_heap open;    /* vertices with inbound nets that are in no part, by the share of them that is met */
  uint32_t *place;     /* [vertices] in it */
  uint32_t *touched;   /* [vertices] with shared > 0 */
  uint32_t touched_count;
  uint64_t size, axons, synapses;
} growth;

static float share(uint32_t axons, const growth *w, uint32_t v)
{
  return (float)axons / (float)((uint64_t)w->axons_in[v] + 1);
}

/* The larger share first, then the lower number. */
static int64_t open_key(const growth *w, uint32_t v)
{
  float s = share(w->met[v], w, v);
  uint32_t bits; /* of a number that is not negative: in the same order */
  memcpy(&bits, &s, sizeof bits);
  return (int64_t)bits << 32 | (UINT32_MAX - v);
}

/* Puts v into the part: its nets are there now, which brings their other targets nearer. */
static void take(growth *w, uint32_t v, uint32_t number)
{
  const cm_hypergraph *g = w->graph;
  w->part[v] = number;
  if (w->place[v] != CM_INDEXED_HEAP_ABSENT)
    cm_indexed_heap_remove(&w->open, v);
  w->size += g->size[v];
  w->synapses += g->synapses[v];
  for (cm_nets nets = cm_nets_into(g, v); nets.left > 0;) {
    uint32_t e = cm_nets_next(&nets);
    if (w->net_part[e] == number)
      continue;
    bool first = w->net_part[e] == NONE;
    w->net_part[e] = number;
    uint32_t axons = cm_net_axons(g, e);
    w->axons += axons;
    for (cm_targets t = cm_targets_of(g, e); t.left > 0;) {
      uint32_t u = cm_targets_next(&t);
      if (w->part[u] != NONE)
        continue;
      if (first) {
        w->met[u] += axons;
        cm_indexed_heap_change(&w->open, u, open_key(w, u));
      }
      if (w->shared[u] == 0)
        w->touched[w->touched_count++] = u;
      w->shared[u] += axons;
    }
  }
}

static bool within(uint64_t use, uint64_t limit)
{
  return limit == 0 || use <= limit;
}

static bool fits(const growth *w, uint32_t v)
{
  const cm_hypergraph *g = w->graph;
  uint64_t degree = w->axons_in[v];
  return within(w->size + g->size[v], w->limits->neurons) &&
         within(w->axons + degree - w->shared[v], w->limits->inbound_axons) &&
         within(w->synapses + g->synapses[v], w->limits->synapses) &&
         cm_memory_holds(w->limits, w->size + g->size[v], w->synapses + g->synapses[v], w->axons + degree - w->shared[v]);
}

/* The touched vertex with the largest share that fits; NONE when there is none. */
static uint32_t next_vertex(growth *w)
{
  uint32_t best = NONE, kept = 0;
  float best_share = -1;
  for (uint32_t i = 0; i < w->touched_count; i++) {
    uint32_t u = w->touched[i];
    if (w->part[u] != NONE)
      continue;
    w->touched[kept++] = u;
    float s = share(w->shared[u], w, u);
    if ((s > best_share || (s == best_share && u < best)) && fits(w, u)) {
      best_share = s;
      best = u;
    }
  }
  w->touched_count = kept;
  return best;
}

static bool lonely(const cm_hypergraph *g, uint32_t v)
{
  return g->in_count[v] == 0;
}

/* Where growing goes on: the open vertex of which most is met already, so that no pockets stay behind. Vertices without
 * inbound nets wait for the end. */
static uint32_t next_seed(const growth *w)
{
  return w->open.count > 0 ? w->open.item[0].vertex : NONE;
}

static void start_part(growth *w)
{
  for (uint32_t i = 0; i < w->touched_count; i++)
    w->shared[w->touched[i]] = 0;
  w->touched_count = 0;
  w->size = w->axons = w->synapses = 0;
}

/* Vertices without inbound nets cost no axons: they fill up the last part, and further ones. Refinement brings them to
 * their targets. */
static void place_lonely(growth *w, uint32_t *parts)
{
  for (uint32_t v = 0; v < w->graph->vertex_count; v++) {
    if (w->part[v] != NONE)
      continue;
    if (*parts == 0 || !fits(w, v)) {
      start_part(w);
      ++*parts;
    }
    take(w, v, *parts - 1);
  }
}

static cm_status grow_all(growth *w, cm_random *random, uint32_t *from, uint32_t *parts, cm_error *error)
{
  uint32_t n = w->graph->vertex_count, number = 0;
  uint32_t next = *from != CM_GROW_ANYWHERE ? *from : n > 0 ? (uint32_t)cm_random_below(random, n) : NONE;
  if (next != NONE && lonely(w->graph, next))
    next = next_seed(w);
  while (next != NONE) {
    start_part(w);
    do {
      take(w, next, number);
      *from = next;
      next = next_vertex(w);
      if (next == NONE && w->touched_count == 0) { /* all that is connected is in: another piece may fit beside it */
        next = next_seed(w);
        if (next != NONE && !fits(w, next))
          break;
      }
    } while (next != NONE);
    number++;
    if (cm_run_check(w->run, error) != CM_OK)
      return error->status;
    if (next == NONE)
      next = next_seed(w);
  }
  place_lonely(w, &number);
  *parts = number;
  return CM_OK;
}

static void count_axons(growth *w)
{
  const cm_hypergraph *g = w->graph;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    w->axons_in[v] = g->in_count[v];
  for (uint32_t v = 0; v < g->vertex_count && g->net_axons != NULL; v++) {
    w->axons_in[v] = 0;
    for (cm_nets nets = cm_nets_into(g, v); nets.left > 0;)
      w->axons_in[v] += g->net_axons[cm_nets_next(&nets)];
  }
}

cm_status cm_grow_parts(const cm_hypergraph *graph, const cm_limits *limits, cm_random *random, cm_run *run,
                        uint32_t *from, uint32_t *part, uint32_t *parts, cm_error *error)
{
  growth w = {.graph = graph, .limits = limits, .run = run, .part = part};
  cm_status status = CM_NEW(run->memory, w.net_part, graph->net_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, w.axons_in, graph->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, w.shared, graph->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, w.met, graph->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, w.touched, graph->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, w.place, graph->vertex_count, error);
  if (status == CM_OK) {
    memset(w.net_part, 0xff, (size_t)graph->net_count * sizeof *w.net_part);
    for (uint32_t v = 0; v < graph->vertex_count; v++)
      part[v] = NONE;
    count_axons(&w);
    memset(w.place, 0xff, (size_t)graph->vertex_count * sizeof *w.place);
    w.open.place = w.place;
    for (uint32_t v = 0; v < graph->vertex_count && status == CM_OK; v++)
      if (!lonely(graph, v))
        status = cm_indexed_heap_push(&w.open, v, open_key(&w, v), run->memory, error);
  }
  if (status == CM_OK)
    status = grow_all(&w, random, from, parts, error);
  cm_free(w.net_part);
  cm_free(w.axons_in);
  cm_free(w.shared);
  cm_free(w.met);
  cm_free(w.touched);
  cm_free(w.place);
  cm_indexed_heap_free(&w.open);
  return status;
}
