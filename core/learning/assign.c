/* Free cores are kept by router and found by rows: in each row of routers two disjoint-set forests lead from a column
 * to the next one east and west of it, itself included, that has a free core left. */
#include "core/learning/assign.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

enum { NOWHERE = UINT32_MAX };

typedef struct finder {
  const cm_chip *chip;
  cm_distance distance;
  uint32_t routers_x, routers_y;
  uint32_t *east, *west; /* [routers_y * (routers_x + 1)] next column with a free core; the end of a row: none */
  uint32_t *first;       /* [routers + 2] free cores of each router in `core` */
  uint32_t *core;        /* [free_count] */
  uint32_t *left;        /* [routers] cores still free: the last of its row */
} finder;

static void finder_free(finder *f)
{
  cm_free(f->east);
  cm_free(f->west);
  cm_free(f->first);
  cm_free(f->core);
  cm_free(f->left);
}

static uint32_t router_of(const finder *f, uint32_t core)
{
  return core / f->chip->width / f->chip->router_y * f->routers_x + core % f->chip->width / f->chip->router_x;
}

/* Column x of `east` is x itself or further east; column x + 1 of `west` stands for x, 0 for none. */
static void finder_fill(finder *f, const uint32_t *free_core, uint32_t count)
{
  uint32_t routers = f->routers_x * f->routers_y;
  for (uint32_t i = 0; i < count; i++)
    f->first[router_of(f, free_core[i]) + 2]++;
  for (uint32_t r = 2; r <= routers + 1; r++)
    f->first[r] += f->first[r - 1];
  for (uint32_t i = 0; i < count; i++)
    f->core[f->first[router_of(f, free_core[i]) + 1]++] = free_core[i];
  for (uint32_t r = 0; r < routers; r++) {
    f->left[r] = f->first[r + 1] - f->first[r];
    qsort(f->core + f->first[r], f->left[r], sizeof *f->core, cm_ascending);
  }
  for (uint32_t y = 0; y < f->routers_y; y++) {
    uint32_t *east = f->east + (size_t)y * (f->routers_x + 1), *west = f->west + (size_t)y * (f->routers_x + 1);
    east[f->routers_x] = f->routers_x;
    for (uint32_t x = 0; x < f->routers_x; x++) {
      bool some = f->left[y * f->routers_x + x] > 0;
      east[x] = some ? x : x + 1;
      west[x + 1] = some ? x + 1 : x;
    }
  }
}

static cm_status finder_new(const cm_assign_task *task, cm_memory *memory, finder *made, cm_error *error)
{
  const cm_chip *chip = task->chip;
  finder f = {
    .chip = chip, .distance = task->distance, .routers_x = cm_chip_routers_x(chip), .routers_y = cm_chip_routers_y(chip)};
  size_t routers = (size_t)f.routers_x * f.routers_y, places = (size_t)f.routers_y * (f.routers_x + 1);
  if (CM_NEW(memory, f.east, places, error) != CM_OK || CM_NEW(memory, f.west, places, error) != CM_OK ||
      CM_NEW(memory, f.first, routers + 2, error) != CM_OK || CM_NEW(memory, f.core, task->free_count, error) != CM_OK ||
      CM_NEW(memory, f.left, routers, error) != CM_OK) {
    finder_free(&f);
    return error->status;
  }
  finder_fill(&f, task->free_core, task->free_count);
  *made = f;
  return CM_OK;
}

/* The root of a place, halving the way to it. */
static uint32_t root(uint32_t *forest, uint32_t at)
{
  while (forest[at] != at) {
    forest[at] = forest[forest[at]];
    at = forest[at];
  }
  return at;
}

/* Takes the lowest free core behind a router. */
static uint32_t take(finder *f, uint32_t router)
{
  uint32_t x = router % f->routers_x;
  size_t row = (size_t)(router / f->routers_x) * (f->routers_x + 1);
  uint32_t core = f->core[f->first[router + 1] - f->left[router]];
  if (--f->left[router] == 0) {
    f->east[row + x] = x + 1;
    f->west[row + x + 1] = x;
  }
  return core;
}

/* Takes this very core, if it is free. */
static bool take_core(finder *f, uint32_t core)
{
  uint32_t router = router_of(f, core), end = f->first[router + 1], at = end - f->left[router];
  while (at < end && f->core[at] != core)
    at++;
  if (at == end)
    return false;
  memmove(f->core + end - f->left[router] + 1, f->core + end - f->left[router],
          (at - (end - f->left[router])) * sizeof *f->core);
  f->core[end - f->left[router]] = core;
  (void)take(f, router);
  return true;
}

typedef struct nearest {
  uint64_t length; /* or its square */
  uint32_t router;
} nearest;

static void offer(const finder *f, nearest *best, uint32_t dx, uint32_t dy, uint32_t router)
{
  uint64_t length = f->distance == CM_DISTANCE_MANHATTAN ? (uint64_t)dx + dy : (uint64_t)dx * dx + (uint64_t)dy * dy;
  if (best->router == NOWHERE || length < best->length || (length == best->length && router < best->router))
    *best = (nearest){length, router};
}

static void look_in_row(finder *f, nearest *best, uint32_t x, uint32_t y, uint32_t dy)
{
  size_t row = (size_t)y * (f->routers_x + 1);
  uint32_t *east = f->east + row, *west = f->west + row, begin = y * f->routers_x, width = f->routers_x;
  uint32_t right = root(east, x), left = root(west, x + 1);
  if (right < width)
    offer(f, best, right - x, dy, begin + right);
  if (left > 0)
    offer(f, best, x - (left - 1), dy, begin + left - 1);
  if (!f->chip->torus_x)
    return;
  uint32_t around = root(east, 0); /* past the east edge */
  if (around < x)
    offer(f, best, around + width - x, dy, begin + around);
  around = root(west, width); /* past the west edge */
  if (around > x + 1)
    offer(f, best, x + width - (around - 1), dy, begin + around - 1);
}

/* The free core nearest to a core. There is one. */
static uint32_t take_nearest(finder *f, uint32_t core)
{
  uint32_t x = core % f->chip->width / f->chip->router_x, y = core / f->chip->width / f->chip->router_y;
  nearest best = {.router = NOWHERE};
  uint32_t rows = f->routers_y;
  bool around = f->chip->torus_y;
  for (uint32_t dy = 0; dy < rows; dy++) {
    uint64_t least = f->distance == CM_DISTANCE_MANHATTAN ? dy : (uint64_t)dy * dy;
    if (best.router != NOWHERE && (least > best.length || (around && dy > rows / 2)))
      break;
    if (y >= dy || around)
      look_in_row(f, &best, x, y >= dy ? y - dy : y + rows - dy, dy);
    if (dy > 0 && (y + dy < rows || around))
      look_in_row(f, &best, x, (y + dy) % rows, dy);
  }
  return take(f, best.router);
}

/* ---- the rule ---- */

typedef struct claim {
  uint64_t priority;
  uint32_t node;
} claim;

static int by_priority(const void *a, const void *b)
{
  const claim *x = a, *y = b;
  if (x->priority != y->priority)
    return x->priority < y->priority ? 1 : -1;
  return x->node < y->node ? -1 : x->node > y->node;
}

static cm_status check_input(const cm_assign_task *task, cm_error *error)
{
  uint32_t free_count = task->free_count, nodes = task->nodes, cores = cm_chip_cores(task->chip);
  if (free_count < nodes) {
    (void)cm_fail(error, CM_NO_ROOM, "%u nodes are to be placed, %u cores are free", nodes, free_count);
    cm_error_figure(error, "needed", nodes);
    cm_error_figure(error, "free", free_count);
    return error->status;
  }
  for (uint32_t i = 0; i < free_count; i++)
    if (task->free_core[i] >= cores)
      return cm_fail(error, CM_INTERNAL, "core %u of the free ones is none of the chip's", task->free_core[i]);
  for (uint32_t v = 0; v < nodes; v++)
    if (task->wanted[v] >= cores)
      return cm_fail(error, CM_INTERNAL, "node %u wants core %u, which is none of the chip's", v, task->wanted[v]);
  return CM_OK;
}

cm_status cm_assign(const cm_assign_task *task, cm_memory *memory, uint32_t *core, cm_error *error)
{
  const uint32_t *wanted = task->wanted;
  uint32_t nodes = task->nodes;
  finder f = {0};
  claim *claims;
  if (check_input(task, error) != CM_OK || CM_NEW(memory, claims, nodes, error) != CM_OK)
    return error->status;
  if (finder_new(task, memory, &f, error) != CM_OK) {
    cm_free(claims);
    return error->status;
  }
  for (uint32_t v = 0; v < nodes; v++)
    claims[v] = (claim){task->priority[v], v};
  qsort(claims, nodes, sizeof *claims, by_priority);
  uint32_t losers = 0;
  for (uint32_t k = 0; k < nodes; k++) {
    uint32_t v = claims[k].node;
    if (take_core(&f, wanted[v]))
      core[v] = wanted[v];
    else
      claims[losers++] = claims[k];
  }
  for (uint32_t k = 0; k < losers; k++)
    core[claims[k].node] = take_nearest(&f, wanted[claims[k].node]);
  finder_free(&f);
  cm_free(claims);
  return CM_OK;
}
