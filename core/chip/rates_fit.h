/* Rates of a chip's devices from pieces of programs that were measured on it. */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/chip/chip.h"

/* Whether a table is one of pieces: by its first line. */
bool cm_rates_are_measured(const char *csv);

/* Fits operations_per_ns of chip->target, which the caller owns, of each device and kind for the operators and the types that the table has, what a piece takes besides being the
 * chip's: the least sum of squares of relative errors of the pieces, each weighted by its share of its run's time. The table has columns run, device, kind, operator/type,
 * operations, ns and a line a piece; its first line may stand again. *report (the caller's) is that of cm_costs_fit, its steps are the runs: one lane,
 * piece after piece. Errors: CM_BAD_REQUEST with the line, or what the chip does not have; memory. O(pieces * operators). */
cm_status cm_rates_fit(const char *csv, cm_chip *chip, cm_run *run, json_t **report, cm_error *error);
