/* What does not go together: options, and options with the network and the chip of a job. */
#pragma once

#include "base/option.h"
#include "core/mapping/input.h"

/* The rows, for the table of options and its schema. */
extern const cm_option_rule cm_map_rules[];

/* Each refuses with CM_BAD_OPTION, what would be right, and the option's place: options by themselves; a job that is to be
 * mapped; one whose network is to be partitioned, of which the chip may be NULL. O(1). */
cm_status cm_combinations_of_options(const cm_map_options *options, cm_error *error);
cm_status cm_combinations_of_job(const cm_map_input *input, cm_error *error);
cm_status cm_combinations_of_partition(const cm_map_input *input, cm_error *error);
