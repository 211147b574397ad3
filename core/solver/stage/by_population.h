/* The partition stage where populations share no core, or only so many of them one core. */
#pragma once

#include "core/solver/stage/attempts.h"

/* Makes parts of a network: cm_make_parts. */
typedef cm_status cm_parts_maker(const cm_map_input *input, cm_run *run, cm_candidate *candidate, cm_error *error);

typedef struct cm_by_population {
  const cm_map_input *input;
  const cm_terms *terms;       /* limits with the one on populations, cores, parts (0: the limits decide) */
  cm_objective objective;      /* resolved */
  cm_run *run;
  cm_parts_maker *make;        /* makes parts of one population, or of one class of cores, alone */
} cm_by_population;

/* Every population alone, by the job's own method (core/limits/populations.h: what it costs is what it costs in the
 * whole network, less a constant); where a core may hold several, parts that share sources are then put together. Limits
 * that tie populations to each other (outbound axons, target cores) are mended by single moves. Fills partition, use,
 * quality and attempts of a zeroed *made. A stated number of parts, and of objectives of steps the cores, is shared out by
 * size, or by work. CM_NO_ROOM, CM_LIMIT_BROKEN name the population that found no parts; errors as cm_make_parts. */
cm_status cm_partition_by_population(const cm_by_population *job, cm_candidate *made, cm_error *error);

/* Whether sources elsewhere count: inbound axons or the synapses they bring do. */
bool cm_wants_sources(const cm_by_population *job, const cm_limits *limits);

/* What the attempts on one network of several are in the one attempt that is told of all of them. */
void cm_attempt_join(cm_attempt *all, const cm_candidate *made);

/* Makes a stage's result, less its use, of parts that were made and judged. Takes *part [vertices] and *kind (of each part; NULL:
 * cores are alike), which become NULL. Errors: memory, those of flows. O(pins). */
cm_status cm_deliver_parts(const cm_by_population *job, cm_attempt attempt, uint32_t **part, uint8_t **kind, uint32_t parts,
                           cm_candidate *made, cm_error *error);
