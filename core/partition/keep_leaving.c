/* Happy path: what leaves each neuron counted -> a neuron that has too much goes to a target of it, or a target comes to it, alone or in exchange for one
 * that stands at the border -> kept by Metropolis' rule, where cores have room -> the best parts seen. What can fail: memory, a stop. */
#include "core/partition/keep_leaving.h"

#include <math.h>
#include <string.h>

#include "base/annealing.h"
#include "core/partition/options.h"
#include "core/partition/part_usage.h"

enum { NONE = UINT32_MAX, CHECK_EVERY = 1024, BORDER_LOOKS = 6 };
static const double work_factor = 1000, large_factor = 100, large_work = 8e7; /* synapses looked at, of each that there is, and of large networks */

/* A little too much mends without heat; what does not is melted and cooled. A synapse too much costs 1. */
typedef struct heat {
  double hot, coldest, share; /* of the work */
} heat;
static const heat heats[] = {{0.3, 1, 0.15}, {4, 0.02, 0.85}};

typedef struct search {
  const cm_demand *demand;
  const cm_keep_leaving *o;
  cm_part_usage usage;
  uint32_t *part;
  cm_leaving *leaving;           /* [vertices] */
  uint64_t *in_first;            /* [vertices + 1] */
  uint32_t *in;                  /* sources of all pins, by target */
  uint32_t *broken, *place;      /* neurons that have too much; [vertices] where they stand there, NONE */
  uint32_t broken_count;
  uint64_t excess;               /* the sum of what is too much */
  double work;                   /* synapses looked at */
  cm_random random;
} search;

/* ---- book-keeping ---- */

static cm_status read_pins(search *s, cm_run *run, cm_error *error)
{
  const cm_topology *t = s->demand->network;
  const uint32_t n = t->vertex_count;
  CM_TRY(CM_NEW(run->memory, s->in_first, (size_t)n + 2, error));
  CM_TRY(CM_NEW(run->memory, s->in, t->pin_count, error));
  for (uint64_t i = 0; i < t->pin_count; i++)
    s->in_first[t->pin[i] + 2]++;
  for (uint32_t v = 2; v < n + 2; v++)
    s->in_first[v] += s->in_first[v - 1];
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      s->in[s->in_first[t->pin[i] + 1]++] = cm_topology_source(t, e);
  return CM_OK;
}

/* Inputs that stand outside have no limit. */
static uint32_t excess_of(const search *s, uint32_t v)
{
  return cm_demand_is_outside(s->demand, v) ? 0 : cm_leaving_excess(s->o->limits, s->leaving[v]);
}

static void enlist(search *s, uint32_t v)
{
  const bool too_much = excess_of(s, v) > 0;
  if (too_much == (s->place[v] != NONE))
    return;
  if (too_much) {
    s->place[v] = s->broken_count;
    s->broken[s->broken_count++] = v;
    return;
  }
  const uint32_t last = s->broken[--s->broken_count];
  s->broken[s->place[v]] = last;
  s->place[last] = s->place[v];
  s->place[v] = NONE;
}

static void set(search *s, uint32_t v, cm_leaving now)
{
  s->excess -= excess_of(s, v);
  s->leaving[v] = now;
  s->excess += excess_of(s, v);
  enlist(s, v);
}

/* Adds a synapse between two parts (by 1) or takes it away (by -1). */
static void count(const search *s, cm_leaving *l, uint32_t from, uint32_t to, int by)
{
  if (from == to)
    return;
  if (s->o->cluster[from] == s->o->cluster[to])
    l->near += (uint32_t)by;
  else
    l->far += (uint32_t)by;
}

/* Books a neuron into another part, in what leaves. */
static void shift(search *s, uint32_t v, uint32_t to)
{
  const cm_topology *t = s->demand->network;
  const uint32_t from = s->part[v];
  cm_leaving own = {0, 0};
  for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++) {
    const uint32_t u = s->in[i];
    if (u == v)
      continue;
    cm_leaving now = s->leaving[u];
    count(s, &now, s->part[u], from, -1);
    count(s, &now, s->part[u], to, 1);
    set(s, u, now);
  }
  for (uint64_t i = t->net_first[s->usage.out_net[v]]; i < t->net_first[s->usage.out_net[v + 1]]; i++)
    if (t->pin[i] != v)
      count(s, &own, to, s->part[t->pin[i]], 1);
  set(s, v, own);
  s->work += (double)(s->in_first[v + 1] - s->in_first[v]) + (double)cm_part_usage_degree(&s->usage, v);
}

/* ---- moves ---- */

static uint32_t random_target(search *s, uint32_t v)
{
  const cm_topology *t = s->demand->network;
  const uint64_t first = t->net_first[s->usage.out_net[v]], many = t->net_first[s->usage.out_net[v + 1]] - first;
  return many > 0 ? t->pin[first + cm_random_below(&s->random, many)] : NONE;
}

static uint32_t random_member(search *s, uint32_t part)
{
  const cm_member_list *m = &s->usage.members[part];
  return m->vertex[cm_random_below(&s->random, m->count)];
}

/* One of a part that has something to do with another part, mostly. */
static uint32_t at_border(search *s, uint32_t part, uint32_t with)
{
  for (int look = 0; look < BORDER_LOOKS; look++) {
    const uint32_t u = random_target(s, random_member(s, with));
    if (u != NONE && s->part[u] == part)
      return u;
  }
  return random_member(s, part);
}

typedef struct move {
  uint32_t v, to, other; /* NONE: nobody comes back for it */
} move;

static bool choose(search *s, move *m)
{
  const uint32_t v = s->broken[cm_random_below(&s->random, s->broken_count)], w = random_target(s, v);
  if (w == NONE || s->part[w] == s->part[v])
    return false;
  const bool comes = cm_random_below(&s->random, 2) == 0;
  *m = comes ? (move){w, s->part[v], NONE} : (move){v, s->part[w], NONE};
  if (cm_random_below(&s->random, 4) != 0)
    m->other = at_border(s, m->to, s->part[m->v]);
  return m->other != (comes ? v : w) && !cm_demand_is_outside(s->demand, m->v) && (m->other == NONE || !cm_demand_is_outside(s->demand, m->other)) &&
         (m->other != NONE || s->usage.members[s->part[m->v]].count > 1);
}

static cm_status into(search *s, uint32_t v, uint32_t to, cm_error *error)
{
  shift(s, v, to);
  return cm_part_usage_move(&s->usage, v, to, error);
}

static bool is_admitted(const search *s, const move *m, uint32_t from)
{
  return cm_population_tally_admits(&s->usage.populations, m->v, m->to) && (m->other == NONE || cm_population_tally_admits(&s->usage.populations, m->other, from));
}

/* Tries a move, and makes it back where it costs too much or a core has no room. */
static cm_status try_move(search *s, const move *m, double temperature, cm_error *error)
{
  const uint32_t from = s->part[m->v];
  const double before = (double)s->excess;
  if (!is_admitted(s, m, from))
    return CM_OK;
  cm_status status = into(s, m->v, m->to, error);
  CM_THEN_IF(status, m->other != NONE, into(s, m->other, from, error));
  if (status != CM_OK)
    return status;
  const double cost = (double)s->excess - before;
  if (!(cm_part_usage_settle(&s->usage, false) > 0) && cm_metropolis(&s->random, cost, temperature, CM_HOPELESS)) {
    (void)cm_part_usage_settle(&s->usage, true);
    return CM_OK;
  }
  if (m->other != NONE)
    status = into(s, m->other, m->to, error);
  CM_THEN(status, into(s, m->v, from, error));
  (void)cm_part_usage_settle(&s->usage, true);
  return status;
}

static cm_status anneal(search *s, const heat *h, uint32_t *best, uint64_t *least, cm_run *run, cm_error *error)
{
  const uint32_t n = s->demand->network->vertex_count;
  const double begun = s->work, pins = (double)s->demand->network->pin_count,
               budget = h->share * fmin(work_factor * pins, large_factor * pins + large_work);
  cm_status status = CM_OK;
  for (uint32_t step = 0; s->excess > 0 && s->work - begun < budget && status == CM_OK; step++) {
    move m;
    s->work += 1;
    if (step % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
    if (choose(s, &m))
      status = try_move(s, &m, cm_cooled(h->hot, h->coldest, (s->work - begun) / budget), error);
    if (s->excess >= *least)
      continue;
    *least = s->excess;
    memcpy(best, s->part, n * sizeof *best);
  }
  return status;
}

static cm_status begin(search *s, cm_run *run, cm_error *error)
{
  const uint32_t n = s->demand->network->vertex_count;
  cm_random_init(&s->random, s->o->seed, CM_STREAM_LEAVING, 0);
  if (cm_part_usage_open(&s->usage, s->demand, s->o->limits, s->part, s->o->parts, run, error) != CM_OK || read_pins(s, run, error) != CM_OK ||
      CM_NEW(run->memory, s->leaving, n, error) != CM_OK || CM_NEW(run->memory, s->broken, n, error) != CM_OK || CM_NEW(run->memory, s->place, n, error) != CM_OK)
    return error->status;
  memset(s->place, 0xff, n * sizeof *s->place);
  cm_count_leaving(s->demand, s->part, s->o->cluster, s->leaving);
  for (uint32_t v = 0; v < n; v++) {
    s->excess += excess_of(s, v);
    enlist(s, v);
  }
  return CM_OK;
}

cm_status cm_keep_leaving_synapses(const cm_demand *demand, const cm_keep_leaving *options, cm_run *run, uint32_t *part, uint64_t *left, cm_error *error)
{
  const uint32_t n = demand->network->vertex_count;
  search s = {.demand = demand, .o = options};
  uint32_t *best = NULL;
  uint64_t least = UINT64_MAX;
  cm_status status = CM_NEW(run->memory, s.part, n, error);
  CM_THEN(status, CM_NEW(run->memory, best, n, error));
  if (status == CM_OK) {
    memcpy(s.part, part, n * sizeof *part);
    memcpy(best, part, n * sizeof *part);
    status = begin(&s, run, error);
  }
  if (status == CM_OK) {
    least = s.excess;
    for (size_t i = 0; i < sizeof heats / sizeof *heats && status == CM_OK; i++)
      status = anneal(&s, &heats[i], best, &least, run, error);
  }
  if (status == CM_OK) {
    memcpy(part, best, n * sizeof *part);
    *left = least;
  }
  cm_part_usage_free(&s.usage);
  CM_FREE(s.part, s.leaving, s.in_first, s.in, s.broken, s.place, best);
  return status;
}
