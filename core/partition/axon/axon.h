/* Partitioning a directed network under all core limits for least connectivity: multilevel, by
 * shared inbound axons. docs/explanation/axon-partitioning.md explains the method and its sources. */
#pragma once

#include "base/run.h"
#include "core/limits/limits.h"
#include "core/network/demand.h"
#include "core/partition/axon/prices.h"

/* Parts that are exactly full have nothing to exchange, leave no room to be sorted, and get what is left over everywhere: where there is a
 * choice they are full to so much. */
static const double cm_axon_full = 0.96;

/* Who puts the parts on cores, for a search that pays for the way of an axon to every core that it reaches. */
typedef struct cm_axon_places {
  void *context;
  /* Cores for `parts` parts and some to spare: *prices is of all of them and stays the callee's; at [parts] gets the
   * number of each part's core among them. part [vertices of the topology]. */
  cm_status (*place)(void *context, const uint32_t *part, uint32_t parts, uint32_t *at, const cm_prices **prices,
                     cm_error *error);
  /* Parts are named by their cores now: at [parts of the prices] gets a core for each, all different, that costs no
   * more in all. */
  cm_status (*rearrange)(void *context, const uint32_t *part, uint32_t *at, cm_error *error);
} cm_axon_places;

typedef struct cm_axon_options {
  cm_limits limits;      /* of a core; all hard */
  uint32_t parts_max;    /* cores that are free */
  bool sole_reader;      /* nobody else reads the topology meanwhile: its targets may be packed; in the end they are as before */
  uint32_t starts;       /* initial partitions of which the best is kept */
  uint32_t start_sweeps; /* annealing visits of all vertices of the coarsest level, each start */
  uint32_t sweeps, fine_sweeps; /* those on the levels below, and on the finest; on the next one twice as many as there */
  double shaping;        /* visits of as many pins as the network has so many times, on each level where parts take their shape */
  double shaping_hot;    /* temperature that they begin at, above 0 */
  uint64_t level_pins;   /* fewer sweeps and starts and less shaping where more pins would be visited on a level; 0: never */
  uint32_t attempts;     /* complete ones at most, of which the best goes on. With more than one, cycles have half of the sweeps */
  uint32_t cycles;       /* times at most that the result is coarsened and refined again */
  uint32_t vain;         /* cycles without gain in a row that are the last; 0: they go on */
  uint64_t cycle_pins;   /* no cycle begins once the others have visited as many; 0: any number */
  double cycle_hot;      /* temperature that each begins at, above 0; not with places */
  uint64_t work;         /* pins that starts beside the first may look at, and cycles as many; 0: there are none */
  bool searched;         /* `start` is what a smaller effort found: attempts through levels need not be made */
  uint64_t seed;
  const uint32_t *start; /* [vertices] parts of another origin, numbered from 0, or NULL: they go on in place of those of
                            the attempts where they keep the limits, or nearly do and are mended, and cost less */
  const uint32_t *other_start; /* the same; it is refined in a cycle before it is compared */
  const cm_axon_places *places; /* the search goes on from `start` alone. NULL: parts have no places, each that an axon reaches costs the same */
} cm_axon_options;

/* Finds parts that keep neurons, synapses and inbound axons within the limits, with little connectivity. Fills part
 * [vertices] with numbers 0 .. *parts - 1, none empty. With `places` what axons pay by the prices is what counts in the
 * cycles; *parts then is the number of cores behind the prices, parts are named by their cores, and cores may be empty.
 * Vertices that no part can hold are the caller's to refuse before. CM_NO_ROOM when more than parts_max parts are
 * needed: *parts then is how many a first partition has where those are far too many for refinement to help, else 0; without places a
 * network that is filled gets as many as it takes, for the caller to know. Phases "coarsen", "initial", "refine". */
cm_status cm_partition_axons(const cm_demand *demand, const cm_axon_options *options, cm_run *run, uint32_t *part,
                             uint32_t *parts, cm_error *error);
