/* How many of each neuron its core holds where a chip lets a neuron reach few cores: parts that it reaches, sorted. Nothing is
 * shared with what partitions. */
#include <stdlib.h>

#include "core/base/order.h"
#include "core/mapping/check/check_internal.h"

cm_status cm_check_copies(const cm_topology *topology, const uint32_t *part, cm_run *run, uint32_t *copies, cm_error *error)
{
  uint32_t *list = NULL, most = topology->target_cores_max;
  uint64_t room = 0;
  cm_status status = CM_OK;
  for (uint32_t v = 0; v < topology->vertex_count; v++)
    copies[v] = 1;
  for (uint32_t e = 0, end; most != 0 && status == CM_OK && e < topology->net_count; e = end) {
    uint32_t source = cm_topology_source(topology, e), count = 0, distinct = 0;
    for (end = e; end < topology->net_count && cm_topology_source(topology, end) == source; end++)
      ;
    uint64_t first = topology->net_first[e], pins = topology->net_first[end] - first;
    status = CM_ROOM(run->memory, list, &room, pins, error);
    for (uint64_t i = 0; status == CM_OK && i < pins; i++)
      list[count++] = part[topology->pin[first + i]];
    if (status == CM_OK && count > 0)
      qsort(list, count, sizeof *list, cm_ascending);
    for (uint32_t i = 0; status == CM_OK && i < count; i++)
      distinct += i == 0 || list[i] != list[i - 1];
    while (status == CM_OK && (uint64_t)copies[source] * most < distinct)
      copies[source]++;
  }
  cm_free(list);
  return status;
}
