/* Partitioning a directed network under all core limits for least connectivity (SPEC MAP-11, MAP-12): multilevel, by
 * shared inbound axons. docs/axon-partitioning.md explains the method and its sources. */
#ifndef CM_PARTITION_AXON_H
#define CM_PARTITION_AXON_H

#include "core/base/run.h"
#include "core/chip/chip.h"
#include "core/network/topology.h"

typedef struct cm_axon_options {
  cm_limits limits;      /* of a core; all hard */
  uint32_t parts_max;    /* cores that are free */
  uint32_t samples;      /* inbound nets of a vertex that are asked when clustering */
  uint32_t sketch_bins;  /* with which overlaps are estimated: 8 to 64, a multiple of 8 */
  uint32_t starts;       /* initial partitions of which the best is kept */
  uint32_t coarse_sweeps, fine_sweeps; /* annealing visits of all vertices, on the coarsest and on the finest level */
  uint32_t attempts;     /* complete ones at most, of which the best goes on; at least one is made */
  uint32_t cycles;       /* times at most that the result is coarsened and refined again */
  uint64_t attempt_pins,
      cycle_pins; /* fewer of them where the network's pins times their number would exceed this; 0: never */
  double coarse_vertices; /* vertices per part on the coarsest level, about */
  uint64_t seed;
} cm_axon_options;

/* Finds parts that keep neurons, synapses and inbound axons within the limits, with little connectivity. Fills part
 * [vertices] with numbers 0 .. *parts - 1, none empty. Vertices that no part can hold are the caller's to refuse
 * before. CM_NO_ROOM when more than parts_max parts are needed. Phases "coarsen", "initial", "refine". */
cm_status cm_partition_axons(const cm_topology *topology, const cm_axon_options *options, cm_run *run, uint32_t *part,
                             uint32_t *parts, cm_error *error);

#endif
