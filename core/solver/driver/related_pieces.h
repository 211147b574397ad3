/* Neurons that constraints relate to each other, taken out of the parts that they lie in and put on cores where these hold. */
#pragma once

#include "core/mapping/input.h"
#include "core/placement/reassign/reassign.h"

/* Of parts on their cores, of a job with relations: a piece is what a part has of neurons that relations name alike, or all of those that share a core. Pieces get cores by
 * the search of core/placement/related among parts that stay, together where a core holds them, and join the part there, or found one: these neurons are held. *found: there are such cores. Errors: memory, cancelled. */
cm_status cm_place_pieces(const cm_map_input *input, cm_assignment *assignment, cm_run *run, bool *found, cm_error *error);

/* Of parts on their cores: neurons that relations name alike, and that the same cores take, come into parts of their own, as few as merging makes of the pieces. Parts have no
 * cores then. *found: they are not too many. Errors: memory, cancelled. */
cm_status cm_part_pieces(const cm_map_input *input, cm_assignment *assignment, cm_run *run, bool *found, cm_error *error);
