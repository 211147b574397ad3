#include "core/partition/step/step_state.h"

#include <math.h>
#include <string.h>

#include "core/network/net_order.h"

static cm_status transpose(cm_step_state *s, cm_error *error)
{
  const cm_topology *t = s->demand->network;
  cm_memory *memory = s->run->memory;
  uint32_t n = t->vertex_count;
  CM_TRY(CM_NEW(memory, s->in_first, (size_t)n + 2, error));
  CM_TRY(CM_NEW(memory, s->in_net, t->pin_count, error));
  CM_TRY(CM_NEW(memory, s->out_first, (size_t)n + 1, error));
  cm_topology_nets_to(t, s->in_first, s->in_net);
  cm_topology_nets_from(t, s->out_first);
  return CM_OK;
}

/* Rows of the state's arrays: every `stride`th value. */
typedef struct rows {
  size_t stride;
  double *rate, *input, *own, *handling;
} rows;

/* What each net and neuron does by the rates of `demand`. */
static void count_events(const cm_demand *demand, const cm_costs *costs, const rows *to)
{
  const size_t stride = to->stride;
  double *rate = to->rate, *input = to->input, *own = to->own;
  const cm_topology *t = demand->network;
  const cm_charge_cost *c = costs->charge;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    own[v * stride] = c[CM_CHARGE_NEURON].ns * cm_demand_size(demand, v);
  for (uint32_t e = 0; e < t->net_count; e++) {
    const double here = rate[e * stride] = (double)cm_demand_net_weight(demand, e) / (double)t->weight_scale;
    own[cm_topology_source(t, e) * stride] += c[CM_CHARGE_SPIKE].ns * here;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      input[t->pin[i] * stride] += here;
  }
  for (uint32_t v = 0, net = 0; v < t->vertex_count; v++) {
    const cm_untold untold = cm_demand_untold(demand, v, &net);
    own[v * stride] += c[CM_CHARGE_SPIKE].ns * untold.spikes;
    to->handling[v * stride] = c[CM_CHARGE_SYNAPSE].ns * (input[v * stride] + untold.synapses);
  }
}

/* Rates, and room for the parts that every net may reach. */
static cm_status count_rates(cm_step_state *s, cm_error *error)
{
  const cm_topology *t = s->demand->network;
  cm_memory *memory = s->run->memory;
  const size_t k = s->scenarios, nets = t->net_count, n = t->vertex_count;
  if (CM_NEW(memory, s->rate, nets, error) != CM_OK || CM_NEW(memory, s->input, n, error) != CM_OK || CM_NEW(memory, s->own, n, error) != CM_OK ||
      CM_NEW(memory, s->handling, n, error) != CM_OK || CM_NEW(memory, s->at, nets + 1, error) != CM_OK)
    return error->status;
  count_events(s->demand, s->costs, &(rows){1, s->rate, s->input, s->own, s->handling});
  for (size_t e = 0; e < nets; e++) {
    const uint64_t pins = t->net_first[e + 1] - t->net_first[e];
    s->at[e + 1] = s->at[e] + (pins < s->parts ? pins : s->parts);
  }
  if (k > 0 && (CM_NEW(memory, s->scale, k, error) != CM_OK || CM_NEW(memory, s->rate_in, k * nets, error) != CM_OK ||
                CM_NEW(memory, s->input_in, k * n, error) != CM_OK || CM_NEW(memory, s->own_in, k * n, error) != CM_OK ||
                CM_NEW(memory, s->handling_in, k * n, error) != CM_OK || CM_NEW(memory, s->receive_in, k * s->parts, error) != CM_OK ||
                CM_NEW(memory, s->send_in, k * s->parts, error) != CM_OK))
    return error->status;
  for (uint32_t i = 0; i < k; i++) {
    const cm_demand view = cm_demand_in_scenario(s->demand, i);
    s->scale[i] = 1;
    count_events(&view, s->costs, &(rows){k, s->rate_in + i, s->input_in + i, s->own_in + i, s->handling_in + i});
  }
  return CM_OK;
}

cm_status cm_step_state_new(const cm_demand *demand, const cm_costs *costs, const cm_limits *limits, uint32_t parts,
                            cm_run *run, cm_step_state *state, cm_error *error)
{
  const cm_topology *topology = demand->network;
  cm_step_state s = {.demand = demand, .costs = costs, .limits = *limits, .run = run, .parts = parts,
                     .scenarios = demand->scenario_count};
  cm_memory *memory = run->memory;
  cm_status status = transpose(&s, error);
  CM_THEN(status, count_rates(&s, error));
  if (status == CM_OK && (CM_NEW(memory, s.part, topology->vertex_count, error) != CM_OK ||
                          CM_NEW(memory, s.reached, topology->net_count, error) != CM_OK ||
                          CM_NEW(memory, s.reach_part, s.at[topology->net_count], error) != CM_OK ||
                          CM_NEW(memory, s.reach_pins, s.at[topology->net_count], error) != CM_OK ||
                          CM_NEW(memory, s.receive, parts, error) != CM_OK ||
                          CM_NEW(memory, s.send, parts, error) != CM_OK ||
                          CM_NEW(memory, s.inlet, parts, error) != CM_OK ||
                          CM_NEW(memory, s.outlet, parts, error) != CM_OK ||
                          CM_NEW(memory, s.use, (size_t)parts * CM_RESOURCES, error) != CM_OK))
    status = error->status;
  CM_TRY_OR(status, cm_step_state_free(&s));
  cm_step_state_clear(&s);
  *state = s;
  return CM_OK;
}

void cm_step_state_free(cm_step_state *s)
{
  CM_FREE(s->part, s->rate, s->input, s->own, s->handling, s->in_first, s->in_net, s->out_first, s->at, s->reached, s->reach_part, s->reach_pins,
          s->receive, s->send, s->use, s->inlet, s->outlet, s->scale, s->rate_in, s->input_in, s->own_in, s->handling_in, s->receive_in, s->send_in);
  *s = (cm_step_state){0};
}

void cm_step_state_clear(cm_step_state *s)
{
  const cm_topology *t = s->demand->network;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    s->part[v] = CM_STEP_NO_PART;
  memset(s->reached, 0, t->net_count * sizeof *s->reached);
  memset(s->receive, 0, s->parts * sizeof *s->receive);
  memset(s->send, 0, s->parts * sizeof *s->send);
  memset(s->inlet, 0, s->parts * sizeof *s->inlet);
  memset(s->outlet, 0, s->parts * sizeof *s->outlet);
  memset(s->use, 0, (size_t)s->parts * CM_RESOURCES * sizeof *s->use);
  s->packets = 0;
  if (s->scenarios > 0) {
    memset(s->receive_in, 0, (size_t)s->parts * s->scenarios * sizeof *s->receive_in);
    memset(s->send_in, 0, (size_t)s->parts * s->scenarios * sizeof *s->send_in);
  }
}

uint32_t cm_step_worst_scenario(const cm_step_state *s, uint32_t part)
{
  uint32_t worst = 0;
  for (uint32_t k = 1; k < s->scenarios; k++)
    if (cm_step_part_ns_in(s, part, k) > cm_step_part_ns_in(s, part, worst))
      worst = k;
  return worst;
}

/* Adds `ns` for each of a row of rates to a part's times. */
static inline void add_row(const cm_step_state *s, double *times, uint32_t part, const double *rates, size_t row, double ns)
{
  for (uint32_t k = 0; k < s->scenarios; k++)
    times[(size_t)part * s->scenarios + k] += ns * rates[row * s->scenarios + k];
}

/* A net begins or ceases to reach a part: `more` is 1 or -1. */
static void change_reach(cm_step_state *s, uint32_t net, uint32_t part, int more)
{
  uint32_t home = s->part[cm_topology_source(s->demand->network, net)];
  double rate = more * s->rate[net];
  s->packets += rate;
  s->inlet[part] += rate;
  s->receive[part] += s->costs->charge[CM_CHARGE_PACKET_RECEIVED].ns * rate;
  s->use[(size_t)part * CM_RESOURCES + CM_INBOUND_AXONS] += (uint64_t)(int64_t)more;
  add_row(s, s->receive_in, part, s->rate_in, net, more * s->costs->charge[CM_CHARGE_PACKET_RECEIVED].ns);
  if (home == CM_STEP_NO_PART)
    return;
  add_row(s, s->send_in, home, s->rate_in, net, more * s->costs->charge[CM_CHARGE_PACKET_SENT].ns);
  s->outlet[home] += rate;
  s->send[home] += s->costs->charge[CM_CHARGE_PACKET_SENT].ns * rate;
  s->use[(size_t)home * CM_RESOURCES + CM_OUTBOUND_AXONS] += (uint64_t)(int64_t)(home != part ? more : 0);
}

/* A neuron joins or leaves a part as a source. */
static void change_source(cm_step_state *s, uint32_t v, uint32_t part, int more)
{
  s->send[part] += more * s->own[v];
  add_row(s, s->send_in, part, s->own_in, v, more);
  for (uint32_t e = s->out_first[v]; e < s->out_first[v + 1]; e++) {
    uint32_t others = s->reached[e] - (cm_step_find(s, e, part) < s->reached[e]);
    s->outlet[part] += more * s->rate[e] * s->reached[e];
    s->send[part] += more * s->costs->charge[CM_CHARGE_PACKET_SENT].ns * s->rate[e] * s->reached[e];
    s->use[(size_t)part * CM_RESOURCES + CM_OUTBOUND_AXONS] += (uint64_t)(more * (int64_t)others);
    add_row(s, s->send_in, part, s->rate_in, e, more * s->costs->charge[CM_CHARGE_PACKET_SENT].ns * s->reached[e]);
  }
}

static void change_inputs(cm_step_state *s, uint32_t v, uint32_t part, int more)
{
  uint64_t synapses = s->in_first[v + 1] - s->in_first[v];
  s->receive[part] += more * s->handling[v];
  add_row(s, s->receive_in, part, s->handling_in, v, more);
  s->use[(size_t)part * CM_RESOURCES + CM_NEURONS] += (uint64_t)(more * (int64_t)cm_demand_size(s->demand, v));
  s->use[(size_t)part * CM_RESOURCES + CM_SYNAPSES] += (uint64_t)(more * (int64_t)synapses);
}

/* The rest of putting, once the part is among those that the neuron's inputs reach. */
static void settle(cm_step_state *s, uint32_t v, uint32_t part)
{
  change_inputs(s, v, part, 1);
  change_source(s, v, part, 1);
  s->part[v] = part;
}

/* An input of the neuron reaches the part, which stands at a place of the net's list, or is new there. */
static inline void put_input(cm_step_state *s, uint32_t e, uint32_t at, uint32_t part)
{
  if (at < s->reached[e]) {
    s->reach_pins[s->at[e] + at]++;
    return;
  }
  s->reach_part[s->at[e] + at] = part;
  s->reach_pins[s->at[e] + at] = 1;
  s->reached[e]++;
  change_reach(s, e, part, 1);
}

void cm_step_put(cm_step_state *s, uint32_t v, uint32_t part)
{
  for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++)
    put_input(s, s->in_net[i], cm_step_find(s, s->in_net[i], part), part);
  settle(s, v, part);
}

void cm_step_put_last(cm_step_state *s, uint32_t v, uint32_t part)
{
  for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++) {
    uint32_t e = s->in_net[i], count = s->reached[e];
    bool there = count > 0 && s->reach_part[s->at[e] + count - 1] == part;
    put_input(s, e, there ? count - 1 : count, part);
  }
  settle(s, v, part);
}

void cm_step_take(cm_step_state *s, uint32_t v)
{
  uint32_t part = s->part[v];
  change_source(s, v, part, -1);
  s->part[v] = CM_STEP_NO_PART;
  change_inputs(s, v, part, -1);
  for (uint64_t i = s->in_first[v]; i < s->in_first[v + 1]; i++) {
    uint32_t e = s->in_net[i], at = cm_step_find(s, e, part), last = s->reached[e] - 1;
    if (--s->reach_pins[s->at[e] + at] > 0)
      continue;
    s->reach_part[s->at[e] + at] = s->reach_part[s->at[e] + last];
    s->reach_pins[s->at[e] + at] = s->reach_pins[s->at[e] + last];
    s->reached[e] = last;
    change_reach(s, e, part, -1);
  }
}

double cm_step_longest_ns(const cm_step_state *s)
{
  double longest = 0;
  for (uint32_t p = 0; p < s->parts; p++)
    longest = cm_step_part_ns(s, p) > longest ? cm_step_part_ns(s, p) : longest;
  return longest;
}

double cm_step_busiest_port(const cm_step_state *s)
{
  double most = 0;
  for (uint32_t p = 0; p < s->parts; p++)
    most = fmax(most, fmax(s->inlet[p], s->outlet[p]));
  return most;
}

bool cm_step_has_room(const cm_step_state *s, uint32_t part, uint64_t neurons, uint64_t synapses, uint64_t inbound,
                      uint64_t outbound)
{
  const uint64_t *use = s->use + (size_t)part * CM_RESOURCES;
  const cm_limits *l = &s->limits;
  return (l->neurons == 0 || use[CM_NEURONS] + neurons <= l->neurons) &&
         (l->synapses == 0 || use[CM_SYNAPSES] + synapses <= l->synapses) &&
         (l->inbound_axons == 0 || use[CM_INBOUND_AXONS] + inbound <= l->inbound_axons) &&
         (l->outbound_axons == 0 || use[CM_OUTBOUND_AXONS] + outbound <= l->outbound_axons) &&
         cm_memory_holds(l, use[CM_NEURONS] + neurons, use[CM_SYNAPSES] + synapses, use[CM_INBOUND_AXONS] + inbound);
}

bool cm_step_is_legal(const cm_step_state *s)
{
  for (uint32_t p = 0; p < s->parts; p++)
    if (!cm_step_has_room(s, p, 0, 0, 0, 0))
      return false;
  return true;
}
