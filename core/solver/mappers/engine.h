/* The methods that can partition, and which serves a preset and an objective. */
#pragma once

#include "core/chip/region.h"
#include "core/mapping/input.h"
#include "core/mapping/mapping.h"
#include "core/mapping/options.h"
#include "core/partition/axon/axon.h"
#include "core/partition/partition.h"
#include "core/solver/presets.h"

enum { CM_POLISH_ROUNDS = 4 };

/* One attempt of the partition stage. */
typedef struct cm_engine_task {
  const cm_map_input *input; /* topology, options, cache and scratch folder; the chip may be NULL */
  cm_limits limits;          /* of a core; `neurons` is the capacity of this attempt and never 0 */
  uint32_t parts;            /* exactly so many; 0: the limits decide */
  uint32_t parts_max;        /* cores that are free */
  struct cm_levels
    *first_levels; /* of earlier attempts of the job (core/levels/levels.h) */
  unsigned char *digest;   /* of the demand (core/network/demand_digest.h), zeros until it is asked for; NULL: not kept for other attempts */
} cm_engine_task;

typedef struct cm_engine {
  const char *name; /* of the method, for what is kept of it */
  /* Makes a partition, legal or not: the stage judges it. Fills levels and coarsening_cached of *attempt where they
   * mean something, and on CM_NO_ROOM its parts: how many a first partition has that has far too many, 0: none had.
   * The caller owns *partition. */
  cm_status (*partition)(const cm_engine_task *task, cm_run *run, cm_attempt *attempt, cm_partition **partition,
                         cm_error *error);
  /* What the parts say to each other, as its objective counts it: asked for where they are placed, unless the method made it. */
  cm_status (*flows)(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run, cm_graph **graph,
                     cm_error *error);
  /* Memory that it needs at least besides the topology; and what of its arrays is to be at hand where the large ones
   * stand in files, for them to be read from there at a bearable rate. */
  uint64_t (*least_bytes)(const cm_engine_task *task), (*hot_bytes)(const cm_engine_task *task);
  /* Makes a partition better, within all limits, that single moves or a method with another objective have made
   * legal; NULL if the method optimises the objective already. */
  cm_status (*polish)(const cm_map_input *input, const cm_limits *limits, cm_partition *partition, cm_run *run,
                      cm_error *error);
  bool takes_parts;  /* can be asked for an exact number of parts */
  bool keeps_limits; /* on synapses and inbound axons, by itself; those on neurons all methods keep */
  bool places;       /* on cores, as it partitions */
  bool counts_cores; /* how many are free shapes what it makes, also where it needs fewer */
  bool mends;        /* single moves are tried on what breaks a limit before a smaller capacity is */
} cm_engine;

/* The method of a preset for an objective; NULL: the preset does not serve it. */
const cm_engine *cm_engine_find(cm_preset preset, cm_objective objective);

/* That of objective axon, of every preset which serves it. */
extern const cm_engine cm_engine_axons;

/* The integrated mapper for objective edge: partitions and places at once. */
extern const cm_engine cm_engine_mesh;

/* The hot_bytes of methods that read synapses in order, or here and there without mapping them: vertices' alone. */
uint64_t cm_engine_vertex_bytes(const cm_engine_task *task);

/* The job's effort on axons (core/partition/axon/axon.h), for the limits of a task. */
cm_axon_options cm_engine_axon_options(const cm_engine_task *task);

/* A partition for objective edge as a start for objective axon: it keeps the limit on neurons; where none is found, *start is NULL. */
cm_status cm_engine_edge_start(const cm_engine_task *task, const cm_effort *effort, cm_run *run, cm_partition **start, cm_error *error);

/* Turns parts that are named by cores of a region into parts without gaps and their cores. O(vertices + cores). */
cm_status cm_name_cores(const cm_region *region, cm_run *run, cm_partition *made, cm_error *error);

/* True if the job asks for the integrated mapper, or the preset prefers it and its tables fit in memory. A stated number
 * of parts is left to others: cores may stay empty here. */
bool cm_engine_mesh_suits(const cm_engine_task *task, cm_objective objective);
