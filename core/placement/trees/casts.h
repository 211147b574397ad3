/* What axons carry between parts, as multicasts: one packet from a part to a set of others. */
#pragma once

#include "base/random.h"
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

/* ---- which casts reach each part, and walks along those whose trees change when two parts change places ---- */

#define CM_NO_PART UINT32_MAX

typedef struct cm_inbound_casts {
  uint64_t *first;  /* [parts + 1] */
  uint32_t *cast;   /* [first[parts]] those that each part is a target of, ascending */
  uint32_t *sender; /* [casts] */
} cm_inbound_casts;

/* O(targets of all casts). Errors: memory. */
cm_status cm_inbound_casts_new(const cm_casts *casts, cm_memory *memory, cm_inbound_casts *inbound, cm_error *error);
void cm_inbound_casts_free(cm_inbound_casts *inbound); /* a zeroed one is fine */

/* A part that u sends to or hears from, drawn from all its casts; u itself when it has none. */
uint32_t cm_relative_part(const cm_casts *casts, const cm_inbound_casts *inbound, cm_random *random, uint32_t u);

/* Where a walk through the casts that reach u and those that reach v has come to. */
typedef struct cm_cast_walk {
  const cm_inbound_casts *inbound;
  uint32_t parts[2]; /* u and v */
  uint64_t u, u_end, v, v_end;
  uint64_t met;  /* casts so far */
  uint32_t cast; /* the one under way */
  bool is_u;     /* whether it reaches u, and not v */
} cm_cast_walk;

/* v may be CM_NO_PART: nobody. */
cm_cast_walk cm_cast_walk_of(const cm_inbound_casts *inbound, uint32_t u, uint32_t v);

/* Goes to the next cast that reaches one of both; those that reach both, and those of either, are passed over. False at the end. */
bool cm_cast_walk_next(cm_cast_walk *walk);

/* The casts of a part from *first to before *end; none of CM_NO_PART. */
static inline void cm_casts_of_part(const cm_casts *casts, uint32_t part, uint32_t *first, uint32_t *end)
{
  *first = part == CM_NO_PART ? 0 : casts->of_part[part];
  *end = part == CM_NO_PART ? 0 : casts->of_part[part + 1];
}
