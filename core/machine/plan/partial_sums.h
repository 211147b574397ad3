/* Products cut along what they sum over: parts of the sum, added in a fixed order.
 *
 * A convolution without groups, MatMul or Gemm in float32 whose output has too few elements for the units of a chip, or of
 * which one element needs more than its memory, becomes several over slices of its operands, and a tree of additions.
 * Internal to core/machine. */
#pragma once

#include "base/run.h"
#include "core/chip/target.h"
#include "core/operators/tiling/split.h"

/* In how many parts the sum of an operator is cut on a chip with so much memory, by the cost of its pieces and additions;
 * 1: not at all. Depends on the call, the chip and the memory alone. All shapes must be known. O(parts * devices). */
uint32_t cm_sum_parts(const cm_call *call, const cm_target *target, uint64_t memory_bytes);

/* Narrows the boxes of both operands to [from, to) of what is summed over; of an operator that cm_sum_parts cuts. */
void cm_sum_boxes(const cm_call *call, int64_t from, int64_t to, cm_box *inputs);

/* Elements that are summed over; 0: it is no such operator. */
int64_t cm_sum_extent(const cm_call *call);

/* Bytes of the smallest memory that a piece may have to fit in, where all of them have so many. */
uint64_t cm_cut_bytes(const cm_target *target, uint64_t memory_bytes);

typedef struct cm_sums {
  uint32_t operators, parts;
  bool needed; /* one of them does not fit in the memory otherwise */
} cm_sums;

/* A copy of a model (after cm_infer) in which sums are cut; *made NULL where none is. Errors: memory, cancel. */
cm_status cm_sums_cut(const cm_model *model, const cm_target *target, uint64_t memory_bytes, cm_run *run, cm_model **made,
                      cm_sums *done, cm_error *error);
