#include "core/partition/quality.h"

enum { CHECK_EVERY = 4096 };

typedef unsigned __int128 wide;

cm_status cm_quality_compute(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                             cm_quality *quality, cm_error *error)
{
  uint32_t *reached; /* last net + 1 that was seen in a part */
  wide connectivity = 0, cut_net = 0, edge_cut = 0;
  if (CM_NEW(run->memory, reached, parts, error) != CM_OK)
    return error->status;
  for (uint32_t e = 0; e < topology->net_count; e++) {
    uint32_t own = part[cm_topology_source(topology, e)], others = 0;
    if (e % CHECK_EVERY == 0 && cm_run_check(run, error) != CM_OK) {
      cm_free(reached);
      return error->status;
    }
    for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++) {
      uint32_t p = part[topology->pin[i]];
      if (p == own)
        continue;
      edge_cut += cm_topology_pin_weight(topology, e, i);
      others += reached[p] != e + 1;
      reached[p] = e + 1;
    }
    if (topology->directed) {
      connectivity += (wide)others * cm_topology_net_weight(topology, e);
      cut_net += others > 0 ? cm_topology_net_weight(topology, e) : 0;
    }
  }
  cm_free(reached);
  double unit = (double)topology->weight_scale * (topology->directed ? 1 : 2); /* both ends list an undirected edge */
  quality->edge_cut = (double)edge_cut / unit;
  quality->connectivity = topology->directed ? (double)connectivity / unit : quality->edge_cut;
  quality->cut_net = topology->directed ? (double)cut_net / unit : quality->edge_cut;
  return CM_OK;
}
