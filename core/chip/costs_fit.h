/* Costs of a chip from steps that were measured on it. */
#pragma once

#include <jansson.h>

#include "base/run.h"
#include "core/chip/chip.h"

/* What a price is of: charges of a core, by their numbers, then what comes between steps. */
enum { CM_TERM_BARRIER = CM_CHARGES, CM_TERM_SPIKE_BETWEEN, CM_TERM_PACKET_BETWEEN, CM_TERMS };
const char *cm_term_name(int term); /* "packet_sent", ..., "spike", "barrier", "barrier/spike", "barrier/packet" */

/* Measured steps, and what each core did in them. */
typedef struct cm_measured_steps {
  uint32_t runs;
  const char **name;     /* [runs] */
  double *ns;            /* [runs] above 0 */
  uint32_t *tiles;       /* [runs] of the barrier, in use; 0: not said */
  uint64_t *first;       /* [runs + 1] its cores */
  cm_core_events *core;  /* [first[runs]] */
  char *text;            /* of the names */
} cm_measured_steps;

/* Reads a table with commas: columns run, ns, and counts by the names of charges, also core (passed over) and tiles; a line for each core, those of a run
 * together with the same ns. Errors: CM_BAD_REQUEST with the line; memory. O(size). */
cm_status cm_measured_steps_read(const char *csv, size_t size, cm_run *run, cm_measured_steps *steps, cm_error *error);
void cm_measured_steps_free(cm_measured_steps *steps); /* harmless on a zeroed one */

typedef struct cm_costs_task {
  const cm_chip *chip;
  const cm_measured_steps *steps;
  bool keep[CM_TERMS]; /* prices that stay as they are */
} cm_costs_task;

/* Fits the other prices that the chip has above 0: those, none negative, with the least sum of squares of relative errors, by turns with which core is busiest. A barrier of several points stays. *costs are the chip's with new prices; *report (the caller's) has
 * them and what is left of each step. Errors: CM_BAD_REQUEST names prices that the steps cannot tell apart; memory. O(rounds * cores + runs). */
cm_status cm_costs_fit(const cm_costs_task *task, cm_run *run, cm_costs *costs, json_t **report, cm_error *error);
