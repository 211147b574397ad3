#include "core/partition/quality.h"

#include "base/threads.h"

enum { CHECK_EVERY = 4096 };

typedef unsigned __int128 wide;

/* What a slice of the nets adds. */
typedef struct sums {
  wide connectivity, cut_net, edge_cut;
} sums;

typedef struct summing {
  const cm_topology *topology;
  const uint32_t *part;
  uint32_t parts, slices;
  cm_run *run;
  sums *sum; /* [slices] */
} summing;

/* What the net's pins in other parts weigh: of a topology whose pins have weights. */
static wide cut_weight(const summing *w, uint32_t e, uint32_t own)
{
  const cm_topology *topology = w->topology;
  wide weight = 0;
  for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++)
    if (w->part[topology->pin[i]] != own)
      weight += topology->pin_weight[i];
  return weight;
}

static cm_status sum_slice(void *context, size_t slice, cm_error *error)
{
  const summing *w = context;
  const cm_topology *topology = w->topology;
  const uint32_t *part = w->part;
  sums sum = {0};
  uint32_t *reached; /* last net + 1 that was seen in a part */
  uint32_t begin = (uint32_t)cm_slice_begin(topology->net_count, slice, w->slices),
           end = (uint32_t)cm_slice_begin(topology->net_count, slice + 1, w->slices);
  cm_status status = CM_NEW(w->run->memory, reached, w->parts, error);
  for (uint32_t e = begin; e < end && status == CM_OK; e++) {
    uint32_t own = part[cm_topology_source(topology, e)], others = 0;
    uint64_t cut = 0;
    reached[own] = e + 1;
    for (uint64_t i = topology->net_first[e]; i < topology->net_first[e + 1]; i++) {
      uint32_t p = part[topology->pin[i]];
      cut += p != own;
      others += reached[p] != e + 1;
      reached[p] = e + 1;
    }
    sum.edge_cut += topology->pin_weight == NULL ? (wide)cut * cm_topology_net_weight(topology, e) : cut_weight(w, e, own);
    if (topology->directed) {
      sum.connectivity += (wide)others * cm_topology_net_weight(topology, e);
      sum.cut_net += others > 0 ? cm_topology_net_weight(topology, e) : 0;
    }
    if (e % CHECK_EVERY == 0)
      status = cm_run_check(w->run, error);
  }
  cm_free(reached);
  w->sum[slice] = sum;
  return status;
}

cm_status cm_quality_compute(const cm_topology *topology, const uint32_t *part, uint32_t parts, cm_run *run,
                             cm_quality *quality, cm_error *error)
{
  summing w = {.topology = topology, .part = part, .parts = parts, .slices = run->threads, .run = run};
  sums all = {0};
  if (CM_NEW(run->memory, w.sum, w.slices, error) != CM_OK)
    return error->status;
  cm_status status = cm_parallel(run, w.slices, sum_slice, &w, error);
  for (uint32_t i = 0; i < w.slices; i++) {
    all.connectivity += w.sum[i].connectivity;
    all.cut_net += w.sum[i].cut_net;
    all.edge_cut += w.sum[i].edge_cut;
  }
  cm_free(w.sum);
  if (status != CM_OK)
    return status;
  double unit = (double)topology->weight_scale * (topology->directed ? 1 : 2); /* both ends list an undirected edge */
  quality->edge_cut = (double)all.edge_cut / unit;
  quality->connectivity = topology->directed ? (double)all.connectivity / unit : quality->edge_cut;
  quality->cut_net = topology->directed ? (double)all.cut_net / unit : quality->edge_cut;
  return CM_OK;
}
