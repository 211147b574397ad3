/* From the cores that a policy wants to cores of their own (source 1, claim "preset assignment rule"). */
#ifndef CM_LEARNING_ASSIGN_H
#define CM_LEARNING_ASSIGN_H

#include "base/run.h"
#include "core/chip/chip.h"

/* How far two cores are: steps between their routers, around a torus where that is shorter. */
typedef enum cm_distance { CM_DISTANCE_MANHATTAN, CM_DISTANCE_EUCLIDEAN } cm_distance;

/* Gives each of `nodes` nodes a core of its own among free_core [free_count], distinct core numbers in any order;
 * occupied and broken cores are simply not among them. wanted [nodes] is the core that each holds most probable, any core
 * of the chip. Of those that want one free core the one of highest priority gets it, the lower number among equals; then
 * the others, by falling priority, the free core nearest to what they want, the lower router and core number among
 * equals. priority [nodes] is the interaction weight of the node. Fills core [nodes].
 * O(nodes log(nodes) + free_count + routers + sum over nodes of the rows between what it wants and what it gets).
 * CM_NO_ROOM when there are fewer free cores than nodes; CM_INTERNAL when a number is no core of the chip. */
cm_status cm_assign(const cm_chip *chip, const uint32_t *free_core, uint32_t free_count, const uint32_t *wanted,
                    const uint64_t *priority, uint32_t nodes, cm_distance distance, cm_memory *memory, uint32_t *core,
                    cm_error *error);

#endif
