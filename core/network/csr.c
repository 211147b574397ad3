/* Networks from compressed sparse rows in memory. */
#include "core/network/csr.h"

#include <math.h>
#include <string.h>

#include "core/network/formats/source.h"
#include "core/network/formats/weighted.h"
#include "core/network/import_limits.h"

static cm_status check_rows(uint32_t neurons, const uint64_t *first, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  if (neurons == 0)
    return cm_fail(error, CM_BAD_NETWORK, "the network has no neurons");
  if (neurons > limits.vertices_max)
    return cm_over_limit("neurons", neurons, limits.vertices_max, error);
  for (uint32_t v = 0; v <= neurons; v++)
    if (v == 0 ? first[v] != 0 : first[v] < first[v - 1]) {
      cm_fail(error, CM_BAD_NETWORK, "the row of neuron %u starts at synapse %llu; rows start at 0 and never descend", v,
              (unsigned long long)first[v]);
      return cm_fail_at(error, "neuron %u", v);
    }
  return first[neurons] > limits.pins_max ? cm_over_limit("synapses", first[neurons], limits.pins_max, error) : CM_OK;
}

static cm_status copy_synapses(uint32_t neurons, uint64_t count, const uint32_t *target, const double *weight, cm_topology *made,
                               cm_weights *weights, cm_run *run, cm_error *error)
{
  for (uint64_t i = 0; i < count; i++) {
    if (i % CM_CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK)
      return error->status;
    if (target[i] >= neurons)
      cm_fail(error, CM_BAD_NETWORK, "synapse %llu leads to neuron %u of %u neurons", (unsigned long long)i, target[i], neurons);
    else if (weight != NULL && !isfinite(weight[i]))
      cm_fail(error, CM_BAD_NETWORK, "synapse %llu has a weight that is no finite number", (unsigned long long)i);
    else {
      made->pin[i] = target[i];
      if (weight != NULL && cm_weights_keep(weights, run->memory, i, count, weight[i], error) != CM_OK)
        return error->status;
      continue;
    }
    return cm_fail_at(error, "synapse %llu", (unsigned long long)i);
  }
  return CM_OK;
}

cm_status cm_topology_from_csr(uint32_t neurons, const uint64_t *first, const uint32_t *target, const double *weight,
                               cm_run *run, cm_topology **topology, cm_error *error)
{
  cm_topology *made = NULL;
  cm_weights weights = {0};
  cm_run_phase(run, "read");
  if (check_rows(neurons, first, error) != CM_OK || CM_NEW(run->memory, made, 1, error) != CM_OK)
    return error->status;
  made->directed = true;
  made->vertex_count = neurons;
  made->size_total = neurons;
  cm_status status = CM_NEW(run->memory, made->net_first, (size_t)neurons + 1, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, made->pin, first[neurons], error);
  if (status == CM_OK) {
    memcpy(made->net_first, first, ((size_t)neurons + 1) * sizeof *first);
    status = copy_synapses(neurons, first[neurons], target, weight, made, &weights, run, error);
  }
  if (status == CM_OK && (status = cm_weighted_rows_close(made, &weights, run, error)) == CM_OK)
    status = cm_weighted_rows_scale(made, &weights, run, error);
  cm_weights_free(&weights);
  if (status == CM_OK)
    *topology = made;
  else
    cm_topology_free(made);
  return status;
}
