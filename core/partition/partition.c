#include "core/partition/partition.h"
#include "base/order.h"

#include <stdlib.h>

cm_status cm_partition_new(uint32_t vertices, cm_run *run, cm_partition **partition, cm_error *error)
{
  cm_partition *made;
  CM_TRY(CM_NEW(run->memory, made, 1, error));
  made->vertex_count = vertices;
  CM_TRY_OR(CM_NEW(run->memory, made->part, vertices, error), cm_partition_free(made));
  *partition = made;
  return CM_OK;
}

void cm_partition_free(cm_partition *partition)
{
  if (partition == NULL)
    return;
  CM_FREE(partition->part, partition->core, partition->kind);
  cm_graph_free(partition->parts);
  cm_free(partition);
}

cm_status cm_close_gaps(uint32_t *part, uint32_t vertices, uint32_t *parts, cm_run *run, cm_error *error)
{
  uint32_t *number, next = 0;
  CM_TRY(CM_NEW(run->memory, number, *parts, error));
  for (uint32_t v = 0; v < vertices; v++)
    number[part[v]] = 1;
  for (uint32_t p = 0; p < *parts; p++)
    number[p] = number[p] ? next++ : 0;
  for (uint32_t v = 0; v < vertices; v++)
    part[v] = number[part[v]];
  cm_free(number);
  *parts = next;
  return CM_OK;
}

CM_ORDER(by_neurons, cm_part_size, CM_RISING(neurons) CM_RISING(part))

void cm_sort_parts(cm_part_size *list, uint32_t count)
{
  qsort(list, count, sizeof *list, by_neurons);
}

cm_status cm_refuse_parts(uint64_t needed, uint64_t free, cm_error *error)
{
  cm_fail(error, CM_NO_ROOM, "more than the %llu free cores are needed to keep every part within the core limits",
          (unsigned long long)free);
  cm_error_figure(error, "needed", needed);
  cm_error_figure(error, "free", free);
  return CM_NO_ROOM;
}
