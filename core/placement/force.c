#include <math.h>
#include <stdlib.h>

#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"
#include "core/placement/placement.h"

#define NOBODY UINT32_MAX

typedef struct vector {
  int64_t x, y;
} vector;

typedef struct field {
  const cm_graph *parts;
  const cm_chip *chip;
  const cm_region *region;
  cm_run *run;
  uint32_t *core;     /* [parts] */
  uint32_t *occupant; /* [box] part on each core of the region's box, NOBODY elsewhere */
  vector *force;      /* [parts] */
  int64_t *pull;      /* [parts] weight of all edges of a part */
  int64_t *tie;       /* [parts] weight of the edge to the part that looks for a partner; 0 between two looks */
} field;

static double length(vector f)
{
  return sqrt((double)f.x * (double)f.x + (double)f.y * (double)f.y);
}

static vector position(const field *f, uint32_t core)
{
  return (vector){core % f->chip->width / f->chip->router_x, core / f->chip->width / f->chip->router_y};
}

/* Net force on part u where it stands. */
static vector force_on(const field *f, uint32_t u)
{
  vector here = position(f, f->core[u]), sum = {0, 0};
  for (uint64_t i = f->parts->first[u]; i < f->parts->first[u + 1]; i++) {
    vector there = position(f, f->core[f->parts->neighbour[i]]);
    int64_t weight = (int64_t)f->parts->weight[i];
    sum.x += weight * (there.x - here.x);
    sum.y += weight * (there.y - here.y);
  }
  return sum;
}

/* The force on u after a step of `by`, made by a swap with a part that an edge of weight `tie` leads to: every edge is as
 * much shorter, but that one, which turns round. */
static vector force_after(const field *f, uint32_t u, vector by, int64_t tie)
{
  int64_t weight = f->pull[u] + tie;
  return (vector){f->force[u].x - weight * by.x, f->force[u].y - weight * by.y};
}

/* Change of the two net forces' lengths when u and v swap. O(1). */
static double swap_cost(const field *f, uint32_t u, uint32_t v)
{
  vector from = position(f, f->core[u]), to = position(f, f->core[v]);
  vector there = {to.x - from.x, to.y - from.y}, back = {-there.x, -there.y};
  return length(force_after(f, u, there, f->tie[v])) - length(f->force[u]) +
         length(force_after(f, v, back, f->tie[v])) - length(f->force[v]);
}

static uint32_t *occupant_at(const field *f, uint32_t core)
{
  uint32_t x = core % f->chip->width - f->region->x0, y = core / f->chip->width - f->region->y0;
  return &f->occupant[(size_t)y * f->region->width + x];
}

/* The cores of the region's box, along one axis, that lie in the direction of `pull` from `from`: *first to *last. */
static void span(int64_t pull, uint32_t from, uint32_t size, uint32_t *first, uint32_t *last)
{
  *first = pull < 0 ? 0 : from;
  *last = pull > 0 ? size - 1 : from;
}

/* The best partner for u in the quadrant of the region that its force points to; NOBODY when no swap lowers the forces.
 * O(degree + cores of the quadrant). */
static uint32_t find_partner(const field *f, uint32_t u)
{
  vector pull = f->force[u];
  const cm_graph *parts = f->parts;
  uint32_t x0, x1, y0, y1, best = NOBODY;
  double least = 0;
  if (pull.x == 0 && pull.y == 0)
    return NOBODY;
  span(pull.x, f->core[u] % f->chip->width - f->region->x0, f->region->width, &x0, &x1);
  span(pull.y, f->core[u] / f->chip->width - f->region->y0, f->region->height, &y0, &y1);
  for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++)
    f->tie[parts->neighbour[i]] = (int64_t)parts->weight[i];
  for (uint32_t y = y0; y <= y1; y++)
    for (uint32_t x = x0; x <= x1; x++) {
      uint32_t v = f->occupant[(size_t)y * f->region->width + x];
      double cost = v == NOBODY || v == u ? 0 : swap_cost(f, u, v);
      if (cost < least) {
        least = cost;
        best = v;
      }
    }
  for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++)
    f->tie[parts->neighbour[i]] = 0;
  return best;
}

/* Moves part u to a core and brings the forces on it and its neighbours up to date. */
static void move(field *f, uint32_t u, uint32_t to)
{
  vector from = position(f, f->core[u]), there = position(f, to);
  for (uint64_t i = f->parts->first[u]; i < f->parts->first[u + 1]; i++) {
    int64_t weight = (int64_t)f->parts->weight[i];
    vector change = {weight * (there.x - from.x), weight * (there.y - from.y)};
    vector *force = &f->force[f->parts->neighbour[i]];
    force->x += change.x;
    force->y += change.y;
    f->force[u].x -= change.x;
    f->force[u].y -= change.y;
  }
  f->core[u] = to;
  *occupant_at(f, to) = u;
}

/* A part and the length of its force when the round began. */
typedef struct ranked {
  double length;
  uint32_t part;
} ranked;

static int by_length(const void *a, const void *b)
{
  const ranked *x = a, *y = b;
  if (x->length != y->length)
    return x->length > y->length ? -1 : 1;
  return x->part < y->part ? -1 : x->part > y->part;
}

static double total_force(const field *f)
{
  double sum = 0;
  for (uint32_t u = 0; u < f->parts->vertex_count; u++)
    sum += length(f->force[u]);
  return sum;
}

static cm_status refine(field *f, const cm_force_options *options, ranked *order, cm_force_result *result,
                        cm_error *error)
{
  uint32_t n = f->parts->vertex_count;
  uint32_t walked = (uint32_t)ceil(options->share * n);
  for (uint32_t u = 0; u < n; u++) {
    f->force[u] = force_on(f, u);
    for (uint64_t i = f->parts->first[u]; i < f->parts->first[u + 1]; i++)
      f->pull[u] += (int64_t)f->parts->weight[i];
  }
  result->force_before = total_force(f);
  for (; result->rounds < options->rounds_max; result->rounds++) {
    uint64_t swaps = result->swaps;
    for (uint32_t u = 0; u < n; u++)
      order[u] = (ranked){length(f->force[u]), u};
    qsort(order, n, sizeof *order, by_length);
    for (uint32_t i = 0; i < walked; i++) {
      uint32_t u = order[i].part, v = find_partner(f, u);
      if (v != NOBODY) {
        uint32_t core_u = f->core[u], core_v = f->core[v];
        move(f, u, core_v);
        move(f, v, core_u);
        result->swaps++;
      }
      if (cm_run_check(f->run, error) != CM_OK)
        return error->status;
    }
    if (result->swaps == swaps)
      break;
    if (cm_run_progress(f->run, (double)result->rounds / options->rounds_max, -1, n, NAN, error) != CM_OK)
      return error->status;
  }
  result->force_after = total_force(f);
  return CM_OK;
}

cm_status cm_place_by_force(const cm_graph *parts, const cm_chip *chip, const cm_region *region,
                            const cm_force_options *options, cm_run *run, uint32_t *core,
                            cm_force_result *result, cm_error *error)
{
  field f = {.parts = parts, .chip = chip, .region = region, .run = run, .core = core};
  size_t box = (size_t)region->width * region->height;
  ranked *order = NULL;
  cm_force_result found = {0};
  cm_run_phase(run, "force");
  cm_status status = CM_NEW(run->memory, f.occupant, box, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, f.force, parts->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, f.pull, parts->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, f.tie, parts->vertex_count, error);
  if (status == CM_OK)
    status = CM_NEW(run->memory, order, parts->vertex_count, error);
  if (status == CM_OK) {
    for (size_t i = 0; i < box; i++)
      f.occupant[i] = NOBODY;
    for (uint32_t u = 0; u < parts->vertex_count; u++)
      *occupant_at(&f, core[u]) = u;
    status = refine(&f, options, order, &found, error);
  }
  cm_free(f.occupant);
  cm_free(f.force);
  cm_free(f.pull);
  cm_free(f.tie);
  cm_free(order);
  if (status == CM_OK)
    *result = found;
  return status;
}

uint64_t cm_placement_traffic(const cm_graph *parts, const cm_chip *chip, const uint32_t *core)
{
  uint64_t sum = 0;
  for (uint32_t u = 0; u < parts->vertex_count; u++)
    for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++)
      sum += parts->weight[i] * cm_chip_distance(chip, core[u], core[parts->neighbour[i]]);
  return sum / 2;
}

double cm_placement_energy(const cm_graph *parts, const cm_chip *chip, const uint32_t *core)
{
  const cm_hop_cost *e = &chip->energy_pj;
  double sum = 0;
  for (uint32_t u = 0; u < parts->vertex_count; u++)
    for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++) {
      if (chip->interconnect != NULL) {
        sum += (double)parts->weight[i] * chip->interconnect->unit_pj *
               cm_interconnect_units(chip->interconnect, cm_router_of(chip, core[u]), cm_router_of(chip, core[parts->neighbour[i]]));
        continue;
      }
      cm_hops h = cm_chip_hops(chip, core[u], core[parts->neighbour[i]]);
      double hops = (double)h.east_west + h.north_south + h.die_to_die;
      sum += (double)parts->weight[i] * (hops * e->router + h.east_west * e->east_west +
                                         h.north_south * e->north_south + h.die_to_die * e->die_to_die);
    }
  return sum / 2;
}
