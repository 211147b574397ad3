/* Ensembles of decision trees as attributes of a node list them. */
#pragma once

#include "core/operators/ops/learned.h"

/* What becomes of the weights of the leaves that a row reaches. */
typedef enum cm_forest_how { CM_FOREST_ADD, CM_FOREST_LEAST, CM_FOREST_MOST } cm_forest_how;

typedef struct cm_leaf_weight {
  uint32_t node; /* in the forest */
  uint32_t target;
  float weight;
  size_t place; /* as listed, which is the order of adding */
} cm_leaf_weight;

typedef struct cm_tree_node {
  int64_t tree, id;
  uint32_t feature, yes, no; /* yes and no: in the forest */
  char mode; /* as the first letters that tell them apart: 'L' leaf, '<' '=' (at most) '>' 'g' (at least) 'e' 'n' */
  bool missing; /* NaN goes to yes */
  float value;
  uint32_t first, count; /* of its weights */
} cm_tree_node;

/* Nodes by tree and number; roots are those that nobody leads to. */
typedef struct cm_forest {
  cm_tree_node *node;
  cm_leaf_weight *weight;
  uint32_t *root;
  size_t nodes, weights, roots;
  int64_t features; /* that are looked at */
  cm_forest_how how;
} cm_forest;

/* Reads the trees of a node, with the weights that attributes WHAT_ids, WHAT_nodeids... list for `targets` targets. The caller frees. O(n log n). Errors:
 * CM_BAD_NETWORK (what makes no trees), memory. */
cm_status cm_forest_read(const cm_call *call, const char *what, int64_t targets, cm_forest *f, cm_error *error);
void cm_forest_free(cm_forest *f);

/* The sums of a row; any[target]: one of the leaves that were reached names it. */
typedef void (*cm_row_end)(void *user, uint64_t row, float *sums, const bool *any);

/* Hands the sums of each row of the first input to `finish`. O(rows * trees * levels). Errors: memory. */
cm_status cm_forest_each_row(const cm_call *call, const cm_forest *f, size_t targets, cm_row_end finish, void *user, cm_error *error);
