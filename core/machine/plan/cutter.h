/* Between the files that cut a model. */
#pragma once

#include "core/machine/plan/plan.h"

typedef struct cm_cutter {
  cm_plan *plan;
  const cm_plan_options *options;
  cm_run *run;
  bool *solid;        /* by value */
  bool again;         /* a view turned out to be none */
  uint64_t out_bytes; /* of the tile that is made */
  uint64_t out_count; /* its elements */
  uint64_t most_bytes; /* that a piece of the operator needs */
} cm_cutter;

/* What the piece for `output` does; `replaced`: an input that is given as numbers, CM_NONE. */
cm_work cm_piece_work(const cm_call *call, const cm_box *output, const cm_box *inputs, uint32_t replaced);

/* Gives the pieces of an operator, tiles of a value, to devices. O(pieces * devices). */
void cm_plan_share(cm_plan *plan, const cm_plan_op *op, const cm_plan_value *value);

/* The tiles of a value whose grid is set. */
cm_status cm_plan_add_grid(cm_plan *plan, uint32_t value, cm_error *error);

/* The grid, the tiles and the pieces of one operator. Where a piece turns out to need more than was estimated (what it
 * reads lies in many tiles), the operator is cut further. */
cm_status cm_plan_cut(cm_cutter *b, uint32_t op_number, cm_error *error);
