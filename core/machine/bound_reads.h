/* What a piece of an operator has to read at least, however the operator is cut: for the bound. Internal to core/machine. */
#pragma once

#include "core/operators/tiling/split.h"

/* What a piece that makes `box` makes: along axes that the operator may not be cut along, all. O(axes). */
cm_box cm_bound_piece_box(const cm_call *call, const cm_box *box);

/* What is read for a box (call->input_count boxes). Of a whole one what cut pieces read, which may be less: not the rows and
 * columns behind the last window. O(axes * inputs). Errors: CM_BAD_NETWORK, of boxes that are no pieces. */
cm_status cm_bound_read_boxes(const cm_call *call, const cm_box *box, cm_box *inputs, cm_error *error);

/* Where a stride is longer than the window, small pieces do not read what lies between windows: `input`, the first one of
 * `box`, becomes what one element reads, that at the high end with `last`. reads[axis] is how many places all of the box
 * read together at least. O(axes). Errors: as above. */
cm_status cm_bound_leave_gaps(const cm_call *call, const cm_box *box, bool last, cm_box *input, int64_t *reads,
                              cm_error *error);
