/* Looks for a box on a table of sums, which is filled row by row as far as the search comes.
 *
 * A rectangle: on a chip with room the shape that is best of all fits somewhere near the north-west corner. Where it does
 * not, one pass with a stack gives the tallest free rectangle of every width, hence every shape that fits. No rectangle:
 * the smallest box with enough free cores in it, by half perimeter, found by halving its height for every width that could
 * still win. What can fail: memory, a stop. */
#include "core/chip/region_box.h"

#include "core/chip/region_search.h"

typedef cm_box_search search;
typedef cm_box box;

static uint32_t divide_up(uint32_t a, uint32_t b)
{
  return (uint32_t)(((uint64_t)a + b - 1) / b);
}

/* Fills the sums down to a row. */
static cm_status fill_sums(search *s, uint32_t rows, cm_error *error)
{
  size_t stride = (size_t)s->width + 1;
  if (rows <= s->rows)
    return CM_OK;
  CM_TRY(cm_book_reserved(s->sums, (rows - s->rows) * stride * sizeof *s->sums, error));
  for (uint32_t y = s->rows; y < rows; y++) {
    const uint8_t *usable = s->usable + (size_t)y * s->width;
    const uint32_t *above = s->sums + y * stride;
    uint32_t *row = s->sums + (y + 1) * stride, run = 0;
    for (uint32_t x = 0; x < s->width; x++) {
      run += usable[x];
      row[x + 1] = above[x + 1] + run;
    }
  }
  s->rows = rows;
  return CM_OK;
}

static bool in_one_die(const cm_chip *chip, box b)
{
  return b.x / chip->die_width == (b.x + b.width - 1) / chip->die_width &&
         b.y / chip->die_height == (b.y + b.height - 1) / chip->die_height;
}

/* Half perimeter, then area: negative when a is the better shape. */
static int compare_shape(box a, box b)
{
  uint64_t p = (uint64_t)a.width + a.height, q = (uint64_t)b.width + b.height;
  if (p == q) {
    p = (uint64_t)a.width * a.height;
    q = (uint64_t)b.width * b.height;
  }
  return p < q ? -1 : p > q;
}

/* A shape and where it fits. */
typedef struct place {
  box box;
  bool found, one_die;
} place;

/* Looks for a place where a box of the shape of p->box has `least` free cores: inside one die before across dies, then
 * northernmost, then westernmost. */
static cm_status find_place(search *s, uint32_t least, place *p, cm_error *error)
{
  size_t stride = (size_t)s->width + 1;
  uint32_t w = p->box.width, h = p->box.height;
  bool fits_die = w <= s->chip->die_width && h <= s->chip->die_height;
  for (uint32_t y = 0; y + h <= s->height; y++) {
    CM_TRY(fill_sums(s, y + h, error));
    const uint32_t *top = s->sums + y * stride, *bottom = top + h * stride;
    for (uint32_t x = 0; x + w <= s->width; x++) {
      if (bottom[x + w] - bottom[x] - top[x + w] + top[x] < least)
        continue;
      box here = {x, y, w, h};
      bool inside = in_one_die(s->chip, here);
      if (!p->found || inside)
        *p = (place){here, true, inside};
      if (inside || !fits_die)
        return CM_OK;
    }
  }
  return CM_OK;
}

/* Whether some box of this shape holds `least` free cores; a plain loop that the compiler can vectorise. */
static bool shape_holds(const search *s, uint32_t w, uint32_t h, uint32_t least)
{
  size_t stride = (size_t)s->width + 1;
  for (uint32_t y = 0; y + h <= s->height; y++) {
    const uint32_t *top = s->sums + y * stride, *bottom = top + h * stride;
    uint32_t most = 0;
    for (uint32_t x = 0; x + w <= s->width; x++) {
      uint32_t inside = (bottom[x + w] - top[x + w]) - (bottom[x] - top[x]);
      most = inside > most ? inside : most;
    }
    if (most >= least)
      return true;
  }
  return false;
}

/* The best place of a shape and its equals (at most the same turned by a quarter). */
static cm_status settle(search *s, uint32_t least, box shape, place *best, cm_error *error)
{
  place straight = {.box = shape}, turned = {.box = {0, 0, shape.height, shape.width}};
  bool square = shape.width == shape.height, fits = shape.height <= s->width && shape.width <= s->height;
  if (find_place(s, least, &straight, error) != CM_OK ||
      (!square && fits && find_place(s, least, &turned, error) != CM_OK))
    return error->status;
  const box *a = &straight.box, *b = &turned.box;
  bool better = !straight.found                       ? true
                : turned.one_die != straight.one_die ? turned.one_die
                : b->y != a->y                       ? b->y < a->y
                : b->x != a->x                       ? b->x < a->x
                                                     : b->width > a->width;
  *best = turned.found && better ? turned : straight;
  return CM_OK;
}

/* The best shape of all rectangles that hold the cores, no higher than tallest [by width]; NULL: than the chip. */
static bool best_shape(const search *s, const uint32_t *tallest, box *best)
{
  bool found = false;
  for (uint32_t w = 1; w <= s->width; w++) {
    box shape = {0, 0, w, divide_up(s->count, w)};
    if (shape.height > (tallest != NULL ? tallest[w] : s->height) || (found && compare_shape(shape, *best) >= 0))
      continue;
    *best = shape;
    found = true;
  }
  return found;
}

static cm_status find_rectangle(search *s, cm_run *run, place *best, cm_error *error)
{
  box shape;
  uint32_t *tallest;
  uint64_t largest;
  best->found = false;
  if (!best_shape(s, NULL, &shape))
    return CM_OK;
  cm_status status = settle(s, shape.width * shape.height, shape, best, error);
  if (status != CM_OK || best->found)
    return status;
  CM_TRY(CM_NEW(run->memory, tallest, (size_t)s->width + 2, error));
  status = cm_tallest_rectangles((cm_core_map){s->usable, s->width, s->height}, run->memory, tallest, &largest, error);
  bool some = status == CM_OK && best_shape(s, tallest, &shape);
  cm_free(tallest);
  return some ? settle(s, shape.width * shape.height, shape, best, error) : status;
}

/* The smallest box with enough free cores; there is one, as the whole chip has enough. */
static cm_status find_compact(search *s, place *best, cm_run *run, cm_error *error)
{
  box found = {0, 0, s->width, s->height};
  CM_TRY(fill_sums(s, s->height, error));
  /* A near-square first gives a bound that spares most widths. */
  uint32_t low = 1, high = s->width > s->height ? s->width : s->height;
  while (low < high) {
    uint32_t side = low + (high - low) / 2;
    uint32_t w = side < s->width ? side : s->width, h = side < s->height ? side : s->height;
    if (shape_holds(s, w, h, s->count))
      high = side;
    else
      low = side + 1;
  }
  found.width = high < s->width ? high : s->width;
  found.height = high < s->height ? high : s->height;
  for (uint32_t w = 1; w <= s->width; w++) {
    CM_TRY(cm_run_check(run, error));
    uint64_t bound = (uint64_t)found.width + found.height;
    if (bound <= w)
      break;
    uint32_t least = divide_up(s->count, w);
    uint32_t most = bound - w < s->height ? (uint32_t)(bound - w) : s->height;
    if (least > most || !shape_holds(s, w, most, s->count))
      continue;
    while (least < most) {
      uint32_t h = least + (most - least) / 2;
      if (shape_holds(s, w, h, s->count))
        most = h;
      else
        least = h + 1;
    }
    box shape = {0, 0, w, most};
    if (compare_shape(shape, found) < 0)
      found = shape;
  }
  return settle(s, s->count, found, best, error);
}

cm_status cm_find_box(search *s, cm_run *run, box *best, bool *whole, cm_error *error)
{
  place found = {0};
  s->sums = cm_reserve(run->memory, ((size_t)s->width + 1) * ((size_t)s->height + 1), sizeof *s->sums, error);
  if (s->sums == NULL)
    return error->status;
  cm_status status = find_rectangle(s, run, &found, error);
  bool rectangle = found.found;
  CM_THEN_IF(status, !rectangle, find_compact(s, &found, run, error));
  CM_TRY(status);
  *best = found.box;
  *whole = rectangle;
  return CM_OK;
}
