/* Which populations each part holds, kept while vertices move one at a time. */
#pragma once

#include "core/limits/populations.h"
#include "core/partition/counts.h"

typedef struct cm_population_tally {
  const cm_topology *topology;
  uint64_t most;      /* populations that a part may hold; 0: the limit says nothing, and nothing is kept */
  cm_counts held;     /* (part, population) -> vertices */
  uint32_t *distinct; /* [parts] */
} cm_population_tally;

/* Empty parts. */
cm_status cm_population_tally_new(const cm_topology *topology, const cm_limits *limits, size_t parts, cm_run *run,
                                  cm_population_tally *tally, cm_error *error);
void cm_population_tally_free(cm_population_tally *tally); /* harmless on a zeroed one */

/* Makes room for two calls of cm_population_tally_book. */
cm_status cm_population_tally_reserve(cm_population_tally *tally, cm_run *run, cm_error *error);

/* A vertex enters (by 1) or leaves (by -1) a part. O(1). */
void cm_population_tally_book(cm_population_tally *tally, uint32_t vertex, uint32_t part, int32_t by);

/* Whether a part that the vertex is not in may take it where it may hold so many populations, 0: any number. O(1). */
bool cm_population_tally_admits_up_to(const cm_population_tally *tally, uint32_t vertex, uint32_t part, uint64_t most);

/* The same, up to tally->most. O(1). */
bool cm_population_tally_admits(const cm_population_tally *tally, uint32_t vertex, uint32_t part);
