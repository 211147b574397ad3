/* Loads of links under the chip's own routing: a straight run of links is booked as two differences at its ends, and
 * the loads are their running sums. */
#include <stdlib.h>

#include "core/measure/link_tally.h"

cm_status cm_link_tally_new(const cm_window *window, cm_memory *memory, cm_link_tally *tally, cm_error *error)
{
  cm_link_tally t = {.window = window};
  size_t x = window->width, y = window->height;
  for (int side = 0; side < 2; side++)
    CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(t.row[side], (x + 1) * y), CM_ARRAY(t.column[side], (y + 1) * x)),
              cm_link_tally_free(&t));
  *tally = t;
  return CM_OK;
}

void cm_link_tally_free(cm_link_tally *tally)
{
  for (int side = 0; side < 2; side++)
    CM_FREE(tally->row[side], tally->column[side]);
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
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(s.extent, 2 * axis), CM_ARRAY(s.stamp, axis), CM_ARRAY(s.branch, axis)),
            cm_tree_scratch_free(&s));
  *scratch = s;
  return CM_OK;
}

void cm_tree_scratch_free(cm_tree_scratch *scratch)
{
  CM_FREE(scratch->extent, scratch->stamp, scratch->branch);
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
static void book_run(uint64_t *const direction[2], uint32_t line, uint32_t length, uint32_t from, int32_t steps, uint64_t packets)
{
  uint32_t count = (uint32_t)abs(steps);
  if (count == 0)
    return;
  uint32_t first = steps > 0 ? from : from + 1 >= count ? from + 1 - count : from + 1 + length - count;
  add_run(direction[steps < 0] + (size_t)line * (length + 1), length, first, count, packets);
}

/* A straight piece of a route: `steps` along one axis from router (x, y) on. */
typedef struct straight {
  bool along_x;
  uint32_t x, y;
  int32_t steps;
} straight;

static void book_straight(cm_link_tally *t, straight s, uint64_t packets)
{
  const cm_window *w = t->window;
  uint32_t column = cm_window_column(w, s.x), row = cm_window_row(w, s.y);
  if (s.along_x)
    book_run(t->row, row, w->width, column, s.steps, packets);
  else
    book_run(t->column, column, w->height, row, s.steps, packets);
}

/* Counts its links by kind, too. */
static void book_piece(cm_link_tally *t, const cm_chip *chip, straight s, uint64_t packets)
{
  if (s.steps == 0)
    return;
  uint32_t axis = s.along_x ? cm_chip_routers_x(chip) : cm_chip_routers_y(chip), from = s.along_x ? s.x : s.y;
  uint32_t count = (uint32_t)abs(s.steps), to = s.steps > 0 ? (from + count) % axis : (from + axis - count) % axis;
  uint32_t rx = chip->router_x, ry = chip->router_y, width = chip->width;
  cm_hops hops =
    cm_chip_hops(chip, s.y * ry * width + s.x * rx, (s.along_x ? s.y : to) * ry * width + (s.along_x ? to : s.x) * rx);
  t->east_west += (cm_wide)packets * hops.east_west;
  t->north_south += (cm_wide)packets * hops.north_south;
  t->die_to_die += (cm_wide)packets * hops.die_to_die;
  book_straight(t, s, packets);
}

void cm_links_book_tree(cm_link_tally *t, cm_tree_scratch *s, const cm_chip *chip, const cm_cast *cast, const cm_offset *to_part,
                        uint32_t count)
{
  bool xy = chip->routing == CM_ROUTING_XY;
  uint32_t core = cast->core, axis = xy ? cm_chip_routers_x(chip) : cm_chip_routers_y(chip), branches = 0;
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
    if (s->stamp[at] != cast->net + 1) {
      s->stamp[at] = cast->net + 1;
      s->branch[branches++] = at;
      extent[0] = extent[1] = 0;
    }
    extent[branch < 0] = reach > extent[branch < 0] ? reach : extent[branch < 0];
  }
  book_piece(t, chip, (straight){xy, x, y, ahead}, cast->packets);
  book_piece(t, chip, (straight){xy, x, y, behind}, cast->packets);
  for (uint32_t k = 0; k < branches; k++) {
    uint32_t at = s->branch[k];
    for (uint32_t side = 0; side < 2; side++) {
      int32_t steps = (int32_t)s->extent[2 * (size_t)at + side];
      book_piece(t, chip, (straight){!xy, xy ? at : x, xy ? y : at, side == 0 ? steps : -steps}, cast->packets);
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
  book_straight(t, (straight){true, sx, xy ? sy : ty, to.x}, packets);
  book_straight(t, (straight){false, xy ? tx : sx, sy, to.y}, packets);
}

/* All rows, or all columns: where routers of a line, and the lines, stand apart. */
typedef struct lines {
  uint64_t *const *difference; /* [2] of `count` lines of `length` links, both ways */
  uint32_t count, length;
  size_t line_stride, stride;
  cm_direction name[2];
} lines;

/* Turns differences into loads. NULL link_load: the most. */
static void fill_lines(const lines *of, double unit, double *link_load, double *most)
{
  for (int side = 0; side < 2; side++)
    for (uint32_t line = 0; line < of->count; line++) {
      uint64_t load = 0;
      for (uint32_t i = 0; i < of->length; i++) {
        load += of->difference[side][(size_t)line * (of->length + 1) + i];
        double value = (double)load / unit;
        if (link_load != NULL)
          link_load[(line * of->line_stride + i * of->stride) * CM_DIRECTIONS + of->name[side]] = value;
        *most = value > *most ? value : *most;
      }
    }
}

void cm_links_fill(const cm_link_tally *t, double unit, double *link_load, double *most)
{
  uint32_t x = t->window->width, y = t->window->height;
  fill_lines(&(lines){t->row, y, x, x, 1, {CM_EAST, CM_WEST}}, unit, link_load, most);
  fill_lines(&(lines){t->column, x, y, 1, x, {CM_SOUTH, CM_NORTH}}, unit, link_load, most);
}
