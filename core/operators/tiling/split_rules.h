/* Between split.c, which has the table of kinds, and the rules that it names: those of operators with windows (split_window.c), of
 * others that compute (split_computed.c), and of those that move elements (split_moves.c). */
#pragma once

#include "core/operators/tiling/split.h"

/* What the rows of splits.def name: whether an operator may be cut along an axis of its output; the boxes of the inputs that the
 * piece for `out` reads, of inputs that are whole when it is called, and of some operators what changes in their attributes (as
 * cm_split_piece); the largest extent up to `extent` in which an axis may be cut (as cm_split_extent). Rows
 * may share a rule, which each of them declares. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#define NOTHING
#define BOXES(rule) void cm_split_boxes_##rule(const cm_call *call, const cm_box *out, cm_box *inputs);
#define CHANGES(rule) \
  cm_status cm_split_changes_##rule(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change, cm_error *error);
#define SPLIT(kind, along, reads, extent, axes) \
  bool cm_split_along_##along(const cm_call *call, uint32_t axis); \
  int64_t cm_split_extent_##extent(const cm_call *call, uint32_t axis, int64_t extent); \
  reads
#include "core/operators/splits.def"
#undef NOTHING
#undef BOXES
#undef CHANGES
#undef SPLIT
#pragma GCC diagnostic pop

/* A rule of where an operator may be cut that is a condition on `call` and `axis`. */
#define CM_SPLIT_ALONG(rule, condition)                                                      \
  bool cm_split_along_##rule(CM_UNUSED const cm_call *call, CM_UNUSED uint32_t axis)         \
  {                                                                                          \
    return condition;                                                                        \
  }

/* Whether the operator of a call may be cut along an axis of its output, by its kind. */
bool cm_split_may_cut(const cm_call *call, uint32_t axis);

/* An axis within the rank, counted from the end where negative; CM_NONE when it makes no sense. */
uint32_t cm_split_normal(int64_t axis, uint32_t rank);

/* Attribute `axis` within the rank, `otherwise` where there is none; CM_NONE when it makes no sense. */
uint32_t cm_split_axis(const cm_call *call, int64_t otherwise, uint32_t rank);

/* An axis of an input follows one of the output. */
static inline void cm_split_take(cm_box *input, uint32_t axis, const cm_box *out, uint32_t from)
{
  input->from[axis] = out->from[from];
  input->to[axis] = out->to[from];
}

/* The piece has to know where it lies in the whole: operators that count places in it. */
void cm_split_put_place(const cm_call *call, const cm_box *out, const cm_box *input, cm_split_change *change);

/* Cells of a pool's window. */
uint64_t cm_split_window_cells(const cm_call *call);
