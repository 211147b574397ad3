/* Happy path: lines of neurons -> cut in as many stretches as there are cores, none longer than a budget of time or a limit -> their
 * packets, less what annealing saves -> the mean core, or what is proved where that is more. */
#include "core/look/look.h"

#include <math.h>

#include "core/limits/populations.h"
#include "core/partition/step/step_bound.h"

/* Of the packets that stretches send beyond the fewest possible, what is left by annealing; and how much longer the busiest core takes
 * than the mean one. Both from bench/knee. */
static const double left_by_annealing = 0.7, busiest_over_mean = 1.02;

/* A line that was cut. */
typedef struct cut {
  uint32_t parts;
  double packets, ns;          /* rate; of all stretches together */
  uint64_t most[CM_RESOURCES]; /* use of the fullest stretch */
} cut;

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
static cut cut_line(const cm_look *look, const cm_strand *s, const cm_costs *costs, const cm_limits *limits, double budget_ns, uint32_t *number)
{
  const cm_topology *t = look->demand->network;
  const uint32_t *population = cm_populations_limited(t, limits) ? t->population_of : NULL;
  cut c = {0};
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
      number[s->neuron[i]] = c.parts;
    c.packets += packets;
    for (cm_resource r = 0; r < CM_RESOURCES; r++)
      c.most[r] = now.use[r] > c.most[r] ? now.use[r] : c.most[r];
  }
  c.ns = (c.ns + now.ns) / s->share;
  c.parts = (uint32_t)ceil((c.parts + (now.use[CM_NEURONS] > 0)) / s->share);
  c.packets /= s->share;
  return c;
}

/* Cuts a line in `cores` stretches or a few less; false: limits ask for more. */
static bool cut_in(const cm_look_on *on, const cm_strand *s, uint32_t cores, cut *made)
{
  enum { TRIES = 5 };
  static const double near = 0.96;
  cm_step_bound bound = cm_step_bound_plain(&on->totals, &on->chip->costs, cores);
  double ns = 1.2 * (bound.shared_ns + bound.send_ns);
  bool found = false;
  for (int i = 0; i < TRIES; i++) {
    cut c = cut_line(on->look, s, &on->chip->costs, &on->limits, ns, NULL);
    if (c.parts <= cores && (!found || c.parts > made->parts)) {
      *made = c;
      found = true;
    }
    if (c.parts <= cores && c.parts >= near * cores)
      break;
    ns = i == 0 ? 1.02 * c.ns / cores : ns * (c.parts > cores ? 1.01 : 0.99) * c.parts / cores;
  }
  if (found)
    return true;
  *made = cut_line(on->look, s, &on->chip->costs, &on->limits, INFINITY, NULL);
  return made->parts <= cores;
}

/* The limit that comes nearest to being full. */
static void find_fullest(const cm_limits *limits, const cut *c, cm_look_point *point)
{
  for (cm_resource r = 0; r < CM_RESOURCES; r++) {
    double filled = cm_limit(limits, r) != 0 ? (double)c->most[r] / (double)cm_limit(limits, r) : 0;
    if (filled > point->filled) {
      point->filled = filled;
      point->fullest = r;
    }
  }
}

static double barrier_ns(const cm_chip *chip, uint32_t cores)
{
  const cm_barrier *b = &chip->costs.barrier;
  uint32_t tile = b->points > 0 ? b->tile_x * b->tile_y : 1;
  return cm_barrier_ns(b, (cores + tile - 1) / tile);
}

bool cm_look_at(const cm_look_on *on, uint32_t cores, cm_look_point *point)
{
  const cm_look *look = on->look;
  const cm_step_totals *t = &on->totals;
  const cm_costs *costs = &on->chip->costs;
  const cm_charge_cost *c = costs->charge;
  cm_step_bound bound = cm_step_bound_plain(t, costs, cores);
  cut made;
  bool fits = cut_in(on, &on->look->strand[on->order], cores, &made);
  double least = fmax(look->axons, t->events * cores / t->neurons),
         packets = made.packets > least ? least + left_by_annealing * (made.packets - least) : made.packets,
         receive = t->events * c[CM_CHARGE_SYNAPSE].ns + packets * c[CM_CHARGE_PACKET_RECEIVED].ns,
         send = t->sending + (packets - look->axons) * c[CM_CHARGE_PACKET_SENT].ns, packet_pj = c[CM_CHARGE_PACKET_SENT].pj + c[CM_CHARGE_PACKET_RECEIVED].pj,
         fixed = t->events * c[CM_CHARGE_SYNAPSE].pj + (double)look->demand->size_total * c[CM_CHARGE_NEURON].pj + look->axons * c[CM_CHARGE_SPIKE].pj;
  *point = (cm_look_point){.cores = cores,
                           .core_ns = fmax(bound.ns, cm_core_ns(costs, receive, send) / cores * busiest_over_mean),
                           .energy_pj = fixed + packets * packet_pj,
                           .bound_ns = bound.ns + bound.fixed_ns,
                           .bound_pj = fixed + look->axons * packet_pj};
  point->step_ns = point->core_ns + barrier_ns(on->chip, cores) + cm_between_ns(&costs->barrier, cores, look->axons, packets);
  find_fullest(&on->limits, &made, point);
  return fits;
}

/* Cores from which on more of them shorten no step by more than a fiftieth: where the neuron that takes longest is all that counts. */
static uint32_t enough_cores(const cm_look_on *on, uint32_t fewest, uint32_t most)
{
  static const double near = 1.02;
  double least = cm_step_bound_plain(&on->totals, &on->chip->costs, most).ns;
  cm_look_point point;
  while (fewest < most) {
    uint32_t middle = (uint32_t)sqrt((double)fewest * most);
    middle = middle > fewest ? middle : fewest + 1;
    if (middle >= most || !cm_look_at(on, middle, &point) || point.core_ns > near * least)
      break;
    most = middle;
  }
  return most;
}

uint32_t cm_look_choices(const cm_look_on *on, uint32_t fewest, uint32_t most, cm_look_point *point)
{
  uint32_t count = 0, last = 0;
  most = enough_cores(on, fewest, most < on->totals.neurons ? most : on->totals.neurons);
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
  return cut_line(look, &look->strand[order], &free_of_charge, limits, INFINITY, number).parts;
}

/* The line to look along, and what it needs at least: the one with fewer packets on somewhat more cores than that. */
static void choose_line(cm_look_on *on)
{
  enum { TIMES = 4 };
  double least = INFINITY;
  on->fewest = UINT32_MAX;
  for (int k = 0; k < CM_STRANDS; k++) {
    cut c = cut_line(on->look, &on->look->strand[k], &free_of_charge, &on->limits, INFINITY, NULL);
    on->fewest = c.parts < on->fewest ? c.parts : on->fewest;
  }
  for (int k = 0; k < CM_STRANDS; k++) {
    cut c = {0};
    if (!cut_in(on, &on->look->strand[k], TIMES * on->fewest, &c) || c.packets >= least)
      continue;
    least = c.packets;
    on->order = (cm_strand_order)k;
  }
}

cm_status cm_look_on_chip(cm_look *look, const cm_chip *chip, const cm_limits *limits, cm_look_on *on, cm_error *error)
{
  *on = (cm_look_on){.look = look, .chip = chip, .limits = *limits};
  if (cm_step_totals_count(look->demand, &chip->costs, look->run, &on->totals, error) != CM_OK)
    return error->status;
  choose_line(on);
  return CM_OK;
}

cm_status cm_look_begin(const cm_demand *demand, uint64_t pins_max, cm_run *run, cm_look *look, cm_error *error)
{
  const cm_topology *t = demand->network;
  cm_look l = {.demand = demand, .run = run};
  cm_status status = CM_OK;
  if (CM_NEW(run->memory, l.rate, t->net_count, error) != CM_OK || CM_NEW(run->memory, l.sends, t->vertex_count, error) != CM_OK)
    status = error->status;
  for (uint32_t e = 0; status == CM_OK && e < t->net_count; e++) {
    l.rate[e] = (double)cm_demand_net_weight(demand, e) / (double)t->weight_scale;
    l.sends[cm_topology_source(t, e)] += l.rate[e];
    l.axons += t->net_first[e + 1] > t->net_first[e] ? l.rate[e] : 0;
  }
  for (int k = 0; status == CM_OK && k < CM_STRANDS; k++)
    status = cm_strand_new(demand, (cm_strand_order)k, pins_max, run, &l.strand[k], error);
  if (status == CM_OK)
    *look = l;
  else
    cm_look_end(&l);
  return status;
}

void cm_look_end(cm_look *look)
{
  for (int k = 0; k < CM_STRANDS; k++)
    cm_strand_free(&look->strand[k]);
  CM_FREE(look->rate, look->sends);
  *look = (cm_look){0};
}
