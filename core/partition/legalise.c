/* Happy path: count everything -> dissolve the smallest parts while there are too many -> moves about the parts that
 * break a limit, worse ones now and then and ever more seldom, until none does. A move is made, looked at and, if it
 * does not please, made back: every use that it changes is booked with the part's excess before, so its price is
 * exact. What can fail: memory, a stop. */
#include "core/partition/legalise.h"

#include <math.h>
#include <string.h>

#include "base/annealing.h"
#include "base/random.h"
#include "core/partition/part_usage.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"

enum { NONE = CM_NO_PART, CHECK_EVERY = 1024, LOOKS_MOST = 24 };
static const double work_factor = 8, least_work = 2e5;
static const double heat = 0.03; /* as a share of the mean price */
/* What a further pair of axon and part costs beside the excesses, as a share of a mean part of them: moves that
 * scatter targets are the dearer ones. */
static const double scatter_price = 0.2;

static double work_allowed(const cm_part_usage *s)
{
  return work_factor * ((double)s->demand->network->pin_count + s->demand->network->vertex_count) + least_work;
}

/* Makes a move, looks at its price, and makes it back when `keep` refuses it. */
static cm_status try_move(cm_part_usage *s, uint32_t v, uint32_t to, bool (*keep)(void *user, double price), void *user,
                          cm_error *error)
{
  uint32_t from = s->part[v];
  CM_TRY(cm_part_usage_move(s, v, to, error));
  cm_status status = CM_OK;
  if (!keep(user, cm_part_usage_settle(s, false)))
    status = cm_part_usage_move(s, v, from, error);
  (void)cm_part_usage_settle(s, true);
  return status;
}

/* ---- what moves there are ---- */

static uint32_t random_source(const cm_part_usage *s, uint32_t v, cm_random *random)
{
  uint64_t count = s->in_first[v + 1] - s->in_first[v];
  return count > 0 ? s->in_source[s->in_first[v] + cm_random_below(random, count)] : NONE;
}

static uint32_t random_target(const cm_part_usage *s, uint32_t v, cm_random *random)
{
  const cm_topology *t = s->demand->network;
  uint64_t first = t->net_first[s->out_net[v]], count = t->net_first[s->out_net[v + 1]] - first;
  return count > 0 ? t->pin[first + cm_random_below(random, count)] : NONE;
}

/* A part where a vertex has something to share: beside another target of one of its sources, a target, or a source;
 * now and then any part. */
static uint32_t random_destination(cm_part_usage *s, uint32_t v, cm_random *random)
{
  uint32_t other = NONE, source;
  switch (cm_random_below(random, 8)) {
    case 0:
    case 1:
    case 2:
    case 3:
      source = random_source(s, v, random);
      other = source != NONE ? random_target(s, source, random) : NONE;
      break;
    case 4: other = random_target(s, v, random); break;
    case 5: other = random_source(s, v, random); break;
    case 6: other = (uint32_t)cm_random_below(random, s->demand->network->vertex_count); break;
    default: break; /* any part, an unused one too */
  }
  return other != NONE ? s->part[other] : (uint32_t)cm_random_below(random, s->slots);
}

/* Whether a part may be opened or emptied by moving v. */
static bool may_go(const cm_part_usage *s, const cm_legalise_options *options, uint32_t v, uint32_t to)
{
  uint32_t from = s->part[v];
  bool opens = s->members[to].count == 0, empties = s->members[from].count == 1;
  if (to == from || (options->exact && (opens || empties)) || !cm_population_tally_admits(&s->populations, v, to))
    return false;
  return !opens || empties || s->parts < options->parts_max;
}

/* A vertex whose move may help a part: mostly a member; where its outbound side is full, also a target of one; where too many cores reach it, also a source. */
static uint32_t random_mover(cm_part_usage *s, uint32_t part, cm_random *random)
{
  const cm_member_list *r = &s->members[part];
  uint32_t v = r->vertex[cm_random_below(random, r->count)];
  const cm_limits *l = &s->limits;
  bool outbound = (l->outbound_axons != 0 && cm_part_usage_use(s, part, CM_OUTBOUND_AXONS) > l->outbound_axons) ||
                  (l->target_cores != 0 && cm_part_usage_use(s, part, CM_TARGET_CORES) > l->target_cores);
  const bool inbound = l->source_cores != 0 && cm_part_usage_use(s, part, CM_SOURCE_CORES) > l->source_cores;
  if ((!outbound && !inbound) || cm_random_below(random, 2) == 0)
    return v;
  uint32_t other = outbound ? random_target(s, v, random) : random_source(s, v, random);
  return other != NONE ? other : v;
}

/* ---- too many parts ---- */

typedef struct cheapest {
  double price;
} cheapest;

static bool never(void *user, double price)
{
  ((cheapest *)user)->price = price;
  return false;
}

static bool always(CM_UNUSED void *user, CM_UNUSED double price)
{
  return true;
}

/* Every member of a part goes where it costs least of some parts that it knows. */
static cm_status dissolve(cm_part_usage *s, uint32_t part, uint32_t looks, cm_random *random, cm_error *error)
{
  while (s->members[part].count > 0) {
    uint32_t v = s->members[part].vertex[s->members[part].count - 1], best = NONE;
    double least = INFINITY;
    for (uint32_t look = 0; look < looks; look++) {
      uint32_t to = random_destination(s, v, random);
      cheapest found = {INFINITY};
      if (to == part || s->members[to].count == 0 || !cm_population_tally_admits(&s->populations, v, to))
        continue;
      CM_TRY(try_move(s, v, to, never, &found, error));
      if (found.price < least) {
        least = found.price;
        best = to;
      }
    }
    for (uint32_t p = 0; best == NONE && p < s->slots; p++) /* all that it knows is in its own part */
      best = p != part && s->members[p].count > 0 && cm_population_tally_admits(&s->populations, v, p) ? p : NONE;
    if (best == NONE) /* its population is nowhere else, and no other part may take one more */
      return CM_OK;
    CM_TRY(try_move(s, v, best, always, NULL, error));
    CM_TRY(cm_run_check(s->run, error));
  }
  return CM_OK;
}

/* How many places each member of the first parts of a list may look at, if it moves but once. */
static uint32_t affordable_looks(const cm_part_usage *s, const cm_part_size *list, uint32_t count, double allowed)
{
  double synapses = 1;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t m = 0; m < s->members[list[i].part].count; m++)
      synapses += (double)cm_part_usage_degree(s, s->members[list[i].part].vertex[m]);
  double looks = allowed / (2 * synapses); /* there and back */
  return looks > LOOKS_MOST ? LOOKS_MOST : looks > 1 ? (uint32_t)looks : 1;
}

/* The parts with least neurons go first. */
static cm_status dissolve_smallest(cm_part_usage *s, const cm_legalise_options *options, cm_random *random, cm_error *error)
{
  cm_part_size *list;
  uint32_t count = 0;
  CM_TRY(CM_NEW(s->run->memory, list, s->slots, error));
  for (uint32_t p = 0; p < s->slots; p++)
    if (s->members[p].count > 0)
      list[count++] = (cm_part_size){cm_part_usage_use(s, p, CM_NEURONS), p};
  cm_sort_parts(list, count);
  cm_status status = CM_OK;
  double allowed = work_allowed(s);
  uint32_t looks = affordable_looks(s, list, s->parts - options->parts_max, allowed);
  for (uint32_t i = 0; status == CM_OK && i < count && s->parts > options->parts_max; i++)
    status = dissolve(s, list[i].part, s->work < allowed ? looks : 1, random, error);
  cm_free(list);
  return status;
}

/* ---- moves ---- */

typedef struct patience {
  cm_random *random;
  double temperature;
  double paid;             /* by the moves that were kept */
  double asked, questions; /* prices of all moves that had one, to know what a move costs here */
} patience;

static bool accept(void *user, double price)
{
  patience *p = user;
  p->asked += fabs(price);
  p->questions += price != 0;
  bool kept = cm_metropolis(p->random, price, p->temperature, INFINITY);
  p->paid += kept ? price : 0;
  return kept;
}

static double total_excess(const cm_part_usage *s)
{
  double excess = 0;
  for (uint32_t i = 0; i < s->over_count; i++)
    excess += cm_part_usage_excess(s, s->over[i]);
  return excess;
}

/* Moves about the parts over a limit, first at the temperature of a mean price, then ever colder. Ends early where twice what the
 * last eighth of the work has brought, from each of those to come, would not be enough. */
static cm_status anneal(cm_part_usage *s, const cm_legalise_options *options, cm_random *random, double *paid,
                        cm_error *error)
{
  double budget = work_allowed(s), started = s->work;
  double window = 0, last = total_excess(s);
  patience p = {.random = random};
  for (uint32_t step = 0; s->over_count > 0 && s->work - started < budget; step++) {
    if (step % CHECK_EVERY == 0 && cm_run_check(s->run, error) != CM_OK)
      return error->status;
    if (s->work - started > window + budget / 8 && s->work - started > least_work) {
      window = s->work - started;
      double excess = total_excess(s), to_come = 8 * (1 - window / budget);
      if (2 * (last - excess) * to_come < excess)
        break;
      last = excess;
    }
    s->work += 1;
    uint32_t v = random_mover(s, s->over[cm_random_below(random, s->over_count)], random);
    uint32_t to = random_destination(s, v, random);
    if (!may_go(s, options, v, to))
      continue;
    p.temperature = heat * p.asked / (p.questions + 1) * pow(0.02, (s->work - started) / budget);
    CM_TRY(try_move(s, v, to, accept, &p, error));
  }
  *paid = p.paid;
  return CM_OK;
}

static cm_status repair(cm_part_usage *s, const cm_legalise_options *options, bool *legal, cm_error *error)
{
  cm_random random;
  double paid = 0;
  uint32_t n = s->demand->network->vertex_count, *given;
  cm_random_init(&random, options->seed, CM_STREAM_LEGALITY, 0);
  if (s->parts > options->parts_max && dissolve_smallest(s, options, &random, error) != CM_OK)
    return error->status;
  CM_TRY(CM_NEW(s->run->memory, given, n, error));
  memcpy(given, s->part, n * sizeof *given);
  cm_status status = anneal(s, options, &random, &paid, error);
  *legal = s->over_count == 0 && s->parts <= options->parts_max;
  if (status == CM_OK && !*legal && paid > 0)
    memcpy(s->part, given, n * sizeof *given);
  cm_free(given);
  return status;
}

cm_status cm_legalise(const cm_demand *demand, const cm_legalise_options *options, cm_run *run, uint32_t *part,
                      uint32_t *parts, bool *legal, cm_error *error)
{
  cm_part_usage usage = {0};
  uint32_t n = demand->network->vertex_count, slots = *parts, *copy;
  bool kept = false;
  if (!options->exact && slots < options->parts_max)
    slots = options->parts_max < n ? options->parts_max : n;
  slots = slots > *parts ? slots : *parts;
  CM_TRY(CM_NEW(run->memory, copy, n, error));
  memcpy(copy, part, n * sizeof *part);
  cm_status status = cm_part_usage_open(&usage, demand, &options->limits, copy, slots, run, error);
  if (status == CM_OK) {
    usage.pair_price = usage.pairs > 0 ? scatter_price * usage.parts / (double)usage.pairs : 0;
    status = repair(&usage, options, &kept, error);
  }
  CM_THEN(status, cm_close_gaps(copy, n, &slots, run, error));
  if (status == CM_OK) {
    memcpy(part, copy, n * sizeof *part);
    *parts = slots;
    *legal = kept;
  }
  if (options->looks != NULL)
    *options->looks = usage.work;
  cm_part_usage_free(&usage);
  cm_free(copy);
  return status;
}
