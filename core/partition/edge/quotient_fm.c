#include "core/partition/edge/quotient_fm.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/partition/contacts.h"
#include "core/partition/edge/ties.h"
#include "core/partition/edge/two_way_fm.h"
#include "core/partition/options.h"

enum {
  PARALLEL_ENTRIES = 1000000, /* smaller graphs do not pay for starting threads */
  SLICES = 32,
  ROUND_WORK = 200000000,     /* entries that a round may look at on any graph */
  PAIR_WORK = 1000            /* and every pair besides */
};

/* The contacts of some consecutive vertices. */
typedef struct slice {
  uint32_t begin, end;
  cm_contact *contact; /* [count] what moves gain */
  uint32_t count, room;
} slice;

typedef struct pairwise {
  const cm_csr_graph *graph;
  const cm_quotient_fm_options *options;
  cm_run *run;
  uint32_t *part;
  uint32_t parts;
  uint64_t *load;
  cm_pair_table table;
  uint32_t round;
  slice *slice;             /* [slices] */
  uint32_t slices;
  cm_contact *contact, *spare; /* [contact_count] sorted by pair */
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
  CM_FREE(w->contact, w->spare, w->seed, w->first, w->counter, w->last, w->changed, w->order, w->done, w->batch, w->pair);
}

static cm_status add_contact(pairwise *w, slice *s, cm_contact added, cm_error *error)
{
  if (s->count == s->room) {
    uint32_t room = s->room < 512 ? 1024 : 2 * s->room;
    cm_contact *grown = cm_reallocate(w->run->memory, s->contact, room, sizeof *grown, error);
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
    cm_contact found = {t->weight[p] - t->inner, own < p ? own : p, own < p ? p : own, v, i};
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
  const cm_csr_graph *g = w->graph;
  uint32_t wanted = g->entry_count >= PARALLEL_ENTRIES ? SLICES : 1;
  CM_TRY(CM_NEW(w->run->memory, w->slice, wanted, error));
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
  CM_FREE(w->contact, w->spare, w->seed);
  w->contact = w->spare = NULL;
  w->seed = NULL;
  CM_TRY(CM_NEW(w->run->memory, w->contact, w->contact_count, error));
  CM_TRY(CM_NEW(w->run->memory, w->spare, w->contact_count, error));
  CM_TRY(CM_NEW(w->run->memory, w->seed, w->contact_count, error));
  uint32_t used = 0;
  for (uint32_t s = 0; s < w->slices; s++) {
    if (w->slice[s].count > 0)
      memcpy(w->contact + used, w->slice[s].contact, w->slice[s].count * sizeof *w->contact);
    used += w->slice[s].count;
  }
  return CM_OK;
}

/* Whether the best vertex of each side, or of one into room, would gain anything, or there is too much somewhere: else a search
 * begins by losing. Where parts have fewer vertices than its patience it would go on to carry both parts over, for next to nothing. */
static bool may_gain(const pairwise *w, uint32_t p)
{
  cm_contact c = w->contact[w->first[p]];
  uint64_t most = w->options->most;
  int64_t best[2] = {INT64_MIN / 2, INT64_MIN / 2};
  for (uint32_t i = w->first[p]; i < w->first[p + 1]; i++) {
    unsigned side = w->part[w->seed[i].vertex] == c.high;
    best[side] = w->seed[i].gain > best[side] ? w->seed[i].gain : best[side];
  }
  return best[0] + best[1] > 0 || w->load[c.low] > most || w->load[c.high] > most || (best[0] > 0 && w->load[c.high] < most) ||
         (best[1] > 0 && w->load[c.low] < most);
}

/* Contacts grouped by pair. */
static cm_status group_contacts(pairwise *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  CM_FREE(w->first, w->order, w->done);
  w->first = w->order = NULL;
  w->done = NULL;
  cm_contacts_sort(w->contact, w->spare, w->contact_count, w->counter, w->parts);
  w->pair_count = 0;
  for (uint32_t i = 0; i < w->contact_count; i++)
    w->pair_count += cm_contacts_begin_pair(w->contact, i);
  CM_TRY(CM_NEW(memory, w->first, (size_t)w->pair_count + 1, error));
  CM_TRY(CM_NEW(memory, w->order, w->pair_count, error));
  CM_TRY(CM_NEW(memory, w->done, w->pair_count, error));
  uint32_t pair = 0;
  for (uint32_t i = 0; i < w->contact_count; i++) {
    w->seed[i] = (cm_pair_seed){w->contact[i].vertex, w->contact[i].weight};
    if (cm_contacts_begin_pair(w->contact, i))
      w->first[pair++] = i;
  }
  w->first[pair] = w->contact_count;
  if (w->graph->vertex_count <= (uint64_t)w->options->patience * w->parts)
    for (uint32_t p = 0; p < w->pair_count; p++)
      w->done[p] = !may_gain(w, p);
  return CM_OK;
}

static cm_status refine_pair(void *context, size_t index, cm_error *error)
{
  pairwise *w = context;
  uint32_t p = w->batch[index];
  w->pair[index].seed = w->seed + w->first[p];
  w->pair[index].seeds = w->first[p + 1] - w->first[p];
  return cm_pair_refine(w->graph, w->part, &w->table, &w->pair[index], w->run, error);
}

/* Takes the next disjoint pairs in order; false when none is left. */
static bool next_batch(pairwise *w, uint32_t stamp)
{
  double work = w->options->work * (double)w->graph->entry_count;
  work = work > ROUND_WORK ? work : ROUND_WORK;
  w->batch_count = 0;
  for (uint32_t i = 0; i < w->pair_count; i++) {
    uint32_t p = w->order[i];
    cm_contact c = w->contact[w->first[p]];
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
    CM_TRY(refine_pair(w, i, error));
  return CM_OK;
}

static cm_status one_round(pairwise *w, int64_t *gain, bool *moved, cm_error *error)
{
  CM_TRY(find_contacts(w, error));
  CM_TRY(group_contacts(w, error));
  cm_random random;
  cm_random_init(&random, w->options->seed, CM_STREAM_REFINEMENT, (w->options->level << 8) + w->round);
  cm_random_permutation(&random, w->order, w->pair_count);
  memset(w->last, 0, w->parts * sizeof *w->last);
  for (uint32_t stamp = 1; next_batch(w, stamp); stamp++) {
    CM_TRY(run_batch(w, error));
    CM_TRY(cm_run_check(w->run, error));
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
    cm_run_add(w->run, w->options->share / w->options->rounds * w->batch_count / w->pair_count);
  }
  return CM_OK;
}

cm_status cm_quotient_fm(const cm_csr_graph *graph, const cm_quotient_fm_options *options, cm_run *run, const cm_parts *parts,
                         int64_t *gain, cm_error *error)
{
  const uint32_t count = parts->count;
  pairwise w = {.graph = graph, .options = options, .run = run, .part = parts->part, .parts = count, .load = parts->load};
  cm_memory *memory = run->memory;
  int64_t total = 0;
  bool moved = true;
  cm_status status = cm_pair_table_new(graph->vertex_count, run, &w.table, error);
  if (status == CM_OK &&
      (CM_NEW(memory, w.counter, (size_t)count + 1, error) != CM_OK || CM_NEW(memory, w.last, count, error) != CM_OK ||
       CM_NEW(memory, w.changed, count, error) != CM_OK || CM_NEW(memory, w.batch, (size_t)count / 2 + 1, error) != CM_OK ||
       CM_NEW(memory, w.pair, (size_t)count / 2 + 1, error) != CM_OK))
    status = error->status;
  CM_THEN(status, cut_slices(&w, error));
  for (; w.round < options->rounds && moved && status == CM_OK; w.round++) {
    moved = false;
    status = one_round(&w, &total, &moved, error);
  }
  pairwise_free(&w);
  if (status == CM_OK)
    *gain = total;
  return status;
}
