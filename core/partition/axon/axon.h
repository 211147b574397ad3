/* Partitioning a directed network under all core limits for least connectivity: multilevel, by
 * shared inbound axons. docs/explanation/axon-partitioning.md explains the method and its sources. */
#ifndef CM_PARTITION_AXON_H
#define CM_PARTITION_AXON_H

#include "base/run.h"
#include "core/limits/limits.h"
#include "core/network/topology.h"
#include "core/partition/axon/prices.h"

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
  uint32_t bands;        /* in which vertices meet when clustering, where nets have many targets: up to 8 */
  uint32_t samples;      /* inbound nets of a vertex that are asked elsewhere */
  uint32_t sketch_bins;  /* with which overlaps are estimated: 8 to 64, a multiple of 8 */
  uint32_t starts;       /* initial partitions of which the best is kept */
  uint32_t start_sweeps; /* annealing visits of all vertices of the coarsest level, each start */
  uint32_t coarse_sweeps, fine_sweeps; /* those on the levels below, and on the finest */
  uint32_t deep_sweeps;  /* from the second coarse level on, where they cost little; 0: coarse_sweeps */
  double shaping;        /* visits of as many pins as the network has so many times, on each level where parts take their shape */
  uint64_t shaping_pins; /* on networks of up to so many pins; 0: on all */
  double shaping_hot;    /* temperature that they begin at where parts have fewest vertices, above 0 */
  bool settle_all;       /* on the way to the limits all vertices may move, not only those of parts that break one */
  uint32_t last_sweeps;  /* visits of all vertices for moves that pay and keep the limits, at the end */
  uint32_t attempts;     /* complete ones at most, of which the best goes on; at least one is made */
  uint32_t cycles;       /* times at most that the result is coarsened and refined again */
  double cycle_hot;      /* temperature that each begins at, above 0; not with places */
  uint32_t cycle_sweeps; /* instead of fine_sweeps then, and half of coarse_sweeps; 0: as many */
  uint64_t attempt_pins,
      cycle_pins, /* fewer of them where the network's pins times their number would exceed this; 0: never */
      sweep_pins, /* the same of fine_sweeps, and the other sweeps and the starts in proportion */
      coarse_pins, deep_pins, shaping_work; /* the same of coarse_sweeps, deep_sweeps and shaping alone */
  uint32_t fills;        /* where there is nothing to coarsen by (cm_fill_suits): partitions that are filled on the network
                            itself, up to 5; 0: such networks have levels like others */
  double fill_work;      /* of each (cm_fill_options) */
  const struct cm_axon_options *below; /* a smaller effort that is made first: its result goes on where nothing better is
                            found, so that more effort is never worse. Limits, seed and start are those here. NULL, or with
                            places: none */
  uint64_t below_pins;   /* of networks up to so many pins; 0: of all */
  uint64_t own_pins;     /* with more pins, and more of `own_looks`, that result is refined in cycles in place of attempts; 0: never */
  double own_looks,      /* pins times the parts that an axon reaches in that result, its own part too */
      cycle_looks;       /* where it is refined and has up to so many of them: one cycle more */
  uint64_t grow_pins;    /* on networks of up to so many pins, small dense ones, and those whose axons reach few parts, parts are
                            grown without levels too, and refined alike; 0: never. Not with places */
  uint64_t dense_pins;   /* dense networks of so many pins or more, where neurons alone fill parts, are grown in place of attempts;
                            0: never */
  uint32_t one_net_of;   /* one of so many nets is on coarse levels, about, where vertices have many; 0 or 1: all are */
  uint64_t sampled_pins; /* of networks of so many pins or more */
  double coarse_vertices; /* vertices per part on the coarsest level, about */
  uint64_t seed;
  const uint32_t *start; /* [vertices] parts of another origin, numbered from 0, or NULL: they go on in place of those of
                            the attempts where they keep the limits, or nearly do and are mended, and cost less */
  const uint32_t *other_start; /* the same; it is refined in a cycle before it is compared. Not with places */
  const cm_axon_places *places; /* NULL: parts have no places, every part that an axon reaches costs the same */
} cm_axon_options;

/* Finds parts that keep neurons, synapses and inbound axons within the limits, with little connectivity. Fills part
 * [vertices] with numbers 0 .. *parts - 1, none empty. With `places` what axons pay by the prices is what counts in the
 * cycles; *parts then is the number of cores behind the prices, parts are named by their cores, and cores may be empty.
 * Vertices that no part can hold are the caller's to refuse before. CM_NO_ROOM when more than parts_max parts are
 * needed: *parts then is how many a first partition has where those are far too many for refinement to help, else 0; without places a
 * network that is filled gets as many as it takes, for the caller to know. Phases "coarsen", "initial", "refine". */
cm_status cm_partition_axons(const cm_topology *topology, const cm_axon_options *options, cm_run *run, uint32_t *part,
                             uint32_t *parts, cm_error *error);

#endif
