/* Between split.c and the rules of what pieces read. */
#ifndef CM_OPERATORS_SPLIT_INTERNAL_H
#define CM_OPERATORS_SPLIT_INTERNAL_H

#include "core/operators/tiling/split.h"

/* The family of an operator; CM_SPLIT_WHOLE of one that is not known. */
cm_split_kind cm_split_kind_of(const cm_operator *known);

/* Axis attribute within the rank, `otherwise` where there is none; CM_NONE when it makes no sense. */
uint32_t cm_split_axis(const cm_call *call, int64_t otherwise, uint32_t rank);

/* Which axes of its input a reduction reduces, of CM_RANK_MAX; false: only known when the model runs. */
bool cm_split_reduced_axes(const cm_call *call, bool *reduced);

/* Input axis that is output axis `out` of a reduction; CM_NONE for one that is reduced to 1. */
uint32_t cm_split_reduce_source(const cm_call *call, const bool *reduced, uint32_t out);

/* Whether an operator of a family may be cut along an axis of its output. */
bool cm_split_may_cut(const cm_call *call, cm_split_kind kind, uint32_t axis);

/* What the piece for `out` reads, for every family (split_boxes.c): as cm_split_piece. */
cm_status cm_split_boxes(const cm_call *call, cm_split_kind kind, const cm_box *out, cm_box *inputs, cm_split_change *change,
                         cm_error *error);

cm_status cm_split_convolution(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change,
                               cm_error *error);
cm_status cm_split_pool(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change,
                        cm_error *error);
cm_status cm_split_transposed(const cm_call *call, const cm_box *out, cm_box *inputs, cm_split_change *change,
                              cm_error *error);

/* Cells of a pool's window. */
uint64_t cm_split_window_cells(const cm_call *call);

/* The input that holds the weights of a convolution or the right side of a product. */
uint32_t cm_split_weights(const cm_call *call);

/* The rules of operators that move elements by indices, or lines and blocks of them (split_moves.c): whether one may be
 * cut along an axis, and what a piece reads. Such a kind is at least CM_SPLIT_LINES. */
bool cm_split_moves_may_cut(const cm_call *call, cm_split_kind kind, uint32_t axis);
void cm_split_moves_boxes(const cm_call *call, cm_split_kind kind, const cm_box *out, cm_box *inputs);

/* Rows of the image of a transposed convolution may be cut: nothing states the size of the whole. */
bool cm_split_transposed_rows(const cm_call *call);

#endif
