/* Which cores of a chip are taken or broken, and by whom. */
#pragma once

#include <jansson.h>

#include "core/chip/chip.h"

typedef enum cm_core_state { CM_CORE_FREE = 0, CM_CORE_TAKEN = 1, CM_CORE_BROKEN = 2 } cm_core_state;

typedef struct cm_occupancy {
  uint32_t width, height;
  uint8_t *state;    /* [width * height] cm_core_state */
  uint32_t *owner;   /* [width * height] index into owners of a taken core */
  char **owners;     /* [owner_count] distinct names; owners[0] is "" */
  uint32_t owner_count;
} cm_occupancy;

/* All cores free but the chip's dead ones, which are broken. */
cm_status cm_occupancy_new(const cm_chip *chip, cm_occupancy **occupancy, cm_error *error);
void cm_occupancy_free(cm_occupancy *occupancy); /* NULL is allowed */

/* Cores of `after` that are new become taken and broken as in `before`, on the chip of before: where they are there and not dead. */
cm_status cm_occupancy_carry(const cm_occupancy *before, const cm_chip *old, cm_occupancy *after, cm_error *error);

/* Applies a change {"occupy": [[x,y] or [x0,y0,x1,y1], ..], "release": [..], "broken": [..], "repaired": [..],
 * "owner": ".."} (corners included) as one step: on any error nothing changes. Occupying a core that is
 * taken by another owner or broken is CM_CONFLICT; releasing another owner's core is allowed only when the
 * change names no owner or that owner. Unknown fields and cores outside the chip are CM_BAD_OCCUPANCY with
 * a JSON pointer as place. Dead cores of the chip never become free. O(cores named). */
cm_status cm_occupancy_apply(cm_occupancy *occupancy, const cm_chip *chip, const json_t *change,
                             cm_error *error);

/* CM_BAD_OCCUPANCY for an owner that a terminal would not show as it is; a state as it is kept may have one from before. */
cm_status cm_occupancy_check_owners(const cm_occupancy *occupancy, cm_error *error);

/* Reads a whole state: what cm_occupancy_print writes, or a change applied to an empty chip. */
cm_status cm_occupancy_parse(const cm_chip *chip, const char *json, size_t size, cm_occupancy **occupancy,
                             cm_error *error);

/* The state as JSON: {"chip", "width", "height", "free", "fragmentation": {..} (below), "taken": [{"owner",
 * "cores": [[x0,y0,x1,y1],..]}], "broken": [[..],..]}, runs merged to rectangles. The caller frees with free(). */
cm_status cm_occupancy_print(const cm_occupancy *occupancy, const cm_chip *chip, char **json,
                             cm_error *error);

/* The first core from `from` on in a state; width * height when there is none. Quick over cores in other states. */
uint32_t cm_occupancy_next(const cm_occupancy *occupancy, uint32_t from, cm_core_state state);

uint32_t cm_occupancy_free_count(const cm_occupancy *occupancy);

/* How broken up the free cores are. */
typedef struct cm_fragmentation {
  double value;               /* 1 - largest_rectangle / free: 0 when they are one rectangle, or there are none */
  uint32_t free;
  uint64_t largest_rectangle; /* cores */
  uint32_t pieces;            /* groups of free cores that hang together */
  uint32_t largest_piece;     /* cores */
} cm_fragmentation;

/* O(cores). Errors: memory. */
cm_status cm_fragmentation_of(const cm_occupancy *occupancy, cm_fragmentation *fragmentation, cm_error *error);
