/* Whether every edge of an undirected topology stands in both rows, in one walk over all rows. */
#include "core/network/symmetry.h"
#include "core/network/formats/source.h"

cm_status cm_topology_asymmetry(const cm_topology *topology, cm_memory *memory, cm_run *run,
                                cm_asymmetry *asymmetry, cm_error *error)
{
  const uint64_t *first = topology->net_first;
  uint64_t *next; /* in each row, the first entry that no earlier row has asked for */
  CM_TRY(CM_NEW(memory, next, topology->vertex_count, error));
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    next[v] = first[v];
  cm_asymmetry found = {0};
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < topology->vertex_count && !found.found; v++) {
    if (run != NULL && v % CM_CHECK_EVERY == 0 && (status = cm_run_check(run, error)) != CM_OK)
      break;
    /* Rows are walked in ascending order, so row v's entries below v have been asked for one by one. */
    uint64_t i = next[v];
    if (i < first[v + 1] && topology->pin[i] < v) {
      found = (cm_asymmetry){true, true, v, topology->pin[i], cm_topology_pin_weight(topology, v, i), 0};
      break;
    }
    for (; i < first[v + 1]; i++) {
      uint32_t u = topology->pin[i];
      uint64_t j = next[u]++, weight = cm_topology_pin_weight(topology, v, i);
      if (j >= first[u + 1] || topology->pin[j] > v) {
        found = (cm_asymmetry){true, true, v, u, weight, 0};
        break;
      }
      if (topology->pin[j] < v) {
        found = (cm_asymmetry){true, true, u, topology->pin[j], cm_topology_pin_weight(topology, u, j), 0};
        break;
      }
      if (cm_topology_pin_weight(topology, u, j) != weight || cm_topology_pin_negative(topology, i) != cm_topology_pin_negative(topology, j)) {
        found = (cm_asymmetry){true, false, v, u, weight, cm_topology_pin_weight(topology, u, j)};
        break;
      }
    }
  }
  cm_free(next);
  if (status == CM_OK)
    *asymmetry = found;
  return status;
}
