/* Boxes of the elements of a tensor. */
#pragma once

#include "core/operators/graph.h"

/* Elements [from, to) of every dimension. */
typedef struct cm_box {
  uint32_t rank;
  int64_t from[CM_RANK_MAX], to[CM_RANK_MAX];
} cm_box;

/* The whole of a shape. */
cm_box cm_box_whole(const cm_shape *shape);

/* Elements of a box; 0 when it is empty. */
uint64_t cm_box_count(const cm_box *box);

bool cm_box_equal(const cm_box *a, const cm_box *b);

/* The common part of two boxes of one rank; false when it is empty. */
bool cm_box_intersect(const cm_box *a, const cm_box *b, cm_box *both);
