#include "core/network/nets_by_part.h"

cm_status cm_nets_by_part(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                          uint32_t **first, uint32_t **net, cm_error *error)
{
  uint32_t *starts, *nets;
  CM_TRY(CM_NEW(run->memory, starts, (size_t)parts + 2, error));
  CM_TRY_OR(CM_NEW(run->memory, nets, topology->net_count, error), cm_free(starts));
  /* Two places ahead, so that filling moves each start to where it belongs. */
  for (uint32_t e = 0; e < topology->net_count; e++)
    starts[(size_t)part[cm_topology_source(topology, e)] + 2]++;
  for (size_t p = 2; p <= (size_t)parts + 1; p++)
    starts[p] += starts[p - 1];
  for (uint32_t e = 0; e < topology->net_count; e++)
    nets[starts[part[cm_topology_source(topology, e)] + 1]++] = e;
  *first = starts;
  *net = nets;
  return CM_OK;
}
