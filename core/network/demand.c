#include "core/network/demand.h"

#include <stdio.h>

#include "base/threads.h"
#include "core/network/dynamics.h"
#include "core/network/measured.h"

cm_demand cm_demand_of(const cm_topology *network)
{
  return (cm_demand){.network = network,
                     .size = network->size,
                     .size_total = network->size_total,
                     .net_weight = network->net_weight,
                     .scenario_count = network->scenario_count};
}

void cm_demand_clear(cm_demand *demand)
{
  cm_free(demand->own_size);
  *demand = (cm_demand){0};
}

cm_demand cm_demand_in_scenario(const cm_demand *demand, uint32_t scenario)
{
  cm_demand made = *demand;
  made.net_weight = demand->network->scenario_rate + (size_t)scenario * demand->network->net_count;
  made.scenario_count = 0;
  made.window = scenario + 1;
  return made;
}

/* Sizes of its own, to be changed. */
static cm_status own_sizes(cm_demand *demand, cm_memory *memory, cm_error *error)
{
  const uint32_t n = demand->network->vertex_count;
  if (demand->own_size != NULL)
    return CM_OK;
  CM_TRY(CM_NEW(memory, demand->own_size, n, error));
  for (uint32_t v = 0; v < n; v++)
    demand->own_size[v] = cm_demand_size(demand, v);
  demand->size = demand->own_size;
  return CM_OK;
}

/* ---- inputs outside the chip ---- */

static cm_status refuse_outside(cm_error *error, const char *why)
{
  cm_fail(error, CM_BAD_OPTION, "inputs cannot stand outside: %s; leave out inputs, or make it \"relay\"", why);
  return cm_fail_at(error, "/options/inputs");
}

/* An input is driven from outside alone. */
static cm_status check_sources(const cm_topology *t, cm_error *error)
{
  for (uint64_t i = 0; i < t->pin_count; i++)
    if (cm_topology_is_input(t, t->pin[i])) {
      return refuse_outside(error, cm_say("neuron %u is an input and has a synapse into it", t->pin[i]).text);
    }
  return CM_OK;
}

cm_status cm_demand_set_outside(cm_demand *demand, cm_memory *memory, cm_error *error)
{
  const cm_topology *t = demand->network;
  const uint32_t inputs = cm_topology_inputs(t);
  if (demand->outside_count > 0)
    return CM_OK;
  if (inputs == 0)
    return refuse_outside(error, t->directed ? "the network marks no population as inputs" : "an undirected network has none");
  if (inputs == t->vertex_count)
    return refuse_outside(error, "the network has nothing but inputs");
  CM_TRY(check_sources(t, error));
  CM_TRY(own_sizes(demand, memory, error));
  demand->outside_count = inputs;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    if (cm_topology_is_input(t, v)) {
      demand->size_total -= demand->own_size[v];
      demand->own_size[v] = 0;
    }
  return CM_OK;
}

/* ---- what a chip asks of single neurons ---- */

uint64_t cm_relays_for(uint64_t inputs, uint64_t fan_in)
{
  return fan_in == 0 || inputs <= fan_in ? 0 : (inputs - fan_in + fan_in - 2) / (fan_in - 1);
}

static cm_status refuse_neuron(const cm_topology *t, uint32_t worst, uint64_t use, uint64_t limit, uint32_t count, cm_error *error)
{
  const char *label = cm_topology_label(t, worst);
  cm_fail(error, CM_NEURON_TOO_LARGE,
          "neuron %u%s%.60s%s has a fan-in of %llu, %llu more than the %llu of a neuron of the chip, which has no relays; %u neurons exceed "
          "it. Split them, or choose a chip with relays or a fan-in of at least %llu",
          worst, label != NULL ? " (" : "", label != NULL ? label : "", label != NULL ? ")" : "", (unsigned long long)use,
          (unsigned long long)(use - limit), (unsigned long long)limit, count, (unsigned long long)use);
  cm_fail_at(error, "neuron %u", worst);
  error->limit_name = "fan_in_per_neuron";
  cm_error_figure(error, "neuron", worst);
  cm_error_figure(error, "use", use);
  cm_error_figure(error, "limit", limit);
  cm_error_figure(error, "limit_proved", use);
  return CM_NEURON_TOO_LARGE;
}

/* Relays as size of their neuron. */
static cm_status add_relays(cm_demand *demand, const uint32_t *inputs, uint64_t fan_in, cm_error *error)
{
  uint64_t total = 0;
  for (uint32_t v = 0; v < demand->network->vertex_count; v++) {
    const uint64_t needed = demand->own_size[v] * (1 + cm_relays_for(inputs[v], fan_in));
    total += needed;
    if (total > UINT32_MAX)
      return cm_fail(error, CM_TOO_LARGE, "neurons and their relays are more than %u", UINT32_MAX);
    demand->own_size[v] = (uint32_t)needed;
  }
  demand->relay_count = total - demand->size_total;
  demand->size_total = total;
  return CM_OK;
}

static cm_status limit_inputs(cm_demand *demand, uint64_t fan_in, bool relays, cm_memory *memory, cm_error *error)
{
  const cm_topology *t = demand->network;
  uint32_t *inputs, exceeding = 0, worst = 0;
  CM_TRY(CM_NEW(memory, inputs, t->vertex_count, error));
  for (uint64_t i = 0; i < t->pin_count; i++)
    inputs[t->pin[i]]++;
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    exceeding += inputs[v] > fan_in;
    worst = inputs[v] > inputs[worst] ? v : worst;
  }
  cm_status status = CM_OK;
  if (exceeding > 0 && !relays)
    status = refuse_neuron(t, worst, inputs[worst], fan_in, exceeding, error);
  else if (exceeding > 0)
    status = own_sizes(demand, memory, error);
  if (exceeding > 0 && status == CM_OK)
    status = add_relays(demand, inputs, fan_in, error);
  cm_free(inputs);
  return status;
}

cm_status cm_demand_limit_neurons(cm_demand *demand, const cm_neuron_terms *terms, cm_memory *memory, cm_error *error)
{
  demand->bias_sources = terms->bias_sources;
  if (demand->neurons_limited)
    return CM_OK;
  CM_TRY_IF(terms->fan_in != 0, limit_inputs(demand, terms->fan_in, terms->relays, memory, error));
  demand->target_cores_max = terms->target_cores > UINT32_MAX ? UINT32_MAX : (uint32_t)terms->target_cores;
  demand->neurons_limited = terms->fan_in != 0 || terms->target_cores != 0;
  return CM_OK;
}

/* ---- what no axon tells ---- */

static double measured_rate(const cm_demand *demand, uint32_t vertex)
{
  const cm_measured *m = demand->network->measured;
  double rate = 0;
  if (m == NULL || m->neurons != demand->network->vertex_count)
    return 0;
  const uint32_t begin = demand->window > 0 ? demand->window - 1 : 0, end = demand->window > 0 ? demand->window : m->windows;
  for (uint32_t w = begin; w < end; w++)
    rate += (double)m->spikes[(size_t)w * m->neurons + vertex] /
            (double)(cm_slice_begin(m->steps, w + 1, m->windows) - cm_slice_begin(m->steps, w, m->windows));
  return rate / (end - begin);
}

cm_untold cm_demand_untold(const cm_demand *demand, uint32_t vertex, uint32_t *net)
{
  const cm_topology *t = demand->network;
  const float *const *parameter = t->dynamics != NULL ? (const float *const *)t->dynamics->parameter : NULL;
  while (*net < t->net_count && cm_topology_source(t, *net) < vertex)
    ++*net;
  const bool heard = *net < t->net_count && cm_topology_source(t, *net) == vertex;
  const bool biased = demand->bias_sources && parameter != NULL && parameter[CM_PARAMETER_BIAS] != NULL && parameter[CM_PARAMETER_BIAS][vertex] != 0;
  return (cm_untold){heard ? 0 : measured_rate(demand, vertex), biased ? 1 : 0};
}
