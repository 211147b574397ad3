/* Between the bounds on time (time_bound.c) and the cones that they are taken from (bound_cone.c). */
#pragma once

#include "core/machine/bound_exchange.h"
#include "core/machine/time_bound.h"
#include "core/operators/tiling/box.h"

/* What is needed of a value: a box in the cone of the first element, and one in that of the last; of any element at least
 * as much as the smaller along every axis. For a reader takes an interval [a, b] of its output to [max(0, sa - p),
 * min(n - 1, sb - p + k)], whose ends both grow with the element. Clipped at the low end, it reaches from 0 at least as far as
 * the first element's; at the high end, likewise; clipped at neither, it is s(l - 1) + k + 1 long for a length l in the reader,
 * where the same holds by induction. */
typedef struct cm_needed {
  uint32_t stamp;
  cm_box box[2];
  uint64_t count; /* elements at least; may be more than the boxes have, which only what is before sees */
} cm_needed;

typedef struct cm_moment {
  double begin;
  uint32_t place;
} cm_moment;

typedef struct cm_bounding {
  cm_plan *plan;
  const cm_target *target;
  cm_run *run;
  cm_needed *value; /* by value */
  uint32_t stamp;
  uint32_t *met, met_count; /* values of the present stamp */
  uint32_t *op_of;   /* by node: its operator + 1 */
  uint32_t *place_of; /* by node: its place in the order */
  double *begin;     /* by place in the order: before then none of it can begin */
  double *work;      /* by place: operations over the lanes of its kind, ns, in the present cone */
  double *issues;    /* by place: what of work is one issue */
  double *bytes;     /* by place: of parameters, over the ports, ns */
  double *least;     /* by place: what its smallest piece takes at least, ns */
  double *tail;      /* by place: what has to follow a piece of it, ns: to the end, or in the present cone */
  double *after;     /* by value: the same of an element of it */
  double latency_ns; /* what moving a first byte takes at least */
  cm_moment *sorted;
  double weight[CM_UNIT_KINDS][CM_TARGET_DEVICES_MAX]; /* of one lane */
  double issue_ns[CM_UNIT_KINDS]; /* the least issue and latency of a lane that computes */
  cm_exchange exchange[CM_UNIT_KINDS]; /* of lanes that compute */
  double *told;     /* by place: before it begins on lanes, on the mean, but for the ways to them; 0: nothing is known */
  cm_reach reach[2][CM_UNIT_KINDS]; /* of work that one core needs; that ports take out */
  cm_box *inputs[2], *whole_inputs;
} cm_bounding;

/* When work of a kind is done that can begin at 0, `issues` of it for instructions, and known where it is needed. */
double cm_bound_done_ns(const cm_bounding *b, cm_unit_kind kind, bool out, double work, double issues);

/* Forgets all needs. */
void cm_bound_begin_needs(cm_bounding *b);

/* The first element of a shape, or the last. */
cm_box cm_bound_corner(const cm_shape *shape, bool last);

/* Nothing is needed but the first element of a value, and in the other cone the last. */
void cm_bound_need_corners(cm_bounding *b, uint32_t value);

/* An output, or the node that is to begin, needs these boxes of a value: in the cone of its first element, and of its last. */
void cm_bound_need(cm_bounding *b, uint32_t value, const cm_box *first, const cm_box *last);

/* Elements that both boxes have at least. */
uint64_t cm_bound_least_count(const cm_box *first, const cm_box *last);

/* A value is needed, `count` elements at least. Of several readers the one that needs most is kept; where both need the same
 * whatever the element is that it is for, what they need together, when that is a box. */
void cm_bound_need_count(cm_bounding *b, uint32_t value, const cm_box *first, const cm_box *last, uint64_t count);

/* What needs of an output of a view are of its inputs. Errors: CM_BAD_NETWORK. */
cm_status cm_bound_view(cm_bounding *b, const cm_node *node, uint32_t output, const cm_needed *n, cm_error *error);

/* What the smallest piece of an operator takes at least, in nanoseconds. */
cm_status cm_bound_least_ns(cm_bounding *b, const cm_plan_op *op, double *ns, cm_error *error);

/* Raises *ns to when all can be there that an element of the operator at a place reads: its makers, all lanes together, take so
 * long since they could begin. */
cm_status cm_bound_after_inputs(cm_bounding *b, uint32_t place, double *ns, cm_error *error);

/* Work and bytes of all that is needed by nodes up to a place, from there back to another. */
cm_status cm_bound_walk(cm_bounding *b, uint32_t first, uint32_t last, bool alone, cm_error *error);
