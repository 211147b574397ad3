/* Grids whose steps differ by device. */
#pragma once

#include "core/machine/plan/sizing.h"

typedef struct cm_stretch_wish {
  double pieces;    /* a unit, about */
  double lean;      /* shares of all but the fastest device, over what capability says */
  double before_ns; /* devices have to end before then */
  uint64_t most;    /* bytes that a piece may need */
} cm_stretch_wish;

/* Gives each device a stretch of `axis` in tiles of its own extent, along the other axes in the sizing's steps, so that all
 * end at about the same time. sizing->stretches.edge stays NULL where the axis cannot be cut so or the wish cannot be
 * met; else the sizing's step becomes the largest extent. O(rows + tiles). Errors: those of cm_split_piece, memory. */
cm_status cm_stretch_axis(cm_sizing *sizing, const cm_plan_op *op, uint32_t axis, cm_stretch_wish wish, cm_error *error);

/* Gives each unit of the device one tile, by how far others are that wait for it: the middle has the most, and those that are too far
 * for a piece of `least_ns` have none. sizing->stretches.edge stays NULL where that cannot be. O(lanes log lanes). Errors: as above. */
cm_status cm_stretch_by_way(cm_sizing *sizing, const cm_plan_op *op, uint32_t axis, double least_ns, cm_error *error);

/* When devices end that share the pieces of the sizing's steps. Errors: those of cm_split_piece. */
cm_status cm_common_end(cm_sizing *sizing, const cm_plan_op *op, double *end_ns, cm_error *error);

/* Cells of the sizing's steps along all axes but one (CM_NONE: along all). */
int64_t cm_sizing_cells(const cm_sizing *sizing, uint32_t but);
