/* Inputs that stand outside the chip: vertices without a size, whose axons stay. */
#include <stdio.h>

#include "core/network/topology.h"

static cm_status refuse(cm_error *error, const char *why)
{
  cm_fail(error, CM_BAD_OPTION, "inputs cannot stand outside: %s; leave out inputs, or make it \"relay\"", why);
  return cm_fail_at(error, "/options/inputs");
}

/* An input is driven from outside alone. */
static cm_status check_sources(const cm_topology *t, cm_error *error)
{
  for (uint64_t i = 0; i < t->pin_count; i++)
    if (cm_topology_is_input(t, t->pin[i])) {
      char why[80];
      (void)snprintf(why, sizeof why, "neuron %u is an input and has a synapse into it", t->pin[i]);
      return refuse(error, why);
    }
  return CM_OK;
}

cm_status cm_topology_set_outside(cm_topology *topology, cm_memory *memory, cm_error *error)
{
  uint32_t inputs = cm_topology_inputs(topology);
  uint32_t *size = topology->size;
  if (topology->outside_count > 0)
    return CM_OK;
  if (inputs == 0)
    return refuse(error, topology->directed ? "the network marks no population as inputs" : "an undirected network has none");
  if (inputs == topology->vertex_count)
    return refuse(error, "the network has nothing but inputs");
  if (check_sources(topology, error) != CM_OK || (size == NULL && CM_NEW(memory, size, topology->vertex_count, error) != CM_OK))
    return error->status;
  uint64_t total = 0;
  for (uint32_t v = 0; v < topology->vertex_count; v++) {
    size[v] = cm_topology_is_input(topology, v) ? 0 : cm_topology_size(topology, v);
    total += size[v];
  }
  topology->size = size;
  topology->size_total = total;
  topology->outside_count = inputs;
  return CM_OK;
}
