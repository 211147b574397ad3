#include "core/chip/router_window.h"

#include "core/chip/geometry.h"

/* A ring of so many routers costs little. */
enum { RING_WHOLE = 1024 };

/* Least and greatest of the places in use. */
static void find_ends(const uint8_t *used, uint32_t length, uint32_t *first, uint32_t *extent)
{
  uint32_t from = 0, to = length;
  while (from < length && !used[from])
    from++;
  while (to > from && !used[to - 1])
    to--;
  *first = from < length ? from : 0;
  *extent = from < length ? to - from : 1;
}

/* The shortest piece of a ring with all places in use: what the longest gap leaves. */
static void find_arc(const uint8_t *used, uint32_t length, uint32_t *first, uint32_t *extent)
{
  uint32_t gap = 0, longest = 0, start = 0;
  for (uint32_t i = 0; i < 2 * length; i++) { /* twice round: a gap may go over the edge */
    gap = used[i % length] ? 0 : gap + 1;
    if (gap > longest && gap < length) {
      longest = gap;
      start = (i + 1) % length;
    }
  }
  *first = start;
  *extent = length - longest;
}

static void set_axis(const uint8_t *used, uint32_t length, bool torus, uint32_t *first, uint32_t *extent, bool *ring)
{
  *ring = torus;
  *first = 0;
  *extent = length;
  if (!torus) {
    find_ends(used, length, first, extent);
    return;
  }
  if (length <= RING_WHOLE)
    return;
  uint32_t from, arc;
  find_arc(used, length, &from, &arc);
  if (arc > length / 2)
    return;
  *ring = false;
  *first = from;
  *extent = arc;
}

cm_window cm_window_whole(const cm_chip *chip)
{
  uint32_t x = cm_chip_routers_x(chip), y = cm_chip_routers_y(chip);
  return (cm_window){.width = x, .height = y, .routers_x = x, .routers_y = y,
                     .ways = cm_geometry_of(chip) == CM_BY_WAYS ? cm_chip_links(chip) : 0};
}

cm_status cm_window_around(const cm_chip *chip, const uint32_t *core, uint32_t count, cm_memory *memory,
                           cm_window *window, cm_error *error)
{
  cm_window w = cm_window_whole(chip);
  uint8_t *columns, *rows;
  if (w.ways != 0) {
    *window = w;
    return CM_OK;
  }
  CM_TRY(CM_NEW(memory, columns, w.routers_x, error));
  CM_TRY_OR(CM_NEW(memory, rows, w.routers_y, error), cm_free(columns));
  for (uint32_t i = 0; i < count; i++) {
    columns[core[i] % chip->width / chip->router_x] = 1;
    rows[core[i] / chip->width / chip->router_y] = 1;
  }
  set_axis(columns, w.routers_x, chip->torus_x, &w.x0, &w.width, &w.ring_x);
  set_axis(rows, w.routers_y, chip->torus_y, &w.y0, &w.height, &w.ring_y);
  CM_FREE(columns, rows);
  *window = w;
  return CM_OK;
}
