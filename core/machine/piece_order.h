/* The order of pieces after the split, on a chip that issues in order: there the order of its stream decides, not that of
 * operators alone. Internal to core/machine. */
#pragma once

#include "core/machine/schedule/sequence.h"

typedef struct cm_piece_order {
  uint64_t scores;           /* timetables that are made at most; 0: as many as some seconds hold, by the size of the program alone */
  double deadline;           /* by cm_now: no timetable is made after; 0: none */
  uint64_t scored;           /* those that were made */
  double before_ns, best_ns; /* in the order of the sequence, and in the order found */
} cm_piece_order;

/* Rearranges the pieces of a sequence by the search of core/schedule/orders.h, scored by timetables of the whole; never slower.
 * The same result for any number of threads. Errors: memory, cancel. */
cm_status cm_piece_order_search(cm_plan *plan, cm_run *run, cm_piece_order *order, cm_sequence *sequence, cm_error *error);
