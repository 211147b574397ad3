/* Populations, or layers, of a network over the parts of a mapping. */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/network/demand.h"

/* So many neurons of a part are of a population. */
typedef struct cm_population_count {
  uint32_t population, neurons;
} cm_population_count;

typedef struct cm_population_counts {
  uint32_t *first;           /* [parts + 1] */
  cm_population_count *list; /* of part p those from first[p] on, ascending */
} cm_population_counts;

/* What every part has of each population; inputs outside the chip do not count. The network has populations. O(neurons log + parts + populations).
 * Errors: memory. The caller frees. */
cm_status cm_populations_by_part(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_memory *memory, cm_population_counts *made,
                                 cm_error *error);
void cm_population_counts_free(cm_population_counts *counts); /* harmless on a zeroed one */

/* The population that most neurons of each part are of, the first of equals, into most [parts]; inputs outside the chip do not
 * count, and parts without neurons have the first. The network has populations. O(neurons + parts + populations). Errors: memory. */
cm_status cm_populations_of_parts(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_memory *memory,
                                  uint32_t *most, cm_error *error);

/* What a mapping's summary says of them (docs/reference/mapping-formats.md): `list`, their names, kinds and sizes, and `of_parts`; null
 * where the network has none. NULL when out of memory. */
json_t *cm_populations_json(const cm_demand *demand, const uint32_t *part, uint32_t parts);
