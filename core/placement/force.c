#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/chip/geometry.h"
#include "core/placement/placement.h"

#define NOBODY UINT32_MAX

/* Cores along the sides of the squares that are looked at, or left out, as a whole. */
enum { TILE = 8 };

typedef struct vector {
  int64_t x, y;
} vector;

/* What no part on a square exceeds, of the lengths of their net forces and of their pulls. */
typedef struct tile {
  double force, pull;
} tile;

typedef struct field {
  const cm_graph *parts;
  const cm_chip *chip;
  const cm_region *region;
  cm_run *run;
  uint32_t *core;     /* [parts] */
  uint32_t *occupant; /* [box] part on each core of the region's box, NOBODY elsewhere */
  vector *force;      /* [parts] */
  double *strength;   /* [parts] its length */
  tile *tile;         /* [tiles] of the box, by row and column */
  double *bound;      /* [tiles] for a part that looks for a partner: what a swap with one there costs at least */
  uint32_t tiles_x;
  double looks;       /* at pairs of parts so far */
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

/* From one place of `size` in a row to another: on a ring the short way round, and straight on where both are as short, so
 * that the way back is the opposite. */
static int64_t way_along(int64_t from, int64_t to, int64_t size, bool ring)
{
  int64_t straight = to - from;
  if (!ring || 2 * llabs(straight) <= size)
    return straight;
  return straight > 0 ? straight - size : straight + size;
}

static vector way(const field *f, uint32_t from, uint32_t to)
{
  const cm_chip *c = f->chip;
  vector a = position(f, from), b = position(f, to);
  return (vector){way_along(a.x, b.x, cm_chip_routers_x(c), c->torus_x), way_along(a.y, b.y, cm_chip_routers_y(c), c->torus_y)};
}

/* Net force on part u if it stood on `here`, and part v, which does, where u does; v may be u. */
static vector force_at(const field *f, uint32_t u, uint32_t v, uint32_t here)
{
  vector sum = {0, 0};
  for (uint64_t i = f->parts->first[u]; i < f->parts->first[u + 1]; i++) {
    uint32_t other = f->parts->neighbour[i];
    vector there = way(f, here, f->core[other == v ? u : other]);
    int64_t weight = (int64_t)f->parts->weight[i];
    sum.x += weight * there.x;
    sum.y += weight * there.y;
  }
  return sum;
}

/* Net force on part u where it stands. */
static vector force_on(const field *f, uint32_t u)
{
  return force_at(f, u, u, f->core[u]);
}

/* Whether ways may lead round: a step then changes edges by different lengths. */
static bool has_rings(const field *f)
{
  return f->chip->torus_x || f->chip->torus_y;
}

/* The force on u after a step of `by`, made by a swap with a part that an edge of weight `tie` leads to: every edge is as
 * much shorter, but that one, which turns round. */
static vector force_after(const field *f, uint32_t u, vector by, int64_t tie)
{
  int64_t weight = f->pull[u] + tie;
  return (vector){f->force[u].x - weight * by.x, f->force[u].y - weight * by.y};
}

/* Change of the two net forces' lengths when u and v swap. O(1); with rings O(degree). */
static double swap_cost(const field *f, uint32_t u, uint32_t v)
{
  if (has_rings(f))
    return length(force_at(f, u, v, f->core[v])) - f->strength[u] + length(force_at(f, v, u, f->core[u])) - f->strength[v];
  vector from = position(f, f->core[u]), to = position(f, f->core[v]);
  vector there = {to.x - from.x, to.y - from.y}, back = {-there.x, -there.y};
  return length(force_after(f, u, there, f->tie[v])) - f->strength[u] +
         length(force_after(f, v, back, f->tie[v])) - f->strength[v];
}

/* The place of a core in the region's box, by row and column. */
static uint32_t place_of(const field *f, uint32_t core)
{
  uint32_t x = core % f->chip->width - f->region->x0, y = core / f->chip->width - f->region->y0;
  return y * f->region->width + x;
}

/* Brings up to date what is known of the force on part u. */
static void note(field *f, uint32_t u)
{
  uint32_t place = place_of(f, f->core[u]);
  tile *t = &f->tile[place / f->region->width / TILE * f->tiles_x + place % f->region->width / TILE];
  f->strength[u] = length(f->force[u]);
  t->force = fmax(t->force, f->strength[u]);
  t->pull = fmax(t->pull, (double)f->pull[u]);
}

/* The cores of the region's box, along one axis, that lie in the direction of `pull` from `from`: *first to *last; on a ring all do. */
static void span(int64_t pull, uint32_t from, uint32_t size, bool ring, uint32_t *first, uint32_t *last)
{
  *first = pull < 0 || ring ? 0 : from;
  *last = pull > 0 || ring ? size - 1 : from;
}

/* A box of cores in the region's box, both ends included. */
typedef struct box {
  uint32_t x0, x1, y0, y1;
} box;

/* The best partner so far. */
typedef struct partner {
  double cost;
  uint32_t part, place;
} partner;

static void consider(const field *f, uint32_t u, uint32_t place, partner *best)
{
  uint32_t v = f->occupant[place];
  double cost = v == NOBODY || v == u ? 0 : swap_cost(f, u, v);
  if (cost < best->cost || (cost == best->cost && best->part != NOBODY && v != NOBODY && v != u && place < best->place))
    *best = (partner){cost, v, place};
}

static double farther(double a, double b)
{
  return fabs(a) > fabs(b) ? fabs(a) : fabs(b);
}

/* What a swap of u with a part on a square that it is not tied to costs at least. After a step of `by` its force is its
 * pull times the way from there to where it would rest; the other's is shorter by its length, or its pull times the step,
 * at most. Nothing holds on rings. */
static double least_on(const field *f, uint32_t u, uint32_t x, uint32_t y)
{
  if (has_rings(f))
    return -INFINITY;
  const cm_region *r = f->region;
  const tile *t = &f->tile[y * f->tiles_x + x];
  uint32_t last_x = x * TILE + TILE < r->width ? x * TILE + TILE - 1 : r->width - 1;
  uint32_t last_y = y * TILE + TILE < r->height ? y * TILE + TILE - 1 : r->height - 1;
  vector here = position(f, f->core[u]);
  double west = (double)((r->x0 + x * TILE) / f->chip->router_x) - (double)here.x;
  double east = (double)((r->x0 + last_x) / f->chip->router_x) - (double)here.x;
  double north = (double)((r->y0 + y * TILE) / f->chip->router_y) - (double)here.y;
  double south = (double)((r->y0 + last_y) / f->chip->router_y) - (double)here.y;
  double pull = (double)f->pull[u], rest_x = (double)f->force[u].x / pull, rest_y = (double)f->force[u].y / pull;
  double off_x = fmax(0, fmax(west - rest_x, rest_x - east)), off_y = fmax(0, fmax(north - rest_y, rest_y - south));
  double far_x = farther(west, east), far_y = farther(north, south), far = sqrt(far_x * far_x + far_y * far_y);
  double own = pull * sqrt(off_x * off_x + off_y * off_y) - f->strength[u], others = fmin(t->force, t->pull * far);
  double rounding = 1e-12 * (pull * far + f->strength[u] + t->force + t->pull * far);
  return own - others - rounding;
}

/* Looks at all parts of a square that lie in the quadrant; where that is all of it, its bounds are made anew. */
static void look_at(field *f, uint32_t u, uint32_t x, uint32_t y, box quadrant, partner *best)
{
  uint32_t width = f->region->width, height = f->region->height;
  box all = {x * TILE, x * TILE + TILE < width ? x * TILE + TILE - 1 : width - 1, y * TILE,
             y * TILE + TILE < height ? y * TILE + TILE - 1 : height - 1};
  box b = {all.x0 > quadrant.x0 ? all.x0 : quadrant.x0, all.x1 < quadrant.x1 ? all.x1 : quadrant.x1,
           all.y0 > quadrant.y0 ? all.y0 : quadrant.y0, all.y1 < quadrant.y1 ? all.y1 : quadrant.y1};
  tile seen = {0, 0};
  f->looks += (double)(b.x1 - b.x0 + 1) * (b.y1 - b.y0 + 1);
  for (uint32_t j = b.y0; j <= b.y1; j++)
    for (uint32_t i = b.x0; i <= b.x1; i++) {
      uint32_t v = f->occupant[j * width + i];
      if (v == NOBODY)
        continue;
      seen.force = fmax(seen.force, f->strength[v]);
      seen.pull = fmax(seen.pull, (double)f->pull[v]);
      consider(f, u, j * width + i, best);
    }
  if (b.x0 == all.x0 && b.x1 == all.x1 && b.y0 == all.y0 && b.y1 == all.y1)
    f->tile[y * f->tiles_x + x] = seen;
}

/* The squares of the quadrant: the most promising one first, then those that may hold a better partner, in order. */
static void look_around(field *f, uint32_t u, box quadrant, partner *best)
{
  box t = {quadrant.x0 / TILE, quadrant.x1 / TILE, quadrant.y0 / TILE, quadrant.y1 / TILE};
  uint32_t first_x = t.x0, first_y = t.y0;
  double least = INFINITY;
  for (uint32_t y = t.y0; y <= t.y1; y++)
    for (uint32_t x = t.x0; x <= t.x1; x++) {
      double bound = f->bound[y * f->tiles_x + x] = least_on(f, u, x, y);
      if (bound < least) {
        least = bound;
        first_x = x;
        first_y = y;
      }
    }
  look_at(f, u, first_x, first_y, quadrant, best);
  for (uint32_t y = t.y0; y <= t.y1; y++)
    for (uint32_t x = t.x0; x <= t.x1; x++)
      if (f->bound[y * f->tiles_x + x] <= best->cost && (x != first_x || y != first_y))
        look_at(f, u, x, y, quadrant, best);
}

/* The best partner for u in the quadrant of the region that its force points to, the first by row and column of equals;
 * NOBODY when no swap lowers the forces. O(degree + cores of the quadrant), mostly O(degree + squares of the quadrant). */
static uint32_t find_partner(field *f, uint32_t u)
{
  vector pull = f->force[u];
  const cm_graph *parts = f->parts;
  box q;
  partner best = {0, NOBODY, 0};
  if (pull.x == 0 && pull.y == 0)
    return NOBODY;
  span(pull.x, f->core[u] % f->chip->width - f->region->x0, f->region->width, f->chip->torus_x, &q.x0, &q.x1);
  span(pull.y, f->core[u] / f->chip->width - f->region->y0, f->region->height, f->chip->torus_y, &q.y0, &q.y1);
  for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++)
    f->tie[parts->neighbour[i]] = (int64_t)parts->weight[i];
  for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++) { /* no bound holds for these */
    uint32_t place = place_of(f, f->core[parts->neighbour[i]]), x = place % f->region->width, y = place / f->region->width;
    if (x >= q.x0 && x <= q.x1 && y >= q.y0 && y <= q.y1)
      consider(f, u, place, &best);
  }
  look_around(f, u, q, &best);
  for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++)
    f->tie[parts->neighbour[i]] = 0;
  return best.part;
}

/* Moves part u to a core and brings the forces on it and its neighbours up to date. */
static void move(field *f, uint32_t u, uint32_t to)
{
  for (uint64_t i = f->parts->first[u]; i < f->parts->first[u + 1]; i++) {
    int64_t weight = (int64_t)f->parts->weight[i];
    uint32_t there = f->core[f->parts->neighbour[i]];
    vector before = way(f, there, f->core[u]), after = way(f, there, to);
    vector change = {weight * (after.x - before.x), weight * (after.y - before.y)};
    vector *force = &f->force[f->parts->neighbour[i]];
    force->x += change.x;
    force->y += change.y;
    f->force[u].x -= change.x;
    f->force[u].y -= change.y;
    note(f, f->parts->neighbour[i]);
  }
  f->core[u] = to;
  f->occupant[place_of(f, to)] = u;
  note(f, u);
}

/* A part and the length of its force when the round began. */
typedef struct ranked {
  double length;
  uint32_t part;
} ranked;

CM_ORDER(by_length, ranked, CM_FALLING(length) CM_RISING(part))

static double total_force(const field *f)
{
  double sum = 0;
  for (uint32_t u = 0; u < f->parts->vertex_count; u++)
    sum += f->strength[u];
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
    note(f, u);
  }
  result->force_before = total_force(f);
  for (; result->rounds < options->rounds_max; result->rounds++) {
    uint64_t swaps = result->swaps;
    for (uint32_t u = 0; u < n; u++)
      order[u] = (ranked){f->strength[u], u};
    qsort(order, n, sizeof *order, by_length);
    for (uint32_t i = 0; i < walked; i++) {
      uint32_t u = order[i].part, v = find_partner(f, u);
      if (v != NOBODY) {
        uint32_t core_u = f->core[u], core_v = f->core[v];
        move(f, u, core_v);
        move(f, v, core_u);
        result->swaps++;
      }
      CM_TRY(cm_run_check(f->run, error));
    }
    if (result->swaps == swaps || (options->looks_max > 0 && f->looks >= options->looks_max))
      break;
    CM_TRY(cm_run_progress(f->run, (double)result->rounds / options->rounds_max, -1, n, NAN, error));
  }
  result->force_after = total_force(f);
  return CM_OK;
}

cm_status cm_place_by_force(const cm_graph *parts, const cm_place_task *task, const cm_force_options *options, uint32_t *core,
                            cm_force_result *result, cm_error *error)
{
  field f = {.parts = parts, .chip = task->chip, .region = task->region, .run = task->run, .core = core};
  const cm_region *region = task->region;
  cm_memory *memory = task->run->memory;
  size_t cores = (size_t)region->width * region->height;
  f.tiles_x = (region->width + TILE - 1) / TILE;
  size_t tiles = (size_t)f.tiles_x * ((region->height + TILE - 1) / TILE);
  ranked *order = NULL;
  cm_force_result found = {0};
  cm_run_phase(task->run, "force");
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(f.occupant, cores), CM_ARRAY(f.force, parts->vertex_count),
                                CM_ARRAY(f.strength, parts->vertex_count), CM_ARRAY(f.tile, tiles), CM_ARRAY(f.bound, tiles),
                                CM_ARRAY(f.pull, parts->vertex_count), CM_ARRAY(f.tie, parts->vertex_count),
                                CM_ARRAY(order, parts->vertex_count));
  if (status == CM_OK) {
    for (size_t i = 0; i < cores; i++)
      f.occupant[i] = NOBODY;
    for (uint32_t u = 0; u < parts->vertex_count; u++)
      f.occupant[place_of(&f, core[u])] = u;
    status = refine(&f, options, order, &found, error);
  }
  CM_FREE(f.occupant, f.force, f.strength, f.tile, f.bound, f.pull, f.tie, order);
  CM_END(status, *result = found, );
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
  double sum = 0;
  for (uint32_t u = 0; u < parts->vertex_count; u++)
    for (uint64_t i = parts->first[u]; i < parts->first[u + 1]; i++)
      sum += cm_chip_way_pj(chip, (double)parts->weight[i], core[u], core[parts->neighbour[i]]);
  return sum / 2;
}
