#include "core/partition/edge/two_way_fm.h"

#include <string.h>

#include "core/partition/indexed_heap.h"

cm_status cm_pair_table_new(uint32_t vertices, cm_run *run, cm_pair_table *table, cm_error *error)
{
  cm_pair_table made = {0};
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(made.place, vertices), CM_ARRAY(made.state, vertices)),
            cm_pair_table_free(&made));
  memset(made.place, 0xff, vertices * sizeof *made.place);
  *table = made;
  return CM_OK;
}

void cm_pair_table_free(cm_pair_table *table)
{
  CM_FREE(table->place, table->state);
  *table = (cm_pair_table){0};
}

/* ---- one pair ---- */

/* How far the gain of a vertex in a queue can be trusted. */
enum state { GUESSED, KNOWN, MOVED };

typedef struct search {
  const cm_csr_graph *graph;
  uint32_t *part;
  cm_pair_table *table;
  cm_pair *pair;
  cm_indexed_heap queue[2];
  uint32_t *moved; /* in order */
  uint32_t moved_count, moved_room;
  uint64_t work; /* entries looked at so far */
  cm_run *run;
} search;

/* Other pairs write their own vertices' parts meanwhile; which of those a neighbour is in does not matter here. */
static uint32_t read_part(const search *s, uint32_t v)
{
  return __atomic_load_n(&s->part[v], __ATOMIC_RELAXED);
}

static void write_part(search *s, uint32_t v, uint32_t part)
{
  __atomic_store_n(&s->part[v], part, __ATOMIC_RELAXED);
}

/* What the cut gains when v goes over. */
static int64_t look_up(search *s, uint32_t v, unsigned side)
{
  const cm_csr_graph *g = s->graph;
  s->work += cm_csr_graph_degree(g, v);
  uint32_t own = s->pair->part[side], other = s->pair->part[1 - side];
  int64_t gain = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t p = read_part(s, g->neighbour[i]);
    if (p == own)
      gain -= (int64_t)cm_csr_graph_weight(g, i);
    else if (p == other)
      gain += (int64_t)cm_csr_graph_weight(g, i);
  }
  return gain;
}

static cm_status enqueue(search *s, uint32_t v, unsigned side, int64_t gain, enum state state, cm_error *error)
{
  s->table->state[v] = (uint8_t)state;
  return cm_indexed_heap_push(&s->queue[side], v, gain, s->run->memory, error);
}

/* Looks up the gain of the foremost vertex until that of the foremost is known. */
static void know_first(search *s, unsigned side)
{
  cm_indexed_heap *queue = &s->queue[side];
  while (queue->count > 0 && s->table->state[queue->item[0].vertex] == GUESSED) {
    uint32_t v = queue->item[0].vertex;
    s->table->state[v] = KNOWN;
    cm_indexed_heap_change(queue, v, look_up(s, v, side));
  }
}

static uint64_t excess_of(const cm_pair *pair)
{
  uint64_t excess = 0;
  for (unsigned side = 0; side < 2; side++)
    excess += pair->load[side] > pair->most[side] ? pair->load[side] - pair->most[side] : 0;
  return excess;
}

static uint64_t imbalance_of(const cm_pair *pair)
{
  return pair->load[0] > pair->load[1] ? pair->load[0] - pair->load[1] : pair->load[1] - pair->load[0];
}

/* The side whose best vertex goes next; 2 when none may. */
static unsigned choose_side(search *s)
{
  const cm_pair *p = s->pair;
  bool may[2];
  for (unsigned side = 0; side < 2; side++) {
    know_first(s, side);
    if (s->queue[side].count == 0) {
      may[side] = false;
      continue;
    }
    uint64_t size = s->graph->size[s->queue[side].item[0].vertex];
    uint64_t from = p->load[side], to = p->load[1 - side], most = p->most[1 - side];
    /* Into a full part only the one vertex that overfills it; out of an overfull one whatever lowers the larger
     * load. */
    may[side] = to + size <= most || (from > p->most[side] ? to + size < from : to <= most);
  }
  if (may[0] && may[1])
    return s->queue[0].item[0].key != s->queue[1].item[0].key ? s->queue[0].item[0].key < s->queue[1].item[0].key
                                                              : p->load[0] < p->load[1];
  return may[0] ? 0 : may[1] ? 1 : 2;
}

static cm_status note_move(search *s, uint32_t v, cm_error *error)
{
  if (s->moved_count == s->moved_room) {
    uint32_t room = s->moved_room < 32 ? 64 : 2 * s->moved_room;
    uint32_t *moved = cm_reallocate(s->run->memory, s->moved, room, sizeof *moved, error);
    if (moved == NULL)
      return error->status;
    s->moved = moved;
    s->moved_room = room;
  }
  s->moved[s->moved_count++] = v;
  return CM_OK;
}

/* A neighbour that is new in its queue has this move in its gain already: where rows repeat neighbours, later
 * entries would count it again, so that its gain is only a guess. */
static cm_status move(search *s, uint32_t v, unsigned side, cm_error *error)
{
  const cm_csr_graph *g = s->graph;
  cm_pair *p = s->pair;
  s->work += cm_csr_graph_degree(g, v);
  p->gain += s->queue[side].item[s->table->place[v]].key;
  cm_indexed_heap_remove(&s->queue[side], v);
  s->table->state[v] = MOVED;
  write_part(s, v, p->part[1 - side]);
  p->load[side] -= g->size[v];
  p->load[1 - side] += g->size[v];
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t u = g->neighbour[i], at = read_part(s, u);
    if ((at != p->part[0] && at != p->part[1]) || s->table->state[u] == MOVED)
      continue;
    unsigned its = at == p->part[1];
    int64_t change = (its == side ? 2 : -2) * (int64_t)cm_csr_graph_weight(g, i);
    if (s->table->place[u] != CM_INDEXED_HEAP_ABSENT)
      cm_indexed_heap_change(&s->queue[its], u, s->queue[its].item[s->table->place[u]].key + change);
    else if (change > 0 && enqueue(s, u, its, look_up(s, u, its), g->repeats ? GUESSED : KNOWN, error) != CM_OK)
      return error->status;
  }
  return note_move(s, v, error);
}

/* Back to the state after the first `kept` moves. */
static void undo(search *s, uint32_t kept)
{
  cm_pair *p = s->pair;
  while (s->moved_count > kept) {
    uint32_t v = s->moved[--s->moved_count];
    unsigned now = read_part(s, v) == p->part[1];
    write_part(s, v, p->part[1 - now]);
    p->load[now] -= s->graph->size[v];
    p->load[1 - now] += s->graph->size[v];
    s->table->state[v] = KNOWN;
  }
}

static cm_status climb(search *s, cm_error *error)
{
  cm_pair *p = s->pair;
  uint64_t best_excess = excess_of(p), best_imbalance = imbalance_of(p);
  int64_t best_gain = 0;
  uint32_t kept = 0;
  while (s->moved_count - kept < p->patience && s->work < p->work) {
    unsigned side = choose_side(s);
    if (side == 2)
      break;
    uint32_t v = s->queue[side].item[0].vertex;
    CM_TRY(move(s, v, side, error));
    uint64_t excess = excess_of(p), imbalance = imbalance_of(p);
    if (excess < best_excess ||
        (excess == best_excess && (p->gain > best_gain || (p->gain == best_gain && imbalance < best_imbalance)))) {
      best_excess = excess;
      best_gain = p->gain;
      best_imbalance = imbalance;
      kept = s->moved_count;
    }
  }
  undo(s, kept);
  p->gain = best_gain;
  p->moved = kept > 0;
  return CM_OK;
}

cm_status cm_pair_refine(const cm_csr_graph *graph, uint32_t *part, cm_pair_table *table, cm_pair *pair, cm_run *run,
                         cm_error *error)
{
  search s = {.graph = graph, .part = part, .table = table, .pair = pair, .run = run};
  s.queue[0].place = s.queue[1].place = table->place;
  pair->gain = 0;
  pair->moved = false;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < pair->seeds && status == CM_OK; i++) {
    uint32_t v = pair->seed[i].vertex, at = read_part(&s, v);
    if ((at == pair->part[0] || at == pair->part[1]) && table->place[v] == CM_INDEXED_HEAP_ABSENT)
      status = enqueue(&s, v, at == pair->part[1], pair->seed[i].gain, GUESSED, error);
  }
  CM_THEN(status, climb(&s, error));
  for (uint32_t i = 0; i < s.moved_count; i++)
    table->state[s.moved[i]] = KNOWN;
  for (unsigned side = 0; side < 2; side++) {
    cm_indexed_heap_clear(&s.queue[side]);
    cm_indexed_heap_free(&s.queue[side]);
  }
  cm_free(s.moved);
  return status;
}
