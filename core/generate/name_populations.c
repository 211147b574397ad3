#include <stdio.h>

#include "core/generate/generate.h"

cm_status cm_name_runs(cm_topology *topology, const char *what, uint32_t populations, const uint32_t *size, uint32_t even,
                       cm_memory *memory, cm_error *error)
{
  if (populations > CM_POPULATIONS_MAX)
    return CM_OK;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(topology->population, populations),
                    CM_ARRAY(topology->population_of, topology->vertex_count)));
  topology->population_count = populations;
  for (uint32_t k = 0, v = 0; k < populations; k++) {
    (void)snprintf(topology->population[k].name, sizeof topology->population[k].name, "%s %u", what, k + 1);
    for (uint32_t end = v + (size != NULL ? size[k] : even); v < end; v++)
      topology->population_of[v] = k;
  }
  return CM_OK;
}
