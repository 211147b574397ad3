/* Parts above their limit are emptied down to it: of their vertices, the one that loses least for its size leaves next. */
#pragma once

#include "base/run.h"
#include "core/partition/indexed_heap.h"

#define CM_UNLOAD_NOWHERE UINT32_MAX

typedef struct cm_unload cm_unload;

/* The partition whose parts are emptied, seen through what holds it. */
typedef struct cm_unload_view {
  void *state;
  uint32_t vertices, parts;
  const uint32_t *size;     /* [vertices] */
  const uint32_t *part;     /* [vertices] of each, as it is now */
  const uint64_t *load;     /* [parts] likewise */
  const uint64_t *most;     /* [parts] limits; NULL: most_of_all */
  uint64_t most_of_all;
  /* The part with room for v where it loses least, of those that it touches and cm_unload_emptiest; else
   * CM_UNLOAD_NOWHERE. *gain: what the move gains, less than 0 where it loses. */
  uint32_t (*target)(const cm_unload *unload, void *state, uint32_t v, int64_t *gain);
  /* Moves v, and lists whose gains that changes: an array that stays until the next move. */
  void (*move)(void *state, uint32_t v, uint32_t to, const uint32_t **affected, uint64_t *count);
} cm_unload_view;

struct cm_unload {
  const cm_unload_view *view;
  cm_run *run;
  cm_indexed_heap heap;
  uint32_t *place; /* [vertices] */
  uint32_t emptiest;
};

/* Room left in a part. O(1). */
static inline uint64_t cm_unload_room(const cm_unload *u, uint32_t part)
{
  const cm_unload_view *v = u->view;
  uint64_t most = v->most != NULL ? v->most[part] : v->most_of_all;
  return v->load[part] < most ? most - v->load[part] : 0;
}

/* The part with most room, of equals the first. */
static inline uint32_t cm_unload_emptiest(const cm_unload *u)
{
  return u->emptiest;
}

/* Moves until no part is above its limit or nothing that could leave has anywhere to go. *gain grows by what all moves
 * gain. Errors: memory, a stop. O((vertices + moves * affected) * (a look for a target + log vertices)). */
cm_status cm_unload_parts(const cm_unload_view *view, cm_run *run, int64_t *gain, cm_error *error);
