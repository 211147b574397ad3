#include "core/partition/quality.h"

cm_quality cm_quality_of(const cm_topology *topology, const cm_cuts *cuts)
{
  double unit = (double)topology->weight_scale * (topology->directed ? 1 : 2); /* both ends list an undirected edge */
  double edge_cut = (double)cuts->synapses / unit;
  if (!topology->directed)
    return (cm_quality){edge_cut, edge_cut, edge_cut};
  return (cm_quality){.connectivity = (double)cuts->ways / unit, .cut_net = (double)cuts->nets / unit, .edge_cut = edge_cut};
}

cm_status cm_quality_compute(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                             cm_quality *quality, cm_error *error)
{
  uint64_t *use;
  cm_cuts cuts;
  CM_TRY(CM_NEW(run->memory, use, (size_t)parts * CM_RESOURCES, error));
  cm_status status = cm_count_use_and_cuts(demand, part, parts, run, use, &cuts, error);
  if (status == CM_OK)
    *quality = cm_quality_of(demand->network, &cuts);
  cm_free(use);
  return status;
}
