/* The numbers of cm_settings, searched. Internal to core/machine. */
#pragma once

#include <jansson.h>

#include "core/machine/schedule/subchips.h"
#include "core/machine/schedule/timetable.h"

typedef struct cm_search_options {
  uint64_t scores; /* timetables that are made at most for the chip, and for each part of it; 0: as many as some seconds hold, by the size of the program alone */
  double seconds;  /* of wall time after which no more are made; 0: none. What is found then depends on the machine */
  double until_ns; /* no more are made once one takes no longer; 0: none */
} cm_search_options;

/* What one setting comes to. */
typedef struct cm_plan_candidate {
  cm_settings settings;
  double time_ns, score; /* less is better: time, with a little for the bytes that are moved */
  uint64_t bytes, pieces, effort;
  cm_subchip part; /* of the chip, that it was made for */
} cm_plan_candidate;

/* Cuts a model for an order of nodes (NULL: the model's) and lays it out; nothing is emitted. May be called from several
 * threads at once when the same order was planned before. Errors: those of cm_plan_new and cm_timetable_make. */
cm_status cm_plan_candidate_make(cm_model *model, const uint32_t *order, const cm_plan_options *options, cm_run *run,
                            cm_plan_candidate *candidate, cm_error *error);

/* Coordinate descent from the best of several starts: one number at a time is moved to its neighbours on a ladder while
 * that helps; for the chip, and for parts of it as far as they may gain (subchips.h). The same result for any number of
 * threads. options->settings is the first start; the result is never worse. *report (new reference): {"scored",
 * "first_ns", "best_ns", "made_for", "settings"}. Errors: those of the first candidate, memory, cancel. A deadline of the
 * run only ends the search early. */
cm_status cm_settings_search(cm_model *model, const cm_plan_options *options, const cm_search_options *search, cm_run *run,
                             cm_plan_candidate *best, json_t **report, cm_error *error);
