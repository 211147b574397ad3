/* The routers that a mapping can reach: a box around its cores, so that what is kept by router or link costs what is
 * used of a chip, not what there is of it. */
#ifndef CM_MAPPING_ROUTER_WINDOW_H
#define CM_MAPPING_ROUTER_WINDOW_H

#include "core/chip/chip.h"

/* No packet on a minimal way between the cores leaves it. Along a torus it may go over the edge. */
typedef struct cm_window {
  uint32_t x0, y0, width, height; /* routers */
  uint32_t routers_x, routers_y;  /* of the chip */
  bool ring_x, ring_y;            /* all of a torus: packets may go round */
} cm_window;

/* The box around `count` cores; all routers of an interconnect that is no plain mesh. A torus of many routers is cut where the cores leave at least half of it empty; a small
 * one is a whole ring always. O(count + routers along an axis). */
cm_status cm_window_around(const cm_chip *chip, const uint32_t *core, uint32_t count, cm_memory *memory,
                           cm_window *window, cm_error *error);

static inline size_t cm_window_size(const cm_window *w)
{
  return (size_t)w->width * w->height;
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

#endif
