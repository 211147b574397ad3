/* Happy path: lines of neurons -> the better one cut a few times, no stretch longer than a budget of time or a limit -> packets of as many
 * stretches as there are cores, between those, less what annealing saves -> the mean core, or what is proved where that is more. */
#include "core/look/look.h"

#include <math.h>

#include "core/limits/populations.h"

/* How much longer the busiest core takes than the mean one; from bench/knee, as what annealing leaves (left). */
static const double busiest_over_mean = 1.02;

typedef struct part {
  uint32_t begin; /* its first neuron's place in the line */
  double ns;
  uint64_t use[CM_RESOURCES];
} part;

static bool has_room(const cm_limits *l, const part *p, double budget_ns)
{
  for (cm_resource r = CM_NEURONS; r <= CM_INBOUND_AXONS; r++)
    if (cm_limit(l, r) != 0 && p->use[r] > cm_limit(l, r))
      return false;
  return p->ns <= budget_ns && cm_memory_holds(l, p->use[CM_NEURONS], p->use[CM_SYNAPSES], p->use[CM_INBOUND_AXONS]);
}

/* The stretch with one more neuron; *packets gets what its axons that are new in it add. */
static part with(const cm_look *look, const cm_strand *s, const cm_costs *costs, uint32_t i, const part *before, double *packets)
{
  const cm_charge_cost *c = costs->charge;
  uint32_t v = s->neuron[i];
  part p = *before;
  double synapses = 0, added = 0;
  uint64_t axons = 0;
  for (uint64_t k = s->first[i]; k < s->first[i + 1]; k++) {
    const double rate = look->rate[s->net[k]];
    const bool new = s->after[k] <= before->begin;
    synapses += rate;
    added += new ? rate : 0;
    axons += new;
  }
  *packets = added;
  uint32_t size = cm_demand_size(look->demand, v);
  p.use[CM_INBOUND_AXONS] += axons;
  p.use[CM_NEURONS] += size;
  p.use[CM_SYNAPSES] += s->first[i + 1] - s->first[i];
  p.ns += *packets * c[CM_CHARGE_PACKET_RECEIVED].ns + synapses * c[CM_CHARGE_SYNAPSE].ns + size * c[CM_CHARGE_NEURON].ns +
          look->sends[v] * (c[CM_CHARGE_SPIKE].ns + c[CM_CHARGE_PACKET_SENT].ns);
  return p;
}

/* `number` [vertices] gets the stretch of each, or NULL. Where populations are limited, one ends with its population. */
static cm_line_cut cut_line(const cm_look *look, const cm_strand *s, const cm_costs *costs, const cm_limits *limits, double budget_ns,
                            uint32_t *number)
{
  const cm_topology *t = look->demand->network;
  const uint32_t *population = cm_populations_limited(t, limits) ? t->population_of : NULL;
  cm_line_cut c = {0};
  part now = {0};
  for (uint32_t i = 0; i < s->count; i++) {
    double packets;
    part next = with(look, s, costs, i, &now, &packets);
    const bool another = population != NULL && i > 0 && population[s->neuron[i]] != population[s->neuron[i - 1]];
    if (now.use[CM_NEURONS] > 0 && (another || !has_room(limits, &next, budget_ns))) {
      c.parts++;
      c.ns += now.ns;
      next = with(look, s, costs, i, &(part){.begin = i}, &packets);
    }
    now = next;
    if (number != NULL)
      number[s->neuron[i]] = (uint32_t)c.parts;
    c.packets += packets;
    for (cm_resource r = 0; r < CM_RESOURCES; r++)
      c.most[r] = fmax(c.most[r], (double)now.use[r]);
  }
  c.ns = (c.ns + now.ns) / s->share;
  c.parts = ceil((c.parts + (now.use[CM_NEURONS] > 0)) / s->share);
  c.packets /= s->share;
  return c;
}

/* From a to b, evenly by ratio of parts. */
static double between(double a, double b, double share)
{
  return a > 0 && b > 0 ? a * pow(b / a, share) : a + (b - a) * share;
}

/* The line in so many stretches: between the cuts that were made, from the whole network on one core on. */
static cm_line_cut cut_in(const cm_look_on *on, double parts)
{
  const cm_line_cut whole = {.parts = 1, .packets = on->look->axons}, *a = &whole, *b = on->cut;
  uint32_t i = 0;
  while (i + 1 < on->cuts && b->parts < parts)
    a = b, b = &on->cut[++i];
  if (parts >= b->parts || b->parts <= a->parts)
    return *b;
  const double share = log(parts / a->parts) / log(b->parts / a->parts);
  cm_line_cut c = {.parts = parts, .packets = between(a->packets, b->packets, share)};
  for (cm_resource r = 0; r < CM_RESOURCES; r++)
    c.most[r] = between(i > 0 ? a->most[r] : b->most[r], b->most[r], share);
  return c;
}

/* What annealing leaves of the packets that a line sends beyond the fewest: less where parts have many neurons to choose among, more where
 * the line is hardly better than chance, as then any order is. */
static double left(const cm_look_on *on, const cm_line_cut *c, double least)
{
  static const double best = 0.55, more_by_chance = 0.3, few = 2, near = 0.2, far = 0.6;
  const double axons = on->look->axons, fan_out = axons > 0 ? on->totals.events / axons : 0,
               chance = axons * c->parts * (1 - pow(1 - 1 / c->parts, fan_out)),
               better = chance > least ? (chance - c->packets) / (chance - least) : 1;
  return fmax(best * (1 + few * c->parts / on->totals.neurons), best + more_by_chance * fmin(fmax((far - better) / (far - near), 0), 1));
}

/* Hops of a packet in the mean: as far as cores of a square are apart by chance, or those that an axon reaches, close together. */
static double hops(double cores, double packets_an_axon)
{
  static const double apart = 0.5, together = 2;
  return cores > 1 ? fmin(apart * sqrt(cores), together * sqrt(packets_an_axon)) : 0;
}

static double hop(const cm_hop_cost *cost)
{
  return cost->router + (cost->east_west + cost->north_south) / 2;
}

/* What a step takes beyond its busiest core: packets come by chance, so that it waits for some; the longest ways are four times the mean one;
 * and what is between steps. */
static double around_ns(const cm_look_on *on, const cm_look_point *p, double packets, double used, double mean_hops)
{
  const cm_barrier *b = &on->chip->costs.barrier;
  const uint32_t tile = b->points > 0 ? b->tile_x * b->tile_y : 1;
  const double waits = used > 1 ? p->core_ns / 2 / sqrt(fmax(packets / used, 1)) : 0,
               way = 4 * mean_hops * hop(&on->chip->latency_ns);
  return waits + way + cm_barrier_ns(b, (p->cores + tile - 1) / tile) + cm_between_ns(b, p->cores, on->totals.spikes, packets);
}

/* The limit that comes nearest to being full. */
static void find_fullest(const cm_limits *limits, const cm_line_cut *c, cm_look_point *point)
{
  for (cm_resource r = 0; r < CM_RESOURCES; r++) {
    double filled = cm_limit(limits, r) != 0 ? c->most[r] / (double)cm_limit(limits, r) : 0;
    if (filled > point->filled) {
      point->filled = filled;
      point->fullest = r;
    }
  }
}

bool cm_look_at(const cm_look_on *on, uint32_t cores, cm_look_point *point)
{
  const cm_step_totals *t = &on->totals;
  const cm_costs *costs = &on->chip->costs;
  const cm_charge_cost *c = costs->charge;
  const cm_step_bound bound = cm_step_bound_plain(t, costs, cores);
  const double axons = on->look->axons,
               used = fmin(on->cut[on->cuts - 1].parts, t->neurons / ceil((double)t->neurons / cores)), /* neurons are whole */
               least = fmax(axons, t->events * used / t->neurons);
  const cm_line_cut made = cut_in(on, used);
  const double packets = made.packets > least ? least + left(on, &made, least) * (made.packets - least) : made.packets,
               mean_hops = hops(used, axons > 0 ? packets / axons : 0),
               receive = t->events * c[CM_CHARGE_SYNAPSE].ns + packets * c[CM_CHARGE_PACKET_RECEIVED].ns,
               send = t->sending + (packets - axons) * c[CM_CHARGE_PACKET_SENT].ns,
               packet_pj = c[CM_CHARGE_PACKET_SENT].pj + c[CM_CHARGE_PACKET_RECEIVED].pj,
               fixed = t->events * c[CM_CHARGE_SYNAPSE].pj + (double)on->look->demand->size_total * c[CM_CHARGE_NEURON].pj + axons * c[CM_CHARGE_SPIKE].pj;
  *point = (cm_look_point){.cores = cores,
                           .core_ns = fmax(bound.ns, cm_core_ns(costs, receive, send) / used * busiest_over_mean),
                           .energy_pj = fixed + packets * (packet_pj + mean_hops * hop(&on->chip->energy_pj)),
                           .bound_ns = bound.ns + bound.fixed_ns,
                           .bound_pj = fixed + axons * packet_pj};
  point->step_ns = point->core_ns + around_ns(on, point, packets, used, mean_hops);
  find_fullest(&on->limits, &made, point);
  return cores >= on->cut[0].parts;
}

/* Cores from which on more of them shorten no core's time by more than a fiftieth: where the neuron that takes longest is all that counts. */
static uint32_t enough_cores(const cm_look_on *on, uint32_t fewest, uint32_t most)
{
  static const double near = 1.02;
  cm_look_point point;
  (void)cm_look_at(on, most, &point);
  const double least = point.core_ns;
  while (fewest < most) {
    const uint32_t middle = fewest + (most - fewest) / 2;
    if (cm_look_at(on, middle, &point) && point.core_ns <= near * least)
      most = middle;
    else
      fewest = middle + 1;
  }
  return most;
}

uint32_t cm_look_choices(const cm_look_on *on, uint32_t fewest, uint32_t most, cm_look_point *point)
{
  uint32_t count = 0, last = 0;
  const uint32_t enough = (uint32_t)on->cut[on->cuts - 1].parts;
  most = most < enough ? most : enough > fewest ? enough : fewest;
  most = enough_cores(on, fewest, most);
  for (uint32_t i = 0; i < CM_LOOK_POINTS_MAX; i++) {
    uint32_t cores = (uint32_t)lround(fewest * pow((double)most / fewest, i / (CM_LOOK_POINTS_MAX - 1.0)));
    if (cores == last || (!cm_look_at(on, cores, &point[count]) && i > 0))
      continue;
    last = cores;
    count += count == 0 || point[count].step_ns < point[count - 1].step_ns;
  }
  return count;
}

/* What a knee may cost: step times energy. */
static double knee_most(const cm_look_point *point, uint32_t points)
{
  static const double near = 1.25;
  double least = INFINITY;
  for (uint32_t i = 0; i < points; i++)
    least = fmin(least, point[i].step_ns * point[i].energy_pj);
  return near * least;
}

uint32_t cm_look_knee(const cm_look_point *point, uint32_t points)
{
  double most = knee_most(point, points);
  uint32_t first = 0;
  while (first + 1 < points && point[first].step_ns * point[first].energy_pj > most)
    first++;
  return first;
}

uint32_t cm_look_knee_between(const cm_look_on *on, const cm_look_point *point, uint32_t points)
{
  enum { HALVINGS = 6 };
  uint32_t first = cm_look_knee(point, points), high = point[first].cores, low = first > 0 ? point[first - 1].cores : high;
  double most = knee_most(point, points);
  for (int i = 0; i < HALVINGS && low + 1 < high; i++) {
    uint32_t middle = low + (high - low) / 2;
    cm_look_point p;
    if (cm_look_at(on, middle, &p) && p.step_ns * p.energy_pj <= most)
      high = middle;
    else
      low = middle;
  }
  return high;
}

static const cm_costs free_of_charge; /* limits alone */

uint32_t cm_look_cut(const cm_look *look, cm_strand_order order, const cm_limits *limits, uint32_t *number)
{
  return (uint32_t)cut_line(look, &look->strand[order], &free_of_charge, limits, INFINITY, number).parts;
}

/* The line to look along, the one with fewer packets on somewhat more cores than it needs at least: the first two cuts. */
static void choose_line(cm_look_on *on)
{
  enum { TIMES = 4 };
  cm_line_cut fewest[CM_STRANDS];
  on->fewest = UINT32_MAX;
  for (int k = 0; k < CM_STRANDS; k++) {
    fewest[k] = cut_line(on->look, &on->look->strand[k], &on->chip->costs, &on->limits, INFINITY, NULL);
    on->fewest = fewest[k].parts < on->fewest ? (uint32_t)fewest[k].parts : on->fewest;
  }
  for (int k = 0; k < CM_STRANDS; k++) {
    const double budget = fewest[k].ns / (TIMES * on->fewest);
    const cm_line_cut c = cut_line(on->look, &on->look->strand[k], &on->chip->costs, &on->limits, budget, NULL);
    if (k > 0 && c.packets >= on->cut[1].packets)
      continue;
    on->order = (cm_strand_order)k;
    on->cut[0] = fewest[k];
    on->cut[1] = c;
  }
  on->cuts = on->cut[1].parts > on->cut[0].parts ? 2 : 1;
}

/* Cuts the line in more and more stretches, evenly by ratio, until they are as many as there may be or as short as a neuron alone. */
static void cut_finer(cm_look_on *on)
{
  const double first = on->cut[0].parts, most = fmin(on->totals.neurons, cm_chip_cores(on->chip)), floor = on->totals.neuron_ns;
  double budget = INFINITY;
  for (int i = 1; i < CM_LOOK_CUTS_MAX && budget > floor; i++) {
    const cm_line_cut *last = &on->cut[on->cuts - 1];
    const double parts = between(first, most, i / (CM_LOOK_CUTS_MAX - 1.0)), growth = on->cuts > 1 ? last->ns / last[-1].ns : 1;
    if (parts <= last->parts)
      continue;
    budget = fmax(floor, last->ns * growth / parts);
    const cm_line_cut c = cut_line(on->look, &on->look->strand[on->order], &on->chip->costs, &on->limits, budget, NULL);
    if (c.parts > last->parts)
      on->cut[on->cuts++] = c;
  }
}

cm_status cm_look_on_chip(cm_look *look, const cm_chip *chip, const cm_limits *limits, cm_look_on *on, cm_error *error)
{
  *on = (cm_look_on){.look = look, .chip = chip, .limits = *limits};
  CM_TRY(cm_step_totals_count(look->demand, &chip->costs, look->run, &on->totals, error));
  choose_line(on);
  cut_finer(on);
  return CM_OK;
}

cm_status cm_look_begin(const cm_demand *demand, uint64_t pins_max, cm_run *run, cm_look *look, cm_error *error)
{
  const cm_topology *t = demand->network;
  cm_look l = {.demand = demand, .run = run};
  cm_status status = CM_NEW_ALL(run->memory, error, CM_ARRAY(l.rate, t->net_count), CM_ARRAY(l.sends, t->vertex_count));
  for (uint32_t e = 0; status == CM_OK && e < t->net_count; e++) {
    l.rate[e] = (double)cm_demand_net_weight(demand, e) / (double)t->weight_scale;
    l.sends[cm_topology_source(t, e)] += l.rate[e];
    l.axons += t->net_first[e + 1] > t->net_first[e] ? l.rate[e] : 0;
  }
  for (int k = 0; status == CM_OK && k < CM_STRANDS; k++)
    status = cm_strand_new(demand, (cm_strand_order)k, pins_max, run, &l.strand[k], error);
  CM_END(status, *look = l, cm_look_end(&l));
}

void cm_look_end(cm_look *look)
{
  for (int k = 0; k < CM_STRANDS; k++)
    cm_strand_free(&look->strand[k]);
  CM_FREE(look->rate, look->sends);
  *look = (cm_look){0};
}
