/* Chooses the free cores for one job (seed 0, step s7; SPEC MAP-7).
 *
 * A rectangle: one pass with a stack gives the tallest free rectangle of every width, hence every shape that
 * fits; the best shape is then looked for at every place with a table of sums. No rectangle: the smallest box
 * with enough free cores in it, by half perimeter, found by halving its height for every width that could
 * still win. What can fail: too few free cores, memory, a stop. */
#include "core/chip/region.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cm_region_free(cm_region *region)
{
  if (region == NULL)
    return;
  cm_free(region->cores);
  cm_free(region);
}

typedef struct search {
  const cm_chip *chip;
  const cm_occupancy *occupancy;
  uint32_t width, height;
  uint32_t count;       /* cores wanted */
  uint32_t *sums;       /* [(height + 1) * (width + 1)] free cores north-west of each corner */
  uint32_t *tallest;    /* [width + 2] height of the tallest free rectangle at least this wide */
  uint64_t largest;     /* cores of the largest free rectangle */
} search;

typedef struct box {
  uint32_t x, y, width, height;
} box;

static uint32_t divide_up(uint32_t a, uint32_t b)
{
  return (uint32_t)(((uint64_t)a + b - 1) / b);
}

static void fill_sums(search *s)
{
  size_t stride = (size_t)s->width + 1;
  for (uint32_t y = 0; y < s->height; y++) {
    const uint8_t *state = s->occupancy->state + (size_t)y * s->width;
    const uint32_t *above = s->sums + y * stride;
    uint32_t *row = s->sums + (y + 1) * stride, run = 0;
    for (uint32_t x = 0; x < s->width; x++) {
      run += state[x] == CM_CORE_FREE;
      row[x + 1] = above[x + 1] + run;
    }
  }
}

/* Every maximal free rectangle ends in some row; a stack of rising columns meets them all in one pass. */
static cm_status fill_tallest(search *s, cm_run *run, cm_error *error)
{
  uint32_t *column, *start, *rise;
  cm_status status = CM_OK;
  column = start = rise = NULL;
  if (CM_NEW(run->memory, column, (size_t)s->width + 1, error) != CM_OK ||
      CM_NEW(run->memory, start, (size_t)s->width + 1, error) != CM_OK ||
      CM_NEW(run->memory, rise, (size_t)s->width + 1, error) != CM_OK)
    status = error->status;
  for (uint32_t y = 0; status == CM_OK && y < s->height; y++) {
    const uint8_t *state = s->occupancy->state + (size_t)y * s->width;
    uint32_t depth = 0;
    for (uint32_t x = 0; x <= s->width; x++) {
      uint32_t h = 0, from = x; /* column [width] stays 0 and empties the stack */
      if (x < s->width)
        h = column[x] = state[x] == CM_CORE_FREE ? column[x] + 1 : 0;
      while (depth > 0 && rise[depth - 1] >= h) {
        depth--;
        uint32_t w = x - start[depth];
        if (rise[depth] > s->tallest[w])
          s->tallest[w] = rise[depth];
        if ((uint64_t)w * rise[depth] > s->largest)
          s->largest = (uint64_t)w * rise[depth];
        from = start[depth];
      }
      if (h > 0) {
        start[depth] = from;
        rise[depth++] = h;
      }
    }
  }
  for (uint32_t w = s->width; w > 0; w--)
    if (s->tallest[w + 1] > s->tallest[w])
      s->tallest[w] = s->tallest[w + 1];
  cm_free(column);
  cm_free(start);
  cm_free(rise);
  return status;
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

/* Looks for a place where a box of the shape of *found has `least` free cores: inside one die before across
 * dies, then northernmost, then westernmost. */
static bool find_place(const search *s, uint32_t least, box *found, bool *one_die)
{
  size_t stride = (size_t)s->width + 1;
  uint32_t w = found->width, h = found->height;
  bool hit = false;
  for (uint32_t y = 0; y + h <= s->height; y++) {
    const uint32_t *top = s->sums + y * stride, *bottom = top + h * stride;
    for (uint32_t x = 0; x + w <= s->width; x++) {
      if (bottom[x + w] - bottom[x] - top[x + w] + top[x] < least)
        continue;
      box here = {x, y, w, h};
      bool inside = in_one_die(s->chip, here);
      if (!hit || inside) {
        *found = here;
        *one_die = inside;
        hit = true;
      }
      if (inside)
        return true;
    }
  }
  return hit;
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

/* Of the best shape and its equals (at most the same turned by a quarter), the best place. */
static void settle(const search *s, uint32_t least, box *best)
{
  box turned = {0, 0, best->height, best->width};
  bool inside = false, turned_inside = false;
  (void)find_place(s, least, best, &inside); /* the caller knows that there is one */
  if (turned.width == best->width || turned.width > s->width || turned.height > s->height ||
      !find_place(s, least, &turned, &turned_inside))
    return;
  bool better = turned_inside != inside ? turned_inside
                : turned.y != best->y   ? turned.y < best->y
                : turned.x != best->x   ? turned.x < best->x
                                        : turned.width > best->width;
  if (better)
    *best = turned;
}

static bool find_rectangle(const search *s, box *best)
{
  bool found = false;
  for (uint32_t w = 1; w <= s->width; w++) {
    box shape = {0, 0, w, divide_up(s->count, w)};
    if (shape.height > s->tallest[w] || (found && compare_shape(shape, *best) >= 0))
      continue;
    *best = shape;
    found = true;
  }
  if (found)
    settle(s, best->width * best->height, best);
  return found;
}

/* The smallest box with enough free cores; there is one, as the whole chip has enough. */
static cm_status find_compact(const search *s, box *best, cm_run *run, cm_error *error)
{
  box found = {0, 0, s->width, s->height};
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
    cm_status status = cm_run_check(run, error);
    if (status != CM_OK)
      return status;
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
  settle(s, s->count, &found);
  *best = found;
  return CM_OK;
}

typedef struct ranked {
  uint32_t rank, core;
} ranked;

static int by_rank(const void *a, const void *b)
{
  const ranked *p = a, *q = b;
  if (p->rank != q->rank)
    return p->rank < q->rank ? -1 : 1;
  return p->core < q->core ? -1 : p->core > q->core;
}

static int by_core(const void *a, const void *b)
{
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return p < q ? -1 : p > q;
}

/* Takes exactly `count` free cores of the box: of a rectangle the surplus is left at the far corner (its last
 * row, from the east), of a ragged one far from the middle. */
static cm_status take_cores(const search *s, box b, bool rectangle, cm_run *run, uint32_t *cores, cm_error *error)
{
  if (rectangle) {
    for (uint32_t i = 0; i < s->count; i++)
      cores[i] = (b.y + i / b.width) * s->width + b.x + i % b.width;
    return CM_OK;
  }
  ranked *list;
  size_t found = 0;
  if (CM_NEW(run->memory, list, (size_t)b.width * b.height, error) != CM_OK)
    return error->status;
  for (uint32_t y = 0; y < b.height; y++)
    for (uint32_t x = 0; x < b.width; x++) {
      uint32_t core = (b.y + y) * s->width + b.x + x;
      if (s->occupancy->state[core] != CM_CORE_FREE)
        continue;
      /* Twice the distance from the middle of the box. */
      uint32_t dx = 2 * x + 1 > b.width ? 2 * x + 1 - b.width : b.width - 2 * x - 1;
      uint32_t dy = 2 * y + 1 > b.height ? 2 * y + 1 - b.height : b.height - 2 * y - 1;
      list[found++] = (ranked){dx + dy, core};
    }
  qsort(list, found, sizeof *list, by_rank);
  for (uint32_t i = 0; i < s->count; i++)
    cores[i] = list[i].core;
  qsort(cores, s->count, sizeof *cores, by_core);
  cm_free(list);
  return CM_OK;
}

static cm_status no_room(const search *s, uint32_t free_count, cm_error *error)
{
  uint32_t cores = s->width * s->height, broken = 0;
  for (uint32_t i = 0; i < cores; i++)
    broken += s->occupancy->state[i] == CM_CORE_BROKEN;
  uint32_t usable = cores - broken, missing = s->count - free_count;
  if (s->count <= usable)
    cm_fail(error, CM_NO_ROOM,
            "%" PRIu32 " cores are needed and %" PRIu32 " of the chip's %" PRIu32
            " are free (largest free rectangle: %" PRIu64 "); it would fit if %" PRIu32
            " taken cores were released",
            s->count, free_count, cores, s->largest, missing);
  else
    cm_fail(error, CM_NO_ROOM,
            "%" PRIu32 " cores are needed and %" PRIu32 " of the chip's %" PRIu32
            " are free (largest free rectangle: %" PRIu64 "); even with all cores released only %" PRIu32
            " can be used: it would fit on a chip with %" PRIu32 " more cores, or with larger cores",
            s->count, free_count, cores, s->largest, usable, s->count - usable);
  cm_error_figure(error, "needed", s->count);
  cm_error_figure(error, "free", free_count);
  cm_error_figure(error, "largest_free_rectangle", s->largest);
  cm_error_figure(error, "missing", missing);
  return CM_NO_ROOM;
}

static cm_status choose(search *s, cm_run *run, cm_region *region, cm_error *error)
{
  if (CM_NEW(run->memory, s->sums, ((size_t)s->width + 1) * ((size_t)s->height + 1), error) != CM_OK ||
      CM_NEW(run->memory, s->tallest, (size_t)s->width + 2, error) != CM_OK)
    return error->status;
  fill_sums(s);
  cm_status status = fill_tallest(s, run, error);
  if (status == CM_OK)
    status = cm_run_check(run, error);
  if (status != CM_OK)
    return status;
  uint32_t free_count = s->sums[((size_t)s->width + 1) * ((size_t)s->height + 1) - 1];
  if (s->count > free_count)
    return no_room(s, free_count, error);
  box best = {0, 0, 0, 0};
  region->rectangle = s->count == 0 || find_rectangle(s, &best);
  if (!region->rectangle && (status = find_compact(s, &best, run, error)) != CM_OK)
    return status;
  region->x0 = best.x;
  region->y0 = best.y;
  region->width = best.width;
  region->height = best.height;
  region->core_count = s->count;
  if (CM_NEW(run->memory, region->cores, s->count, error) != CM_OK)
    return error->status;
  return take_cores(s, best, region->rectangle, run, region->cores, error);
}

cm_status cm_region_choose(const cm_chip *chip, const cm_occupancy *occupancy, uint32_t count, cm_run *run,
                           cm_region **region, cm_error *error)
{
  cm_region *fresh;
  if (CM_NEW(run->memory, fresh, 1, error) != CM_OK)
    return error->status;
  search s = {.chip = chip, .occupancy = occupancy, .width = chip->width, .height = chip->height, .count = count};
  cm_status status = choose(&s, run, fresh, error);
  cm_free(s.sums);
  cm_free(s.tallest);
  if (status != CM_OK) {
    cm_region_free(fresh);
    return status;
  }
  *region = fresh;
  return CM_OK;
}
