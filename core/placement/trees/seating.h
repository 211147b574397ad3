/* Between the files of the placement by groups. */
#pragma once

#include "base/random.h"
#include "core/placement/trees/group_state.h"
#include "core/placement/trees/groups.h"
#include "core/placement/trees/casts.h"

#define CM_NO_SEAT UINT32_MAX

/* The routers of a region, and the group behind each: a seat is a router. */
typedef struct cm_seating {
  const cm_casts *casts;
  const cm_chip *chip;
  const cm_interconnect *net;
  cm_run *run;
  uint32_t *slot;       /* [cores of the region] along the order of its ways, those of a router together */
  uint32_t *first_slot; /* [seats + 1] of each router of the region */
  uint32_t *router_at;  /* [seats] */
  uint32_t *seat_at;    /* [routers] CM_NO_SEAT: not in the region */
  uint32_t seats;
  uint32_t *group;                  /* [parts] */
  uint32_t *size, *seat, *occupant; /* [seats] parts of a group, where it stands; who stands at a seat */
  cm_group_casts between;
  cm_group_state state;
  cm_random random;
  double price; /* of an entry, in what links cost */
} cm_seating;

static inline uint32_t cm_seat_capacity(const cm_seating *w, uint32_t seat)
{
  return w->first_slot[seat + 1] - w->first_slot[seat];
}

/* Seats the groups by the ways between each two, with so many looks, where enough routers have room for the largest. */
cm_status cm_seat_by_ways(cm_seating *seating, double looks, uint64_t seed, cm_error *error);

/* An order in which parts stand behind one router after the other. */
typedef struct cm_part_order {
  const uint32_t *part;  /* [parts] */
  const uint8_t *begins; /* [parts] those that begin with a router, where that leaves room for all; NULL: none */
} cm_part_order;

/* Fills core [casts->parts] with the parts in this order. */
cm_status cm_place_groups(const cm_casts *casts, const cm_place_task *task, const cm_part_order *order, double steps,
                          uint32_t *core, cm_group_cost *cost, cm_error *error);
