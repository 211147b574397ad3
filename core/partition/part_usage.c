#include "core/partition/part_usage.h"

#include "core/limits/copies.h"

#include <string.h>

void cm_part_usage_free(cm_part_usage *s)
{
  for (uint32_t p = 0; s->members != NULL && p < s->slots; p++)
    cm_free(s->members[p].vertex);
  CM_FREE(s->in_first, s->in_source, s->synapses, s->reached, s->out_net, s->use);
  cm_counts_free(&s->presence);
  cm_counts_free(&s->pair);
  cm_population_tally_free(&s->populations);
  CM_FREE(s->members, s->place, s->over, s->over_place, s->touched, s->before, s->seen);
}

/* ---- book-keeping ---- */

double cm_part_usage_excess(const cm_part_usage *s, uint32_t part)
{
  double sum = 0;
  for (cm_resource r = 0; r < CM_RESOURCES; r++) {
    uint64_t limit = cm_limit(&s->limits, r), use = s->use[(size_t)part * CM_RESOURCES + r];
    if (limit != 0 && use > limit)
      sum += (double)(use - limit) / (double)limit;
  }
  if (s->limits.memory_bits != 0) {
    const uint64_t *use = s->use + (size_t)part * CM_RESOURCES;
    uint64_t bits = cm_memory_bits(&s->limits, use[CM_NEURONS], use[CM_SYNAPSES], use[CM_INBOUND_AXONS]);
    if (bits > s->limits.memory_bits)
      sum += (double)(bits - s->limits.memory_bits) / (double)s->limits.memory_bits;
  }
  return sum;
}

static void change(cm_part_usage *s, uint32_t part, cm_resource resource, int64_t by)
{
  if (s->before[part] < 0) {
    s->before[part] = cm_part_usage_excess(s, part);
    s->touched[s->touched_count++] = part;
  }
  s->use[(size_t)part * CM_RESOURCES + resource] += (uint64_t)by;
}

static void book_pair(cm_part_usage *s, uint32_t from, uint32_t to, int32_t by)
{
  change(s, from, CM_OUTBOUND_AXONS, by);
  uint32_t now = cm_counts_add(&s->pair, (uint64_t)from << 32 | to, by);
  if (now != (by > 0 ? 1u : 0u))
    return;
  change(s, from, CM_TARGET_CORES, by);
  change(s, to, CM_SOURCE_CORES, by);
}

/* What a neuron takes of its part, with its copies. */
static int64_t size_of(const cm_part_usage *s, uint32_t v)
{
  return (int64_t)cm_demand_size(s->demand, v) * (s->reached != NULL ? cm_copies_for(s->demand, s->reached[v]) : 1);
}

/* A source gains (by 1) or loses (by -1) a target in a part. */
static void book_presence(cm_part_usage *s, uint32_t source, uint32_t part, int32_t by)
{
  uint32_t now = cm_counts_add(&s->presence, (uint64_t)part << 32 | source, by);
  if (now != (by > 0 ? 1u : 0u))
    return;
  change(s, part, CM_INBOUND_AXONS, by);
  s->pairs += by;
  if (s->reached != NULL) {
    int64_t was = size_of(s, source);
    s->reached[source] += (uint32_t)by;
    change(s, s->part[source], CM_NEURONS, size_of(s, source) - was);
  }
  if (s->wide && s->part[source] != part)
    book_pair(s, s->part[source], part, by);
}

static void next_stamp(cm_part_usage *s)
{
  s->stamp = cm_next_mark(s->stamp, s->seen, s->slots);
}

/* A source goes from part a to b: what it reaches is now reached from there. */
static void book_source(cm_part_usage *s, uint32_t v, uint32_t a, uint32_t b)
{
  const cm_topology *t = s->demand->network;
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

static cm_status make_room(cm_part_usage *s, uint32_t part, cm_error *error)
{
  cm_member_list *r = &s->members[part];
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

static void enroll(cm_part_usage *s, uint32_t v, uint32_t part)
{
  cm_member_list *r = &s->members[part];
  s->place[v] = r->count;
  r->vertex[r->count++] = v;
}

static void strike_off(cm_part_usage *s, uint32_t v, uint32_t part)
{
  cm_member_list *r = &s->members[part];
  uint32_t last = r->vertex[--r->count];
  r->vertex[s->place[v]] = last;
  s->place[last] = s->place[v];
}

/* Moves a vertex. All that can fail comes first, so that a failure leaves the usage right. */
cm_status cm_part_usage_move(cm_part_usage *s, uint32_t v, uint32_t b, cm_error *error)
{
  uint32_t a = s->part[v];
  uint64_t ways = cm_part_usage_degree(s, v);
  s->work += (double)ways + 1;
  if (cm_counts_reserve(&s->presence, ways, s->run, error) != CM_OK ||
      (s->wide && cm_counts_reserve(&s->pair, 2 * ways, s->run, error) != CM_OK) || make_room(s, b, error) != CM_OK ||
      cm_population_tally_reserve(&s->populations, s->run, error) != CM_OK)
    return error->status;
  strike_off(s, v, a);
  enroll(s, v, b);
  cm_population_tally_book(&s->populations, v, a, -1);
  cm_population_tally_book(&s->populations, v, b, 1);
  change(s, a, CM_NEURONS, -size_of(s, v));
  change(s, b, CM_NEURONS, size_of(s, v));
  change(s, a, CM_SYNAPSES, -(int64_t)s->synapses[v]);
  change(s, b, CM_SYNAPSES, s->synapses[v]);
  if (s->wide)
    book_source(s, v, a, b);
  s->part[v] = b;
  s->parts -= s->members[a].count == 0;
  s->parts += s->members[b].count == 1;
  for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++) {
    book_presence(s, s->in_source[i], a, -1);
    book_presence(s, s->in_source[i], b, 1);
  }
  return CM_OK;
}

/* What the moves since the last call cost: the change of all excesses. With `keep` the list of parts over a limit
 * follows. */
double cm_part_usage_settle(cm_part_usage *s, bool keep)
{
  double price = s->pair_price * (double)(s->pairs - s->pairs_before);
  for (uint32_t i = 0; i < s->touched_count; i++) {
    uint32_t p = s->touched[i];
    double now = cm_part_usage_excess(s, p);
    price += now - s->before[p];
    if (!keep)
      continue;
    s->before[p] = -1;
    if (now > 0 && s->over_place[p] == CM_NO_PART) {
      s->over_place[p] = s->over_count;
      s->over[s->over_count++] = p;
    } else if (now <= 0 && s->over_place[p] != CM_NO_PART) {
      uint32_t last = s->over[--s->over_count];
      s->over[s->over_place[p]] = last;
      s->over_place[last] = s->over_place[p];
      s->over_place[p] = CM_NO_PART;
    }
  }
  if (keep) {
    s->touched_count = 0;
    s->pairs_before = s->pairs;
  }
  return price;
}

/* ---- set up ---- */

static cm_status read_sources(cm_part_usage *s, cm_error *error)
{
  const cm_topology *t = s->demand->network;
  uint32_t n = t->vertex_count, *seen;
  uint64_t total = 0;
  CM_TRY(CM_NEW(s->run->memory, seen, n, error));
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
    CM_TRY_OR(CM_NEW(s->run->memory, s->in_source, total, error), cm_free(seen));
  }
  for (uint32_t v = n; v > 0; v--)
    s->in_first[v] = s->in_first[v - 1];
  s->in_first[0] = 0;
  cm_free(seen);
  return CM_OK;
}

static cm_status usage_new(cm_part_usage *s, cm_error *error)
{
  cm_memory *memory = s->run->memory;
  uint32_t n = s->demand->network->vertex_count;
  if (CM_NEW(memory, s->in_first, (size_t)n + 1, error) != CM_OK ||
      CM_NEW(memory, s->out_net, (size_t)n + 1, error) != CM_OK || CM_NEW(memory, s->synapses, n, error) != CM_OK ||
      CM_NEW(memory, s->place, n, error) != CM_OK ||
      CM_NEW(memory, s->use, (size_t)s->slots * CM_RESOURCES, error) != CM_OK ||
      CM_NEW(memory, s->members, s->slots, error) != CM_OK || CM_NEW(memory, s->over, s->slots, error) != CM_OK ||
      CM_NEW(memory, s->over_place, s->slots, error) != CM_OK || CM_NEW(memory, s->touched, s->slots, error) != CM_OK ||
      CM_NEW(memory, s->before, s->slots, error) != CM_OK || CM_NEW(memory, s->seen, s->slots, error) != CM_OK ||
      cm_population_tally_new(s->demand->network, &s->limits, s->slots, s->run, &s->populations, error) != CM_OK)
    return error->status;
  if (s->demand->target_cores_max != 0 && CM_NEW(memory, s->reached, n, error) != CM_OK)
    return error->status;
  return read_sources(s, error);
}

/* Pairs of which a large share comes up are counted in tables. */
static cm_status choose_tables(cm_part_usage *s, cm_error *error)
{
  enum { CELLS = 4 }; /* a synapse */
  uint32_t n = s->demand->network->vertex_count;
  uint64_t most = CELLS * s->in_first[n];
  if ((uint64_t)n * s->slots <= most && cm_counts_tabulate(&s->presence, s->slots, n, s->run, error) != CM_OK)
    return error->status;
  if (s->wide && (uint64_t)s->slots * s->slots <= most)
    return cm_counts_tabulate(&s->pair, s->slots, s->slots, s->run, error);
  return CM_OK;
}

/* Counts all uses by booking every vertex into its part. */
static cm_status fill(cm_part_usage *s, cm_error *error)
{
  const cm_topology *t = s->demand->network;
  const cm_limits *l = &s->limits;
  enum { CHECK = 256 };
  s->wide = l->outbound_axons != 0 || l->target_cores != 0 || l->source_cores != 0;
  CM_TRY(choose_tables(s, error));
  for (uint32_t p = 0; p < s->slots; p++) {
    s->over_place[p] = CM_NO_PART;
    s->before[p] = -1;
  }
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    uint32_t p = s->part[v];
    uint64_t ways = s->in_first[v + 1] - s->in_first[v];
    if (v % CHECK == 0 && cm_run_check(s->run, error) != CM_OK)
      return error->status;
    if (cm_counts_reserve(&s->presence, ways, s->run, error) != CM_OK ||
        (s->wide && cm_counts_reserve(&s->pair, ways, s->run, error) != CM_OK) || make_room(s, p, error) != CM_OK ||
        cm_population_tally_reserve(&s->populations, s->run, error) != CM_OK)
      return error->status;
    enroll(s, v, p);
    cm_population_tally_book(&s->populations, v, p, 1);
    s->parts += s->members[p].count == 1;
    change(s, p, CM_NEURONS, cm_demand_size(s->demand, v));
    change(s, p, CM_SYNAPSES, s->synapses[v]);
    for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++)
      book_presence(s, s->in_source[i], p, 1);
  }
  (void)cm_part_usage_settle(s, true);
  return CM_OK;
}

cm_status cm_part_usage_open(cm_part_usage *usage, const cm_demand *demand, const cm_limits *limits, uint32_t *part,
                             uint32_t slots, cm_run *run, cm_error *error)
{
  *usage = (cm_part_usage){.demand = demand, .limits = *limits, .run = run, .part = part, .slots = slots};
  return usage_new(usage, error) == CM_OK ? fill(usage, error) : error->status;
}
