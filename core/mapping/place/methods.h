/* The methods that place parts on one region. */
#ifndef CM_MAPPING_METHODS_H
#define CM_MAPPING_METHODS_H

#include "core/mapping/place/place.h"

/* What a method came to on one region. */
typedef struct cm_placed {
  uint32_t *core; /* [part_count] */
  json_t *report;
  double energy, busiest; /* as in cm_placing */
} cm_placed;

/* Places the parts by the job's mapper and preset on the cores of a region, as many as there are parts or more. The
 * caller owns what *placed holds. */
cm_status cm_place_on(const cm_placing *placing, const cm_region *region, cm_placed *placed, cm_error *error);
void cm_placed_free(cm_placed *placed);

/* Takes over a region with the placement on it where that is better than what there is, else frees the region. */
void cm_take_placed(cm_placing *placing, cm_region *region, cm_placed *placed, uint32_t number);

/* A core and how far it is, from one other or in all from several. */
typedef struct cm_near_core {
  uint64_t far;
  uint32_t core;
} cm_near_core;

/* Order of these for qsort: the nearest first, of those as near the least number. */
int cm_nearest_first(const void *a, const void *b);

/* Sorts a region's cores, and finds its box and price. */
cm_status cm_box_cores(const cm_placing *placing, cm_region *region, cm_error *error);

/* Places parts that need cores of a kind (placing->kind) on such, all kinds near each other: fills region, core, report and
 * energy. What looks at loads of links afterwards takes all cores for alike, and is left out; trees are shortened among cores of a kind. */
cm_status cm_place_on_kinds(cm_placing *placing, cm_error *error);

/* Gathers placing->flows where the method looks at loads: the engine by annealing, for unicast. */
cm_status cm_gather_flows(cm_placing *placing, cm_error *error);

/* Where the job is about the time of steps and packets go one to a target core: swaps parts that have their cores, with
 * each other and with empty cores of placing->region, until no link holds packets for long, and tells so in the report. */
cm_status cm_spread_over_links(cm_placing *placing, cm_error *error);

/* Where the job pays for trees: swaps parts that have their cores, with each other and with empty cores of
 * placing->region, until their trees are short, and tells so in the report. */
cm_status cm_shorten_trees(cm_placing *placing, cm_error *error);

/* Whether it does: for multicast, of directed networks (the trees of others are paths), unless a policy's word is
 * to stay as it is. */
bool cm_pays_for_trees(const cm_placing *placing);

#endif
