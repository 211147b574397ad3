/* Loads of links under the chip's own routing: a straight run of links is booked as two differences at its ends, and
 * the loads are their running sums. */
#include <stdlib.h>

#include "core/measure/link_tally.h"

cm_status cm_link_tally_new(const cm_window *window, cm_memory *memory, cm_link_tally *tally, cm_error *error)
{
  cm_link_tally t = {.window = window};
  size_t x = window->width, y = window->height;
  for (int side = 0; side < 2; side++)
    if (CM_NEW(memory, t.row[side], (x + 1) * y, error) != CM_OK ||
        CM_NEW(memory, t.column[side], (y + 1) * x, error) != CM_OK) {
      cm_link_tally_free(&t);
      return error->status;
    }
  *tally = t;
  return CM_OK;
}

void cm_link_tally_free(cm_link_tally *tally)
{
  for (int side = 0; side < 2; side++) {
    cm_free(tally->row[side]);
    cm_free(tally->column[side]);
  }
}

void cm_link_tally_add(cm_link_tally *sum, const cm_link_tally *other)
{
  size_t x = sum->window->width, y = sum->window->height;
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < (x + 1) * y; i++)
      sum->row[side][i] += other->row[side][i];
    for (size_t i = 0; i < (y + 1) * x; i++)
      sum->column[side][i] += other->column[side][i];
  }
  sum->east_west += other->east_west;
  sum->north_south += other->north_south;
  sum->die_to_die += other->die_to_die;
}

cm_status cm_tree_scratch_new(const cm_chip *chip, cm_memory *memory, cm_tree_scratch *scratch, cm_error *error)
{
  size_t x = cm_chip_routers_x(chip), y = cm_chip_routers_y(chip), axis = x > y ? x : y;
  cm_tree_scratch s = {0};
  if (CM_NEW(memory, s.extent, 2 * axis, error) != CM_OK || CM_NEW(memory, s.stamp, axis, error) != CM_OK ||
      CM_NEW(memory, s.branch, axis, error) != CM_OK) {
    cm_tree_scratch_free(&s);
    return error->status;
  }
  *scratch = s;
  return CM_OK;
}

void cm_tree_scratch_free(cm_tree_scratch *scratch)
{
  cm_free(scratch->extent);
  cm_free(scratch->stamp);
  cm_free(scratch->branch);
}

/* Adds `packets` to `count` links from `first` on, around the end of the line where needed. `line` holds the
 * line's differences. */
static void add_run(uint64_t *line, uint32_t length, uint32_t first, uint32_t count, uint64_t packets)
{
  uint32_t end = first + count;
  line[first] += packets;
  if (end > length) {
    line[length] -= packets;
    line[0] += packets;
    end -= length;
  }
  line[end] -= packets;
}

/* Links are booked at the router that they leave: |steps| of them from `from` on, or up to it, counted from the start of
 * the line. */
static void book_run(uint64_t *const direction[2], uint32_t line, uint32_t length, uint32_t from,
                     int32_t steps, uint64_t packets)
{
  uint32_t count = (uint32_t)abs(steps);
  if (count == 0)
    return;
  uint32_t first = steps > 0 ? from : from + 1 >= count ? from + 1 - count : from + 1 + length - count;
  add_run(direction[steps < 0] + (size_t)line * (length + 1), length, first, count, packets);
}

/* Along the row or the column of a router. */
static void book_along(cm_link_tally *t, bool along_x, uint32_t x, uint32_t y, int32_t steps, uint64_t packets)
{
  const cm_window *w = t->window;
  uint32_t column = cm_window_column(w, x), row = cm_window_row(w, y);
  if (along_x)
    book_run(t->row, row, w->width, column, steps, packets);
  else
    book_run(t->column, column, w->height, row, steps, packets);
}

/* A straight piece of a tree: `steps` along one axis from router (x, y) on. */
static void book_tree_run(cm_link_tally *t, const cm_chip *chip, bool along_x, uint32_t x, uint32_t y, int32_t steps,
                          uint64_t packets)
{
  if (steps == 0)
    return;
  uint32_t axis = along_x ? cm_chip_routers_x(chip) : cm_chip_routers_y(chip), from = along_x ? x : y;
  uint32_t count = (uint32_t)abs(steps), to = steps > 0 ? (from + count) % axis : (from + axis - count) % axis;
  uint32_t rx = chip->router_x, ry = chip->router_y, width = chip->width;
  cm_hops hops = cm_chip_hops(chip, y * ry * width + x * rx, (along_x ? y : to) * ry * width + (along_x ? to : x) * rx);
  t->east_west += (cm_wide)packets * hops.east_west;
  t->north_south += (cm_wide)packets * hops.north_south;
  t->die_to_die += (cm_wide)packets * hops.die_to_die;
  book_along(t, along_x, x, y, steps, packets);
}

void cm_links_book_tree(cm_link_tally *t, cm_tree_scratch *s, const cm_chip *chip, uint32_t net, uint32_t source_core,
                        const cm_offset *to_part, uint32_t count, uint64_t packets)
{
  bool xy = chip->routing == CM_ROUTING_XY;
  uint32_t core = source_core, axis = xy ? cm_chip_routers_x(chip) : cm_chip_routers_y(chip), branches = 0;
  uint32_t x = core % chip->width / chip->router_x, y = core / chip->width / chip->router_y;
  uint32_t own = xy ? x : y;
  int32_t ahead = 0, behind = 0;
  for (uint32_t k = 0; k < count; k++) {
    cm_offset to = to_part[k];
    int32_t trunk = xy ? to.x : to.y, branch = xy ? to.y : to.x;
    uint32_t length = (uint32_t)abs(trunk), reach = (uint32_t)abs(branch);
    ahead = trunk > ahead ? trunk : ahead;
    behind = trunk < behind ? trunk : behind;
    uint32_t at = trunk >= 0 ? (own + length) % axis : (own + axis - length) % axis;
    uint32_t *extent = s->extent + 2 * (size_t)at;
    if (s->stamp[at] != net + 1) {
      s->stamp[at] = net + 1;
      s->branch[branches++] = at;
      extent[0] = extent[1] = 0;
    }
    extent[branch < 0] = reach > extent[branch < 0] ? reach : extent[branch < 0];
  }
  book_tree_run(t, chip, xy, x, y, ahead, packets);
  book_tree_run(t, chip, xy, x, y, behind, packets);
  for (uint32_t k = 0; k < branches; k++) {
    uint32_t at = s->branch[k];
    for (uint32_t side = 0; side < 2; side++) {
      int32_t steps = (int32_t)s->extent[2 * (size_t)at + side];
      book_tree_run(t, chip, !xy, xy ? at : x, xy ? y : at, side == 0 ? steps : -steps, packets);
    }
  }
}

void cm_links_book_path(cm_link_tally *t, const cm_chip *chip, uint32_t source_core, uint32_t target_core, cm_offset to,
                        uint64_t packets)
{
  uint32_t width = chip->width, rx = chip->router_x, ry = chip->router_y;
  uint32_t sx = source_core % width / rx, sy = source_core / width / ry;
  uint32_t tx = target_core % width / rx, ty = target_core / width / ry;
  bool xy = chip->routing == CM_ROUTING_XY;
  book_along(t, true, sx, xy ? sy : ty, to.x, packets);
  book_along(t, false, xy ? tx : sx, sy, to.y, packets);
}

/* Turns differences into loads: direction[0] and [1] of `lines` lines of `length` links. NULL link_load: the most. */
static void fill_lines(uint64_t *const direction[2], uint32_t lines, uint32_t length,
                       size_t line_stride, size_t stride, const cm_direction names[2], double unit,
                       double *link_load, double *most)
{
  for (int side = 0; side < 2; side++)
    for (uint32_t line = 0; line < lines; line++) {
      uint64_t load = 0;
      for (uint32_t i = 0; i < length; i++) {
        load += direction[side][(size_t)line * (length + 1) + i];
        double value = (double)load / unit;
        if (link_load != NULL)
          link_load[(line * line_stride + i * stride) * CM_DIRECTIONS + names[side]] = value;
        *most = value > *most ? value : *most;
      }
    }
}

void cm_links_fill(const cm_link_tally *t, double unit, double *link_load, double *most)
{
  uint32_t x = t->window->width, y = t->window->height;
  fill_lines(t->row, y, x, x, 1, (const cm_direction[]){CM_EAST, CM_WEST}, unit, link_load, most);
  fill_lines(t->column, x, y, 1, x, (const cm_direction[]){CM_SOUTH, CM_NORTH}, unit, link_load, most);
}
