/* Chooses the free cores for one job (source 0, step s7): a box (region_box.c) and compact sets, compared. What
 * can fail: too few free cores, memory, a stop. */
#include "core/chip/region.h"

#include <inttypes.h>

#include "base/order.h"
#include "core/chip/region_search.h"
#include "core/chip/reach.h"
#include "core/chip/region_box.h"

/* A box may cost so much more than the cheapest set and is still preferred. */
static const double box_worth = 1.02;

void cm_region_free(cm_region *region)
{
  if (region == NULL)
    return;
  CM_FREE(region->cores, region);
}

typedef cm_box_search search;

typedef struct ranked {
  uint32_t rank, core;
} ranked;

CM_ORDER(by_rank, ranked, CM_RISING(rank) CM_RISING(core))

void cm_region_enclose(const cm_chip *chip, const cm_occupancy *occupancy, cm_region *region)
{
  uint32_t x1 = 0, y1 = 0;
  region->x0 = region->y0 = region->core_count == 0 ? 0 : UINT32_MAX;
  for (uint32_t i = 0; i < region->core_count; i++) {
    uint32_t x = region->cores[i] % chip->width, y = region->cores[i] / chip->width;
    region->x0 = x < region->x0 ? x : region->x0;
    region->y0 = y < region->y0 ? y : region->y0;
    x1 = x + 1 > x1 ? x + 1 : x1;
    y1 = y + 1 > y1 ? y + 1 : y1;
  }
  region->width = x1 - region->x0;
  region->height = y1 - region->y0;
  region->rectangle = true;
  for (uint32_t y = region->y0; y < y1 && region->rectangle; y++)
    for (uint32_t x = region->x0; x < x1 && region->rectangle; x++)
      region->rectangle = occupancy->state[(size_t)y * chip->width + x] == CM_CORE_FREE;
}

/* Takes exactly `count` free cores of the box: of a rectangle the surplus is left at the far corner (its last
 * row, from the east), of a ragged one far from the middle. */
static cm_status take_cores(const search *s, cm_box b, bool rectangle, cm_run *run, uint32_t *cores, cm_error *error)
{
  if (rectangle) {
    for (uint32_t i = 0; i < s->count; i++)
      cores[i] = (b.y + i / b.width) * s->width + b.x + i % b.width;
    return CM_OK;
  }
  ranked *list;
  size_t found = 0;
  CM_TRY(CM_NEW(run->memory, list, (size_t)b.width * b.height, error));
  for (uint32_t y = 0; y < b.height; y++)
    for (uint32_t x = 0; x < b.width; x++) {
      uint32_t core = (b.y + y) * s->width + b.x + x;
      if (!s->usable[core])
        continue;
      /* Twice the distance from the middle of the box. */
      uint32_t dx = 2 * x + 1 > b.width ? 2 * x + 1 - b.width : b.width - 2 * x - 1;
      uint32_t dy = 2 * y + 1 > b.height ? 2 * y + 1 - b.height : b.height - 2 * y - 1;
      list[found++] = (ranked){dx + dy, core};
    }
  qsort(list, found, sizeof *list, by_rank);
  for (uint32_t i = 0; i < s->count; i++)
    cores[i] = list[i].core;
  qsort(cores, s->count, sizeof *cores, cm_ascending);
  cm_free(list);
  return CM_OK;
}

static cm_status no_room(const search *s, cm_memory *memory, cm_error *error)
{
  uint32_t *tallest;
  uint64_t largest = 0;
  CM_TRY(CM_NEW(memory, tallest, (size_t)s->width + 2, error));
  cm_status status = cm_tallest_rectangles((cm_core_map){s->usable, s->width, s->height}, memory, tallest, &largest, error);
  cm_free(tallest);
  CM_TRY(status);
  uint32_t free_count = s->usable_count, cut_off = cm_occupancy_free_count(s->occupancy) - s->usable_count;
  uint32_t cores = s->width * s->height, broken = 0;
  for (uint32_t i = 0; i < cores; i++)
    broken += s->occupancy->state[i] == CM_CORE_BROKEN;
  uint32_t usable = cores - broken, missing = s->count - free_count;
  if (s->count <= usable)
    cm_fail(error, CM_NO_ROOM,
            "%" PRIu32 " cores are needed and %" PRIu32 " of the chip's %" PRIu32
            " are free (largest free rectangle: %" PRIu64 "); it would fit if %" PRIu32
            " taken cores were released",
            s->count, free_count, cores, largest, missing);
  else
    cm_fail(error, CM_NO_ROOM,
            "%" PRIu32 " cores are needed and %" PRIu32 " of the chip's %" PRIu32
            " are free (largest free rectangle: %" PRIu64 "); even with all cores released only %" PRIu32
            " can be used: it would fit on a chip with %" PRIu32 " more cores, or with larger cores",
            s->count, free_count, cores, largest, usable, s->count - usable);
  if (cut_off > 0)
    cm_fail_more(error, "; %" PRIu32 " more are free, but dead links cut them off from these", cut_off);
  cm_error_figure(error, "needed", s->count);
  cm_error_figure(error, "free", free_count);
  cm_error_figure(error, "largest_free_rectangle", largest);
  cm_error_figure(error, "missing", missing);
  if (cut_off > 0)
    cm_error_figure(error, "cut_off", cut_off);
  return CM_NO_ROOM;
}

/* The seed's box. */
static cm_status choose(search *s, cm_run *run, cm_region *region, cm_error *error)
{
  cm_box best = {0, 0, 0, 0};
  CM_TRY(CM_NEW(run->memory, s->usable, (size_t)s->width * s->height, error));
  CM_TRY(cm_usable_cores(s->chip, s->occupancy, run->memory, s->usable, &s->usable_count, error));
  CM_TRY(cm_run_check(run, error));
  if (s->count > s->usable_count)
    return no_room(s, run->memory, error);
  region->rectangle = true;
  if (s->count > 0 && cm_find_box(s, run, &best, &region->rectangle, error) != CM_OK)
    return error->status;
  region->x0 = best.x;
  region->y0 = best.y;
  region->width = best.width;
  region->height = best.height;
  region->core_count = s->count;
  CM_TRY(CM_NEW(run->memory, region->cores, s->count, error));
  cm_status status = take_cores(s, best, region->rectangle, run, region->cores, error);
  return status == CM_OK ? cm_set_cost(s->chip, region->cores, s->count, run->memory, &region->cost, error) : status;
}

static void search_free(search *s)
{
  CM_FREE(s->usable, s->sums);
}

static cm_status choose_first(search *s, cm_run *run, cm_region **region, cm_error *error)
{
  cm_region *fresh;
  CM_TRY(CM_NEW(run->memory, fresh, 1, error));
  cm_status status = choose(s, run, fresh, error);
  CM_END(status, *region = fresh, cm_region_free(fresh));
}

static search search_of(const cm_chip *chip, const cm_occupancy *occupancy, uint32_t count)
{
  return (search){.chip = chip, .occupancy = occupancy, .width = chip->width, .height = chip->height, .count = count};
}

cm_status cm_region_choose(const cm_chip *chip, const cm_occupancy *occupancy, uint32_t count, cm_run *run,
                           cm_region **region, cm_error *error)
{
  search s = search_of(chip, occupancy, count);
  cm_status status = choose_first(&s, run, region, error);
  search_free(&s);
  return status;
}

/* ---- candidates ---- */

/* A region around a set of cores, which it takes over. */
static cm_status enclose(const search *s, uint32_t *cores, cm_run *run, cm_region **region, cm_error *error)
{
  cm_region *r;
  uint32_t x1 = 0, y1 = 0;
  CM_TRY_OR(CM_NEW(run->memory, r, 1, error), cm_free(cores));
  *r = (cm_region){.x0 = UINT32_MAX, .y0 = UINT32_MAX, .rectangle = true, .core_count = s->count, .cores = cores};
  for (uint32_t i = 0; i < s->count; i++) {
    uint32_t x = cores[i] % s->width, y = cores[i] / s->width;
    r->x0 = x < r->x0 ? x : r->x0;
    r->y0 = y < r->y0 ? y : r->y0;
    x1 = x > x1 ? x : x1;
    y1 = y > y1 ? y : y1;
  }
  r->width = x1 - r->x0 + 1;
  r->height = y1 - r->y0 + 1;
  for (uint32_t y = r->y0; y <= y1; y++)
    for (uint32_t x = r->x0; x <= x1; x++)
      r->rectangle = r->rectangle && s->usable[(size_t)y * s->width + x];
  CM_END(cm_set_cost(s->chip, cores, s->count, run->memory, &r->cost, error), *region = r, cm_region_free(r));
}

/* The box first where it costs next to nothing more: it leaves the chip less ragged. */
static void order_candidates(cm_region **region, uint32_t found)
{
  cm_region *first = region[0];
  uint32_t at = 0;
  if (found > 1 && first->cost > region[1]->cost * box_worth)
    while (at + 1 < found && region[at + 1]->cost < first->cost) {
      region[at] = region[at + 1];
      at++;
    }
  region[at] = first;
}

static bool same_cores(const cm_region *a, const uint32_t *cores)
{
  return memcmp(a->cores, cores, a->core_count * sizeof *cores) == 0;
}

static cm_status add_compact(search *s, uint32_t most, cm_run *run, cm_region **region, uint32_t *found,
                             cm_error *error)
{
  cm_core_sets sets = {.capacity = most, .cores = s->count};
  CM_TRY(CM_NEW(run->memory, sets.set, most, error));
  cm_status status = cm_region_search(s->chip, s->usable, region[0]->cores, run, &sets, error);
  for (uint32_t i = 0; i < sets.count; i++) {
    if (status != CM_OK || *found == most || same_cores(region[0], sets.set[i]))
      cm_free(sets.set[i]);
    else if ((status = enclose(s, sets.set[i], run, &region[*found], error)) == CM_OK)
      ++*found;
  }
  cm_free(sets.set);
  return status;
}

cm_status cm_region_candidates(const cm_chip *chip, const cm_occupancy *occupancy, uint32_t count, uint32_t most,
                               cm_run *run, cm_region **regions, uint32_t *found, cm_error *error)
{
  search s = search_of(chip, occupancy, count);
  cm_region **list;
  uint32_t have = 0, room = most > 1 ? most : 2; /* a single one is the better of box and compact set */
  CM_TRY(CM_NEW(run->memory, list, room, error));
  cm_status status = choose_first(&s, run, &list[0], error);
  have = status == CM_OK;
  CM_THEN_IF(status, count > 1, add_compact(&s, room, run, list, &have, error));
  if (status == CM_OK)
    order_candidates(list, have);
  for (uint32_t i = 0; i < have; i++) {
    if (status == CM_OK && i < most)
      regions[i] = list[i];
    else
      cm_region_free(list[i]);
  }
  if (status == CM_OK)
    *found = have < most ? have : most;
  cm_free(list);
  search_free(&s);
  return status;
}
