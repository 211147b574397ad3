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

#endif
