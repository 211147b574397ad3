#include "core/partition/edge/kway_fm.h"

#include <string.h>

#include "core/partition/fm_search.h"
#include "core/partition/options.h"

#define NONE UINT32_MAX

/* Rounds go on while they gain so much of the cut. */
static const double gain_min = 0.0005;

/* Of vertices that gain alike the one offered last goes first: keys are gains, scaled, and a clock. Gains too large for that are keys
 * themselves. */
enum { CLOCK_BITS = 20, GAIN_BITS_MAX = 60 - CLOCK_BITS };

/* Ties that a round may look at, in numbers of the graph's entries: hubs are neighbours of everything. */
enum { WORK = 60, WORK_MIN = 1000000 };

typedef struct search {
  cm_kway *state;
  const cm_kway_fm_options *options;
  uint64_t most;       /* of this round */
  int64_t clock;       /* offers so far */
  unsigned clock_bits; /* of a key */
  cm_fm_search fm;
} search;

/* The part that v had best move to among those it touches that have room; NONE: there is none. Of equal ones the emptiest. */
static uint32_t best_target(search *w, uint32_t v, int64_t *gain)
{
  const cm_kway *s = w->state;
  uint32_t best = NONE, own = s->part[v], size = s->graph->size[v], count = cm_kway_ties(s, v);
  int64_t tied = 0;
  w->fm.work -= w->fm.work > count ? count : w->fm.work;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t p;
    int64_t tie = cm_kway_tie_at(s, v, i, &p);
    if (tie == 0 || tie < tied || p == own || s->load[p] + size > w->most)
      continue;
    if (tie > tied || s->load[p] < s->load[best] || (p < best && s->load[p] == s->load[best])) {
      tied = tie;
      best = p;
    }
  }
  *gain = tied - s->vertex[v].inner;
  return best;
}

static int64_t key_of(search *w, int64_t gain)
{
  int64_t scale = INT64_C(1) << w->clock_bits;
  return gain * scale + (w->clock++ & (scale - 1));
}

/* The gain that a vertex in the queue is there with. */
static int64_t promised(const search *w, uint32_t v)
{
  return w->fm.heap.item[w->fm.place[v]].key >> w->clock_bits;
}

/* Puts v into the queue, or where its gain belongs now. */
static cm_status offer(void *context, uint32_t v, cm_error *error)
{
  search *w = context;
  int64_t gain;
  if (w->fm.done[v] != CM_FM_FREE)
    return CM_OK;
  bool in = w->fm.place[v] != CM_INDEXED_HEAP_ABSENT;
  if (!cm_kway_on_border(w->state, v) || best_target(w, v, &gain) == NONE) {
    if (in)
      cm_indexed_heap_remove(&w->fm.heap, v);
    return CM_OK;
  }
  if (!in)
    return cm_indexed_heap_push(&w->fm.heap, v, key_of(w, gain), w->state->run->memory, error);
  cm_indexed_heap_change(&w->fm.heap, v, key_of(w, gain));
  return CM_OK;
}

/* What v would gain in a part; INT64_MIN where that is its own or has no room. */
static int64_t gain_in(const search *w, uint32_t v, uint32_t part)
{
  const cm_kway *s = w->state;
  bool open = s->part[v] != part && s->load[part] + s->graph->size[v] <= w->most;
  return open ? cm_kway_tie(s, v, part) - s->vertex[v].inner : INT64_MIN;
}

/* The same of a neighbour of a vertex that went between parts, over an edge of this weight. The key of one that waits may be too
 * high for a while, its turn shows that; it rises where the own part has lost the vertex, and by what the part that has won it, or
 * the one that has room now, gives. */
static cm_status offer_neighbour(search *w, uint32_t u, uint32_t from, uint32_t to, int64_t weight, cm_error *error)
{
  if (w->fm.done[u] != CM_FM_FREE)
    return CM_OK;
  if (w->fm.place[u] == CM_INDEXED_HEAP_ABSENT) {
    int64_t there = gain_in(w, u, to);
    if (there == INT64_MIN)
      return offer(w, u, error);
    w->fm.work -= w->fm.work > 0;
    return cm_indexed_heap_push(&w->fm.heap, u, key_of(w, there), w->state->run->memory, error);
  }
  int64_t waits = promised(w, u), best = w->state->part[u] == from ? waits + weight : waits;
  int64_t there = gain_in(w, u, to), back = gain_in(w, u, from);
  w->fm.work -= w->fm.work > 0;
  best = there > best ? there : best;
  best = back > best ? back : best;
  if (best > waits)
    cm_indexed_heap_change(&w->fm.heap, u, key_of(w, best));
  return CM_OK;
}

static cm_status search_on(void *context, cm_error *error)
{
  search *w = context;
  cm_kway *s = w->state;
  const cm_csr_graph *g = s->graph;
  while (w->fm.heap.count > 0 && w->fm.work > 0) {
    uint32_t v = w->fm.heap.item[0].vertex, from = s->part[v];
    int64_t now;
    uint32_t to = best_target(w, v, &now);
    if (to != NONE && now < promised(w, v)) { /* parts have filled, or neighbours have gone */
      cm_indexed_heap_change(&w->fm.heap, v, key_of(w, now));
      continue;
    }
    cm_indexed_heap_remove(&w->fm.heap, v);
    if (to == NONE)
      continue;
    uint64_t load = s->load[from];
    cm_kway_move(s, v, to);
    if (!cm_fm_moved(&w->fm, v, from, now, s->load[to] < load))
      break;
    for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
      CM_TRY(offer_neighbour(w, g->neighbour[i], from, to, (int64_t)cm_csr_graph_weight(g, i), error));
  }
  return CM_OK;
}

static bool on_border(const void *context, uint32_t v)
{
  return cm_kway_on_border(((const search *)context)->state, v);
}

static void move(void *context, uint32_t v, uint32_t to)
{
  cm_kway_move(((search *)context)->state, v, to);
}

static const cm_fm_method method = {on_border, offer, search_on, move};

static cm_status search_borders(search *w, cm_random *random, int64_t *gain, cm_error *error)
{
  w->fm.work = WORK * w->state->graph->entry_count + WORK_MIN;
  return cm_fm_round(&w->fm, &method, w, random, gain, error);
}

/* A round in which parts may be passed for a while; undone where it does not pay. */
static cm_status loose_round(search *w, cm_random *random, int64_t *gain, cm_error *error)
{
  cm_kway *s = w->state;
  const cm_kway_fm_options *o = w->options;
  uint64_t excess = cm_kway_excess(s, o->most);
  int64_t gained = 0;
  memcpy(w->fm.before, s->part, s->graph->vertex_count * sizeof *s->part);
  w->most = o->most + (uint64_t)(o->loose * (double)o->most);
  cm_status status = search_borders(w, random, &gained, error);
  w->most = o->most;
  if (status == CM_OK && cm_kway_excess(s, o->most) > 0) {
    status = cm_kway_relieve(s, o->most, &gained, error);
    CM_THEN(status, search_borders(w, random, &gained, error));
  }
  if (status == CM_OK && (gained < 0 || cm_kway_excess(s, o->most) > excess)) {
    cm_fm_go_back(&w->fm, &method, w, s->part);
    gained = 0;
  }
  *gain = gained;
  return status;
}

/* A key may promise twice what its vertex is tied with. */
static unsigned clock_bits(const cm_kway *s)
{
  for (uint32_t v = 0; v < s->graph->vertex_count; v++)
    if (s->vertex[v].degree >> GAIN_BITS_MAX != 0)
      return 0;
  return CLOCK_BITS;
}

/* Of what is left, a round. */
static const double share_of_round = 0.7;

cm_status cm_kway_fm(cm_kway *state, const cm_kway_fm_options *options, int64_t *gain, cm_error *error)
{
  search w = {.state = state, .options = options, .most = options->most, .clock_bits = clock_bits(state)};
  cm_random random;
  int64_t total = 0;
  double left = options->share;
  cm_random_init(&random, options->seed, CM_STREAM_REFINEMENT, options->stream);
  cm_status status = cm_fm_search_new(state->graph->vertex_count, state->run, &w.fm, error);
  for (uint32_t round = 0; round < options->rounds && status == CM_OK; round++) {
    int64_t gained = 0;
    bool loose = round < options->loose_rounds;
    w.fm.share = left * share_of_round;
    left -= w.fm.share;
    status = loose ? loose_round(&w, &random, &gained, error) : search_borders(&w, &random, &gained, error);
    total += gained;
    if ((double)gained > gain_min * (double)state->cut)
      continue;
    if (!loose)
      break;
    round = options->loose_rounds - 1; /* tight ones are left */
  }
  cm_fm_search_free(&w.fm);
  if (status == CM_OK)
    *gain = total;
  return status;
}
