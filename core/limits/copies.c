#include "core/limits/copies.h"

cm_status cm_count_copies(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, uint32_t *copies, cm_error *error)
{
  const cm_topology *t = demand->network;
  uint32_t *seen, reached = 0, last = UINT32_MAX;
  CM_TRY(CM_NEW(run->memory, seen, parts, error));
  for (uint32_t v = 0; v < t->vertex_count; v++)
    copies[v] = 1;
  for (uint32_t e = 0; e < t->net_count; e++) { /* nets of one source stand together */
    uint32_t source = cm_topology_source(t, e);
    reached = source == last ? reached : 0;
    last = source;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t *mark = &seen[part[t->pin[i]]];
      reached += *mark != source + 1;
      *mark = source + 1;
    }
    copies[source] = cm_copies_for(demand, reached);
  }
  cm_free(seen);
  return cm_run_check(run, error);
}
