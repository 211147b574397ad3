/* Along the axes of a mesh: beside a part, near the middle of three that it talks to, or, where the chip has no torus and a row of prices a
 * part has room, drawn from all exchanges by what each is expected to cost: prices of the part as they are, of the others as they were
 * when they were last visited. What can fail: memory. */
#include "core/placement/trees/tree_walk.h"

#include <math.h>

#include "base/order.h"

enum { SAMPLES = 256, CHANCES = 4096, CHANCE_BITS = 12, DRAWS_A_WORD = 5, GUIDED_MAX = 1 << 24 };

typedef struct point {
  int64_t x, y;
} point;

static point point_of(const cm_tree_walk *w, uint32_t core)
{
  return (point){core % w->chip->width, core / w->chip->width};
}

/* Number in the region of the core at a point, CM_NO_PART: none. */
static uint32_t number_at(const cm_tree_walk *w, point p)
{
  const cm_region *r = w->region;
  int64_t x = p.x - r->x0, y = p.y - r->y0;
  return x < 0 || y < 0 || x >= r->width || y >= r->height ? CM_NO_PART : w->number[(size_t)y * r->width + (size_t)x];
}

static void swap(cm_tree_walk *w, uint32_t u, uint32_t there)
{
  uint32_t v = w->occupant[there], here = w->seat[u];
  cm_trees_swap(w->trees, u, v, w->region->cores[there]);
  cm_tree_walk_seat(w, u, there);
  if (w->prices == NULL)
    return;
  w->at_home[u] = w->price[u * w->cells + w->cell[there]];
  if (v != CM_NO_PART)
    w->at_home[v] = w->price[v * w->cells + w->cell[here]];
}

static double look(cm_tree_walk *w, uint32_t u, uint32_t there)
{
  return (double)cm_trees_look(w->trees, u, w->occupant[there], w->region->cores[there]);
}

static bool by_chance(cm_tree_walk *w, double worse, double temperature)
{
  return worse <= 0 || worse <= temperature * w->chance[cm_random_next(&w->random) >> (64 - CHANCE_BITS)];
}

/* ---- proposals ---- */

/* A core to look at for u: beside its own, or near where three of its relatives are in the middle. */
static uint32_t propose(cm_tree_walk *w, uint32_t u)
{
  const uint32_t *core = w->trees->core;
  uint64_t bits = cm_random_next(&w->random);
  point p = point_of(w, core[u]);
  uint32_t reach = 1 + (bits & 1 && bits & 2);
  if (!(bits & 1)) {
    point a = point_of(w, core[cm_relative_part(w->trees->casts, &w->trees->inbound, &w->random, u)]), b = point_of(w, core[cm_relative_part(w->trees->casts, &w->trees->inbound, &w->random, u)]),
          c = point_of(w, core[cm_relative_part(w->trees->casts, &w->trees->inbound, &w->random, u)]);
    point to = {cm_middle(a.x, b.x, c.x), cm_middle(a.y, b.y, c.y)};
    p = bits & 4 ? (point){(p.x + to.x) / 2, (p.y + to.y) / 2} : to;
  }
  uint32_t side = 2 * reach + 1;
  p.x += (int64_t)((bits >> 8 & 0xffffff) * side >> 24) - reach;
  p.y += (int64_t)((bits >> 32 & 0xffffff) * side >> 24) - reach;
  return number_at(w, p);
}

static double typical(cm_tree_walk *w)
{
  double sum = 0, count = 0;
  for (uint32_t k = 0; k < SAMPLES; k++) {
    uint32_t u = (uint32_t)cm_random_below(&w->random, w->trees->casts->parts);
    uint64_t bits = cm_random_next(&w->random);
    point p = point_of(w, w->trees->core[u]);
    *(bits & 1 ? &p.x : &p.y) += bits & 2 ? 1 : -1;
    uint32_t there = number_at(w, p);
    if (there == CM_NO_PART || !cm_tree_walk_alike(w, w->seat[u], there))
      continue;
    sum += fabs(look(w, u, there));
    count++;
  }
  return count > 0 ? sum / count : 0;
}

/* ---- guided ---- */

/* Fresh prices of part u. */
static void price(cm_tree_walk *w, uint32_t u)
{
  int64_t *own = w->price + u * w->cells, least;
  cm_tree_prices_of(w->prices, u, own);
  least = own[0];
  for (size_t c = 1; c < w->cells; c++)
    least = own[c] < least ? own[c] : least;
  w->least[u] = least;
  w->at_home[u] = own[w->cell[w->seat[u]]];
}

/* The swap of u that is expected to cost least, or one that costs a little more: each with the chance that its cost has
 * at the temperature (an exponential race). */
static uint32_t draw(cm_tree_walk *w, uint32_t u, double temperature, double *expected)
{
  uint32_t here = w->seat[u], best = here;
  const int64_t *own = w->price + u * w->cells, *to_here = w->price + w->cell[here];
  uint64_t bits = cm_random_next(&w->random);
  double least = -temperature * w->drawn[bits >> (64 - CHANCE_BITS)];
  *expected = 0;
  for (uint32_t c = 0; c < w->region->core_count; c++, bits >>= CHANCE_BITS) {
    if (c % DRAWS_A_WORD == 0)
      bits = cm_random_next(&w->random);
    if (c == here || !cm_tree_walk_alike(w, here, c))
      continue;
    uint32_t v = w->occupant[c];
    int64_t change = own[w->cell[c]] - w->at_home[u];
    double luck = temperature * w->drawn[bits & (CHANCES - 1)];
    if (v != CM_NO_PART) { /* its row is looked up where the best of it could do */
      if ((double)(change + w->least[v] - w->at_home[v]) - luck >= least)
        continue;
      change += to_here[v * w->cells] - w->at_home[v];
    }
    if ((double)change - luck < least) {
      least = (double)change - luck;
      best = c;
      *expected = (double)change;
    }
  }
  return best;
}

static cm_status visit(cm_tree_walk *w, uint32_t u, double temperature, CM_UNUSED cm_error *error)
{
  double expected = 0;
  if (w->prices != NULL)
    price(w, u);
  uint32_t there = w->prices != NULL ? draw(w, u, temperature, &expected) : propose(w, u);
  if (there == CM_NO_PART || there == w->seat[u] || !cm_tree_walk_alike(w, w->seat[u], there))
    return CM_OK;
  double change = look(w, u, there);
  if (change < 0 || by_chance(w, change - fmax(expected, 0), temperature))
    swap(w, u, there);
  return CM_OK;
}

/* ---- making ---- */

/* Whether a row of prices a part has room. */
static bool is_guided(const cm_chip *chip, const cm_region *region, uint32_t parts)
{
  return !chip->torus_x && !chip->torus_y && (uint64_t)parts * region->width * region->height <= GUIDED_MAX;
}

static cm_status number_cores(cm_tree_walk *w, cm_error *error)
{
  const cm_region *r = w->region;
  size_t box = (size_t)r->width * r->height;
  cm_memory *memory = w->run->memory;
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(w->number, box), CM_ARRAY(w->chance, CHANCES), CM_ARRAY(w->drawn, CHANCES)));
  for (size_t i = 0; i < box; i++)
    w->number[i] = CM_NO_PART;
  for (uint32_t i = 0; i < r->core_count; i++) {
    point p = point_of(w, r->cores[i]);
    w->number[(size_t)(p.y - r->y0) * r->width + (size_t)(p.x - r->x0)] = i;
  }
  for (uint32_t i = 0; i < CHANCES; i++) {
    w->chance[i] = -log((i + 0.5) / CHANCES);
    w->drawn[i] = -log(w->chance[i]);
  }
  return CM_OK;
}

static cm_status find_guide(cm_tree_walk *w, uint32_t parts, cm_error *error)
{
  const cm_region *r = w->region;
  if (!is_guided(w->chip, r, parts))
    return CM_OK;
  CM_TRY(cm_tree_prices_new(w->trees, r, w->run, &w->prices, error));
  w->cells = (size_t)w->prices->lines * w->prices->places;
  CM_TRY(CM_NEW_ALL(w->run->memory, error, CM_ARRAY(w->cell, r->core_count), CM_ARRAY(w->price, parts * w->cells),
                    CM_ARRAY(w->least, parts), CM_ARRAY(w->at_home, parts)));
  for (uint32_t i = 0; i < r->core_count; i++)
    w->cell[i] = cm_tree_prices_cell(w->prices, r->cores[i]);
  for (uint32_t u = 0; u < parts; u++)
    price(w, u);
  return CM_OK;
}

static cm_status begin(cm_tree_walk *w, const uint32_t *core, cm_error *error)
{
  CM_TRY(number_cores(w, error));
  CM_TRY(cm_trees_new(w->casts, w->chip, core, w->run, &w->trees, error));
  return find_guide(w, w->casts->parts, error);
}

static double looked(CM_UNUSED const cm_tree_walk *w)
{
  return 0;
}

static int64_t sum(const cm_tree_walk *w)
{
  return cm_trees_sum(w->trees);
}

static cm_status cost_of(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, uint64_t *cost,
                         cm_error *error)
{
  cm_trees *trees;
  CM_TRY(cm_trees_new(casts, chip, core, run, &trees, error));
  *cost = (uint64_t)cm_trees_sum(trees) << trees->weight_shift;
  cm_trees_free(trees);
  return CM_OK;
}

/* Those of both parts of a swap, and every target of their own; guided, all targets of all casts for the prices, but a swap only now and
 * then. */
static double looks_of(const cm_casts *casts, const cm_place_task *task)
{
  double targets = (double)casts->first[casts->count], squares = 0, cells = task->region->width * (double)task->region->height;
  if (!is_guided(task->chip, task->region, casts->parts))
    return 4 * targets + casts->parts;
  for (uint32_t e = 0; e < casts->count; e++)
    squares += pow((double)(casts->first[e + 1] - casts->first[e]), 2);
  return 3 * targets + 0.08 * squares + casts->parts * (1 + 0.3 * cells);
}

const cm_tree_walk_kind cm_mesh_walk = {.cost = cost_of, .looks = looks_of, .begin = begin, .typical = typical, .visit = visit, .looked = looked, .sum = sum,
                                        .hot = 6, .cold = 0.15, .casts_min = 150, .starts_max = 4};
