/* Mappings at rates that were measured (docs/explanation/running.md). */
#pragma once

#include "core/solver/once.h"

/* A job's mapping, for rates that the search goes by where the input has some (`traffic`). */
typedef cm_status cm_map_whole(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error);

/* A job that measured its rates (option profile) is mapped with a floor under those of silent neurons, which would make ties else, and for
 * rates of 1; it keeps what costs less of what is minimised at the measured ones, and tells of both and of the network's steps, as "rates"
 * and "steps" of the report. Other jobs are mapped as `whole` does. The caller owns *mapping. */
cm_status cm_map_measured(const cm_map_input *input, cm_map_whole *whole, cm_run *run, cm_mapping **mapping, cm_error *error);
