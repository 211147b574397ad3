/* Parts that change places at a temperature: over the axes of a mesh, guided by what their trees would cost elsewhere (mesh_walk.c), or
 * over the ways of an interconnect (way_walk.c). */
#pragma once

#include "base/random.h"
#include "core/placement/task.h"
#include "core/placement/trades.h"
#include "core/placement/trees/tree_state.h"

typedef struct cm_tree_walk {
  cm_run *run;
  const cm_chip *chip;
  const cm_region *region;
  const cm_casts *casts;
  cm_random random;
  uint32_t *seat;     /* [parts] number of each part's core in the region */
  uint32_t *occupant; /* [cores of the region] CM_NO_PART: empty */
  uint64_t swaps;
  /* On a mesh: */
  cm_trees *trees;
  uint32_t *number;      /* [cores of the region's box] of the core in the region, CM_NO_PART: none */
  double *chance, *drawn; /* [CHANCES] -log of evenly spaced chances, and -log of that */
  cm_tree_prices *prices; /* NULL: unguided */
  uint32_t *cell;        /* [cores of the region] */
  int64_t *price;        /* [parts * cells] of every part when it was last visited */
  int64_t *least, *at_home; /* [parts] of those, the least, and that of where the part is */
  size_t cells;
  /* On an interconnect: */
  cm_way_trees *ways;
  uint32_t *first_slot; /* [grid + 1] cores of the region by router, in slot */
  uint32_t *slot;       /* [cores of the region] their numbers */
} cm_tree_walk;

typedef struct cm_tree_walk_kind {
  /* Sum over casts of weight * cost of the tree's links, in units (cm_hop_units). */
  cm_status (*cost)(const cm_casts *casts, const cm_chip *chip, const uint32_t *core, cm_run *run, uint64_t *cost, cm_error *error);
  /* What a visit of every part takes, in looks at casts; NULL: what the exchanges tried for `typical` take, which are routers of ways. */
  double (*looks)(const cm_casts *casts, const cm_place_task *task);
  cm_status (*begin)(cm_tree_walk *walk, const uint32_t *core, cm_error *error); /* takes up parts whose seats are known */
  double (*typical)(cm_tree_walk *walk); /* the mean change of `tried` exchanges such as are made */
  uint32_t tried;
  /* Looks at an exchange of part u and makes it by chance, surely when it saves something. */
  cm_status (*visit)(cm_tree_walk *walk, uint32_t u, double temperature, cm_error *error);
  double (*looked)(const cm_tree_walk *walk); /* looks so far, where exchanges take more of them than proposals; else 0 */
  int64_t (*sum)(const cm_tree_walk *walk); /* of what the trees cost now, to compare */
  double hot, cold;                         /* temperatures, in typical changes */
  double casts_min;                         /* casts a part that a sample keeps at least */
  uint32_t starts_max;
  bool groups; /* whole routers are placed too, where they have several cores */
} cm_tree_walk_kind;
extern const cm_tree_walk_kind cm_mesh_walk, cm_way_walk;

/* Part u and who is on core number `there` of the region (maybe nobody) have changed places. */
static inline void cm_tree_walk_seat(cm_tree_walk *w, uint32_t u, uint32_t there)
{
  cm_trade_places(w->seat, w->occupant, u, there);
  w->swaps++;
}

/* Whether two cores of the region are of one kind, so that parts may change between them. */
static inline bool cm_tree_walk_alike(const cm_tree_walk *w, uint32_t a, uint32_t b)
{
  return w->chip->class_of == NULL || w->chip->class_of[w->region->cores[a]] == w->chip->class_of[w->region->cores[b]];
}
