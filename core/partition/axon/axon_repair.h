/* Bringing the parts of a cm_axon_state within the core limits. */
#pragma once

#include "core/partition/axon/axon_state.h"

/* Splits parts that exceed a limit by more than `tolerance` of it in two halves that each share inbound nets: at most
 * `most` of them, the fullest first, while part_capacity allows. *split counts them. O(parts^2 + pins of those parts). */
cm_status cm_split_overfull(cm_axon_state *state, double tolerance, uint32_t most, uint32_t *split, cm_error *error);

/* Parts that break a limit. O(parts). */
uint32_t cm_count_overfull(const cm_axon_state *state);

/* By how much parts exceed limits in all, in limits. O(parts). */
double cm_total_excess(const cm_axon_state *state);

/* The limit that parts fill most on average. O(parts). */
cm_resource cm_scarcest(const cm_axon_state *state);

/* Brings every part within the limits: members of overfull parts go where they fit at least cost; where nothing fits,
 * part of the overfull part moves to a new one. CM_NO_ROOM when more than parts_max parts are in use then. */
cm_status cm_repair(cm_axon_state *state, cm_error *error);

/* Gives the members of the part with fewest inbound axons to other parts, each where it costs least, limits being soft.
 * The part stays without vertices. O(vertices + nets of the part). */
cm_status cm_dissolve_emptiest(cm_axon_state *state, cm_error *error);
