/* Parts that change places at a temperature, guided by what their trees would cost elsewhere. */
#ifndef CM_PLACEMENT_TREE_WALK_H
#define CM_PLACEMENT_TREE_WALK_H

#include "base/random.h"
#include "core/placement/task.h"
#include "core/placement/trees/tree_prices.h"
#include "core/placement/trees/tree_state.h"

typedef struct cm_tree_walk {
  cm_run *run;
  const cm_chip *chip;
  const cm_region *region;
  cm_trees *trees;
  cm_random random;
  uint32_t *number;      /* [cores of the region's box] of the core in the region, CM_NO_PART: none */
  uint32_t *seat;        /* [parts] number of each part's core */
  uint32_t *occupant;    /* [cores of the region] CM_NO_PART: empty */
  double *chance, *drawn; /* [CHANCES] -log of evenly spaced chances, and -log of that */
  cm_tree_prices *prices; /* NULL: unguided */
  uint32_t *cell;        /* [cores of the region] */
  int64_t *price;        /* [parts * cells] of every part when it was last visited */
  int64_t *least, *at_home; /* [parts] of those, the least, and that of where the part is */
  size_t cells;
  uint64_t swaps;
} cm_tree_walk;

/* Starts at core [casts->parts]. Guided where the chip has no torus and a row of prices a part has room; else by
 * proposals beside a part's core and near the middle of three that it talks to. */
cm_status cm_tree_walk_new(const cm_casts *casts, const cm_place_task *task, const uint32_t *core, uint64_t stream,
                           cm_tree_walk **walk, cm_error *error);
void cm_tree_walk_free(cm_tree_walk *walk); /* NULL is allowed */

/* Whether walks on this ground are guided. */
bool cm_tree_walk_guided(const cm_chip *chip, const cm_region *region, uint32_t parts);

/* The mean change of a swap of neighbours, of so many. */
double cm_tree_walk_typical(cm_tree_walk *walk, uint32_t samples);

/* Looks at a swap of part u and makes it by chance, surely when it saves something. Guided, the swap is drawn from all,
 * by what each is expected to cost: prices of u as they are, of the others as they were when they were last visited. */
void cm_tree_walk_visit(cm_tree_walk *walk, uint32_t u, double temperature);

#endif
