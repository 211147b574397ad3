/* The routers that a mapping can reach: a box around its cores, so that what is kept by router or link costs what is
 * used of a chip, not what there is of it. */
#pragma once

#include "core/chip/chip.h"

/* No packet on a minimal way between the cores leaves it. Along a torus it may go over the edge. */
typedef struct cm_window {
  uint32_t x0, y0, width, height; /* routers */
  uint32_t routers_x, routers_y;  /* of the chip */
  bool ring_x, ring_y;            /* all of a torus: packets may go round */
  uint32_t ways;                  /* links of an interconnect that is no plain mesh; else 0 */
} cm_window;

/* All routers. */
cm_window cm_window_whole(const cm_chip *chip);

/* The box around `count` cores; all routers of an interconnect that is no plain mesh. A torus of many routers is cut where the cores leave at least half of it empty; a small
 * one is a whole ring always. O(count + routers along an axis). */
cm_status cm_window_around(const cm_chip *chip, const uint32_t *core, uint32_t count, cm_memory *memory,
                           cm_window *window, cm_error *error);

static inline size_t cm_window_size(const cm_window *w)
{
  return (size_t)w->width * w->height;
}

/* Arrays by link have a place for each direction of each router of the window, row by row; on an interconnect for each link. */
static inline size_t cm_window_links(const cm_window *w)
{
  return w->ways != 0 ? w->ways : (size_t)w->width * w->height * CM_DIRECTIONS;
}

/* Column and row of a router in the window; at least its width, height for one outside. */
static inline uint32_t cm_window_column(const cm_window *w, uint32_t x)
{
  return x >= w->x0 ? x - w->x0 : x + w->routers_x - w->x0;
}

static inline uint32_t cm_window_row(const cm_window *w, uint32_t y)
{
  return y >= w->y0 ? y - w->y0 : y + w->routers_y - w->y0;
}

/* Column and row of the chip of one of the window. */
static inline uint32_t cm_window_x(const cm_window *w, uint32_t column)
{
  return column < w->routers_x - w->x0 ? w->x0 + column : column - (w->routers_x - w->x0);
}

static inline uint32_t cm_window_y(const cm_window *w, uint32_t row)
{
  return row < w->routers_y - w->y0 ? w->y0 + row : row - (w->routers_y - w->y0);
}

/* The chip's number of the link at a place of such an array. */
static inline uint32_t cm_window_link(const cm_window *w, size_t place)
{
  uint32_t router = (uint32_t)(place / CM_DIRECTIONS);
  return w->ways != 0 ? (uint32_t)place
                      : (cm_window_y(w, router / w->width) * w->routers_x + cm_window_x(w, router % w->width)) * CM_DIRECTIONS +
                          (uint32_t)(place % CM_DIRECTIONS);
}

/* What such an array holds of a link of the chip; 0 outside the window. */
static inline double cm_window_load(const cm_window *w, const double *load, uint32_t link)
{
  uint32_t router = link / CM_DIRECTIONS, column = cm_window_column(w, router % w->routers_x), row = cm_window_row(w, router / w->routers_x);
  if (w->ways != 0)
    return load[link];
  return column < w->width && row < w->height ? load[((size_t)row * w->width + column) * CM_DIRECTIONS + link % CM_DIRECTIONS] : 0;
}
