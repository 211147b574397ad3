/* Processors of a chip and the communities that they run: a processor is a die, its physical nodes are the cores of it
 * that are free (source 1, step s500). */
#pragma once

#include "core/chip/chip.h"
#include "core/partition/graph.h"

typedef struct cm_processors {
  uint32_t count;
  uint32_t *die;   /* [count] die_y * dies_x + die_x, ascending; dies without a free core are left out */
  uint32_t *first; /* [count + 1] its free cores in `core` */
  uint32_t *core;  /* [first[count]] core numbers, ascending inside a processor */
} cm_processors;

/* The processors to which these free cores belong: `core` [count] holds distinct core numbers in any order. The caller
 * frees with cm_processors_free. O(count log count). */
cm_status cm_processors_new(const cm_chip *chip, const uint32_t *core, uint32_t count, cm_memory *memory,
                            cm_processors *processors, cm_error *error);
void cm_processors_free(cm_processors *processors);

/* Who is to be given processors of a chip; all borrowed. */
typedef struct cm_sharing {
  const cm_graph *graph;
  const cm_chip *chip;
  const cm_processors *processors;
  uint64_t seed;
  cm_run *run;
} cm_sharing;

/* Gives each community a processor: processors in order, the next one always the one nearest to those given out, each
 * to the community with the largest connection weight, or, where that has more vertices than the processor has free
 * cores, to the next one by connection weight that fits. A community is passed over too where the others would not fit
 * afterwards. At the end two communities trade processors while that shortens the ways between processors, weighted
 * with what runs over them. Fills processor [communities]. The communities must fit (cm_communities_fit), else
 * CM_NO_ROOM. O(entries + communities^2 * processors). */
cm_status cm_processors_assign(const cm_sharing *sharing, const uint32_t *community, uint32_t communities, uint32_t *processor,
                               cm_error *error);

/* Communities, fitted and assigned, in one: the processor of each vertex, processor [vertices]. With one processor all
 * are on it. CM_NO_ROOM when there are more vertices than free cores. */
cm_status cm_processors_share(const cm_sharing *sharing, uint32_t *processor, cm_error *error);
