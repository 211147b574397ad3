/* Which populations stand on each core, by sorting (part, population) of all neurons: nothing is shared with what
 * partitions. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/verify/check_measure.h"

typedef struct member {
  uint32_t part, population;
} member;

CM_ORDER(by_part, member, CM_RISING(part) CM_RISING(population))

cm_status cm_check_measure_populations(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                                       uint32_t *count, cm_error *error)
{
  uint32_t n = topology->vertex_count;
  member *list;
  CM_TRY(CM_NEW(run->memory, list, n, error));
  for (uint32_t v = 0; v < n; v++)
    list[v] = (member){part[v], topology->population_of != NULL ? topology->population_of[v] : 0};
  qsort(list, n, sizeof *list, by_part);
  for (uint32_t p = 0; p < parts; p++)
    count[p] = 0;
  for (uint32_t i = 0; i < n; i++)
    count[list[i].part] += i == 0 || by_part(&list[i - 1], &list[i]) != 0;
  cm_free(list);
  return CM_OK;
}
