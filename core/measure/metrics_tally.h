/* What the metrics count up task by task, and make figures of: shared by the files that do either. */
#pragma once

#include "core/measure/measure.h"
#include "core/measure/link_tally.h"
#include "core/measure/spread.h"

/* Sums over all flows of a task: packets, and packets times hops by kind of link. */
typedef struct cm_metrics_totals {
  cm_wide packets, east_west, north_south, die_to_die;
  cm_wide way_hops; /* of an interconnect that is no plain mesh, instead of these kinds */
  cm_wide cut_net, edge_cut, edge_hops;
  cm_wide tree_packets; /* one packet a net that leaves its part */
  double latency_max_ns;
} cm_metrics_totals;

/* Over the links of an interconnect: each link by its number. */
typedef struct cm_way_tally {
  uint32_t links;
  uint64_t *packets; /* [links] */
  uint64_t *trees;   /* [links] one packet an axon */
  uint32_t *stamp;   /* [routers] last net whose tree has the router, plus 1 */
} cm_way_tally;

/* What one task counts up. */
enum { CM_METRICS_BY_PART = 4 };

typedef struct cm_metrics_tally {
  cm_metrics_totals total;
  union {
    struct {
      uint64_t *synapses, *inbound, *incoming, *sources;
    };
    uint64_t *by_part[CM_METRICS_BY_PART]; /* [part_count] each */
  };
  cm_link_tally packets, trees; /* of every packet, and of one packet a net */
  cm_way_tally ways;            /* instead of them on an interconnect that is no plain mesh */
} cm_metrics_tally;

typedef struct cm_link_count cm_link_count;

typedef struct cm_metrics_work {
  const cm_demand *demand;
  const cm_chip *chip;
  const cm_link_count *links;
  const uint32_t *part, *core;
  uint32_t part_count, tasks;
  cm_window window;
  cm_run *run;
  uint32_t *net;       /* [net_count] nets grouped by the part of their source, in order inside a group */
  uint32_t *net_first; /* [part_count + 1] */
  /* By part; written by the part's own task. */
  uint64_t *outbound, *outgoing, *casts; /* casts: packets of axons that leave it, each once */
  uint32_t *targets;
  cm_spread spread;            /* of a mesh */
  cm_spread_part *spread_part; /* [tasks] */
  cm_metrics_tally *tally;     /* [tasks] those of task 0 become the sums of all */
} cm_metrics_work;

/* What a packet passes from core to core, and what that takes. */
typedef struct cm_passage {
  uint64_t hops;
  double ns;
} cm_passage;

/* Packets from one part to another, and the way between their cores. */
typedef struct cm_lane {
  uint32_t source, target;
  cm_offset to;
  uint64_t packets;
} cm_lane;

/* How what goes over links is counted: along the axes of a mesh, or over the ways of an interconnect (mesh_loads.c, way_loads.c). */
struct cm_link_count {
  cm_status (*prepare)(cm_metrics_work *work, cm_error *error); /* room in all tallies, given back with the work */
  /* The way to a core, as the functions below want it: steps, or x the core. */
  cm_offset (*way_to)(const cm_chip *chip, uint32_t source_core, uint32_t target_core);
  /* A net's packet, once over the union of its ways, which is a tree. */
  void (*book_cast)(const cm_metrics_work *work, cm_metrics_tally *sum, cm_tree_scratch *scratch, const cm_cast *cast,
                    const cm_offset *reached, uint32_t count);
  /* Packets from core to core; tells the way of one. CM_NO_ROUTE where dead links leave none. */
  cm_status (*book_lane)(const cm_metrics_work *work, cm_metrics_tally *sum, const cm_lane *lane, cm_passage *way, cm_error *error);
  void (*add)(cm_metrics_tally *sum, const cm_metrics_tally *other);
  /* What trees come to, of so many packets, and where the sums are by link what packets do. */
  void (*fill_costs)(const cm_metrics_work *work, double unit, const cm_metrics_totals *sum, cm_metrics *metrics);
  /* Loads by link, and packets by router. Errors: memory. */
  cm_status (*fill_loads)(const cm_metrics_work *work, double unit, cm_metrics *metrics, cm_metrics_detail *detail, cm_error *error);
};
extern const cm_link_count cm_mesh_count, cm_way_count;

/* Walks all parts' nets, so many tasks at once, each into its tally. O(pins + flows * what they cross). Errors: memory, no way,
 * stops. */
cm_status cm_metrics_count(cm_metrics_work *work, cm_error *error);

/* Everything once the tasks have ended: the tallies become metrics and their detail (the caller's:
 * cm_metrics_detail_free, after a failure too). O(parts + routers + links). Errors: memory. */
cm_status cm_metrics_fill(const cm_metrics_work *work, cm_metrics *metrics, cm_metrics_detail *detail, cm_error *error);
