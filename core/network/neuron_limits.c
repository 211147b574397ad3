/* What a chip asks of single neurons: relays for inputs beyond a neuron's own, copies for cores beyond those that one reaches. */
#include <stdio.h>

#include "core/network/topology.h"

uint64_t cm_relays_for(uint64_t inputs, uint64_t fan_in)
{
  return fan_in == 0 || inputs <= fan_in ? 0 : (inputs - fan_in + fan_in - 2) / (fan_in - 1);
}

static cm_status refuse(const cm_topology *t, uint32_t worst, uint64_t use, uint64_t limit, uint32_t count, cm_error *error)
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
static cm_status add_relays(cm_topology *t, uint64_t fan_in, bool relays, cm_memory *memory, cm_error *error)
{
  uint32_t *inputs, *size = t->size, exceeding = 0, worst = 0;
  uint64_t total = 0, added = 0;
  if (CM_NEW(memory, inputs, t->vertex_count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < t->pin_count; i++)
    inputs[t->pin[i]]++;
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    exceeding += inputs[v] > fan_in;
    worst = inputs[v] > inputs[worst] ? v : worst;
  }
  cm_status status = exceeding > 0 && !relays ? refuse(t, worst, inputs[worst], fan_in, exceeding, error) : CM_OK;
  if (status == CM_OK && exceeding > 0 && size == NULL)
    status = CM_NEW(memory, size, t->vertex_count, error);
  for (uint32_t v = 0; status == CM_OK && exceeding > 0 && v < t->vertex_count; v++) {
    uint64_t own = cm_topology_size(t, v), needed = own * (1 + cm_relays_for(inputs[v], fan_in));
    added += needed - own;
    total += needed;
    if (needed > UINT32_MAX || total > UINT32_MAX)
      status = cm_fail(error, CM_TOO_LARGE, "neurons and their relays are more than %u", UINT32_MAX);
    else if (t->size == NULL)
      size[v] = (uint32_t)needed;
  }
  for (uint32_t v = 0; status == CM_OK && t->size != NULL && exceeding > 0 && v < t->vertex_count; v++)
    size[v] *= (uint32_t)(1 + cm_relays_for(inputs[v], fan_in));
  if (status == CM_OK && exceeding > 0) {
    t->size = size;
    t->size_total = total;
    t->relay_count = added;
  } else if (size != t->size) {
    cm_free(size);
  }
  cm_free(inputs);
  return status;
}

cm_status cm_topology_limit_neurons(cm_topology *topology, uint64_t fan_in, bool relays, uint64_t target_cores, cm_memory *memory,
                                    cm_error *error)
{
  if (topology->neurons_limited)
    return CM_OK;
  uint64_t given = topology->size_total;
  if (fan_in != 0 && add_relays(topology, fan_in, relays, memory, error) != CM_OK)
    return error->status;
  topology->target_cores_max = target_cores > UINT32_MAX ? UINT32_MAX : (uint32_t)target_cores;
  topology->neurons_limited = fan_in != 0 || target_cores != 0;
  topology->size_given = given;
  return CM_OK;
}
