/* Between the files of the search. */
#pragma once

#include "core/machine/schedule/search.h"

/* Steps of all candidates for a chip together where nobody says how many are scored: some seconds. */
#define CM_SEARCH_EFFORT UINT64_C(1800000000)

typedef struct cm_found {
  cm_plan_candidate first, best;
  uint64_t scored, effort;
} cm_found;

/* True when no more are to be made: a time by cm_now, 0: none, or the run's deadline has come. */
bool cm_search_timed_out(double until, const cm_run *run);

/* Searches the settings for one chip, options->target, alone, from found->first on, which is what options->settings make. `until` is the time by cm_now after which no more are made, 0:
 * none. Errors: those of cm_settings_search. */
cm_status cm_chip_search(cm_model *model, const cm_plan_options *options, const cm_search_options *search, double until,
                         cm_run *run, cm_found *found, cm_error *error);
