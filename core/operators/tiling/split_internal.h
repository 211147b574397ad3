/* Between split.c and the rules of sliding windows. */
#ifndef CM_OPERATORS_SPLIT_INTERNAL_H
#define CM_OPERATORS_SPLIT_INTERNAL_H

#include "core/operators/tiling/split.h"

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
