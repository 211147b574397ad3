#include "core/partition/nets/net_fm.h"

#include <string.h>

#include "base/random.h"
#include "core/partition/fm_walk.h"
#include "core/partition/indexed_heap.h"
#include "core/partition/options.h"

#define NONE UINT32_MAX

/* Vertices that a search starts with. */
enum { SEEDS = 25 };

/* Rounds go on while they gain so much of the connectivity. */
static const double gain_least = 0.0005;

typedef struct search {
  cm_net_state *state;
  const cm_net_fm_options *options;
  cm_run *run;
  uint64_t *most;   /* [parts] of this round */
  cm_indexed_heap heap;
  uint32_t *place;  /* [vertices] in it */
  uint32_t *target; /* [vertices] of those in it */
  uint8_t *done;    /* [vertices] MOVED in this search, or KEPT by an earlier one of the round */
  uint32_t *order;  /* [vertices] on borders, in the order of their turns */
  uint32_t *moved, *from; /* [vertices] moves of the search */
  uint32_t *before; /* [vertices] parts before a loose round */
  uint32_t moves;
} search;

enum { FREE, MOVED, KEPT };

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
static cm_status offer(search *w, uint32_t v, cm_error *error)
{
  int64_t gain;
  if (w->done[v] != FREE)
    return CM_OK;
  uint32_t to = best_target(w->state, w->most, v, &gain);
  bool in = w->place[v] != CM_INDEXED_HEAP_ABSENT;
  w->target[v] = to;
  if (to == NONE) {
    if (in)
      cm_indexed_heap_remove(&w->heap, v);
    return CM_OK;
  }
  if (in) {
    cm_indexed_heap_change(&w->heap, v, gain);
    return CM_OK;
  }
  return cm_indexed_heap_push(&w->heap, v, gain, w->run->memory, error);
}

/* One search from the vertices that are in the queue: returns what it gains, in the best state that it met. */
static cm_status search_once(search *w, int64_t *gain, cm_error *error)
{
  cm_net_state *s = w->state;
  int64_t sum = 0, best = 0;
  uint32_t kept = 0;
  cm_fm_walk walk = cm_fm_walk_begin(s->graph->vertex_count);
  w->moves = 0;
  while (w->heap.count > 0) {
    uint32_t v = w->heap.item[0].vertex, from = s->part[v];
    int64_t promised = w->heap.item[0].key, now;
    uint32_t to = best_target(s, w->most, v, &now);
    if (to == NONE || now < promised) { /* parts have filled since */
      if (offer(w, v, error) != CM_OK)
        return error->status;
      continue;
    }
    cm_indexed_heap_remove(&w->heap, v);
    uint64_t load = s->load[from];
    cm_net_forget_touched(s);
    cm_net_move(s, v, to);
    w->done[v] = MOVED;
    w->moved[w->moves] = v;
    w->from[w->moves++] = from;
    sum += now;
    if (sum > best || (sum == best && s->load[to] < load)) {
      best = sum;
      kept = w->moves;
      cm_fm_walk_restart(&walk);
    } else if (cm_fm_walk_hopeless(&walk, now))
      break;
    for (uint32_t i = 0; i < s->touched_count; i++)
      if (offer(w, s->touched[i], error) != CM_OK)
        return error->status;
  }
  for (uint32_t i = w->moves; i-- > 0;) {
    uint32_t v = w->moved[i];
    if (i >= kept)
      cm_net_move(s, v, w->from[i]);
    w->done[v] = i < kept ? KEPT : FREE;
  }
  cm_indexed_heap_clear(&w->heap);
  *gain += best;
  return CM_OK;
}

static cm_status search_borders(search *w, cm_random *random, int64_t *gain, cm_error *error)
{
  cm_net_state *s = w->state;
  uint32_t n = s->graph->vertex_count, count = 0;
  for (uint32_t v = 0; v < n; v++)
    if (cm_net_on_border(s, v))
      w->order[count++] = v;
  for (uint32_t i = count; i > 1; i--) {
    uint32_t j = (uint32_t)cm_random_below(random, i), v = w->order[j];
    w->order[j] = w->order[i - 1];
    w->order[i - 1] = v;
  }
  memset(w->done, FREE, n);
  for (uint32_t i = 0; i < count;) {
    for (uint32_t seeds = 0; i < count && seeds < SEEDS; i++)
      if (w->done[w->order[i]] == FREE) {
        if (offer(w, w->order[i], error) != CM_OK)
          return error->status;
        seeds++;
      }
    if (search_once(w, gain, error) != CM_OK || cm_run_check(w->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static void go_back(search *w)
{
  cm_net_state *s = w->state;
  for (uint32_t v = 0; v < s->graph->vertex_count; v++)
    if (s->part[v] != w->before[v])
      cm_net_move(s, v, w->before[v]);
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
  if (loose)
    memcpy(w->before, s->part, s->graph->vertex_count * sizeof *w->before);
  cm_status status = search_borders(w, random, &gained, error);
  if (status == CM_OK && loose && cm_net_excess(s, o->most) > 0) {
    memcpy(w->most, o->most, s->parts * sizeof *w->most);
    status = cm_net_rebalance(s, o->most, w->run, &gained, error);
    if (status == CM_OK)
      status = search_borders(w, random, &gained, error);
  }
  if (status == CM_OK && loose && (gained < 0 || cm_net_excess(s, o->most) > 0)) {
    go_back(w);
    gained = 0;
  }
  *gain = gained;
  return status;
}

static cm_status allocate(search *w, cm_error *error)
{
  uint32_t n = w->state->graph->vertex_count;
  cm_memory *memory = w->run->memory;
  if (CM_NEW(memory, w->most, w->state->parts, error) != CM_OK || CM_NEW(memory, w->place, n, error) != CM_OK ||
      CM_NEW(memory, w->target, n, error) != CM_OK || CM_NEW(memory, w->done, n, error) != CM_OK ||
      CM_NEW(memory, w->order, n, error) != CM_OK || CM_NEW(memory, w->moved, n, error) != CM_OK ||
      CM_NEW(memory, w->from, n, error) != CM_OK || CM_NEW(memory, w->before, n, error) != CM_OK)
    return error->status;
  memset(w->place, 0xff, n * sizeof *w->place);
  w->heap.place = w->place;
  return CM_OK;
}

static void release(search *w)
{
  cm_indexed_heap_free(&w->heap);
  cm_free(w->most);
  cm_free(w->place);
  cm_free(w->target);
  cm_free(w->done);
  cm_free(w->order);
  cm_free(w->moved);
  cm_free(w->from);
  cm_free(w->before);
}

cm_status cm_net_fm(cm_net_state *state, const cm_net_fm_options *options, cm_run *run, int64_t *gain, cm_error *error)
{
  search w = {.state = state, .options = options, .run = run};
  cm_random random;
  int64_t total = 0, all = cm_net_connectivity(state);
  cm_random_init(&random, options->seed, CM_STREAM_NETS_FM, options->stream);
  cm_status status = allocate(&w, error);
  if (status == CM_OK && cm_net_excess(state, options->most) > 0)
    status = cm_net_rebalance(state, options->most, run, &total, error);
  for (uint32_t round = 0; round < options->rounds && status == CM_OK; round++) {
    int64_t gained = 0;
    status = round_once(&w, round, &random, &gained, error);
    total += gained;
    if ((double)gained > gain_least * (double)(all - total))
      continue;
    if (round >= options->loose_rounds)
      break;
    round = options->loose_rounds - 1; /* tight ones are left */
  }
  release(&w);
  if (status == CM_OK)
    *gain = total;
  return status;
}
