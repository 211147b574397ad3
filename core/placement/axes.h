/* Distances of a chip taken apart by axis: what a packet pays between two cores is a term of their columns plus a term
 * of their rows, on every chip (mesh, torus, arrays of dies, links of different cost). */
#pragma once

#include "base/run.h"
#include "core/chip/geometry.h"

typedef struct cm_axes {
  uint32_t columns, rows; /* of the box around the cores; cores behind one router are 0 apart */
  uint32_t *dx;           /* [columns * columns] between columns, symmetric, 0 on the diagonal */
  uint32_t *dy;           /* [rows * rows] */
  uint32_t count;         /* cores */
  uint32_t *column, *row; /* [count] of each core */
  uint32_t units_per_hop; /* of a distance, for the cheapest hop: 1 or 64 */
  double base;            /* what a packet to another core costs besides its way: the energy of a router, in units */
} cm_axes;

/* The axes under `count` cores of a chip. Distances are hops where all hops of the chip cost the same energy; else
 * their energy in 64ths of the cheapest hop's. Where the two ways between cores of a torus differ in cost, the mean
 * counts. O(columns^2 + rows^2 + count). */
cm_status cm_axes_new(const cm_chip *chip, const uint32_t *core, uint32_t count, cm_run *run, cm_axes **axes,
                      cm_error *error);
void cm_axes_free(cm_axes *axes); /* NULL is allowed */

/* Distance between the cores numbered a and b in the list. O(1). */
static inline uint32_t cm_axes_distance(const cm_axes *axes, uint32_t a, uint32_t b)
{
  return axes->dx[(size_t)axes->column[a] * axes->columns + axes->column[b]] +
         axes->dy[(size_t)axes->row[a] * axes->rows + axes->row[b]];
}
