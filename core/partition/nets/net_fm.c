#include "core/partition/nets/net_fm.h"

#include <string.h>

#include "core/partition/fm_search.h"
#include "core/partition/options.h"

#define NONE UINT32_MAX

/* Rounds go on while they gain so much of the connectivity. */
static const double gain_min = 0.0005;

typedef struct search {
  cm_net_state *state;
  const cm_net_fm_options *options;
  uint64_t *most; /* [parts] of this round */
  bool *awake;    /* [vertices] those whose searches may find what the last ones did not: something has moved beside them */
  cm_fm_search fm;
} search;

uint64_t cm_net_excess(const cm_net_state *s, const uint64_t *most)
{
  uint64_t sum = 0;
  for (uint32_t p = 0; p < s->parts; p++)
    sum += s->load[p] > most[p] ? s->load[p] - most[p] : 0;
  return sum;
}

/* The part that v had best move to among those it touches that have room; NONE: there is none. Of equal ones the
 * emptiest. */
static uint32_t best_target(const cm_net_state *s, const uint64_t *most, uint32_t v, int64_t *gain)
{
  const cm_net_tie *row = s->tie + s->tie_first[v];
  uint32_t best = NONE, own = s->part[v];
  int64_t tied = -1;
  for (uint32_t i = 0; i < s->tie_count[v]; i++) {
    uint32_t p = row[i].part;
    if (p == own || row[i].weight < tied || s->load[p] + s->graph->size[v] > most[p])
      continue;
    if (row[i].weight > tied || s->load[p] < s->load[best] || (p < best && s->load[p] == s->load[best])) {
      tied = row[i].weight;
      best = p;
    }
  }
  *gain = s->alone[v] - s->degree[v] + tied;
  return best;
}

/* Puts v into the queue, or where its gain belongs now. */
static cm_status offer(void *context, uint32_t v, cm_error *error)
{
  search *w = context;
  int64_t gain;
  if (w->fm.done[v] != CM_FM_FREE)
    return CM_OK;
  uint32_t to = best_target(w->state, w->most, v, &gain);
  bool in = w->fm.place[v] != CM_INDEXED_HEAP_ABSENT;
  if (to == NONE) {
    if (in)
      cm_indexed_heap_remove(&w->fm.heap, v);
    return CM_OK;
  }
  if (in) {
    cm_indexed_heap_change(&w->fm.heap, v, gain);
    return CM_OK;
  }
  return cm_indexed_heap_push(&w->fm.heap, v, gain, w->fm.run->memory, error);
}

static cm_status search_on(void *context, cm_error *error)
{
  search *w = context;
  cm_net_state *s = w->state;
  while (w->fm.heap.count > 0) {
    uint32_t v = w->fm.heap.item[0].vertex, from = s->part[v];
    int64_t promised = w->fm.heap.item[0].key, now;
    uint32_t to = best_target(s, w->most, v, &now);
    if (to == NONE || now < promised) { /* parts have filled since */
      CM_TRY(offer(w, v, error));
      continue;
    }
    cm_indexed_heap_remove(&w->fm.heap, v);
    uint64_t load = s->load[from];
    cm_net_forget_touched(s);
    cm_net_move(s, v, to);
    if (!cm_fm_moved(&w->fm, v, from, now, s->load[to] < load))
      break;
    for (uint32_t i = 0; i < s->touched_count; i++) {
      uint32_t u = s->touched[i]; /* one that gains less now is found out when it is its turn */
      bool waits = w->fm.place[u] != CM_INDEXED_HEAP_ABSENT && (s->is_touched[u] & CM_NET_RISEN) == 0;
      if (!waits && offer(w, u, error) != CM_OK)
        return error->status;
    }
  }
  return CM_OK;
}

static bool on_border(const void *context, uint32_t v)
{
  const search *w = context;
  return w->awake[v] && cm_net_on_border(w->state, v);
}

static void move(void *context, uint32_t v, uint32_t to)
{
  cm_net_move(((search *)context)->state, v, to);
}

static const cm_fm_method method = {on_border, offer, search_on, move};

/* Whether what its other pins gain may have changed when one came to `to` or left `from`. */
static bool net_woke(const cm_net_state *s, uint32_t e, uint32_t from, uint32_t to)
{
  const cm_net_hold *row = s->hold + s->hold_first[e];
  uint32_t before = 0, after = 0;
  for (uint32_t i = 0; i < s->lambda[e]; i++) {
    before = row[i].part == from ? row[i].count : before;
    after = row[i].part == to ? row[i].count : after;
  }
  return before <= 1 || after <= 2;
}

/* Awake are those whose gains may have changed since parts were as in `before`; of a thorough search all stay it. */
static void wake(search *w)
{
  const cm_net_state *s = w->state;
  const cm_net_graph *g = s->graph;
  if (w->options->thorough)
    return;
  memset(w->awake, 0, g->vertex_count * sizeof *w->awake);
  for (uint32_t v = 0; v < g->vertex_count; v++) {
    if (s->part[v] == w->fm.before[v])
      continue;
    w->awake[v] = true;
    for (uint64_t j = g->vertex_first[v]; j < g->vertex_first[v + 1]; j++) {
      uint32_t e = g->net[j];
      if (net_woke(s, e, w->fm.before[v], s->part[v]))
        for (uint64_t i = g->net_first[e]; i < g->net_first[e + 1]; i++)
          w->awake[g->pin[i]] = true;
    }
  }
}

/* One round; loose ones are undone where they do not pay. */
static cm_status round_once(search *w, uint32_t round, cm_random *random, int64_t *gain, cm_error *error)
{
  cm_net_state *s = w->state;
  const cm_net_fm_options *o = w->options;
  int64_t gained = 0;
  bool loose = round < o->loose_rounds;
  for (uint32_t p = 0; p < s->parts; p++)
    w->most[p] = o->most[p] + (loose ? (uint64_t)(o->loose * (double)o->most[p]) : 0);
  memcpy(w->fm.before, s->part, s->graph->vertex_count * sizeof *w->fm.before);
  cm_status status = cm_fm_round(&w->fm, &method, w, random, &gained, error);
  if (status == CM_OK && loose && cm_net_excess(s, o->most) > 0) {
    memcpy(w->most, o->most, s->parts * sizeof *w->most);
    status = cm_net_rebalance(s, o->most, w->fm.run, &gained, error);
    wake(w);
    CM_THEN(status, cm_fm_round(&w->fm, &method, w, random, &gained, error));
  }
  if (status == CM_OK && loose && (gained < 0 || cm_net_excess(s, o->most) > 0)) {
    cm_fm_go_back(&w->fm, &method, w, s->part);
    memset(w->awake, true, s->graph->vertex_count * sizeof *w->awake);
    gained = 0;
  } else
    wake(w);
  *gain = gained;
  return status;
}

cm_status cm_net_fm(cm_net_state *state, const cm_net_fm_options *options, cm_run *run, int64_t *gain, cm_error *error)
{
  search w = {.state = state, .options = options};
  cm_random random;
  int64_t total = 0, all = cm_net_connectivity(state);
  cm_random_init(&random, options->seed, CM_STREAM_NETS_FM, options->stream);
  cm_status status = cm_fm_search_new(state->graph->vertex_count, run, &w.fm, error);
  CM_THEN(status, CM_NEW(run->memory, w.most, state->parts, error));
  CM_THEN(status, CM_NEW(run->memory, w.awake, state->graph->vertex_count, error));
  if (status == CM_OK)
    memset(w.awake, true, state->graph->vertex_count * sizeof *w.awake);
  CM_THEN_IF(status, cm_net_excess(state, options->most) > 0, cm_net_rebalance(state, options->most, run, &total, error));
  for (uint32_t round = 0; round < options->rounds && status == CM_OK; round++) {
    int64_t gained = 0;
    status = round_once(&w, round, &random, &gained, error);
    total += gained;
    if ((double)gained > gain_min * (double)(all - total))
      continue;
    if (round >= options->loose_rounds)
      break;
    round = options->loose_rounds - 1; /* tight ones are left */
  }
  cm_fm_search_free(&w.fm);
  CM_FREE(w.most, w.awake);
  if (status == CM_OK)
    *gain = total;
  return status;
}
