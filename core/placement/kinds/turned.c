/* Eight ways to turn and mirror the box of the places, each shifted over the chip in whole routers. What can fail: memory, a stop. */
#include <math.h>
#include <string.h>

#include "core/chip/classes.h"
#include "core/chip/geometry.h"
#include "core/placement/kinds/pulls.h"

enum { TURNS = 8, SWAPPED = 4 };

static const double work_max = 1 << 27; /* looks at pulls and places */

typedef struct turning {
  const cm_chip *chip;
  const cm_pulls *pulls;
  const uint32_t *core;
  uint32_t parts;
  uint32_t x0, y0, width, height; /* of the box, in whole routers */
  uint32_t *pulled, pulled_count; /* parts with pulls */
} turning;

typedef struct turn {
  uint32_t how, x, y; /* the box stands there afterwards */
} turn;

static uint32_t width_of(const turning *w, const turn *t)
{
  return (t->how & SWAPPED) != 0 ? w->height : w->width;
}

static uint32_t height_of(const turning *w, const turn *t)
{
  return (t->how & SWAPPED) != 0 ? w->width : w->height;
}

static uint32_t turned(const turning *w, const turn *t, uint32_t core)
{
  uint32_t x = core % w->chip->width - w->x0, y = core / w->chip->width - w->y0;
  if ((t->how & 1) != 0)
    x = w->width - 1 - x;
  if ((t->how & 2) != 0)
    y = w->height - 1 - y;
  return (t->how & SWAPPED) != 0 ? (t->y + x) * w->chip->width + t->x + y : (t->y + y) * w->chip->width + t->x + x;
}

static void enclose(turning *w)
{
  const cm_chip *chip = w->chip;
  uint32_t x1 = 0, y1 = 0;
  w->x0 = w->y0 = UINT32_MAX;
  for (uint32_t p = 0; p < w->parts; p++) {
    const uint32_t x = w->core[p] % chip->width / chip->router_x, y = w->core[p] / chip->width / chip->router_y;
    w->x0 = x < w->x0 ? x : w->x0;
    w->y0 = y < w->y0 ? y : w->y0;
    x1 = x > x1 ? x : x1;
    y1 = y > y1 ? y : y1;
  }
  w->width = (x1 + 1 - w->x0) * chip->router_x;
  w->height = (y1 + 1 - w->y0) * chip->router_y;
  w->x0 *= chip->router_x;
  w->y0 *= chip->router_y;
}

/* What the pulls come to; INFINITY: not below `enough`, or a part would stand on a core that it may not have. */
static double pay(const turning *w, const turn *t, double enough)
{
  double sum = 0;
  for (uint32_t i = 0; i < w->pulled_count && sum < enough; i++)
    sum += cm_pull(w->pulls, w->pulled[i], turned(w, t, w->core[w->pulled[i]]));
  if (sum >= enough)
    return INFINITY;
  for (uint32_t p = 0; p < w->parts; p++) {
    const uint32_t to = turned(w, t, w->core[p]);
    if (!w->pulls->usable[to])
      return INFINITY;
  }
  return sum;
}

static cm_status search(const turning *w, turn *best, cm_run *run, cm_error *error)
{
  const cm_chip *chip = w->chip;
  const double tries = (double)TURNS * cm_chip_routers_x(chip) * cm_chip_routers_y(chip) * (w->pulls->first[w->parts] + w->parts);
  const uint32_t stride = (uint32_t)ceil(sqrt(fmax(1, tries / work_max)));
  double least = pay(w, best, INFINITY);
  for (uint32_t how = 0; how < TURNS; how++) {
    turn t = {.how = how};
    if (((how & SWAPPED) != 0 && chip->router_x != chip->router_y) || width_of(w, &t) > chip->width || height_of(w, &t) > chip->height)
      continue;
    for (t.y = 0; t.y + height_of(w, &t) <= chip->height; t.y += stride * chip->router_y) {
      for (t.x = 0; t.x + width_of(w, &t) <= chip->width; t.x += stride * chip->router_x) {
        const double here = pay(w, &t, least);
        if (here < least) {
          least = here;
          *best = t;
        }
      }
      CM_TRY(cm_run_check(run, error));
    }
  }
  return CM_OK;
}

/* What the ways between parts cost, and their pulls, in weight * units. */
static double cost_of(const cm_graph *parts, const cm_chip *chip, const cm_pulls *pulls, const uint32_t *core)
{
  const cm_hop_units units = cm_hop_units_of(chip);
  double sum = 0;
  for (uint32_t p = 0; p < parts->vertex_count; p++) {
    sum += 2 * cm_pull(pulls, p, core[p]);
    for (uint64_t i = parts->first[p]; i < parts->first[p + 1]; i++)
      sum += (double)parts->weight[i] * (double)cm_chip_both_ways(chip, &units, core[p], core[parts->neighbour[i]]);
  }
  return sum / 2;
}

/* Where the kinds of cores and the costs allow it. */
static cm_status take(const turning *w, const turn *best, const cm_graph *parts, cm_run *run, uint32_t *core, cm_error *error)
{
  uint32_t *made;
  bool same = true;
  CM_TRY(CM_NEW(run->memory, made, w->parts, error));
  for (uint32_t p = 0; p < w->parts; p++) {
    made[p] = turned(w, best, core[p]);
    same = same && cm_chip_kind_of(w->chip, made[p]) == cm_chip_kind_of(w->chip, core[p]);
  }
  if (same && cost_of(parts, w->chip, w->pulls, made) < cost_of(parts, w->chip, w->pulls, core))
    memcpy(core, made, w->parts * sizeof *core);
  cm_free(made);
  return CM_OK;
}

cm_status cm_turn_places(const cm_graph *parts, const cm_chip *chip, const cm_pulls *pulls, cm_run *run, uint32_t *core, cm_error *error)
{
  turning w = {.chip = chip, .pulls = pulls, .core = core, .parts = parts->vertex_count};
  if (w.parts == 0)
    return CM_OK;
  CM_TRY(CM_NEW(run->memory, w.pulled, w.parts, error));
  for (uint32_t p = 0; p < w.parts; p++)
    if (pulls->first[p] < pulls->first[p + 1])
      w.pulled[w.pulled_count++] = p;
  enclose(&w);
  turn best = {.x = w.x0, .y = w.y0};
  cm_status status = search(&w, &best, run, error);
  CM_THEN(status, take(&w, &best, parts, run, core, error));
  cm_free(w.pulled);
  return status;
}
