#include "core/partition/nets/net_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "core/partition/balanced_cut.h"
#include "core/partition/nets/net_flow_region.h"
#include "core/partition/options.h"

#define NONE UINT32_MAX

/* A pair is given up after so many looks at each arc of its network. */
enum { LOOKS = 200 };

/* Two parts that nets have in common. */
typedef struct pair {
  int64_t weight; /* of ties from one to the other */
  uint32_t a, b;
} pair;

typedef struct work {
  cm_net_state *state;
  const cm_net_flow_options *options;
  cm_run *run;
  cm_random random;
  uint32_t round;
  uint32_t *head, *next, *previous; /* [parts], [vertices] members of parts */
  uint32_t *changed;  /* [parts] the round in which it last did, from 1 on */
  int64_t *tied;      /* [parts] from the part under way */
  uint32_t *touched;  /* [parts] those that it touches */
  pair *pair;         /* [pair_count] */
  uint64_t pair_count, pair_room;
  uint32_t *seed;     /* [vertices] */
  uint32_t *order[2]; /* [vertices] */
  uint8_t *side;      /* [vertices] */
  cm_net_region region;
} work;

static void release(work *w)
{
  cm_free(w->head);
  cm_free(w->next);
  cm_free(w->previous);
  cm_free(w->changed);
  cm_free(w->tied);
  cm_free(w->touched);
  cm_free(w->pair);
  cm_free(w->seed);
  cm_free(w->order[0]);
  cm_free(w->order[1]);
  cm_free(w->side);
  cm_net_region_free(&w->region);
}

static cm_status allocate(work *w, cm_error *error)
{
  uint32_t n = w->state->graph->vertex_count, parts = w->state->parts;
  cm_memory *memory = w->run->memory;
  if (CM_NEW(memory, w->head, parts, error) != CM_OK || CM_NEW(memory, w->next, n, error) != CM_OK ||
      CM_NEW(memory, w->previous, n, error) != CM_OK || CM_NEW(memory, w->changed, parts, error) != CM_OK ||
      CM_NEW(memory, w->tied, parts, error) != CM_OK || CM_NEW(memory, w->touched, parts, error) != CM_OK ||
      CM_NEW(memory, w->seed, n, error) != CM_OK || CM_NEW(memory, w->order[0], n, error) != CM_OK ||
      CM_NEW(memory, w->order[1], n, error) != CM_OK || CM_NEW(memory, w->side, n, error) != CM_OK)
    return error->status;
  return cm_net_region_new(w->state, w->run, &w->region, error);
}

static void enter(work *w, uint32_t v)
{
  uint32_t p = w->state->part[v], before = w->head[p];
  w->next[v] = before;
  w->previous[v] = NONE;
  if (before != NONE)
    w->previous[before] = v;
  w->head[p] = v;
}

static void leave(work *w, uint32_t v)
{
  uint32_t before = w->previous[v], after = w->next[v];
  if (before == NONE)
    w->head[w->state->part[v]] = after;
  else
    w->next[before] = after;
  if (after != NONE)
    w->previous[after] = before;
}

static bool is_active(const work *w, uint32_t p)
{
  return w->changed[p] >= w->round;
}

/* The pairs of a part with later ones. */
static cm_status list_pairs_of(work *w, uint32_t a, cm_error *error)
{
  const cm_net_state *s = w->state;
  uint32_t count = 0;
  for (uint32_t v = w->head[a]; v != NONE; v = w->next[v])
    for (uint32_t i = 0; i < s->tie_count[v] && s->tie_count[v] > 1; i++) {
      cm_net_tie t = s->tie[s->tie_first[v] + i];
      if (t.part <= a || (!is_active(w, a) && !is_active(w, t.part)))
        continue;
      if (w->tied[t.part] == 0)
        w->touched[count++] = t.part;
      w->tied[t.part] += t.weight;
    }
  if (CM_ROOM(w->run->memory, w->pair, &w->pair_room, w->pair_count + count, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < count; i++) {
    w->pair[w->pair_count++] = (pair){w->tied[w->touched[i]], a, w->touched[i]};
    w->tied[w->touched[i]] = 0;
  }
  return CM_OK;
}

static int heavier(const void *a, const void *b)
{
  const pair *p = a, *q = b;
  if (p->weight != q->weight)
    return p->weight > q->weight ? -1 : 1;
  if (p->a != q->a)
    return p->a < q->a ? -1 : 1;
  return p->b < q->b ? -1 : p->b > q->b;
}

static uint32_t list_seeds(work *w, uint32_t from, uint32_t to)
{
  const cm_net_state *s = w->state;
  uint32_t count = 0;
  for (uint32_t v = w->head[from]; v != NONE; v = w->next[v])
    for (uint32_t i = 0; i < s->tie_count[v] && s->tie_count[v] > 1; i++)
      if (s->tie[s->tie_first[v] + i].part == to) {
        uint32_t j = (uint32_t)cm_random_below(&w->random, ++count);
        w->seed[count - 1] = w->seed[j];
        w->seed[j] = v;
        break;
      }
  return count;
}

/* How much of a part the region may have: if all of it went over, the other would have `reach` times the room beyond the mean. */
static uint64_t region_size(const work *w, uint32_t a, uint32_t b)
{
  const cm_net_state *s = w->state;
  double mean = (double)s->graph->size_total / s->parts, room = (double)w->options->most[b] - mean;
  double size = mean + w->options->reach * (room > 0 ? room : 0) - (double)s->load[b];
  return size < 0 ? 0 : size < (double)s->load[a] ? (uint64_t)size : s->load[a] - 1;
}

/* Each side takes in its own vertices first, those farthest from the cut before others, then those of the other one. */
static void order_vertices(work *w)
{
  uint32_t a = w->region.count[0], all = a + w->region.count[1];
  for (uint32_t i = 0; i < a; i++)
    w->order[0][i] = a - 1 - i;
  for (uint32_t i = a; i < all; i++) {
    w->order[0][i] = i;
    w->order[1][i - a] = all - 1 - (i - a);
  }
  for (uint32_t i = 0; i < a; i++)
    w->order[1][all - a + i] = i;
}

static void apply(work *w, uint32_t a, uint32_t b, int64_t *gain)
{
  cm_net_state *s = w->state;
  const cm_net_region *r = &w->region;
  for (uint32_t i = 0; i < r->count[0] + r->count[1]; i++) {
    uint32_t v = r->vertex[i], to = w->side[i] == 0 ? a : b;
    if (s->part[v] == to)
      continue;
    *gain += cm_net_gain(s, v, to);
    leave(w, v);
    cm_net_forget_touched(s);
    cm_net_move(s, v, to);
    enter(w, v);
  }
}

/* Cuts two parts anew. *better: what it found is another cut. */
static cm_status cut_pair(work *w, uint32_t a, uint32_t b, int64_t *gain, bool *better, cm_error *error)
{
  cm_net_state *s = w->state;
  cm_net_region *r = &w->region;
  *better = false;
  cm_net_region_begin(r, a, b);
  uint32_t seeds = list_seeds(w, a, b);
  cm_net_region_grow(r, 0, w->seed, seeds, region_size(w, a, b), w->options->distance);
  seeds = list_seeds(w, b, a);
  cm_net_region_grow(r, 1, w->seed, seeds, region_size(w, b, a), w->options->distance);
  if (r->count[0] + r->count[1] == 0)
    return CM_OK;
  if (cm_net_region_network(r, error) != CM_OK)
    return error->status;
  if (r->cut == 0)
    return CM_OK;
  uint32_t *size = w->seed; /* no longer needed */
  for (uint32_t i = 0; i < r->count[0] + r->count[1]; i++)
    size[i] = s->graph->size[r->vertex[i]];
  order_vertices(w);
  cm_balanced_cut cut = {
      .vertices = r->count[0] + r->count[1], .size = size, .order = {w->order[0], w->order[1]},
      .fixed = {s->load[a] - r->load[0], s->load[b] - r->load[1]}, .most = {w->options->most[a], w->options->most[b]},
      .cut = r->cut, .larger = s->load[a] > s->load[b] ? s->load[a] : s->load[b],
      .looks = LOOKS * 2 * (uint64_t)r->flow.pairs, .side = w->side};
  if (cm_balanced_cut_find(&r->flow, &cut, w->run, error) != CM_OK)
    return error->status;
  *better = cut.found;
  if (cut.found)
    apply(w, a, b, gain);
  return CM_OK;
}

static cm_status one_round(work *w, int64_t *gain, cm_error *error)
{
  w->pair_count = 0;
  for (uint32_t p = 0; p < w->state->parts; p++)
    if (list_pairs_of(w, p, error) != CM_OK)
      return error->status;
  if (w->pair_count > 1)
    qsort(w->pair, w->pair_count, sizeof *w->pair, heavier);
  for (uint64_t i = 0; i < w->pair_count; i++) {
    pair p = w->pair[i];
    int64_t gained = 0;
    bool better;
    if (cut_pair(w, p.a, p.b, &gained, &better, error) != CM_OK || cm_run_check(w->run, error) != CM_OK)
      return error->status;
    *gain += gained;
    if (gained > 0)
      w->changed[p.a] = w->changed[p.b] = w->round + 1;
  }
  return CM_OK;
}

cm_status cm_net_flow(cm_net_state *state, const cm_net_flow_options *options, cm_run *run, int64_t *gain, cm_error *error)
{
  work w = {.state = state, .options = options, .run = run};
  cm_random_init(&w.random, options->seed, CM_STREAM_NETS_FLOW, options->stream);
  cm_status status = allocate(&w, error);
  if (status == CM_OK) {
    memset(w.head, 0xff, state->parts * sizeof *w.head);
    for (uint32_t v = state->graph->vertex_count; v-- > 0;)
      enter(&w, v);
  }
  for (; w.round < options->rounds && status == CM_OK; w.round++) {
    int64_t gained = 0;
    status = one_round(&w, &gained, error);
    *gain += gained;
    if (gained <= 0)
      break;
  }
  release(&w);
  return status;
}
