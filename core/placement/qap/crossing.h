/* Two arrangements of the memetic search make a third. Arrays of occupants are by core. */
#pragma once

#include "base/random.h"
#include "core/placement/qap/grid_symmetry.h"

/* The most cores that the engine takes: it keeps the distances and weights of all pairs. */
enum { CM_QAP_CORES_MAX = 2048 };

/* Fills turned [count] with the occupants of the second parent, under the symmetry in which it agrees best with the
 * first. O(count). */
void cm_qap_align(const cm_symmetries *symmetries, uint32_t count, const uint32_t *first, const uint32_t *second,
                  uint32_t *turned);

/* Fills child [count]: what the parents agree on stays; every other core takes the occupant of one of them that is still
 * free, or any. `order` [count] is for its own use. At most CM_QAP_CORES_MAX cores. O(count). */
void cm_qap_cross(uint32_t count, const uint32_t *first, const uint32_t *second, cm_random *random, uint32_t *order,
                  uint32_t *child);
