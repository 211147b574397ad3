#include "core/partition/edge/pairwise.h"

#include <string.h>

#include "core/base/random.h"
#include "core/base/threads.h"
#include "core/partition/priority.h"
#include "core/partition/edge/ties.h"
#include "core/partition/options.h"

enum {
  PARALLEL_ENTRIES = 1000000, /* smaller graphs do not pay for starting threads */
  SLICES = 32,
  ROUND_WORK = 200000000,     /* entries that a round may look at on any graph */
  PAIR_WORK = 1000            /* and every pair besides */
};

cm_status cm_pair_table_new(uint32_t vertices, cm_run *run, cm_pair_table *table, cm_error *error)
{
  cm_pair_table made = {0};
  if (CM_NEW(run->memory, made.place, vertices, error) != CM_OK ||
      CM_NEW(run->memory, made.state, vertices, error) != CM_OK) {
    cm_pair_table_free(&made);
    return error->status;
  }
  memset(made.place, 0xff, vertices * sizeof *made.place);
  *table = made;
  return CM_OK;
}

void cm_pair_table_free(cm_pair_table *table)
{
  cm_free(table->place);
  cm_free(table->state);
  *table = (cm_pair_table){0};
}

/* ---- one pair ---- */

/* How far the gain of a vertex in a queue can be trusted. */
enum state { GUESSED, KNOWN, MOVED };

typedef struct search {
  const cm_compact *graph;
  uint32_t *part;
  cm_pair_table *table;
  cm_pair *pair;
  cm_priority queue[2];
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
  const cm_compact *g = s->graph;
  s->work += cm_compact_degree(g, v);
  uint32_t own = s->pair->part[side], other = s->pair->part[1 - side];
  int64_t gain = 0;
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t p = read_part(s, g->neighbour[i]);
    if (p == own)
      gain -= (int64_t)cm_compact_weight(g, i);
    else if (p == other)
      gain += (int64_t)cm_compact_weight(g, i);
  }
  return gain;
}

static cm_status enqueue(search *s, uint32_t v, unsigned side, int64_t gain, enum state state, cm_error *error)
{
  s->table->state[v] = (uint8_t)state;
  return cm_priority_push(&s->queue[side], v, gain, s->run->memory, error);
}

/* Looks up the gain of the foremost vertex until that of the foremost is known. */
static void know_first(search *s, unsigned side)
{
  cm_priority *queue = &s->queue[side];
  while (queue->count > 0 && s->table->state[queue->item[0].vertex] == GUESSED) {
    uint32_t v = queue->item[0].vertex;
    s->table->state[v] = KNOWN;
    cm_priority_change(queue, v, look_up(s, v, side));
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
  const cm_compact *g = s->graph;
  cm_pair *p = s->pair;
  s->work += cm_compact_degree(g, v);
  p->gain += s->queue[side].item[s->table->place[v]].key;
  cm_priority_remove(&s->queue[side], v);
  s->table->state[v] = MOVED;
  write_part(s, v, p->part[1 - side]);
  p->load[side] -= g->size[v];
  p->load[1 - side] += g->size[v];
  for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++) {
    uint32_t u = g->neighbour[i], at = read_part(s, u);
    if ((at != p->part[0] && at != p->part[1]) || s->table->state[u] == MOVED)
      continue;
    unsigned its = at == p->part[1];
    int64_t change = (its == side ? 2 : -2) * (int64_t)cm_compact_weight(g, i);
    if (s->table->place[u] != CM_PRIORITY_ABSENT)
      cm_priority_change(&s->queue[its], u, s->queue[its].item[s->table->place[u]].key + change);
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
    if (move(s, v, side, error) != CM_OK)
      return error->status;
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

cm_status cm_pair_refine(const cm_compact *graph, uint32_t *part, cm_pair_table *table, cm_pair *pair,
                         const cm_pair_seed *seed, uint32_t count, cm_run *run, cm_error *error)
{
  search s = {.graph = graph, .part = part, .table = table, .pair = pair, .run = run};
  s.queue[0].place = s.queue[1].place = table->place;
  pair->gain = 0;
  pair->moved = false;
  cm_status status = CM_OK;
  for (uint32_t i = 0; i < count && status == CM_OK; i++) {
    uint32_t v = seed[i].vertex, at = read_part(&s, v);
    if ((at == pair->part[0] || at == pair->part[1]) && table->place[v] == CM_PRIORITY_ABSENT)
      status = enqueue(&s, v, at == pair->part[1], seed[i].gain, GUESSED, error);
  }
  if (status == CM_OK)
    status = climb(&s, error);
  for (uint32_t i = 0; i < s.moved_count; i++)
    table->state[s.moved[i]] = KNOWN;
  for (unsigned side = 0; side < 2; side++) {
    cm_priority_clear(&s.queue[side]);
    cm_priority_free(&s.queue[side]);
  }
  cm_free(s.moved);
  return status;
}

/* ---- all pairs ---- */

/* A vertex with an edge into another part. */
typedef struct contact {
  uint32_t low, high; /* the two parts */
  cm_pair_seed seed;
} contact;

/* The contacts of some consecutive vertices. */
typedef struct slice {
  uint32_t begin, end;
  contact *contact;  /* [count] */
  uint32_t count, room;
} slice;

typedef struct pairwise {
  const cm_compact *graph;
  const cm_pairwise_options *options;
  cm_run *run;
  uint32_t *part;
  uint32_t parts;
  uint64_t *load;
  cm_pair_table table;
  uint32_t round;
  slice *slice;             /* [slices] */
  uint32_t slices;
  contact *contact, *spare; /* [contact_count] sorted by pair */
  uint32_t contact_count;
  cm_pair_seed *seed;       /* [contact_count] */
  uint32_t *first;          /* [pair_count + 1] contacts of each pair */
  uint32_t pair_count;
  uint32_t *counter;        /* [parts + 1] */
  uint32_t *last;           /* [parts] the batch that last had a part */
  uint32_t *changed;        /* [parts] the round in which a part last changed */
  uint32_t *order;          /* [pair_count] */
  uint8_t *done;            /* [pair_count] */
  uint32_t *batch;          /* [parts / 2 + 1] pairs of the batch */
  cm_pair *pair;            /* [parts / 2 + 1] */
  uint32_t batch_count;
} pairwise;

static void pairwise_free(pairwise *w)
{
  for (uint32_t s = 0; s < w->slices; s++)
    cm_free(w->slice[s].contact);
  cm_free(w->slice);
  cm_pair_table_free(&w->table);
  cm_free(w->contact);
  cm_free(w->spare);
  cm_free(w->seed);
  cm_free(w->first);
  cm_free(w->counter);
  cm_free(w->last);
  cm_free(w->changed);
  cm_free(w->order);
  cm_free(w->done);
  cm_free(w->batch);
  cm_free(w->pair);
}

static cm_status add_contact(pairwise *w, slice *s, contact added, cm_error *error)
{
  if (s->count == s->room) {
    uint32_t room = s->room < 512 ? 1024 : 2 * s->room;
    contact *grown = cm_reallocate(w->run->memory, s->contact, room, sizeof *grown, error);
    if (grown == NULL)
      return error->status;
    s->contact = grown;
    s->room = room;
  }
  s->contact[s->count++] = added;
  return CM_OK;
}

static cm_status contacts_of(pairwise *w, slice *s, cm_ties *t, uint32_t v, cm_error *error)
{
  uint32_t own = w->part[v];
  cm_ties_gather(t, w->graph, w->part, v);
  for (uint32_t i = 0; i < t->count; i++) {
    uint32_t p = t->touched[i];
    contact found = {own < p ? own : p, own < p ? p : own, {v, t->weight[p] - t->inner}};
    if ((double)t->weight[p] < w->options->least_tie * (double)t->inner)
      continue;
    if ((w->changed[p] >= w->round || w->changed[own] >= w->round) && add_contact(w, s, found, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status find_in_slice(void *context, size_t index, cm_error *error)
{
  pairwise *w = context;
  slice *s = &w->slice[index];
  cm_ties t;
  s->count = 0;
  cm_status status = cm_ties_new(w->run->memory, w->parts, &t, error);
  for (uint32_t v = s->begin; v < s->end && status == CM_OK; v++)
    status = contacts_of(w, s, &t, v, error);
  cm_ties_free(&t);
  return status;
}

/* Slices of about equal numbers of entries. */
static cm_status cut_slices(pairwise *w, cm_error *error)
{
  const cm_compact *g = w->graph;
  uint32_t wanted = g->entry_count >= PARALLEL_ENTRIES ? SLICES : 1;
  if (CM_NEW(w->run->memory, w->slice, wanted, error) != CM_OK)
    return error->status;
  w->slices = wanted;
  for (uint32_t v = 0, s = 0; s < wanted; s++) {
    w->slice[s].begin = v;
    while (v < g->vertex_count && (s + 1 == wanted || g->first[v] < g->entry_count / wanted * (s + 1)))
      v++;
    w->slice[s].end = v;
  }
  return CM_OK;
}

/* All vertices with edges into other parts, of pairs of which one part changed in the round before. */
static cm_status find_contacts(pairwise *w, cm_error *error)
{
  cm_status status =
      w->slices == 1 ? find_in_slice(w, 0, error) : cm_parallel(w->run, w->slices, find_in_slice, w, error);
  if (status != CM_OK)
    return status;
  w->contact_count = 0;
  for (uint32_t s = 0; s < w->slices; s++)
    w->contact_count += w->slice[s].count;
  cm_free(w->contact);
  cm_free(w->spare);
  cm_free(w->seed);
  w->contact = w->spare = NULL;
  w->seed = NULL;
  if (CM_NEW(w->run->memory, w->contact, w->contact_count, error) != CM_OK ||
      CM_NEW(w->run->memory, w->spare, w->contact_count, error) != CM_OK ||
      CM_NEW(w->run->memory, w->seed, w->contact_count, error) != CM_OK)
    return error->status;
  uint32_t used = 0;
  for (uint32_t s = 0; s < w->slices; s++) {
    if (w->slice[s].count > 0)
      memcpy(w->contact + used, w->slice[s].contact, w->slice[s].count * sizeof *w->contact);
    used += w->slice[s].count;
  }
  return CM_OK;
}

static void sort_contacts(pairwise *w, bool by_low)
{
  memset(w->counter, 0, ((size_t)w->parts + 1) * sizeof *w->counter);
  for (uint32_t i = 0; i < w->contact_count; i++)
    w->counter[(by_low ? w->contact[i].low : w->contact[i].high) + 1]++;
  for (uint32_t p = 0; p < w->parts; p++)
    w->counter[p + 1] += w->counter[p];
  for (uint32_t i = 0; i < w->contact_count; i++)
    w->spare[w->counter[by_low ? w->contact[i].low : w->contact[i].high]++] = w->contact[i];
  contact *held = w->contact;
  w->contact = w->spare;
  w->spare = held;
}

/* Contacts grouped by pair. */
static cm_status group_contacts(pairwise *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  cm_free(w->first);
  cm_free(w->order);
  cm_free(w->done);
  w->first = w->order = NULL;
  w->done = NULL;
  sort_contacts(w, false);
  sort_contacts(w, true);
  w->pair_count = 0;
  for (uint32_t i = 0; i < w->contact_count; i++)
    w->pair_count +=
        i == 0 || w->contact[i].low != w->contact[i - 1].low || w->contact[i].high != w->contact[i - 1].high;
  if (CM_NEW(memory, w->first, (size_t)w->pair_count + 1, error) != CM_OK ||
      CM_NEW(memory, w->order, w->pair_count, error) != CM_OK || CM_NEW(memory, w->done, w->pair_count, error) != CM_OK)
    return error->status;
  uint32_t pair = 0;
  for (uint32_t i = 0; i < w->contact_count; i++) {
    w->seed[i] = w->contact[i].seed;
    if (i == 0 || w->contact[i].low != w->contact[i - 1].low || w->contact[i].high != w->contact[i - 1].high)
      w->first[pair++] = i;
  }
  w->first[pair] = w->contact_count;
  return CM_OK;
}

static cm_status refine_pair(void *context, size_t index, cm_error *error)
{
  pairwise *w = context;
  uint32_t p = w->batch[index];
  return cm_pair_refine(w->graph, w->part, &w->table, &w->pair[index], w->seed + w->first[p],
                        w->first[p + 1] - w->first[p], w->run, error);
}

/* Takes the next disjoint pairs in order; false when none is left. */
static bool next_batch(pairwise *w, uint32_t stamp)
{
  double work = w->options->work * (double)w->graph->entry_count;
  work = work > ROUND_WORK ? work : ROUND_WORK;
  w->batch_count = 0;
  for (uint32_t i = 0; i < w->pair_count; i++) {
    uint32_t p = w->order[i];
    contact c = w->contact[w->first[p]];
    if (w->done[p] || w->last[c.low] == stamp || w->last[c.high] == stamp)
      continue;
    w->done[p] = 1;
    w->last[c.low] = w->last[c.high] = stamp;
    w->pair[w->batch_count] = (cm_pair){.part = {c.low, c.high}, .load = {w->load[c.low], w->load[c.high]},
                                        .most = {w->options->most, w->options->most}, .patience = w->options->patience,
                                        .work = (uint64_t)(work / w->pair_count) + PAIR_WORK};
    w->batch[w->batch_count++] = p;
  }
  return w->batch_count > 0;
}

static cm_status run_batch(pairwise *w, cm_error *error)
{
  if (w->graph->entry_count >= PARALLEL_ENTRIES)
    return cm_parallel(w->run, w->batch_count, refine_pair, w, error);
  for (uint32_t i = 0; i < w->batch_count; i++)
    if (refine_pair(w, i, error) != CM_OK)
      return error->status;
  return CM_OK;
}

static cm_status one_round(pairwise *w, int64_t *gain, bool *moved, cm_error *error)
{
  if (find_contacts(w, error) != CM_OK || group_contacts(w, error) != CM_OK)
    return error->status;
  cm_random random;
  cm_random_init(&random, w->options->seed, CM_STREAM_REFINEMENT, (w->options->level << 8) + w->round);
  cm_random_permutation(&random, w->order, w->pair_count);
  memset(w->last, 0, w->parts * sizeof *w->last);
  for (uint32_t stamp = 1; next_batch(w, stamp); stamp++) {
    if (run_batch(w, error) != CM_OK || cm_run_check(w->run, error) != CM_OK)
      return error->status;
    for (uint32_t i = 0; i < w->batch_count; i++) {
      const cm_pair *p = &w->pair[i];
      *gain += p->gain;
      *moved |= p->moved;
      for (unsigned side = 0; side < 2; side++) {
        w->load[p->part[side]] = p->load[side];
        if (p->moved)
          w->changed[p->part[side]] = w->round + 1;
      }
    }
  }
  return CM_OK;
}

cm_status cm_pairwise(const cm_compact *graph, const cm_pairwise_options *options, cm_run *run, uint32_t *part,
                      uint32_t parts, uint64_t *load, int64_t *gain, cm_error *error)
{
  pairwise w = {.graph = graph, .options = options, .run = run, .part = part, .parts = parts, .load = load};
  cm_memory *memory = run->memory;
  int64_t total = 0;
  bool moved = true;
  cm_status status = cm_pair_table_new(graph->vertex_count, run, &w.table, error);
  if (status == CM_OK &&
      (CM_NEW(memory, w.counter, (size_t)parts + 1, error) != CM_OK || CM_NEW(memory, w.last, parts, error) != CM_OK ||
       CM_NEW(memory, w.changed, parts, error) != CM_OK ||
       CM_NEW(memory, w.batch, (size_t)parts / 2 + 1, error) != CM_OK ||
       CM_NEW(memory, w.pair, (size_t)parts / 2 + 1, error) != CM_OK))
    status = error->status;
  if (status == CM_OK)
    status = cut_slices(&w, error);
  for (; w.round < options->rounds && moved && status == CM_OK; w.round++) {
    moved = false;
    status = one_round(&w, &total, &moved, error);
  }
  pairwise_free(&w);
  if (status == CM_OK)
    *gain = total;
  return status;
}
