#include "core/network/topology.h"

#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "core/network/measured.h"

/* Those of dynamics but for weights that were kept apart. */
static void free_dynamics(cm_dynamics *dynamics, const cm_dynamics *lent)
{
  if (lent == NULL)
    cm_dynamics_free(dynamics);
  else if (dynamics != lent) {
    CM_FREE(dynamics->weight, dynamics);
  }
}

void cm_topology_free(cm_topology *topology)
{
  static const cm_topology nobody;
  if (topology == NULL)
    return;
  const cm_topology *lender = topology->lender != NULL ? topology->lender : &nobody;
#define OWN(array) cm_free(topology->array != lender->array ? topology->array : NULL)
  OWN(net_first);
  OWN(net_source);
  OWN(net_weight);
  OWN(pin);
  OWN(pin_weight);
  OWN(pin_negative);
  OWN(pin_delay);
  OWN(size);
  OWN(label_text);
  OWN(label_first);
  OWN(population);
  OWN(population_of);
  OWN(scenario_name);
  OWN(scenario_rate);
#undef OWN
  free_dynamics(topology->dynamics, lender->dynamics);
  if (topology->measured != NULL) {
    CM_FREE(topology->measured->spikes, topology->measured->stimulus);
  }
  CM_FREE(topology->measured, topology);
}

uint32_t cm_topology_find_scenario(const cm_topology *topology, const char *name)
{
  uint32_t i = 0;
  while (i < topology->scenario_count && strcmp(topology->scenario_name[i], name) != 0)
    i++;
  return i;
}

double cm_topology_pin_value(const cm_topology *topology, uint32_t net, uint64_t i)
{
  double magnitude = (double)cm_topology_pin_weight(topology, net, i) / (double)topology->weight_scale;
  magnitude = topology->pin_weight != NULL ? ldexp(magnitude, topology->weight_exponent) : magnitude;
  return cm_topology_pin_negative(topology, i) ? -magnitude : magnitude;
}

double cm_topology_pin_delay_ms(const cm_topology *topology, uint64_t i)
{
  return topology->pin_delay == NULL ? 0 : (double)(topology->pin_delay[i] * topology->delay_unit_ns) / 1e6;
}

bool cm_topology_is_input(const cm_topology *topology, uint32_t vertex)
{
  return topology->population_of != NULL && strcmp(topology->population[topology->population_of[vertex]].kind, CM_INPUT_KIND) == 0;
}

uint32_t cm_topology_inputs(const cm_topology *topology)
{
  uint32_t inputs = 0;
  for (uint32_t v = 0; topology->population_of != NULL && v < topology->vertex_count; v++)
    inputs += cm_topology_is_input(topology, v);
  return inputs;
}

uint64_t cm_topology_negatives(const cm_topology *topology)
{
  uint64_t negatives = 0;
  for (uint64_t i = 0; topology->pin_negative != NULL && i < (topology->pin_count + 63) / 64; i++)
    negatives += (uint64_t)__builtin_popcountll(topology->pin_negative[i]);
  return topology->directed ? negatives : negatives / 2;
}

const char *cm_topology_label(const cm_topology *topology, uint32_t vertex)
{
  return topology->label_text != NULL ? topology->label_text + topology->label_first[vertex] : NULL;
}

uint64_t cm_topology_synapses(const cm_topology *topology)
{
  return topology->directed ? topology->pin_count : topology->pin_count / 2;
}

uint64_t cm_topology_hyperedges(const cm_topology *topology)
{
  return topology->directed ? topology->net_count : topology->pin_count / 2;
}

/* Whether numbers [count] do not ascend, or one of them is `other`: asked without a branch, for which it is matters only when something is. */
CM_WIDE_LOOP static bool out_of_order(const uint32_t *number, uint64_t count, bool other_too, uint32_t other)
{
  uint32_t wrong = other_too && count > 0 && number[0] == other;
  for (uint64_t i = 1; i < count; i++)
    wrong |= number[i] <= number[i - 1];
  for (uint64_t i = 1; other_too && i < count; i++)
    wrong |= number[i] == other;
  return wrong != 0;
}

static cm_status verify_net(const cm_topology *t, uint32_t e, cm_error *error)
{
  uint64_t begin = t->net_first[e], end = t->net_first[e + 1];
  uint32_t source = cm_topology_source(t, e);
  if (end < begin || end > t->pin_count)
    return cm_fail(error, CM_BAD_NETWORK, "net %u spans pins %llu to %llu of %llu", e, (unsigned long long)begin,
                   (unsigned long long)end, (unsigned long long)t->pin_count);
  if (t->directed && end == begin && t->net_source != NULL)
    return cm_fail(error, CM_BAD_NETWORK, "net %u has no pins", e);
  if (source >= t->vertex_count || (e > 0 && source < cm_topology_source(t, e - 1)))
    return cm_fail(error, CM_BAD_NETWORK, "net %u has source %u, out of range or of order", e, source);
  const uint32_t *pin = t->pin;
  bool wrong = end > begin && (pin[end - 1] >= t->vertex_count || out_of_order(pin + begin, end - begin, !t->directed, source));
  for (uint64_t i = begin; wrong && i < end; i++) {
    if (pin[i] >= t->vertex_count || (i > begin && pin[i] <= pin[i - 1]))
      return cm_fail(error, CM_BAD_NETWORK, "net %u has pin %u, out of range or of order", e, pin[i]);
    if (!t->directed && pin[i] == source)
      return cm_fail(error, CM_BAD_NETWORK, "vertex %u of an undirected network has a self loop", source);
  }
  return CM_OK;
}

/* Whether u's row of an undirected network lists v with this weight. */
static bool lists(const cm_topology *t, uint32_t u, uint32_t v, uint64_t weight)
{
  uint64_t i = cm_topology_first_pin(t, u, v);
  return i < t->net_first[u + 1] && t->pin[i] == v && cm_topology_pin_weight(t, u, i) == weight;
}

static cm_status verify_symmetry(const cm_topology *t, cm_error *error)
{
  for (uint32_t v = 0; v < t->vertex_count; v++)
    for (uint64_t i = t->net_first[v]; i < t->net_first[v + 1]; i++)
      if (!lists(t, t->pin[i], v, cm_topology_pin_weight(t, v, i)))
        return cm_fail(error, CM_BAD_NETWORK, "vertex %u lists %u, but %u does not list %u with the same weight", v,
                       t->pin[i], t->pin[i], v);
  return CM_OK;
}

/* Of every neuron a model and all parameters that it has; synapses beside pins in their order, of longer delays. */
static cm_status verify_dynamics(const cm_topology *t, cm_error *error)
{
  const cm_dynamics *d = t->dynamics;
  for (uint32_t v = 0; d->model != NULL && v < t->vertex_count; v++)
    for (cm_neuron_parameter p = 0; p < CM_NEURON_PARAMETERS; p++) {
      const bool has = cm_neuron_has(d->model[v], p);
      const float value = d->parameter[p] != NULL ? d->parameter[p][v] : cm_neuron_parameters[p].rare ? 0 : NAN;
      if (has ? !cm_neuron_allows(d->model[v], p, value) : d->parameter[p] != NULL && value != 0)
        return cm_fail(error, CM_BAD_NETWORK, "neuron %u (%s) has %s %g", v, cm_neuron_models[d->model[v]].name,
                       cm_neuron_parameters[p].name, (double)value);
    }
  for (uint64_t i = 0; d->weight != NULL && i < t->pin_count; i++)
    if (!isfinite(d->weight[i]))
      return cm_fail(error, CM_BAD_NETWORK, "synapse %llu weighs %g", (unsigned long long)i, (double)d->weight[i]);
  for (uint64_t i = 0; i < d->parallel_count; i++) {
    const cm_parallel_synapse *s = &d->parallel[i], *last = i > 0 && s[-1].pin == s->pin ? s - 1 : NULL;
    if (t->pin_delay == NULL || s->pin >= t->pin_count || (i > 0 && s[-1].pin > s->pin) || !isfinite(s->weight) ||
        s->delay <= (last != NULL ? last->delay : t->pin_delay[s->pin]))
      return cm_fail(error, CM_BAD_NETWORK, "parallel synapse %llu is out of range or of order", (unsigned long long)i);
  }
  return CM_OK;
}

cm_status cm_topology_verify(const cm_topology *t, cm_error *error)
{
  if (t->weight_scale == 0)
    return cm_fail(error, CM_BAD_NETWORK, "the weight scale is 0");
  if (!t->directed && (t->net_count != t->vertex_count || t->net_source != NULL))
    return cm_fail(error, CM_BAD_NETWORK, "an undirected network has %u nets for %u vertices", t->net_count, t->vertex_count);
  if (t->net_count > 0 && t->net_source == NULL && t->net_count != t->vertex_count)
    return cm_fail(error, CM_BAD_NETWORK, "%u nets without sources for %u vertices", t->net_count, t->vertex_count);
  if (t->net_first[0] != 0 || t->net_first[t->net_count] != t->pin_count)
    return cm_fail(error, CM_BAD_NETWORK, "the nets do not span the %llu pins", (unsigned long long)t->pin_count);
  for (uint32_t e = 0; e < t->net_count; e++)
    CM_TRY(verify_net(t, e, error));
  if (t->pin_negative != NULL && t->pin_count % 64 != 0 && t->pin_negative[t->pin_count / 64] >> t->pin_count % 64 != 0)
    return cm_fail(error, CM_BAD_NETWORK, "signs stand behind the last synapse");
  if (t->pin_delay != NULL && t->delay_unit_ns == 0)
    return cm_fail(error, CM_BAD_NETWORK, "delays have no unit");
  for (uint32_t v = 0; t->population_of != NULL && v < t->vertex_count; v++)
    if (t->population_of[v] >= t->population_count)
      return cm_fail(error, CM_BAD_NETWORK, "vertex %u is of population %u of %u", v, t->population_of[v], t->population_count);
  uint64_t sizes = 0;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    sizes += cm_topology_size(t, v);
  if (sizes != t->size_total)
    return cm_fail(error, CM_BAD_NETWORK, "sizes add up to %llu, not %llu", (unsigned long long)sizes,
                   (unsigned long long)t->size_total);
  CM_TRY_IF(t->dynamics != NULL, verify_dynamics(t, error));
  return t->directed ? CM_OK : verify_symmetry(t, error);
}
