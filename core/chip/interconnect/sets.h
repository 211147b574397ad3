/* Compact sets of cores by the ways of an interconnect: what region_search.h does where prices do not split by axis. */
#pragma once

#include "core/chip/occupancy.h"
#include "core/chip/region_search.h"

/* As cm_set_cost: mean energy of a way between two cores. O(routers in use squared); beyond 2^24 pairs of them, an even
 * sample. */
cm_status cm_interconnect_set_cost(const cm_chip *chip, const uint32_t *cores, uint32_t count, cm_memory *memory, double *cost,
                                   cm_error *error);

/* As cm_region_search: the nearest usable cores around routers all over the chip, the cheapest of them improved by
 * exchanges of the dearest core for the cheapest. O(centres * routers) expected. */
cm_status cm_interconnect_sets(const cm_chip *chip, const uint8_t *usable, cm_run *run, cm_core_sets *sets, cm_error *error);

/* As cm_usable_cores, for the chips that have dead links. usable [cores] holds the free ones. */
cm_status cm_interconnect_usable(const cm_chip *chip, cm_memory *memory, uint8_t *usable, cm_error *error);
