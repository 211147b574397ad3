/* Mappings at rates that were measured (docs/explanation/running.md). */
#ifndef CM_SOLVER_SCENARIOS_AT_RATES_H
#define CM_SOLVER_SCENARIOS_AT_RATES_H

#include "core/solver/once.h"

/* A job's mapping, for rates that the search goes by where the input has some (`traffic`). */
typedef cm_status cm_map_whole(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error);

/* Maps with a floor under the rates of silent neurons, which would make ties else. Where the job measured its rates it also maps for rates
 * of 1, keeps what costs less of what is minimised at the measured ones, and tells of both and of the network's steps, as "rates" and "steps" of the report. A
 * network without silent neurons whose rates are as its file has them is mapped as `whole` does. The caller owns *mapping. */
cm_status cm_map_measured(const cm_map_input *input, cm_map_whole *whole, cm_run *run, cm_mapping **mapping, cm_error *error);

#endif
