/* Cutting an operator in pieces of its own kind.
 *
 * A piece is named by the box of the output that it makes. The rules here say along which axes an operator may be cut,
 * which boxes of its inputs a piece reads (halos of strided, dilated and padded windows included) and what changes in
 * its attributes, so that the piece alone computes exactly the elements of its box. */
#pragma once

#include "core/operators/operator.h"
#include "core/operators/tiling/box.h"

/* What a piece's node has otherwise than the whole one's. */
typedef struct cm_split_change {
  uint32_t spatial; /* dims of a window whose pads are set explicitly; 0: pads stay as they are */
  uint32_t placed;  /* rank of the place that the piece has to know (cm_piece_place); 0: none */
  int64_t before[CM_RANK_MAX], after[CM_RANK_MAX];
  int64_t place[4 * CM_RANK_MAX];
  int64_t group;         /* of a convolution; 0: unchanged */
  uint32_t replaced;     /* input whose integers are replaced by `numbers`; CM_NONE: none */
  uint32_t number_count;
  int64_t numbers[CM_RANK_MAX];
} cm_split_change;

/* Axes of output 0 along which the operator of a call may be cut, in the order in which the seed prefers them: frames
 * first, for convolutions and matrix products channels next and then rows of the image; never one that is reduced.
 * `axes` has room for CM_RANK_MAX; the number of them is returned. 0: the operator is one piece. All shapes of the call
 * must be known. */
uint32_t cm_split_axes(const cm_call *call, uint32_t *axes);

/* The largest extent up to `extent` (at least 1) in which an axis may be cut: groups of a convolution are cut evenly or
 * kept whole. May be more than `extent` where one group must stay whole. */
int64_t cm_split_extent(const cm_call *call, uint32_t axis, int64_t extent);

/* The boxes of the inputs (input_count; of left-out ones rank 0) that the piece for `output` reads, and what changes.
 * O(inputs). Errors: CM_BAD_NETWORK when the box cuts an axis that cm_split_axes does not name. */
cm_status cm_split_piece(const cm_call *call, const cm_box *output, cm_box *inputs, cm_split_change *change, cm_error *error);

/* The axes along which operators of a kind may be cut, in words. */
const char *cm_split_axes_text(cm_split_kind kind);

/* True when all outputs that are used are made together, cell by cell of one grid (TopK, MaxPool with indices). */
bool cm_split_outputs_alike(const cm_call *call);

/* True when each element of output 0 depends on inputs at its own place alone, so that the output may be written over an
 * input of the same type and shape. */
bool cm_split_in_place(const cm_call *call);

/* True for products that a matrix unit computes: convolutions, MatMul, Gemm, an Einsum that is one. */
bool cm_split_is_matrix(const cm_call *call);

/* The input that holds the weights of a convolution or the right side of a product. */
uint32_t cm_split_weights(const cm_node *node);

/* Multiplications (matrix operators) or element operations (others) of the piece for `output`. */
uint64_t cm_split_work(const cm_call *call, const cm_box *output, const cm_box *inputs);
