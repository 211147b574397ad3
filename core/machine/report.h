/* What is said of a program and of its pieces, and what is verified. */
#ifndef CM_MACHINE_REPORT_H
#define CM_MACHINE_REPORT_H

#include <jansson.h>

#include "core/machine/baselines.h"
#include "core/machine/compile.h"
#include "core/machine/order.h"
#include "core/machine/run/analysis.h"
#include "core/machine/time_bound.h"

/* Computes the model given and what was made of it (`program`, or `after` when that is NULL) on random inputs, and adds
 * "verified" to the report. */
cm_status cm_compile_verify(cm_model *before, cm_model *after, const cm_program *program, cm_run *run, json_t *report,
                            cm_error *error);

/* What explains the time of a program. */
typedef struct cm_program_times {
  cm_plan *whole; /* its plan, or where that is for a part of the chip, one for all of it */
  const cm_analysis *analysis;
  const cm_time_bound *bound;
  cm_baselines baselines;
} cm_program_times;

/* What is said of a program (docs/explanation/programs.md). Takes the reference to `order` (of cm_order_search; NULL: no search), and adds
 * `search` (of cm_settings_search). NULL when memory is short. */
json_t *cm_program_report(const cm_draft *draft, const cm_program *program, const cm_program_times *times, json_t *order,
                          json_t *search);

/* Writes the pieces of a plan to `path` as JSON: those of `sequence` (`count` pieces) in its order, or all in the order of
 * the operators when it is NULL (docs/explanation/programs.md). Errors: CM_IO, CM_DISK_FULL. */
cm_status cm_pieces_write(const cm_plan *plan, const uint32_t *sequence, uint32_t count, const char *path,
                          cm_error *error);

/* {"computed", "cut", "pieces"}: the operators of a plan; a new reference, NULL when memory is short. */
json_t *cm_pieces_report(const cm_plan *plan);

#endif
