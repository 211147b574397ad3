/* Whether an undirected topology is symmetric. */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

/* The first place where an undirected topology is not symmetric: the edge from -> to stands in row `from`
 * with `weight` but is missing in row `to` (`missing`) or has `other_weight` there. */
typedef struct cm_asymmetry {
  bool found, missing;
  uint32_t from, to;
  uint64_t weight, other_weight;
} cm_asymmetry;

/* Looks for it in rows that are sorted and free of repeats. O(pins) and 8 bytes a vertex; `run` may be NULL. */
cm_status cm_topology_asymmetry(const cm_topology *topology, cm_memory *memory, cm_run *run,
                                cm_asymmetry *asymmetry, cm_error *error);
