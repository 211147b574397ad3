/* Neurons by population, for exports that list them so. */
#include "core/output/exports/writers.h"

cm_status cm_groups_of(const cm_topology *topology, cm_run *run, cm_groups *groups, cm_error *error)
{
  uint32_t vertices = topology->vertex_count;
  cm_groups made = {.count = topology->population_count > 0 ? topology->population_count : 1};
  CM_TRY_OR(CM_NEW_ALL(run->memory, error, CM_ARRAY(made.first, (size_t)made.count + 2), CM_ARRAY(made.neuron, vertices),
                       CM_ARRAY(made.at, vertices)), cm_groups_free(&made));
  uint32_t *next = made.first + 1; /* counted one further on, and moved back as they are filled in */
  for (uint32_t v = 0; v < vertices; v++)
    next[(topology->population_count > 0 ? topology->population_of[v] : 0) + 1]++;
  for (uint32_t p = 0; p < made.count; p++)
    next[p + 1] += next[p];
  for (uint32_t v = 0; v < vertices; v++) {
    uint32_t p = topology->population_count > 0 ? topology->population_of[v] : 0;
    made.at[v] = next[p];
    made.neuron[next[p]++] = v;
  }
  *groups = made;
  return CM_OK;
}

void cm_groups_free(cm_groups *groups)
{
  CM_FREE(groups->first, groups->neuron, groups->at);
}
