/* Free cores are kept by router and found by rows: in each row of routers two disjoint-set forests lead from a column
 * to the next one east and west of it, itself included, that has a free core left. */
#include "core/learning/assign.h"

#include "base/order.h"

enum { NOWHERE = UINT32_MAX };

typedef struct finder {
  const cm_chip *chip;
  cm_distance distance;
  uint32_t x0, y0, routers_x, routers_y; /* the box of routers that is looked at */
  uint32_t *east, *west; /* [routers_y * (routers_x + 1)] next column with a free core; the end of a row: none */
  uint32_t *first;       /* [routers + 2] free cores of each router in `core` */
  uint32_t *core;        /* [free_count] */
  uint32_t *left;        /* [routers] cores still free: the last of its row */
} finder;

typedef struct claim {
  uint64_t priority;
  uint32_t node;
} claim;

struct cm_assigner {
  finder finder;
  uint32_t *sorted; /* [free_count] `core` of the finder before anything is taken */
  uint32_t free_count, nodes;
  claim *claim;     /* [nodes] by falling priority */
  uint32_t *loser;  /* [nodes] */
};

static uint32_t router_of(const finder *f, uint32_t core)
{
  uint32_t x = core % f->chip->width / f->chip->router_x, y = core / f->chip->width / f->chip->router_y;
  return (y - f->y0) * f->routers_x + x - f->x0;
}

/* On a mesh by Manhattan distance nothing outside the box of the free cores matters: from there the nearest of them are those nearest to
 * where the box begins. */
static void finder_fit(finder *f, const cm_assign_task *task)
{
  const cm_chip *chip = task->chip;
  uint32_t x1 = 0, y1 = 0;
  f->x0 = f->y0 = UINT32_MAX;
  for (uint32_t i = 0; i < task->free_count; i++) {
    uint32_t x = task->free_core[i] % chip->width / chip->router_x, y = task->free_core[i] / chip->width / chip->router_y;
    f->x0 = x < f->x0 ? x : f->x0;
    f->y0 = y < f->y0 ? y : f->y0;
    x1 = x > x1 ? x : x1;
    y1 = y > y1 ? y : y1;
  }
  if (task->free_count == 0 || chip->torus_x || chip->torus_y || task->distance != CM_DISTANCE_MANHATTAN) {
    f->x0 = f->y0 = 0;
    x1 = cm_chip_routers_x(chip) - 1;
    y1 = cm_chip_routers_y(chip) - 1;
  }
  f->routers_x = x1 - f->x0 + 1;
  f->routers_y = y1 - f->y0 + 1;
}

/* Which cores lie behind which router, ascending. */
static void finder_sort(finder *f, const uint32_t *free_core, uint32_t count)
{
  uint32_t routers = f->routers_x * f->routers_y;
  for (uint32_t i = 0; i < count; i++)
    f->first[router_of(f, free_core[i]) + 2]++;
  for (uint32_t r = 2; r <= routers + 1; r++)
    f->first[r] += f->first[r - 1];
  for (uint32_t i = 0; i < count; i++)
    f->core[f->first[router_of(f, free_core[i]) + 1]++] = free_core[i];
  for (uint32_t r = 0; r < routers; r++)
    qsort(f->core + f->first[r], f->first[r + 1] - f->first[r], sizeof *f->core, cm_ascending);
}

/* All are free. Column x of `east` is x itself or further east; column x + 1 of `west` stands for x, 0 for none. */
static void finder_fill(cm_assigner *assigner)
{
  finder *f = &assigner->finder;
  memcpy(f->core, assigner->sorted, assigner->free_count * sizeof *f->core);
  for (uint32_t r = 0; r < f->routers_x * f->routers_y; r++)
    f->left[r] = f->first[r + 1] - f->first[r];
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
  uint32_t x = core % f->chip->width / f->chip->router_x, y = core / f->chip->width / f->chip->router_y;
  if (x - f->x0 >= f->routers_x || y - f->y0 >= f->routers_y)
    return false;
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

/* The nearest of `count` columns or rows from `first` on, counted from there. */
static uint32_t inside(uint32_t at, uint32_t first, uint32_t count)
{
  return at < first ? 0 : at - first >= count ? count - 1 : at - first;
}

/* The free core nearest to a core. There is one. */
static uint32_t take_nearest(finder *f, uint32_t core)
{
  uint32_t x = inside(core % f->chip->width / f->chip->router_x, f->x0, f->routers_x);
  uint32_t y = inside(core / f->chip->width / f->chip->router_y, f->y0, f->routers_y);
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

CM_ORDER(by_priority, claim, CM_FALLING(priority) CM_RISING(node))

static cm_status check_free(const cm_assign_task *task, cm_error *error)
{
  if (task->free_count < task->nodes) {
    (void)cm_fail(error, CM_NO_ROOM, "%u nodes are to be placed, %u cores are free", task->nodes, task->free_count);
    cm_error_figure(error, "needed", task->nodes);
    cm_error_figure(error, "free", task->free_count);
    return error->status;
  }
  for (uint32_t i = 0; i < task->free_count; i++)
    if (task->free_core[i] >= cm_chip_cores(task->chip))
      return cm_fail(error, CM_INTERNAL, "core %u of the free ones is none of the chip's", task->free_core[i]);
  return CM_OK;
}

void cm_assigner_free(cm_assigner *assigner)
{
  if (assigner == NULL)
    return;
  finder *f = &assigner->finder;
  CM_FREE(f->east, f->west, f->first, f->core, f->left, assigner->sorted, assigner->claim, assigner->loser, assigner);
}

static cm_status fill(cm_assigner *a, const cm_assign_task *task, cm_memory *memory, cm_error *error)
{
  finder *f = &a->finder;
  finder_fit(f, task);
  size_t routers = (size_t)f->routers_x * f->routers_y, places = (size_t)f->routers_y * (f->routers_x + 1);
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(f->east, places), CM_ARRAY(f->west, places), CM_ARRAY(f->first, routers + 2),
                    CM_ARRAY(f->core, task->free_count), CM_ARRAY(f->left, routers), CM_ARRAY(a->sorted, task->free_count),
                    CM_ARRAY(a->claim, task->nodes), CM_ARRAY(a->loser, task->nodes)));
  finder_sort(f, task->free_core, task->free_count);
  memcpy(a->sorted, f->core, task->free_count * sizeof *a->sorted);
  for (uint32_t v = 0; v < task->nodes; v++)
    a->claim[v] = (claim){task->priority[v], v};
  qsort(a->claim, task->nodes, sizeof *a->claim, by_priority);
  return CM_OK;
}

cm_status cm_assigner_new(const cm_assign_task *task, cm_memory *memory, cm_assigner **assigner, cm_error *error)
{
  cm_assigner *made;
  CM_TRY(check_free(task, error));
  CM_TRY(CM_NEW(memory, made, 1, error));
  *made = (cm_assigner){.finder = {.chip = task->chip, .distance = task->distance},
                        .free_count = task->free_count, .nodes = task->nodes};
  CM_END(fill(made, task, memory, error), *assigner = made, cm_assigner_free(made));
}

void cm_assigner_assign(cm_assigner *assigner, const uint32_t *wanted, uint32_t *core)
{
  uint32_t losers = 0;
  finder_fill(assigner);
  for (uint32_t k = 0; k < assigner->nodes; k++) {
    uint32_t v = assigner->claim[k].node;
    if (take_core(&assigner->finder, wanted[v]))
      core[v] = wanted[v];
    else
      assigner->loser[losers++] = v;
  }
  for (uint32_t k = 0; k < losers; k++)
    core[assigner->loser[k]] = take_nearest(&assigner->finder, wanted[assigner->loser[k]]);
}

cm_status cm_assign(const cm_assign_task *task, cm_memory *memory, uint32_t *core, cm_error *error)
{
  cm_assigner *assigner;
  for (uint32_t v = 0; v < task->nodes; v++)
    if (task->wanted[v] >= cm_chip_cores(task->chip))
      return cm_fail(error, CM_INTERNAL, "node %u wants core %u, which is none of the chip's", v, task->wanted[v]);
  CM_TRY(cm_assigner_new(task, memory, &assigner, error));
  cm_assigner_assign(assigner, task->wanted, core);
  cm_assigner_free(assigner);
  return CM_OK;
}
