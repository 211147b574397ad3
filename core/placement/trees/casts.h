/* What axons carry between parts, as multicasts: one packet from a part to a set of others. */
#ifndef CM_PLACEMENT_CASTS_H
#define CM_PLACEMENT_CASTS_H

#include "base/run.h"
#include "core/network/demand.h"

/* Casts grouped by the part that sends them. Axons of a part that reach the same parts are one cast. */
typedef struct cm_casts {
  uint32_t parts, count;
  uint32_t *of_part; /* [parts + 1] first cast of each part */
  uint64_t *first;   /* [count + 1] */
  uint32_t *target;  /* [first[count]] never the sender, none twice; at least one a cast */
  uint64_t *weight;  /* [count] scaled, at least 1 */
  uint64_t packet;   /* weight of one packet; of a sample 1 */
} cm_casts;

/* The casts of a directed network's axons under vertex -> part [parts]. Axons that stay in their part, and those
 * that carry nothing, are none. O(pins). */
cm_status cm_casts_of_axons(const cm_demand *demand, const uint32_t *part, uint32_t parts, cm_run *run,
                            cm_casts **casts, cm_error *error);

/* Some of the casts, about `pins` targets: one is drawn every so many units along the sum of weights, and weighs as many
 * units as it was drawn times. O(casts + pins). */
cm_status cm_casts_sample(const cm_casts *casts, uint64_t pins, uint64_t seed, cm_run *run, cm_casts **sample,
                          cm_error *error);
void cm_casts_free(cm_casts *casts); /* NULL is allowed */

#endif
