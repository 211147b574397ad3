/* Which casts reach each part, and walks along the casts whose trees change when two parts change places. */
#ifndef CM_PLACEMENT_INBOUND_CASTS_H
#define CM_PLACEMENT_INBOUND_CASTS_H

#include "base/random.h"
#include "core/placement/trees/casts.h"

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
  uint64_t u, u_end, v, v_end;
  uint64_t met; /* casts so far */
} cm_cast_walk;

/* v may be CM_NO_PART: nobody. */
cm_cast_walk cm_cast_walk_of(const cm_inbound_casts *inbound, uint32_t u, uint32_t v);

/* The next cast that reaches one of both, of which *is_u tells; those that reach both are passed over. False at the end. */
bool cm_cast_walk_next(const cm_inbound_casts *inbound, cm_cast_walk *walk, uint32_t *cast, bool *is_u);

#endif
