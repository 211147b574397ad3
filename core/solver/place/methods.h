/* The methods that place parts on one region. */
#pragma once

#include "core/solver/place/place.h"

/* Places the parts by the job's mapper and preset on the cores of a region, as many as there are parts or more. The
 * caller owns what *places holds, and sets its region. */
cm_status cm_place_on(const cm_candidate *candidate, const cm_region *region, cm_places *places, cm_error *error);

/* Improves candidate->places.core, which was found along axes, by the ways of an interconnect (cm_arrange_again). */
cm_status cm_place_again(cm_candidate *candidate, cm_error *error);

/* Takes over places where they are better than those that there are, else frees them; they are empty afterwards. */
void cm_take_places(cm_candidate *candidate, cm_places *places);

/* A core and how far it is, from one other or in all from several. */
typedef struct cm_near_core {
  uint64_t far;
  uint32_t core;
} cm_near_core;

/* Order of these for qsort: the nearest first, of those as near the least number. */
int cm_nearest_first(const void *a, const void *b);

/* Sorts a region's cores, and finds its box and price. */
cm_status cm_box_cores(const cm_candidate *candidate, cm_region *region, cm_error *error);

/* Places parts that need cores of a kind (candidate->partition->kind) on such, all kinds near each other: fills region, core, report and
 * energy. What looks at loads of links afterwards takes all cores for alike, and is left out; trees are shortened among cores of a kind. */
cm_status cm_place_on_kinds(cm_candidate *candidate, cm_error *error);

/* Gathers candidate->flows where the method looks at loads: the engine by annealing, for unicast. */
cm_status cm_gather_flows(cm_candidate *candidate, cm_error *error);

/* Where the job is about the time of steps and packets go one to a target core: swaps parts that have their cores, with
 * each other and with empty cores of candidate->places.region, until no link holds packets for long, and tells so in the report. */
cm_status cm_spread_over_links(cm_candidate *candidate, cm_error *error);

/* Whether that will be done. */
bool cm_spreads_over_links(const cm_candidate *candidate);

/* Where the job pays for trees: swaps parts that have their cores, with each other and with empty cores of
 * candidate->places.region, until their trees are short, and tells so in the report. */
cm_status cm_shorten_trees(cm_candidate *candidate, cm_error *error);

/* Whether it does: for multicast, of directed networks (the trees of others are paths), unless a policy's word is
 * to stay as it is. */
bool cm_pays_for_trees(const cm_candidate *candidate);
