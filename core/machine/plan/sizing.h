/* Between the two ways of choosing a grid: what a piece of a certain size needs. */
#pragma once

#include "core/machine/plan/plan.h"

typedef struct cm_sizing {
  cm_plan *plan;
  const cm_call *call;
  cm_box whole, *inputs; /* of output 0, what pieces make */
  uint64_t memory, tile_bytes;
  uint32_t frame, band, slice; /* axes; CM_NONE: none */
  int64_t step[CM_RANK_MAX];
  cm_stretches stretches; /* inherited */
} cm_sizing;

/* Bytes of a typical piece: what it reads of data and parameters, and what it makes. */
typedef struct cm_need {
  uint64_t data, parameters, output;
} cm_need;

static inline uint64_t cm_need_total(const cm_need *n)
{
  return n->data + n->parameters + n->output;
}

static inline int64_t cm_divide_up(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* A typical piece: the second along every axis that is cut, which has both neighbours. */
cm_box cm_box_typical(const cm_shape *whole, const int64_t *steps);

/* At the present steps. Errors: those of cm_split_piece. */
cm_status cm_sizing_measure(cm_sizing *s, cm_need *made, cm_error *error);

/* What a typical piece does, at the present steps. Errors: those of cm_split_piece. */
cm_status cm_sizing_work(cm_sizing *s, cm_work *work, cm_error *error);

/* Sets frame, band and slice. */
void cm_sizing_axes(cm_sizing *s);

/* The smallest steps along these axes, and whole ones along others. */
void cm_sizing_least(cm_sizing *s);

/* Halves steps (frames, then bands, then slices) until a piece needs `most` bytes at most; *fits is false when the
 * smallest does not. */
cm_status cm_sizing_shrink(cm_sizing *s, uint64_t most, bool *fits, cm_error *error);

/* Takes the cells of the input where the operator goes place by place; of its slices where channels are independent.
 * True when all steps were taken. */
bool cm_sizing_inherit(cm_sizing *s, const cm_plan_op *op);

/* The grid of a value: tiles of these steps, and of unlike ones along an axis. */
void cm_sizing_set(cm_plan_value *value, const int64_t *step, const cm_stretches *stretches);

/* Fails with the least that any cut of the operator needs. */
cm_status cm_sizing_too_small(cm_sizing *s, cm_error *error);
