#include "core/partition/edge/affinity.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "core/partition/edge/part_ties.h"
#include "core/partition/options.h"

enum {
  BLOCKS = 16,   /* of vertices, for parallel work */
  BATCHES = 64,  /* of a sweep */
  CHOICES = 2,   /* parts in which a vertex looks for a place */
  PARTNERS = 256 /* members of a full part that it asks */
};
#define NONE UINT32_MAX

/* Annealing begins at so many roots of the mean tie of a vertex to its part, and is over after this share of the
 * sweeps. */
static const double hot = 1.5, annealed_share = 0.8;

/* A sweep that moves fewer than this share of the vertices is the last. */
static const double moved_min = 0.002;

/* What a vertex would do: go to a part, and whom it sends to its own instead. */
typedef struct proposal {
  uint32_t to, partner;
} proposal;

typedef struct profiles {
  const cm_demand *demand;
  const cm_affinity_options *options;
  cm_run *run;
  cm_part_ties ties;
  uint32_t n;
  uint32_t *part;      /* [n] */
  uint32_t parts;      /* so far */
  uint32_t *share;     /* [options->parts] final parts that each part stands for */
  uint64_t *load;      /* [options->parts] */
  uint32_t *member;    /* [n] vertices by part, in no order inside */
  uint32_t *member_first; /* [options->parts + 1] */
  uint32_t *place;     /* [n] in `member` */
  uint32_t *room;      /* [options->parts] members that a part has now: member_first[p] .. + room[p] - 1 */
  uint32_t *order;     /* [n] */
  proposal *proposal;  /* [n / BATCHES + 1] */
  uint32_t begin, end; /* the batch, in `order` */
  cm_part_change *change; /* [2 * (n / BATCHES + 1)] of the batch */
  uint32_t changes;
  uint32_t *touched;   /* [n] batch in which a vertex last moved */
  uint32_t batch;
  uint64_t moves;
  cm_random random;
  double temperature;
  uint64_t key;        /* of the random numbers of the sweep */
} profiles;

static void profiles_free(profiles *w)
{
  cm_part_ties_free(&w->ties);
  CM_FREE(w->share, w->load, w->member, w->member_first, w->place, w->room, w->order, w->proposal, w->change, w->touched);
}

static uint32_t *row(const profiles *w, uint32_t v)
{
  return cm_part_ties_row(&w->ties, v);
}

static uint64_t most(const profiles *w, uint32_t p)
{
  return w->options->most * w->share[p];
}

static uint32_t size(const profiles *w, uint32_t v)
{
  return cm_demand_size(w->demand, v);
}

/* ---- proposals ---- */

/* The member of part p that gains most by going to v's part while v comes, and what both gain. Of large parts a
 * stretch that depends on v is asked; NONE when nobody fits. */
static cm_status best_partner(const profiles *w, uint32_t v, uint32_t p, int64_t *gain, uint32_t *partner,
                              cm_error *error)
{
  uint32_t own = w->part[v], best = NONE;
  int64_t most_gain = INT64_MIN, between;
  *partner = NONE;
  if (w->room[p] == 0)
    return CM_OK;
  uint32_t asked = w->room[p] < PARTNERS ? w->room[p] : PARTNERS;
  uint32_t start = (uint32_t)((v * UINT64_C(0x9e3779b1) + w->batch) % w->room[p]);
  for (uint32_t j = 0, at = start; j < asked; j++, at = at + 1 < w->room[p] ? at + 1 : 0) {
    uint32_t u = w->member[w->member_first[p] + at];
    int64_t its = (int64_t)row(w, u)[own] - row(w, u)[p];
    if (its > most_gain && w->load[p] - size(w, u) + size(w, v) <= most(w, p) &&
        w->load[own] - size(w, v) + size(w, u) <= most(w, own)) {
      most_gain = its;
      best = u;
    }
  }
  if (best == NONE)
    return CM_OK;
  CM_TRY(cm_synapses_between(&w->ties.synapses, v, best, &between, error));
  *gain += most_gain - 2 * between;
  *partner = best;
  return CM_OK;
}

static cm_status propose(const profiles *w, uint32_t v, proposal *proposed, cm_error *error)
{
  const uint32_t *ties = row(w, v);
  uint32_t own = w->part[v], choice[CHOICES], count = 0;
  int64_t loss = w->temperature > 0 ? (int64_t)(-w->temperature * log(cm_random_unit_of(w->key, v))) : 0;
  for (uint32_t p = 0; p < w->parts; p++) {
    if (p == own || (int64_t)ties[p] <= (int64_t)ties[own] - loss || (count == CHOICES && ties[p] <= ties[choice[CHOICES - 1]]))
      continue;
    uint32_t at = count < CHOICES ? count++ : CHOICES - 1;
    for (; at > 0 && ties[choice[at - 1]] < ties[p]; at--)
      choice[at] = choice[at - 1];
    choice[at] = p;
  }
  proposal best = {NONE, NONE};
  int64_t best_gain = -loss;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t p = choice[i], partner = NONE;
    int64_t gain = (int64_t)ties[p] - ties[own];
    bool full = w->load[p] + size(w, v) > most(w, p);
    if (full && best_partner(w, v, p, &gain, &partner, error) != CM_OK)
      return error->status;
    if (full && partner == NONE)
      continue;
    if (gain > best_gain) {
      best_gain = gain;
      best = (proposal){p, partner};
    }
  }
  *proposed = best;
  return CM_OK;
}

static cm_status propose_block(void *context, size_t block, cm_error *error)
{
  profiles *w = context;
  uint64_t length = w->end - w->begin;
  for (uint64_t i = length * block / BLOCKS; i < length * (block + 1) / BLOCKS; i++)
    CM_TRY(propose(w, w->order[w->begin + i], &w->proposal[i], error));
  return cm_run_check(w->run, error);
}

/* ---- moves ---- */

static void leave(profiles *w, uint32_t v)
{
  uint32_t p = w->part[v], last = w->member[w->member_first[p] + --w->room[p]];
  w->member[w->place[v]] = last;
  w->place[last] = w->place[v];
  w->load[p] -= size(w, v);
}

/* Member lists have room for as many as were there when they were made, and more only where somebody leaves first:
 * so all leave before any enters. */
static void enter(profiles *w, uint32_t v, uint32_t to)
{
  w->change[w->changes++] = (cm_part_change){v, w->part[v], to};
  w->place[v] = w->member_first[to] + w->room[to]++;
  w->member[w->place[v]] = v;
  w->part[v] = to;
  w->load[to] += size(w, v);
  w->touched[v] = w->batch;
  w->moves++;
}

static void carry_out(profiles *w)
{
  w->changes = 0;
  for (uint32_t i = w->begin; i < w->end; i++) {
    uint32_t v = w->order[i], from = w->part[v];
    proposal made = w->proposal[i - w->begin];
    if (made.to == NONE || w->touched[v] == w->batch)
      continue;
    if (made.partner == NONE) {
      if (w->load[made.to] + size(w, v) > most(w, made.to) || w->room[from] == 1) /* no part is emptied */
        continue;
      leave(w, v);
      enter(w, v, made.to);
      continue;
    }
    uint32_t u = made.partner;
    if (w->touched[u] == w->batch || w->part[u] != made.to ||
        w->load[made.to] - size(w, u) + size(w, v) > most(w, made.to) ||
        w->load[from] - size(w, v) + size(w, u) > most(w, from))
      continue;
    leave(w, v);
    leave(w, u);
    enter(w, v, made.to);
    enter(w, u, from);
  }
}

static cm_status sweep(profiles *w, cm_error *error)
{
  w->moves = 0;
  cm_random_permutation(&w->random, w->order, w->n);
  for (uint32_t b = 0; b < BATCHES; b++) {
    w->begin = (uint32_t)cm_slice_begin(w->n, b, BATCHES);
    w->end = (uint32_t)cm_slice_begin(w->n, b + 1, BATCHES);
    w->batch++;
    CM_TRY(cm_parallel(w->run, BLOCKS, propose_block, w, error));
    carry_out(w);
    CM_TRY(cm_part_ties_correct(&w->ties, w->change, w->changes, error));
  }
  return CM_OK;
}

/* ---- parts ---- */

/* Member lists; a part's list has room for as many vertices as it may hold. */
static cm_status list_members(profiles *w, cm_error *error)
{
  uint64_t used = 0;
  memset(w->room, 0, w->options->parts * sizeof *w->room);
  memset(w->load, 0, w->options->parts * sizeof *w->load);
  for (uint32_t v = 0; v < w->n; v++)
    w->room[w->part[v]]++;
  for (uint32_t p = 0; p < w->parts; p++) {
    uint64_t places = most(w, p) > w->room[p] ? most(w, p) : w->room[p];
    w->member_first[p] = (uint32_t)used;
    used += places < w->n ? places : w->n;
    w->room[p] = 0;
  }
  uint32_t *grown = cm_reallocate(w->run->memory, w->member, used, sizeof *grown, error);
  if (grown == NULL)
    return error->status;
  w->member = grown;
  for (uint32_t v = 0; v < w->n; v++) {
    uint32_t p = w->part[v];
    w->place[v] = w->member_first[p] + w->room[p]++;
    w->member[w->place[v]] = v;
    w->load[p] += size(w, v);
  }
  return CM_OK;
}

/* Deals every part that stands for several final ones out in two, in proportion, at random. */
static cm_status split(profiles *w, cm_error *error)
{
  uint32_t before = w->parts;
  for (uint32_t p = 0; p < before; p++) {
    if (w->share[p] < 2)
      continue;
    uint32_t first = (w->share[p] + 1) / 2, fresh = w->parts++, count = w->room[p];
    uint32_t *member = w->member + w->member_first[p];
    uint64_t keep = (w->load[p] * first + w->share[p] - 1) / w->share[p], kept = 0;
    for (uint32_t i = count; i > 1; i--) {
      uint32_t other = (uint32_t)cm_random_below(&w->random, i), held = member[i - 1];
      member[i - 1] = member[other];
      member[other] = held;
    }
    for (uint32_t i = 0; i < count; i++) {
      if (kept + size(w, member[i]) <= keep)
        kept += size(w, member[i]);
      else
        w->part[member[i]] = fresh;
    }
    w->share[fresh] = w->share[p] - first;
    w->share[p] = first;
  }
  return list_members(w, error);
}

/* Out of parts that hold too much, as sizes above 1 may leave them: those that lose least go first, to the part
 * with room that they are tied to most. */
static cm_status fit(profiles *w, cm_error *error)
{
  w->batch++;
  for (uint32_t p = 0; p < w->parts; p++)
    while (w->load[p] > most(w, p)) {
      uint32_t best = NONE, best_to = NONE;
      int64_t best_gain = INT64_MIN;
      for (uint32_t j = 0; j < w->room[p]; j++) {
        uint32_t v = w->member[w->member_first[p] + j];
        for (uint32_t q = 0; q < w->parts; q++)
          if (w->load[q] + size(w, v) <= most(w, q) && (int64_t)row(w, v)[q] - row(w, v)[p] > best_gain) {
            best_gain = (int64_t)row(w, v)[q] - row(w, v)[p];
            best = v;
            best_to = q;
          }
      }
      if (best == NONE)
        return cm_fail(error, CM_LIMIT_BROKEN, "cannot pack the vertices into %u parts of size %llu",
                       w->parts, (unsigned long long)w->options->most);
      w->changes = 0;
      leave(w, best);
      enter(w, best, best_to);
      CM_TRY(cm_part_ties_correct(&w->ties, w->change, w->changes, error));
    }
  return CM_OK;
}

/* The root of the mean tie of a vertex to its part: about how much ties differ by chance. */
static double spread_of_ties(const profiles *w)
{
  double sum = 0;
  for (uint32_t v = 0; v < w->n; v++)
    sum += row(w, v)[w->part[v]];
  return sqrt(sum / w->n);
}

static cm_status sweeps(profiles *w, uint32_t count, bool annealed, cm_error *error)
{
  CM_TRY(cm_part_ties_count(&w->ties, w->parts, error));
  double hottest = annealed ? hot * spread_of_ties(w) : 0;
  for (uint32_t s = 0; s < count; s++) {
    w->temperature = fmax(hottest * (1 - (s + 1) / (annealed_share * count)), 0);
    w->key = cm_random_next(&w->random);
    CM_TRY(sweep(w, error));
    CM_TRY(cm_run_progress(w->run, (double)w->parts / w->options->parts * (s + 1) / count, 0, w->n, (double)w->moves, error));
    if (w->temperature <= 0 && (double)w->moves < moved_min * w->n)
      break;
  }
  return CM_OK;
}

/* How many times the sweeps may be made without more time a synapse than in large networks. */
static uint32_t more_sweeps(const profiles *w)
{
  uint64_t cheap = CM_AFFINITY_LARGE / (w->demand->network->pin_count + 1);
  return cheap < w->options->more_sweeps ? (uint32_t)cheap : w->options->more_sweeps;
}

static cm_status run_all(profiles *w, cm_error *error)
{
  w->parts = 1;
  w->share[0] = w->options->parts;
  CM_TRY(list_members(w, error));
  while (w->parts < w->options->parts) {
    CM_TRY(split(w, error));
    bool all = w->parts == w->options->parts, useful = w->parts >= 4 && w->parts <= w->options->parts / 2;
    uint32_t more = all ? more_sweeps(w) : 1;
    if ((useful || all) && sweeps(w, (all ? w->options->sweeps : w->options->split_sweeps) * (more > 1 ? more : 1),
                                  more > 1, error) != CM_OK)
      return error->status;
  }
  return fit(w, error);
}

static cm_status profiles_new(profiles *w, cm_error *error)
{
  cm_memory *memory = w->run->memory;
  uint32_t n = w->n, parts = w->options->parts, batch = n / BATCHES + 1;
  if (CM_NEW(memory, w->share, parts, error) != CM_OK || CM_NEW(memory, w->load, parts, error) != CM_OK ||
      CM_NEW(memory, w->member_first, parts, error) != CM_OK || CM_NEW(memory, w->place, n, error) != CM_OK ||
      CM_NEW(memory, w->room, parts, error) != CM_OK || CM_NEW(memory, w->order, n, error) != CM_OK ||
      CM_NEW(memory, w->proposal, batch, error) != CM_OK ||
      CM_NEW(memory, w->change, 2 * (size_t)batch, error) != CM_OK || CM_NEW(memory, w->touched, n, error) != CM_OK)
    return error->status;
  cm_random_init(&w->random, w->options->seed, CM_STREAM_REFINEMENT, 1 << 20);
  return cm_part_ties_new(w->demand, w->part, parts, w->run, &w->ties, error);
}

cm_status cm_partition_by_affinity(const cm_demand *demand, const cm_affinity_options *options, cm_run *run,
                                uint32_t *part, cm_error *error)
{
  const cm_topology *topology = demand->network;
  profiles w = {.demand = demand, .options = options, .run = run, .n = topology->vertex_count, .part = part};
  memset(part, 0, topology->vertex_count * sizeof *part);
  cm_run_phase(run, "index");
  cm_status status = profiles_new(&w, error);
  cm_run_phase(run, "refine");
  CM_THEN(status, run_all(&w, error));
  profiles_free(&w);
  return status;
}
