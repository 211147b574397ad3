/* Happy path: count everything -> dissolve the smallest parts while there are too many -> moves about the parts that
 * break a limit, worse ones now and then and ever more seldom, until none does. A move is made, looked at and, if it
 * does not please, made back: every use that it changes is booked with the part's excess before, so its price is
 * exact. What can fail: memory, a stop. */
#include "core/partition/legalise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/partition/counts.h"
#include "core/partition/options.h"
#include "core/partition/partition.h"

enum { NONE = UINT32_MAX, CHECK_EVERY = 1024, LOOKS = 24 };
static const double work_factor = 8, least_work = 2e5;
static const double heat = 0.03; /* as a share of the mean price */
/* What a further pair of axon and part costs beside the excesses, as a share of a mean part of them: moves that
 * scatter targets are the dearer ones. */
static const double scatter_price = 0.2;

/* The members of one part. */
typedef struct roll {
  uint32_t *vertex, count, room;
} roll;

typedef struct state {
  const cm_topology *topology;
  const cm_legalise_options *options;
  cm_run *run;
  uint32_t *part;
  uint32_t slots, parts; /* part numbers that may be used; parts that have a member */
  bool wide;             /* outbound axons or target cores are limited */
  uint64_t *in_first;    /* [vertices + 1] */
  uint32_t *in_source;   /* distinct sources that reach a vertex */
  uint32_t *synapses;    /* [vertices] that come in */
  uint32_t *out_net;     /* [vertices + 1] first net of each vertex */
  uint64_t *use;         /* [slots * CM_RESOURCES] */
  cm_counts presence;    /* (source, part) -> targets there */
  cm_counts pair;        /* (part, other part) -> sources that reach it; only when wide */
  roll *roll;            /* [slots] */
  uint32_t *place;       /* [vertices] in its part's roll */
  uint32_t *over;        /* parts that break a limit */
  uint32_t *over_place;  /* [slots] in `over`, NONE: breaks none */
  uint32_t over_count;
  uint32_t *touched;     /* parts whose use the present move changed */
  double *before;        /* [slots] their excess before it, -1: untouched */
  uint32_t touched_count;
  uint32_t *seen;        /* [slots] stamps */
  uint32_t stamp;
  int64_t pairs, pairs_before; /* of axon and part; before the present move */
  double pair_price;
  double work;           /* synapses looked at */
} state;

static void state_free(state *s)
{
  for (uint32_t p = 0; s->roll != NULL && p < s->slots; p++)
    cm_free(s->roll[p].vertex);
  cm_free(s->in_first);
  cm_free(s->in_source);
  cm_free(s->synapses);
  cm_free(s->out_net);
  cm_free(s->use);
  cm_counts_free(&s->presence);
  cm_counts_free(&s->pair);
  cm_free(s->roll);
  cm_free(s->place);
  cm_free(s->over);
  cm_free(s->over_place);
  cm_free(s->touched);
  cm_free(s->before);
  cm_free(s->seen);
}

/* ---- book-keeping ---- */

static uint64_t *use_of(state *s, uint32_t part, cm_resource resource)
{
  return &s->use[(size_t)part * CM_RESOURCES + resource];
}

static double excess_of(const state *s, uint32_t part)
{
  double sum = 0;
  for (cm_resource r = 0; r < CM_RESOURCES; r++) {
    uint64_t limit = cm_limit(&s->options->limits, r), use = s->use[(size_t)part * CM_RESOURCES + r];
    if (limit != 0 && use > limit)
      sum += (double)(use - limit) / (double)limit;
  }
  return sum;
}

static void change(state *s, uint32_t part, cm_resource resource, int64_t by)
{
  if (s->before[part] < 0) {
    s->before[part] = excess_of(s, part);
    s->touched[s->touched_count++] = part;
  }
  *use_of(s, part, resource) += (uint64_t)by;
}

static void book_pair(state *s, uint32_t from, uint32_t to, int32_t by)
{
  change(s, from, CM_OUTBOUND_AXONS, by);
  uint32_t now = cm_counts_add(&s->pair, (uint64_t)from << 32 | to, by);
  if (now == (by > 0 ? 1u : 0u))
    change(s, from, CM_TARGET_CORES, by);
}

/* A source gains (by 1) or loses (by -1) a target in a part. */
static void book_presence(state *s, uint32_t source, uint32_t part, int32_t by)
{
  uint32_t now = cm_counts_add(&s->presence, (uint64_t)source << 32 | part, by);
  if (now != (by > 0 ? 1u : 0u))
    return;
  change(s, part, CM_INBOUND_AXONS, by);
  s->pairs += by;
  if (s->wide && s->part[source] != part)
    book_pair(s, s->part[source], part, by);
}

static void next_stamp(state *s)
{
  if (++s->stamp == 0) {
    memset(s->seen, 0, s->slots * sizeof *s->seen);
    s->stamp = 1;
  }
}

/* A source goes from part a to b: what it reaches is now reached from there. */
static void book_source(state *s, uint32_t v, uint32_t a, uint32_t b)
{
  const cm_topology *t = s->topology;
  next_stamp(s);
  for (uint64_t i = t->net_first[s->out_net[v]]; i < t->net_first[s->out_net[v + 1]]; i++) {
    uint32_t q = s->part[t->pin[i]];
    if (s->seen[q] == s->stamp)
      continue;
    s->seen[q] = s->stamp;
    if (q != a)
      book_pair(s, a, q, -1);
    if (q != b)
      book_pair(s, b, q, 1);
  }
}

static cm_status make_room(state *s, uint32_t part, cm_error *error)
{
  roll *r = &s->roll[part];
  if (r->count < r->room)
    return CM_OK;
  uint32_t room = 2 * r->room + 8;
  uint32_t *larger = cm_reallocate(s->run->memory, r->vertex, room, sizeof *larger, error);
  if (larger == NULL)
    return error->status;
  r->vertex = larger;
  r->room = room;
  return CM_OK;
}

static void enroll(state *s, uint32_t v, uint32_t part)
{
  roll *r = &s->roll[part];
  s->place[v] = r->count;
  r->vertex[r->count++] = v;
}

static void strike_off(state *s, uint32_t v, uint32_t part)
{
  roll *r = &s->roll[part];
  uint32_t last = r->vertex[--r->count];
  r->vertex[s->place[v]] = last;
  s->place[last] = s->place[v];
}

static uint64_t degree(const state *s, uint32_t v)
{
  const cm_topology *t = s->topology;
  return s->in_first[v + 1] - s->in_first[v] + t->net_first[s->out_net[v + 1]] - t->net_first[s->out_net[v]];
}

/* Moves a vertex. All that can fail comes first, so that a failure leaves the books right. */
static cm_status move(state *s, uint32_t v, uint32_t b, cm_error *error)
{
  uint32_t a = s->part[v];
  uint64_t ways = degree(s, v);
  s->work += (double)ways + 1;
  if (cm_counts_reserve(&s->presence, ways, s->run, error) != CM_OK ||
      (s->wide && cm_counts_reserve(&s->pair, 2 * ways, s->run, error) != CM_OK) || make_room(s, b, error) != CM_OK)
    return error->status;
  strike_off(s, v, a);
  enroll(s, v, b);
  change(s, a, CM_NEURONS, -(int64_t)cm_topology_size(s->topology, v));
  change(s, b, CM_NEURONS, cm_topology_size(s->topology, v));
  change(s, a, CM_SYNAPSES, -(int64_t)s->synapses[v]);
  change(s, b, CM_SYNAPSES, s->synapses[v]);
  if (s->wide)
    book_source(s, v, a, b);
  s->part[v] = b;
  s->parts -= s->roll[a].count == 0;
  s->parts += s->roll[b].count == 1;
  for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++) {
    book_presence(s, s->in_source[i], a, -1);
    book_presence(s, s->in_source[i], b, 1);
  }
  return CM_OK;
}

/* What the moves since the last call cost: the change of all excesses. With `keep` the list of parts over a limit
 * follows. */
static double settle(state *s, bool keep)
{
  double price = s->pair_price * (double)(s->pairs - s->pairs_before);
  for (uint32_t i = 0; i < s->touched_count; i++) {
    uint32_t p = s->touched[i];
    double now = excess_of(s, p);
    price += now - s->before[p];
    if (!keep)
      continue;
    s->before[p] = -1;
    if (now > 0 && s->over_place[p] == NONE) {
      s->over_place[p] = s->over_count;
      s->over[s->over_count++] = p;
    } else if (now <= 0 && s->over_place[p] != NONE) {
      uint32_t last = s->over[--s->over_count];
      s->over[s->over_place[p]] = last;
      s->over_place[last] = s->over_place[p];
      s->over_place[p] = NONE;
    }
  }
  if (keep) {
    s->touched_count = 0;
    s->pairs_before = s->pairs;
  }
  return price;
}

/* Makes a move, looks at its price, and makes it back when `keep` refuses it. */
static cm_status try_move(state *s, uint32_t v, uint32_t to, bool (*keep)(void *user, double price), void *user, cm_error *error)
{
  uint32_t from = s->part[v];
  if (move(s, v, to, error) != CM_OK)
    return error->status;
  cm_status status = CM_OK;
  if (!keep(user, settle(s, false)))
    status = move(s, v, from, error);
  (void)settle(s, true);
  return status;
}

/* ---- what moves there are ---- */

static uint32_t random_source(const state *s, uint32_t v, cm_random *random)
{
  uint64_t count = s->in_first[v + 1] - s->in_first[v];
  return count > 0 ? s->in_source[s->in_first[v] + cm_random_below(random, count)] : NONE;
}

static uint32_t random_target(const state *s, uint32_t v, cm_random *random)
{
  const cm_topology *t = s->topology;
  uint64_t first = t->net_first[s->out_net[v]], count = t->net_first[s->out_net[v + 1]] - first;
  return count > 0 ? t->pin[first + cm_random_below(random, count)] : NONE;
}

/* A part where a vertex has something to share: beside another target of one of its sources, a target, or a source;
 * now and then any part. */
static uint32_t random_destination(state *s, uint32_t v, cm_random *random)
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
    case 6: other = (uint32_t)cm_random_below(random, s->topology->vertex_count); break;
    default: break; /* any part, an unused one too */
  }
  return other != NONE ? s->part[other] : (uint32_t)cm_random_below(random, s->slots);
}

/* Whether a part may be opened or emptied by moving v. */
static bool may_go(const state *s, uint32_t v, uint32_t to)
{
  uint32_t from = s->part[v];
  bool opens = s->roll[to].count == 0, empties = s->roll[from].count == 1;
  if (to == from || (s->options->exact && (opens || empties)))
    return false;
  return !opens || empties || s->parts < s->options->parts_max;
}

/* A vertex whose move may help a part: mostly a member; where its outbound side is full, also a target of one. */
static uint32_t random_mover(state *s, uint32_t part, cm_random *random)
{
  const roll *r = &s->roll[part];
  uint32_t v = r->vertex[cm_random_below(random, r->count)];
  const cm_limits *l = &s->options->limits;
  bool outbound = (l->outbound_axons != 0 && *use_of(s, part, CM_OUTBOUND_AXONS) > l->outbound_axons) ||
                  (l->target_cores != 0 && *use_of(s, part, CM_TARGET_CORES) > l->target_cores);
  if (!outbound || cm_random_below(random, 2) == 0)
    return v;
  uint32_t target = random_target(s, v, random);
  return target != NONE ? target : v;
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

static bool always(void *user, double price)
{
  (void)user;
  (void)price;
  return true;
}

/* Every member of a part goes where it costs least of some parts that it knows. */
static cm_status dissolve(state *s, uint32_t part, cm_random *random, cm_error *error)
{
  while (s->roll[part].count > 0) {
    uint32_t v = s->roll[part].vertex[s->roll[part].count - 1], best = NONE;
    double least = INFINITY;
    for (uint32_t look = 0; look < LOOKS; look++) {
      uint32_t to = random_destination(s, v, random);
      cheapest found = {INFINITY};
      if (to == part || s->roll[to].count == 0)
        continue;
      if (try_move(s, v, to, never, &found, error) != CM_OK)
        return error->status;
      if (found.price < least) {
        least = found.price;
        best = to;
      }
    }
    for (uint32_t p = 0; best == NONE; p++) /* all that it knows is in its own part */
      best = p != part && s->roll[p].count > 0 ? p : NONE;
    if (try_move(s, v, best, always, NULL, error) != CM_OK || cm_run_check(s->run, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

typedef struct ranked {
  uint64_t neurons;
  uint32_t part;
} ranked;

static int by_neurons(const void *a, const void *b)
{
  const ranked *p = a, *q = b;
  if (p->neurons != q->neurons)
    return p->neurons < q->neurons ? -1 : 1;
  return p->part < q->part ? -1 : p->part > q->part;
}

/* The parts with least neurons go first. */
static cm_status dissolve_smallest(state *s, cm_random *random, cm_error *error)
{
  ranked *list;
  uint32_t count = 0;
  if (CM_NEW(s->run->memory, list, s->slots, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < s->slots; p++)
    if (s->roll[p].count > 0)
      list[count++] = (ranked){*use_of(s, p, CM_NEURONS), p};
  qsort(list, count, sizeof *list, by_neurons);
  cm_status status = CM_OK;
  for (uint32_t i = 0; status == CM_OK && s->parts > s->options->parts_max; i++)
    status = dissolve(s, list[i].part, random, error);
  cm_free(list);
  return status;
}

/* ---- moves ---- */

typedef struct patience {
  cm_random *random;
  double temperature;
  double paid;            /* by the moves that were kept */
  double asked, questions; /* prices of all moves that had one, to know what a move costs here */
} patience;

static bool accept(void *user, double price)
{
  patience *p = user;
  p->asked += fabs(price);
  p->questions += price != 0;
  bool kept = price <= 0 || cm_random_unit(p->random) < exp(-price / p->temperature);
  p->paid += kept ? price : 0;
  return kept;
}

static double total_excess(const state *s)
{
  double excess = 0;
  for (uint32_t i = 0; i < s->over_count; i++)
    excess += excess_of(s, s->over[i]);
  return excess;
}

/* Moves about the parts over a limit, first at the temperature of a mean price, then ever colder. Ends early where
 * an eighth of the work brings next to nothing. */
static cm_status anneal(state *s, cm_random *random, double *paid, cm_error *error)
{
  double budget = work_factor * ((double)s->topology->pin_count + s->topology->vertex_count) + least_work, started = s->work;
  double window = 0, last = total_excess(s);
  patience p = {.random = random};
  for (uint32_t step = 0; s->over_count > 0 && s->work - started < budget; step++) {
    if (step % CHECK_EVERY == 0 && cm_run_check(s->run, error) != CM_OK)
      return error->status;
    if (s->work - started > window + budget / 8 && s->work - started > least_work) {
      window = s->work - started;
      double excess = total_excess(s);
      if (excess > 0.95 * last)
        break;
      last = excess;
    }
    s->work += 1;
    uint32_t v = random_mover(s, s->over[cm_random_below(random, s->over_count)], random);
    uint32_t to = random_destination(s, v, random);
    if (!may_go(s, v, to))
      continue;
    p.temperature = heat * p.asked / (p.questions + 1) * pow(0.02, (s->work - started) / budget);
    if (try_move(s, v, to, accept, &p, error) != CM_OK)
      return error->status;
  }
  *paid = p.paid;
  return CM_OK;
}

/* ---- set up ---- */

static cm_status read_sources(state *s, cm_error *error)
{
  const cm_topology *t = s->topology;
  uint32_t n = t->vertex_count, *seen;
  uint64_t total = 0;
  if (CM_NEW(s->run->memory, seen, n, error) != CM_OK)
    return error->status;
  for (int pass = 0; pass < 2; pass++) { /* count, then fill */
    memset(seen, 0, n * sizeof *seen);
    for (uint32_t e = 0; e < t->net_count; e++) {
      uint32_t source = cm_topology_source(t, e);
      if (pass == 0)
        s->out_net[source + 1] = e + 1;
      for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
        uint32_t v = t->pin[i];
        s->synapses[v] += pass == 0;
        if (seen[v] == source + 1)
          continue;
        seen[v] = source + 1;
        if (pass == 0)
          s->in_first[v + 1]++;
        else
          s->in_source[s->in_first[v]++] = source;
      }
    }
    if (pass == 1)
      break;
    for (uint32_t v = 0; v < n; v++) {
      total += s->in_first[v + 1];
      s->in_first[v + 1] = total;
      if (s->out_net[v + 1] == 0)
        s->out_net[v + 1] = s->out_net[v]; /* it has no net */
    }
    if (CM_NEW(s->run->memory, s->in_source, total, error) != CM_OK) {
      cm_free(seen);
      return error->status;
    }
  }
  for (uint32_t v = n; v > 0; v--)
    s->in_first[v] = s->in_first[v - 1];
  s->in_first[0] = 0;
  cm_free(seen);
  return CM_OK;
}

static cm_status state_new(state *s, uint32_t parts, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  uint32_t n = s->topology->vertex_count;
  s->slots = parts;
  if (!s->options->exact)
    s->slots = s->options->parts_max < n ? s->options->parts_max : n;
  s->slots = s->slots > parts ? s->slots : parts;
  if (CM_NEW(memory, s->in_first, (size_t)n + 1, error) != CM_OK || CM_NEW(memory, s->out_net, (size_t)n + 1, error) != CM_OK ||
      CM_NEW(memory, s->synapses, n, error) != CM_OK || CM_NEW(memory, s->place, n, error) != CM_OK ||
      CM_NEW(memory, s->use, (size_t)s->slots * CM_RESOURCES, error) != CM_OK ||
      CM_NEW(memory, s->roll, s->slots, error) != CM_OK || CM_NEW(memory, s->over, s->slots, error) != CM_OK ||
      CM_NEW(memory, s->over_place, s->slots, error) != CM_OK || CM_NEW(memory, s->touched, s->slots, error) != CM_OK ||
      CM_NEW(memory, s->before, s->slots, error) != CM_OK || CM_NEW(memory, s->seen, s->slots, error) != CM_OK)
    return error->status;
  return read_sources(s, error);
}

/* Counts all uses by booking every vertex into its part. */
static cm_status fill(state *s, cm_error *error)
{
  const cm_topology *t = s->topology;
  const cm_limits *l = &s->options->limits;
  s->wide = l->outbound_axons != 0 || l->target_cores != 0;
  for (uint32_t p = 0; p < s->slots; p++) {
    s->over_place[p] = NONE;
    s->before[p] = -1;
  }
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    uint32_t p = s->part[v];
    uint64_t ways = s->in_first[v + 1] - s->in_first[v];
    if (cm_counts_reserve(&s->presence, ways, s->run, error) != CM_OK ||
        (s->wide && cm_counts_reserve(&s->pair, ways, s->run, error) != CM_OK) || make_room(s, p, error) != CM_OK)
      return error->status;
    enroll(s, v, p);
    s->parts += s->roll[p].count == 1;
    change(s, p, CM_NEURONS, cm_topology_size(t, v));
    change(s, p, CM_SYNAPSES, s->synapses[v]);
    for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++)
      book_presence(s, s->in_source[i], p, 1);
  }
  (void)settle(s, true);
  s->pair_price = s->pairs > 0 ? scatter_price * s->parts / (double)s->pairs : 0;
  return CM_OK;
}

static cm_status repair(state *s, bool *legal, cm_error *error)
{
  cm_random random;
  double paid = 0;
  uint32_t n = s->topology->vertex_count, *given;
  cm_random_init(&random, s->options->seed, CM_STREAM_LEGALITY, 0);
  if (s->parts > s->options->parts_max && dissolve_smallest(s, &random, error) != CM_OK)
    return error->status;
  if (CM_NEW(s->run->memory, given, n, error) != CM_OK)
    return error->status;
  memcpy(given, s->part, n * sizeof *given);
  cm_status status = anneal(s, &random, &paid, error);
  *legal = s->over_count == 0;
  if (status == CM_OK && !*legal && paid > 0)
    memcpy(s->part, given, n * sizeof *given);
  cm_free(given);
  return status;
}

cm_status cm_legalise(const cm_topology *topology, const cm_legalise_options *options, cm_run *run, uint32_t *part,
                      uint32_t *parts, bool *legal, cm_error *error)
{
  state s = {.topology = topology, .options = options, .run = run};
  uint32_t n = topology->vertex_count, count = *parts;
  bool kept = false;
  cm_status status = CM_NEW(run->memory, s.part, n, error);
  if (status == CM_OK) {
    memcpy(s.part, part, n * sizeof *part);
    status = state_new(&s, count, error);
  }
  if (status == CM_OK)
    status = fill(&s, error);
  if (status == CM_OK)
    status = repair(&s, &kept, error);
  count = s.slots;
  if (status == CM_OK)
    status = cm_close_gaps(s.part, n, &count, run, error);
  if (status == CM_OK) {
    memcpy(part, s.part, n * sizeof *part);
    *parts = count;
    *legal = kept;
  }
  state_free(&s);
  cm_free(s.part);
  return status;
}
