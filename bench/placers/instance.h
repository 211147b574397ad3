/* The placement problem that bench/learned_place sets its placers: a network cut into parts, and a chip of which some
 * cores are taken. */
#ifndef CM_BENCH_PLACERS_INSTANCE_H
#define CM_BENCH_PLACERS_INSTANCE_H

#include "core/chip/occupancy.h"
#include "core/chip/region.h"
#include "core/learning/reward.h"
#include "core/solver/stage/stage.h"

typedef struct bench_wish {
  const char *network;
  unsigned width, height, processors_x, processors_y; /* cores in all; processors */
  unsigned occupied, fill;                            /* percent */
  uint64_t seed;
} bench_wish;

typedef struct bench_instance {
  bench_wish wish;
  cm_run run;
  cm_topology *topology;
  cm_chip *chip;
  cm_occupancy *occupancy;
  cm_candidate stage;
  uint32_t parts;
  const uint32_t *part;
  cm_graph *graph;
  cm_multicast multicast;
  cm_region *region; /* as many free cores as there are parts: where all placers place */
  cm_reward_task task;
} bench_instance;

/* Ends the program when it cannot. */
void bench_instance_make(const bench_wish *wish, bench_instance *made);
void bench_instance_free(bench_instance *instance);

/* Reads nothing but says why not and ends the program. */
void bench_die(const char *what, const char *detail);
void bench_must(cm_status status, const char *what, const cm_error *error);
void *bench_array(size_t count, size_t size); /* zeros; free() */

#endif
