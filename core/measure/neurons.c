#include "core/measure/neurons.h"

#include "core/limits/copies.h"

cm_status cm_neurons_json(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, json_t **json, cm_error *error)
{
  const cm_topology *topology = demand->network;
  uint32_t *copies, copied = 0;
  uint64_t more = 0;
  *json = NULL;
  if (!demand->neurons_limited)
    return CM_OK;
  if (CM_NEW(run->memory, copies, topology->vertex_count, error) != CM_OK)
    return error->status;
  cm_status status = cm_count_copies(demand, part, parts, run, copies, error);
  for (uint32_t v = 0; status == CM_OK && v < topology->vertex_count; v++) {
    copied += copies[v] > 1;
    more += (uint64_t)(copies[v] - 1) * cm_demand_size(demand, v);
  }
  cm_free(copies);
  if (status != CM_OK)
    return status;
  *json = json_pack("{s:s*, s:I, s:I, s:I}", "routes", demand->target_cores_max != 0 ? "unicast" : NULL, "relays", (json_int_t)demand->relay_count, "copied", (json_int_t)copied, "copies", (json_int_t)more);
  return cm_whole(*json != NULL, "the report", error);
}
