/* Between the files of the tiling: who computes each element of a value. */
#ifndef CM_OPERATORS_TILE_INTERNAL_H
#define CM_OPERATORS_TILE_INTERNAL_H

#include "core/operators/tiling/tile.h"

/* Elements in row-major order, run by run: those before end[0] belong to owner[0], and so on. */
typedef struct cm_owners {
  uint64_t *end;
  uint32_t *owner; /* micro-operator; CM_NONE: from outside, or constant */
  size_t count;
} cm_owners;

typedef struct cm_tile_work {
  cm_model *model;
  const cm_tile_options *options;
  cm_run *run;
  cm_tiling *tiling;
  uint64_t micro_room;
  uint32_t *first_micro; /* [order_count + 1] by place in model->order */
  cm_owners *owners;     /* by value; count 0: nothing is made of it on a device */
} cm_tile_work;

/* True for nodes that only rename elements of their inputs. */
bool cm_tile_is_view(const cm_model *model, const cm_node *node);

/* What the model knows of a node's inputs and outputs; lives in the arena. */
cm_status cm_tile_call(const cm_model *model, const cm_node *node, cm_arena *arena, cm_call *call, cm_error *error);

/* Fills the owners of what a node makes: boxes of its micro-operators first .. last-1, or a view of others. */
cm_status cm_tile_own(cm_tile_work *work, const cm_node *node, uint32_t first, uint32_t last, cm_error *error);
cm_status cm_tile_view(cm_tile_work *work, const cm_node *node, cm_error *error);

/* Finds all arcs of the tiling. */
cm_status cm_tile_connect(cm_tile_work *work, cm_error *error);

/* Visits the elements of a box that follow each other in memory, as [from, from + length). */
typedef void (*cm_tile_visit)(void *user, uint64_t from, uint64_t length);
void cm_tile_rows(const cm_shape *shape, const cm_box *box, cm_tile_visit visit, void *user);

#endif
