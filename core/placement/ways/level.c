/* One level: blocks change cells with those near their friends, by annealing. */
#include "core/placement/ways/level.h"

#include <string.h>

#include "base/random.h"
#include "core/partition/edge/csr_graph.h"
#include "core/partition/options.h"

enum { WALK_MAX = 6 };

static const double cold = 0.015; /* temperature at the end, in mean costs of a trade */

typedef struct stage {
  cm_ways *w;
  const cm_csr_graph *graph;
  unsigned shift;      /* 4^l slots a cell */
  uint32_t blocks, movable, cells; /* the last block is fixed where it is no whole one; whole cells */
  uint32_t *middle;    /* [cells + 1] local router amid a cell */
  cm_random random;
} stage;

static uint32_t router_at(const stage *s, uint32_t block)
{
  return s->middle[s->w->at[block]];
}

/* What block b pays more on the cell of router `there` than of `here`, but for what it says to `other`. */
static int64_t change(const stage *s, uint32_t b, uint32_t here, uint32_t there, uint32_t other)
{
  const cm_csr_graph *g = s->graph;
  const cm_ways *w = s->w;
  int64_t sum = 0;
  if (w->far != NULL) {
    const uint32_t *from = w->far + (size_t)here * w->routers, *to = w->far + (size_t)there * w->routers;
    for (uint64_t i = g->first[b]; i < g->first[b + 1]; i++) {
      uint32_t v = g->neighbour[i], r = router_at(s, v);
      if (v != other)
        sum += (int64_t)cm_csr_graph_weight(g, i) * ((int64_t)to[r] - from[r]);
    }
    return sum;
  }
  for (uint64_t i = g->first[b]; i < g->first[b + 1]; i++) {
    uint32_t v = g->neighbour[i], r = router_at(s, v);
    if (v != other)
      sum += (int64_t)cm_csr_graph_weight(g, i) * ((int64_t)cm_ways_distance(w, there, r) - (int64_t)cm_ways_distance(w, here, r));
  }
  return sum;
}

/* A router with cores of the region a few random links from one. */
static uint32_t wander(stage *s, uint32_t local, uint64_t bits)
{
  const cm_ways *w = s->w;
  const cm_interconnect *net = w->net;
  uint32_t router = w->router[local];
  unsigned steps = bits & 3 ? (unsigned)(bits & 1) : 2 + s->shift;
  uint32_t found = local;
  for (unsigned i = 0; i < steps + WALK_MAX; i++) {
    if (i >= steps && router < net->columns * net->rows && w->local[router] != CM_NOBODY)
      return w->local[router];
    uint32_t degree = net->first[router + 1] - net->first[router];
    if (degree == 0)
      break;
    const cm_link *link = &net->link[net->first[router] + (uint32_t)cm_random_below(&s->random, degree)];
    router = link->dead ? router : link->to;
    if (router < net->columns * net->rows && w->local[router] != CM_NOBODY)
      found = w->local[router];
  }
  return found;
}

static bool propose(void *context, cm_trade *p, double *looked)
{
  stage *s = context;
  cm_ways *w = s->w;
  const cm_csr_graph *g = s->graph;
  uint64_t bits = cm_random_next(&s->random);
  p->thing = (uint32_t)cm_random_below(&s->random, s->movable);
  uint64_t degree = cm_csr_graph_degree(g, p->thing);
  *looked += 4;
  if (degree == 0)
    return false;
  uint32_t friend = g->neighbour[g->first[p->thing] + cm_random_below(&s->random, degree)];
  uint32_t near = bits >> 8 & 3 ? router_at(s, friend) : router_at(s, p->thing), router = wander(s, near, bits >> 16);
  uint32_t slots = w->first_slot[router + 1] - w->first_slot[router];
  p->place = w->router_slot[w->first_slot[router] + (uint32_t)cm_random_below(&s->random, slots)] >> s->shift;
  if (p->place >= s->cells || p->place == w->at[p->thing])
    return false;
  p->other = w->occupant[p->place];
  if (p->other != CM_NOBODY && p->other >= s->movable)
    return false;
  uint32_t here = router_at(s, p->thing), there = s->middle[p->place];
  if (here == there)
    return false;
  int64_t cost = change(s, p->thing, here, there, p->other);
  *looked += (double)degree;
  if (p->other != CM_NOBODY) {
    cost += change(s, p->other, there, here, p->thing);
    *looked += (double)cm_csr_graph_degree(g, p->other);
  }
  p->cost = (double)cost;
  return true;
}

cm_status cm_ways_place_level(cm_ways *w, uint32_t level, double start, double entries, cm_error *error)
{
  unsigned shift = CM_BLOCK_BITS * level;
  uint32_t cells = (w->slots + (1u << shift) - 1) >> shift;
  stage s = {.w = w, .graph = w->hierarchy.level[level], .shift = shift, .blocks = w->hierarchy.vertices[level],
             .cells = w->slots >> shift};
  s.movable = w->parts >> shift;
  CM_TRY(CM_NEW(w->run->memory, s.middle, (size_t)cells + 1, error));
  for (uint32_t c = 0; c < cells; c++) {
    uint32_t from = c << shift, to = from + (1u << shift) < w->slots ? from + (1u << shift) : w->slots;
    s.middle[c] = w->slot_router[from + (to - from) / 2];
  }
  memset(w->occupant, 0xff, cells * sizeof *w->occupant);
  for (uint32_t b = 0; b < s.blocks; b++)
    w->occupant[w->at[b]] = b;
  cm_random_init(&s.random, w->task->seed, CM_STREAM_BLOCKS, 1000 + level);
  cm_trades trades = {.context = &s, .propose = propose, .at = w->at, .occupant = w->occupant, .random = &s.random, .hot = start,
                      .cold = cold, .cooled = 0.95, .entries = entries, .level = (int)level, .things = s.blocks};
  cm_status status = s.movable > 1 ? cm_anneal_trades(&trades, w->run, &w->moves, error) : CM_OK;
  cm_free(s.middle);
  return status;
}
