/* The ways in which a set of cores can be turned and mirrored onto itself without changing a distance. */
#pragma once

#include "core/placement/axes.h"

enum { CM_SYMMETRIES_MAX = 8 };

typedef struct cm_symmetries {
  uint32_t count;                  /* at least 1: the first leaves everything where it is */
  uint32_t *to[CM_SYMMETRIES_MAX]; /* [cores] where each core goes */
} cm_symmetries;

/* Tries both mirrors, both diagonals and their products. O(cores + columns^2 + rows^2). */
cm_status cm_symmetries_new(const cm_axes *axes, cm_run *run, cm_symmetries *symmetries, cm_error *error);
void cm_symmetries_free(cm_symmetries *symmetries); /* harmless on a zeroed one */
