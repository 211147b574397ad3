#include "core/placement/trees/tree_walk.h"

#include <math.h>

#include "core/partition/options.h"

enum { CHANCES = 4096, CHANCE_BITS = 12, DRAWS_A_WORD = 5, GUIDED_MAX = 1 << 24 };

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
  w->occupant[there] = u;
  w->occupant[here] = v;
  w->seat[u] = there;
  if (v != CM_NO_PART)
    w->seat[v] = here;
  w->swaps++;
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

static int64_t middle(int64_t a, int64_t b, int64_t c)
{
  int64_t low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}

/* Whether two cores of the region are of one kind, so that parts may change between them. */
static bool alike(const cm_tree_walk *w, uint32_t a, uint32_t b)
{
  return w->chip->class_of == NULL || w->chip->class_of[w->region->cores[a]] == w->chip->class_of[w->region->cores[b]];
}

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
    point to = {middle(a.x, b.x, c.x), middle(a.y, b.y, c.y)};
    p = bits & 4 ? (point){(p.x + to.x) / 2, (p.y + to.y) / 2} : to;
  }
  uint32_t side = 2 * reach + 1;
  p.x += (int64_t)((bits >> 8 & 0xffffff) * side >> 24) - reach;
  p.y += (int64_t)((bits >> 32 & 0xffffff) * side >> 24) - reach;
  return number_at(w, p);
}

double cm_tree_walk_typical(cm_tree_walk *w, uint32_t samples)
{
  double sum = 0, count = 0;
  for (uint32_t k = 0; k < samples; k++) {
    uint32_t u = (uint32_t)cm_random_below(&w->random, w->trees->casts->parts);
    uint64_t bits = cm_random_next(&w->random);
    point p = point_of(w, w->trees->core[u]);
    *(bits & 1 ? &p.x : &p.y) += bits & 2 ? 1 : -1;
    uint32_t there = number_at(w, p);
    if (there == CM_NO_PART || !alike(w, w->seat[u], there))
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
    if (c == here || !alike(w, here, c))
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

void cm_tree_walk_visit(cm_tree_walk *w, uint32_t u, double temperature)
{
  double expected = 0;
  if (w->prices != NULL)
    price(w, u);
  uint32_t there = w->prices != NULL ? draw(w, u, temperature, &expected) : propose(w, u);
  if (there == CM_NO_PART || there == w->seat[u] || !alike(w, w->seat[u], there))
    return;
  double change = look(w, u, there);
  if (change < 0 || by_chance(w, change - fmax(expected, 0), temperature))
    swap(w, u, there);
}

/* ---- making ---- */

bool cm_tree_walk_guided(const cm_chip *chip, const cm_region *region, uint32_t parts)
{
  return !chip->torus_x && !chip->torus_y && (uint64_t)parts * region->width * region->height <= GUIDED_MAX;
}

static cm_status sit(cm_tree_walk *w, const uint32_t *core, uint32_t parts, cm_error *error)
{
  const cm_region *r = w->region;
  size_t box = (size_t)r->width * r->height;
  cm_memory *memory = w->run->memory;
  if (CM_NEW(memory, w->number, box, error) != CM_OK || CM_NEW(memory, w->occupant, r->core_count, error) != CM_OK ||
      CM_NEW(memory, w->seat, parts, error) != CM_OK || CM_NEW(memory, w->chance, CHANCES, error) != CM_OK ||
      CM_NEW(memory, w->drawn, CHANCES, error) != CM_OK)
    return error->status;
  for (size_t i = 0; i < box; i++)
    w->number[i] = CM_NO_PART;
  for (uint32_t i = 0; i < r->core_count; i++) {
    point p = point_of(w, r->cores[i]);
    w->number[(size_t)(p.y - r->y0) * r->width + (size_t)(p.x - r->x0)] = i;
    w->occupant[i] = CM_NO_PART;
  }
  for (uint32_t u = 0; u < parts; u++) {
    w->seat[u] = number_at(w, point_of(w, core[u]));
    w->occupant[w->seat[u]] = u;
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
  if (!cm_tree_walk_guided(w->chip, r, parts))
    return CM_OK;
  if (cm_tree_prices_new(w->trees, r, w->run, &w->prices, error) != CM_OK)
    return error->status;
  w->cells = (size_t)w->prices->lines * w->prices->places;
  if (CM_NEW(w->run->memory, w->cell, r->core_count, error) != CM_OK ||
      CM_NEW(w->run->memory, w->price, parts * w->cells, error) != CM_OK ||
      CM_NEW(w->run->memory, w->least, parts, error) != CM_OK ||
      CM_NEW(w->run->memory, w->at_home, parts, error) != CM_OK)
    return error->status;
  for (uint32_t i = 0; i < r->core_count; i++)
    w->cell[i] = cm_tree_prices_cell(w->prices, r->cores[i]);
  for (uint32_t u = 0; u < parts; u++)
    price(w, u);
  return CM_OK;
}

cm_status cm_tree_walk_new(const cm_casts *casts, const cm_place_task *task, const uint32_t *core, uint64_t stream,
                           cm_tree_walk **walk, cm_error *error)
{
  cm_tree_walk *w;
  if (CM_NEW(task->run->memory, w, 1, error) != CM_OK)
    return error->status;
  w->run = task->run;
  w->chip = task->chip;
  w->region = task->region;
  cm_random_init(&w->random, task->seed, CM_STREAM_TREES, stream);
  cm_status status = sit(w, core, casts->parts, error);
  if (status == CM_OK)
    status = cm_trees_new(casts, w->chip, core, w->run, &w->trees, error);
  if (status == CM_OK)
    status = find_guide(w, casts->parts, error);
  if (status != CM_OK) {
    cm_tree_walk_free(w);
    return status;
  }
  *walk = w;
  return CM_OK;
}

void cm_tree_walk_free(cm_tree_walk *w)
{
  if (w == NULL)
    return;
  cm_free(w->number);
  cm_free(w->seat);
  cm_free(w->occupant);
  cm_free(w->chance);
  cm_free(w->drawn);
  cm_tree_prices_free(w->prices);
  cm_free(w->cell);
  cm_free(w->price);
  cm_free(w->least);
  cm_free(w->at_home);
  cm_trees_free(w->trees);
  cm_free(w);
}
