/* From the cores that a policy wants to cores of their own (source 1, claim "preset assignment rule"). */
#pragma once

#include "base/run.h"
#include "core/chip/chip.h"

/* How far two cores are: steps between their routers, around a torus where that is shorter. */
typedef enum cm_distance { CM_DISTANCE_MANHATTAN, CM_DISTANCE_EUCLIDEAN } cm_distance;

typedef struct cm_assign_task {
  const cm_chip *chip;
  const uint32_t *free_core; /* [free_count] distinct, in any order; occupied and broken ones are not among them */
  uint32_t free_count;
  const uint32_t *wanted;   /* [nodes] the core that each holds most probable, any core of the chip; of cm_assign alone */
  const uint64_t *priority; /* [nodes] the interaction weight of each */
  uint32_t nodes;
  cm_distance distance;
} cm_assign_task;

/* Gives each node a free core of its own. Of those that want one free core the one of highest priority gets it, the lower number among equals; then
 * the others, by falling priority, the free core nearest to what they want, the lower router and core number among
 * equals. Fills core [nodes].
 * O(nodes log(nodes) + free_count + routers + sum over nodes of the rows between what it wants and what it gets).
 * CM_NO_ROOM when there are fewer free cores than nodes; CM_INTERNAL when a number is no core of the chip. */
cm_status cm_assign(const cm_assign_task *task, cm_memory *memory, uint32_t *core, cm_error *error);

/* The same again and again for other wishes. What the task points to is read once, but for the chip. */
typedef struct cm_assigner cm_assigner;
cm_status cm_assigner_new(const cm_assign_task *task, cm_memory *memory, cm_assigner **assigner, cm_error *error);
void cm_assigner_free(cm_assigner *assigner); /* NULL is allowed */
void cm_assigner_assign(cm_assigner *assigner, const uint32_t *wanted, uint32_t *core);
