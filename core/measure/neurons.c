#include "core/measure/neurons.h"

#include "base/json.h"
#include "core/limits/copies.h"
#include "core/limits/leaving.h"

cm_status cm_neurons_json(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, json_t **json, cm_error *error)
{
  const cm_topology *topology = demand->network;
  uint32_t *copies, copied = 0;
  uint64_t more = 0;
  *json = NULL;
  if (!demand->neurons_limited)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, copies, topology->vertex_count, error));
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

cm_status cm_leaving_json(const cm_mapped *mapped, cm_run *run, json_t **json, cm_error *error)
{
  const uint32_t n = mapped->demand->network->vertex_count;
  uint32_t *cluster = NULL;
  cm_leaving *leaving;
  *json = NULL;
  if (!cm_leaving_is_limited(&mapped->chip->limits))
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, leaving, n, error));
  cm_status status = CM_NEW(run->memory, cluster, mapped->parts, error);
  for (uint32_t p = 0; status == CM_OK && p < mapped->parts; p++)
    cluster[p] = cm_chip_cluster_of(mapped->chip, mapped->core[p]);
  if (status == CM_OK) {
    cm_count_leaving(mapped->demand, mapped->part, cluster, leaving);
    status = cm_refuse_leaving(mapped->demand->network, &mapped->chip->limits, leaving, error);
  }
  if (status == CM_OK) {
    const cm_leaving most = cm_most_leaving(leaving, n);
    *json = json_pack("{s:I, s:I}", "near_synapses_most", (json_int_t)most.near, "far_synapses_most", (json_int_t)most.far);
    status = cm_whole(*json != NULL, "the report", error);
  }
  CM_FREE(cluster, leaving);
  return status;
}
