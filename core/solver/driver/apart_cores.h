/* Neurons that constraints keep on different cores, and nothing else relates, in parts that stand. */
#pragma once

#include "core/mapping/input.h"
#include "core/placement/reassign/reassign.h"

/* Where all relations are apart by core: of neurons that share a part, those with most to be apart from first, each stays, or goes to the part where none of
 * these is and most of its axons begin and end; all of them are held. *done is false, and nothing is changed, where there are other relations, too many pairs, or no such
 * part. O(pairs + pins). Errors: memory, cancelled. */
cm_status cm_keep_apart(const cm_map_input *input, cm_assignment *assignment, cm_run *run, bool *done, cm_error *error);
