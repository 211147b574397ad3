/* Between the choice of products and the cut. */
#pragma once

#include "core/operators/graph.h"

enum { CM_SUM_PARTS_MAX = 64 };

/* What a product reads: its operands and, of integers, their zero points and scales. */
typedef struct cm_sum_operands {
  bool integer, rescaled; /* 8-bit operands with 32-bit sums; their sums put in 8 bits again */
  uint32_t input[2], zero[2], scale[2], bias; /* inputs; CM_NONE where there is none */
  uint32_t axis[2];       /* of the operands, that is summed over */
} cm_sum_operands;

/* Takes a node out of a model, and puts `parts` (at most CM_SUM_PARTS_MAX) products of slices of the `extent` that it sums
 * over in its place, with their sum. The model is to be sorted, and its shapes inferred, when all are cut. Errors: memory. */
cm_status cm_sum_cut_node(cm_model *model, uint32_t node, const cm_sum_operands *operands, int64_t extent, uint32_t parts,
                          cm_error *error);
