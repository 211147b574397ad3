/* Happy path: sweeps in random order; a neuron looks at the part of another target of one of its inputs, and goes there, alone
 * or for a neuron of that part, by Metropolis' rule. Packets have a price, time above the budget a convex one: a linear charge gives one part
 * everything when the budget is out of reach. What can fail: memory, a stop. */
#include "core/partition/step/step_anneal.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/annealing.h"
#include "base/random.h"
#include "base/wide.h"
#include "core/partition/options.h"

/* What a ns above the budget costs, and how much more for each further part of the budget. */
static const double charge = 3, charge_growth = 40;
/* Packets through a port that are fair: so many times the mean. More make it saturate before the others. */
static const double port_fair = 2;
static const double packets_away = 0.2; /* share of moves to any part */
static const double lower_by = 0.99, exceed_max = 1.02;
static const double cold = 0.02;

typedef struct anneal {
  cm_step_state *s;
  const cm_step_anneal_options *o;
  cm_random random;
  double budget, temperature;
  double port_max;    /* packets through an inlet or outlet that cost nothing more */
  double packet_ns;   /* price of a packet of rate 1 */
  double mean_packet_ns; /* price of one of mean rate */
  double *slope;      /* [parts] charge for a further ns that a part sends */
  uint32_t *worst;    /* [parts] scenario that the slope is of */
  uint32_t *best;     /* [vertices] the best partition seen */
  double best_ns, best_packets;
} anneal;

static double overload(const anneal *a, double ns)
{
  double over = ns - a->budget;
  return over <= 0 ? 0 : charge * over * (1 + charge_growth * over / a->budget);
}

/* What a port pays for packets beyond its share. */
static double crowd(const anneal *a, double packets)
{
  double over = packets - a->port_max;
  return over <= 0 ? 0 : a->packet_ns * over * (1 + charge_growth * over / a->port_max);
}

/* Finds what one more ns of sending costs a part; 0 while it receives longer. */
static void find_slope(anneal *a, uint32_t p)
{
  const cm_step_state *s = a->s;
  double send = s->send[p], receive = s->receive[p], scale = 1;
  if (s->scenarios > 0) {
    uint32_t k = a->worst[p] = cm_step_worst_scenario(s, p);
    size_t at = (size_t)p * s->scenarios + k;
    send = s->send_in[at];
    receive = s->receive_in[at];
    scale = s->scale[k];
  }
  bool sends = !s->costs->side_by_side || send >= receive;
  double over = cm_step_part_ns(s, p) - a->budget;
  a->slope[p] = sends && over > 0 ? scale * charge * (1 + 2 * charge_growth * over / a->budget) : 0;
}

/* What a move changes. */
typedef struct change {
  double cost;
  bool room, reach; /* the part has room for the neuron; others may send there what they have to */
} change;

/* What a move changes in a scenario: rates of pairs that end and begin, and of packets of neurons in both parts. */
typedef struct shift {
  double gone, come, send_from, send_to;
} shift;

/* One net's share of it in every scenario, `of` in numbers of its rate. */
static void shift_net(const cm_step_state *s, shift *in, uint32_t net, shift of)
{
  const double *rate = s->rate_in + (size_t)net * s->scenarios;
  for (uint32_t k = 0; k < s->scenarios; k++) {
    in[k].gone += of.gone * rate[k];
    in[k].come += of.come * rate[k];
    in[k].send_from += of.send_from * rate[k];
    in[k].send_to += of.send_to * rate[k];
  }
}

typedef struct times {
  double from_ns, to_ns;
} times;

/* The times of both parts after the move, in the scenario that is longest in each. */
static times times_after(const cm_step_state *s, const shift *in, uint32_t v, uint32_t from, uint32_t to)
{
  times after = {0, 0};
  const cm_charge_cost *c = s->costs->charge;
  size_t row = s->scenarios;
  double sent = c[CM_CHARGE_PACKET_SENT].ns, received = c[CM_CHARGE_PACKET_RECEIVED].ns;
  for (size_t k = 0; k < row; k++) {
    double own = s->own_in[v * row + k], synapse = s->handling_in[v * row + k], packets = 0;
    for (uint32_t e = s->out_first[v]; e < s->out_first[v + 1]; e++)
      packets += s->rate_in[e * row + k] * s->reached[e];
    double a = cm_core_ns(s->costs, s->receive_in[from * row + k] - received * in[k].gone - synapse,
                          s->send_in[from * row + k] - own + sent * (in[k].send_from - packets)),
           b = cm_core_ns(s->costs, s->receive_in[to * row + k] + received * in[k].come + synapse,
                          s->send_in[to * row + k] + own + sent * (in[k].send_to + packets));
    after.from_ns = fmax(after.from_ns, s->scale[k] * a);
    after.to_ns = fmax(after.to_ns, s->scale[k] * b);
  }
  return after;
}

CM_WIDE_LOOP static change price(const anneal *a, uint32_t v, uint32_t to)
{
  shift in[CM_SCENARIOS_MAX];
  const cm_step_state *s = a->s;
  const cm_costs *c = s->costs;
  uint32_t from = s->part[v];
  double gone = 0, come = 0, far = 0; /* rates of pairs that end, that begin; charges of other senders */
  double send_from = 0, send_to = 0;  /* packets of neurons there, in rate */
  uint64_t begun = 0;
  bool reach = true;
  memset(in, 0, s->scenarios * sizeof *in);
  for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++) {
    uint32_t e = s->in_net[i], home = s->part[cm_topology_source(s->demand->network, e)];
    double rate = s->rate[e], net = 0;
    uint32_t at[2];
    cm_step_find_both(s, e, (const uint32_t[]){from, to}, at);
    bool ends = s->reach_pins[s->at[e] + at[0]] == 1, begins = at[1] == s->reached[e];
    if (s->scenarios > 0 && (ends || begins))
      shift_net(s, in, e, (shift){ends, begins, home == from ? begins - ends : 0, home == to ? begins - ends : 0});
    if (ends) {
      gone += rate;
      net -= rate;
    }
    if (begins) {
      come += rate;
      net += rate;
      begun++;
      if (s->limits.outbound_axons != 0 && home != to && home != from)
        reach = reach && cm_step_has_room(s, home, 0, 0, 0, 1);
    }
    if (ends == begins)
      continue;
    if (home == from)
      send_from += net;
    else if (home == to)
      send_to += net;
    else if (s->scenarios > 0)
      far += a->slope[home] * (begins ? 1 : -1) * s->rate_in[(size_t)e * s->scenarios + a->worst[home]];
    else
      far += a->slope[home] * net;
  }
  double own = s->own[v], packets = 0;
  uint64_t outbound = 0;
  for (uint32_t e = s->out_first[v]; e < s->out_first[v + 1]; e++) {
    packets += s->rate[e] * s->reached[e];
    outbound += s->reached[e];
  }
  double sent = c->charge[CM_CHARGE_PACKET_SENT].ns, received = c->charge[CM_CHARGE_PACKET_RECEIVED].ns;
  double synapse = s->handling[v];
  times after = {cm_core_ns(c, s->receive[from] - received * gone - synapse, s->send[from] - own + sent * (send_from - packets)),
                 cm_core_ns(c, s->receive[to] + received * come + synapse, s->send[to] + own + sent * (send_to + packets))};
  if (s->scenarios > 0)
    after = times_after(s, in, v, from, to);
  bool room = cm_step_has_room(s, to, cm_demand_size(s->demand, v), s->in_first[v + 1] - s->in_first[v], begun, outbound);
  double cost = a->packet_ns * (come - gone) + sent * far + overload(a, after.from_ns) + overload(a, after.to_ns) -
                overload(a, cm_step_part_ns(s, from)) - overload(a, cm_step_part_ns(s, to));
  cost += crowd(a, s->inlet[from] - gone) + crowd(a, s->inlet[to] + come) - crowd(a, s->inlet[from]) - crowd(a, s->inlet[to]);
  cost += crowd(a, s->outlet[from] + send_from - packets) + crowd(a, s->outlet[to] + send_to + packets) -
          crowd(a, s->outlet[from]) - crowd(a, s->outlet[to]);
  return (change){cost, room, reach};
}

/* A part to go to: of another target of one of the neuron's inputs, or any. */
static uint32_t propose(anneal *a, uint32_t v)
{
  const cm_step_state *s = a->s;
  uint64_t inputs = s->in_first[v + 1] - s->in_first[v];
  if (inputs == 0 || cm_random_unit(&a->random) < packets_away)
    return (uint32_t)cm_random_below(&a->random, s->parts);
  uint32_t e = s->in_net[s->in_first[v] + cm_random_below(&a->random, inputs)];
  return s->reach_part[s->at[e] + cm_random_below(&a->random, s->reached[e])];
}

static void refresh_slopes(anneal *a)
{
  for (uint32_t p = 0; p < a->s->parts; p++)
    find_slope(a, p);
}

static bool accepts(anneal *a, double cost)
{
  return cm_metropolis(&a->random, cost, a->temperature, INFINITY);
}

static void move(anneal *a, uint32_t v, uint32_t to)
{
  uint32_t from = a->s->part[v];
  cm_step_take(a->s, v);
  cm_step_put(a->s, v, to);
  find_slope(a, from);
  find_slope(a, to);
}

/* A neuron of a part; the vertex count when none is met. */
static uint32_t any_of(anneal *a, uint32_t part)
{
  const cm_step_state *s = a->s;
  uint32_t n = s->demand->network->vertex_count;
  for (uint32_t tries = 4 * s->parts; tries > 0; tries--) {
    uint32_t v = (uint32_t)cm_random_below(&a->random, n);
    if (s->part[v] == part)
      return v;
  }
  return n;
}

/* Two neurons change places: where parts are full, or at the budget, neither could go alone. */
static void swap(anneal *a, uint32_t v, uint32_t to)
{
  const cm_step_state *s = a->s;
  uint32_t from = s->part[v], u = any_of(a, to);
  if (u == s->demand->network->vertex_count)
    return;
  change first = price(a, v, to);
  if (!first.reach)
    return;
  move(a, v, to);
  change second = price(a, u, from);
  bool taken = second.reach && accepts(a, first.cost + second.cost);
  if (taken) {
    move(a, u, from);
    taken = cm_step_has_room(s, from, 0, 0, 0, 0) && cm_step_has_room(s, to, 0, 0, 0, 0);
    if (!taken)
      move(a, u, to);
  }
  if (!taken)
    move(a, v, from);
}

static void visit(anneal *a, uint32_t v)
{
  uint32_t to = propose(a, v);
  if (to == a->s->part[v])
    return;
  if (a->o->swaps > 0 && cm_random_unit(&a->random) < a->o->swaps) {
    swap(a, v, to);
    return;
  }
  change c = price(a, v, to);
  if (c.room && c.reach && accepts(a, c.cost))
    move(a, v, to);
}

/* Packets, and as many times more as the busiest port is above its share. */
static double weigh(const anneal *a)
{
  return a->s->packets * fmax(1, cm_step_busiest_port(a->s) / a->port_max);
}

/* Keeps the partition when it is better than the best one. */
static void keep_best(anneal *a)
{
  const cm_step_state *s = a->s;
  double ns = cm_step_longest_ns(s), within = a->o->budget_ns * (1 + 1e-9), packets = weigh(a);
  bool better = a->o->lower || a->best_ns > within
                  ? ns < a->best_ns || (ns <= a->best_ns && packets < a->best_packets)
                  : ns <= within && packets < a->best_packets;
  if (!better || !cm_step_is_legal(s))
    return;
  a->best_ns = ns;
  a->best_packets = packets;
  memcpy(a->best, s->part, s->demand->network->vertex_count * sizeof *a->best);
}

/* Floating sums drift by rounding: they are made anew. */
static void restore(cm_step_state *s, const uint32_t *part)
{
  cm_step_state_clear(s);
  for (uint32_t v = 0; v < s->demand->network->vertex_count; v++)
    cm_step_put(s, v, part[v]);
}

/* The fair load of a port: no more than it passes within the budget, where the chip says how fast it is. */
static double port_share(const cm_step_state *s, double budget_ns)
{
  double used = 0, rate = s->costs->port_packets_per_ns;
  for (uint32_t p = 0; p < s->parts; p++)
    used += s->inlet[p] > 0 || s->outlet[p] > 0;
  double fair = used > 0 ? port_fair * s->packets / used : 0;
  if (isinf(budget_ns)) /* time does not count, packets alone do */
    return INFINITY;
  if (rate > 0)
    fair = fmin(fair, rate * budget_ns);
  return fmax(fair, DBL_MIN);
}

static cm_status sweep(anneal *a, uint32_t number, uint32_t *order, cm_error *error)
{
  enum { CHECK = 1024 };
  const uint32_t *movable = a->o->movable;
  uint32_t n = movable != NULL ? a->o->movable_count : a->s->demand->network->vertex_count;
  uint32_t visits = (uint32_t)ceil(a->o->share * n);
  cm_status status = CM_OK;
  double cooling = a->o->sweeps > 1 ? (double)number / (a->o->sweeps - 1) : 1;
  a->temperature = a->mean_packet_ns * a->o->heat * pow(cold / fmax(a->o->heat, cold), cooling);
  cm_random_permutation(&a->random, order, n);
  refresh_slopes(a);
  for (uint32_t i = 0; i < visits && status == CM_OK; i++) {
    visit(a, movable != NULL ? movable[order[i]] : order[i]);
    if (i % CHECK == 0)
      status = cm_run_progress(a->s->run, (number + (double)i / visits) / a->o->sweeps, -1, n, cm_step_longest_ns(a->s), error);
  }
  keep_best(a);
  return status;
}

cm_status cm_step_anneal(cm_step_state *state, const cm_step_anneal_options *options, cm_error *error)
{
  const cm_topology *t = state->demand->network;
  anneal a = {.s = state, .o = options, .budget = options->budget_ns, .best_ns = INFINITY, .best_packets = INFINITY};
  uint32_t *order = NULL;
  cm_status status = CM_OK;
  a.packet_ns = state->costs->charge[CM_CHARGE_PACKET_RECEIVED].ns + state->costs->charge[CM_CHARGE_PACKET_SENT].ns;
  if (a.packet_ns <= 0)
    a.packet_ns = 1;
  for (uint32_t e = 0; e < t->net_count; e++)
    a.mean_packet_ns += a.packet_ns * state->rate[e] / t->net_count;
  if (CM_NEW(state->run->memory, a.slope, state->parts, error) != CM_OK ||
      CM_NEW(state->run->memory, a.worst, state->parts, error) != CM_OK ||
      CM_NEW(state->run->memory, a.best, t->vertex_count, error) != CM_OK ||
      CM_NEW(state->run->memory, order, t->vertex_count, error) != CM_OK)
    status = error->status;
  if (status == CM_OK) {
    cm_random_init(&a.random, options->seed, CM_STREAM_STEP, 0);
    a.port_max = port_share(state, options->budget_ns);
    keep_best(&a);
  }
  for (uint32_t i = 0; i < options->sweeps && status == CM_OK; i++) {
    status = sweep(&a, i, order, error);
    if (options->lower && cm_step_longest_ns(state) <= a.budget * exceed_max)
      a.budget = fmin(a.budget, cm_step_longest_ns(state)) * lower_by;
  }
  if (status == CM_OK && a.best_ns < INFINITY)
    restore(state, a.best);
  CM_FREE(a.slope, a.worst, a.best, order);
  return status;
}
