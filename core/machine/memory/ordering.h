/* The order of the pieces within a segment: depth first, band by band. Internal to core/machine. */
#pragma once

#include "core/machine/plan/plan.h"

/* A piece that none of the segment reads. */
typedef struct cm_sink {
  double fraction; /* of its operator's pieces that come before it */
  uint32_t place, piece; /* place of its operator */
} cm_sink;

/* The order of pieces that are cut along two axes: blocks of slices with all bands in each, or blocks of bands with all
 * slices, each a share of the axis. */
typedef struct cm_blocking {
  bool by_slices;
  double share; /* of the slices, or bands, in a block */
} cm_blocking;

typedef struct cm_ordering {
  const cm_blocking *blocking; /* NULL: single slices or single bands, as cm_ordering_make is told */
  cm_plan *plan;
  uint32_t *op_at, *place; /* the order of operators: operator by place, and place by operator */
  bool by_place;           /* pieces draw what they read in the order of the operators that make it, not as they read it */
  uint32_t first, last;    /* places of the segment */
  uint32_t *done; /* by piece: stamp */
  uint32_t stamp;
  uint32_t *pieces; /* what is made */
  uint32_t count;
  cm_sink *sinks;
  bool *has_reader; /* by operator: one of the segment reads it */
  uint32_t *maker_first, *makers; /* by operator: those that make what it reads */
  bool borrowed; /* maker_first and makers are another one's */
} cm_ordering;

/* For segments of a plan, operators in the plan's order. `like` (NULL: none) is another one of the same plan that lives as
 * long: what does not depend on the order is shared. Free it with cm_ordering_end, also after a failure. Errors: memory. */
cm_status cm_ordering_begin(cm_ordering *o, cm_plan *plan, const cm_ordering *like, cm_error *error);
void cm_ordering_end(cm_ordering *o);

/* From now on operators [first, first + count) of the present order stand in the order of `ops`. */
void cm_ordering_arrange(cm_ordering *o, uint32_t first, uint32_t count, const uint32_t *ops);

/* Lists in o->pieces those of the operators at places [first, last]: the ones at the end of the segment in the order of
 * their bands (or of their slices), each pulling what it needs. Linear in what the pieces read, but for sorting those at
 * the end. */
void cm_ordering_make(cm_ordering *o, uint32_t first, uint32_t last, bool slices_first);

/* True when bands first and slices first differ for some operator of the segment. */
bool cm_ordering_two_ways(const cm_plan *plan, uint32_t first, uint32_t last);

/* The value whose tiles an operator's pieces make, one each. */
const cm_plan_value *cm_ordering_value(const cm_plan *plan, uint32_t op);
