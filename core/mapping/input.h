/* What a job of mapping is given: network, chip, free cores, options, and where it may write. */
#pragma once

#include "core/chip/occupancy.h"
#include "core/network/demand.h"
#include "core/network/spikes.h"

typedef struct cm_map_options cm_map_options; /* core/mapping/options.h */

/* A network that the job's was edited from, as the chip makes it. */
typedef struct cm_levels_from {
  const cm_demand *demand;
  const char *levels_id; /* by which its levels are kept and found; NULL: they are not */
} cm_levels_from;

/* The mapping that came nearest to the limits on what leaves neurons (core/limits/leaving.h), where none keeps them. */
typedef struct cm_near_miss {
  uint32_t *part, *core, parts; /* [vertices], [parts]; NULL: there is none */
  uint64_t left;                /* synapses too many */
  cm_limits limits;             /* of a core, as the job has them */
} cm_near_miss;

typedef struct cm_map_input {
  const cm_demand *demand;
  bool sole_reader;                /* nobody else reads the topology while it is mapped: its targets may be packed */
  const char *network_id;          /* hex sha256 of the uploaded bytes */
  const char *levels_id;           /* by which coarsened levels are kept and found; NULL: network_id */
  const cm_levels_from *levels_from; /* whose coarsened levels are carried over; NULL: they are made afresh */
  const cm_chip *chip;
  const cm_occupancy *occupancy;   /* NULL: all free but dead cores */
  const cm_map_options *options;
  const struct cm_level_cache *cache; /* core/levels/cache.h; NULL: none */
  const char *scratch_folder;      /* for coarsened levels */
  const char *from;                /* an old mapping's file to start from (core/solver/incremental/remap.h), NULL: map afresh */
  const char *policy;              /* a policy file for mapper learned; NULL: the one that ships */
  const uint32_t *part;            /* [vertices] parts that are made already; NULL: the partition stage makes them */
  uint32_t part_count;             /* of those; none empty */
  const uint32_t *core;            /* [part_count] where they stand already; NULL: the placement does that */
  cm_near_miss *near_miss;         /* where to keep one; NULL: nowhere */
  const struct cm_areas *areas;    /* core/constraints/areas.h: set by cm_map where the options have constraints; the chip is theirs; NULL: none */
  const cm_spikes *spikes;         /* that the network's rates were measured of, of option profile's steps; NULL: not known */
  struct cm_partition *known;      /* what less effort made of the same job, for the objective's method to begin with: set by the portfolio; NULL: nothing */
  uint64_t *traffic;               /* set by cm_map: rates [nets] that the search goes by; NULL: the network's */
  uint32_t cores_max;              /* so many parts at most, 0: as many as cores are free; set by the partition stage */
  double share;                    /* of the preset's effort, of a network that is a part of the job's; 0: all; set by the partition stage */
  uint64_t held_bytes;             /* of candidates that are made already: set by the portfolio, for the partition stage's look at the memory limit */
  bool places;                     /* set by cm_map: the partition stage may place as it partitions */
} cm_map_input;
