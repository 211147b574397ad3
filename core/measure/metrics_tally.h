/* What the metrics count up task by task, and make figures of: shared by the files that do either. */
#ifndef CM_MEASURE_METRICS_TALLY_H
#define CM_MEASURE_METRICS_TALLY_H

#include "core/measure/measure.h"
#include "core/measure/link_tally.h"
#include "core/measure/spread.h"
#include "core/measure/way_loads.h"

/* Sums over all flows of a task: packets, and packets times hops by kind of link. */
typedef struct cm_metrics_totals {
  cm_wide packets, east_west, north_south, die_to_die;
  cm_wide way_hops; /* of an interconnect that is no plain mesh, instead of these kinds */
  cm_wide cut_net, edge_cut, edge_hops;
  cm_wide tree_packets; /* one packet a net that leaves its part */
  double latency_max_ns;
} cm_metrics_totals;

/* What one task counts up. */
enum { CM_METRICS_BY_PART = 3 };

typedef struct cm_metrics_tally {
  cm_metrics_totals total;
  union {
    struct {
      uint64_t *synapses, *inbound, *incoming;
    };
    uint64_t *by_part[CM_METRICS_BY_PART]; /* [part_count] each */
  };
  cm_link_tally packets, trees; /* of every packet, and of one packet a net */
  cm_way_tally ways;            /* instead of them on an interconnect that is no plain mesh */
} cm_metrics_tally;

typedef struct cm_metrics_work {
  const cm_demand *demand;
  const cm_chip *chip;
  const uint32_t *part, *core;
  uint32_t part_count, tasks;
  cm_window window;
  cm_run *run;
  uint32_t *net;       /* [net_count] nets grouped by the part of their source, in order inside a group */
  uint32_t *net_first; /* [part_count + 1] */
  /* By part; written by the part's own task. */
  uint64_t *outbound, *outgoing, *casts; /* casts: packets of axons that leave it, each once */
  uint32_t *targets;
  cm_spread spread;
  cm_spread_part *spread_part; /* [tasks] */
  cm_metrics_tally *tally;     /* [tasks] those of task 0 become the sums of all */
} cm_metrics_work;

/* Walks all parts' nets, so many tasks at once, each into its tally. O(pins + flows * what they cross). Errors: memory, no way,
 * stops. */
cm_status cm_metrics_count(cm_metrics_work *work, cm_error *error);

/* Everything once the tasks have ended: the tallies become metrics and their detail (the caller's:
 * cm_metrics_detail_free, after a failure too). O(parts + routers + links). Errors: memory. */
cm_status cm_metrics_fill(const cm_metrics_work *work, cm_metrics *metrics, cm_metrics_detail *detail, cm_error *error);

#endif
