/* Turn rules: which turns a packet may take, so that no ring of packets can wait for each other.
 * XY and YX go along one axis, then along the other; the others are those of Glass and Ni, "The Turn Model for Adaptive
 * Routing" (ISCA 1992), each of which forbids one turn of either sense of rotation:
 *   west-first      no turn to the west
 *   north-last      no turn from the north
 *   negative-first  no turn from a direction of growing coordinates (east, south) to one of falling ones (west, north)
 * Nobody turns back. The links that close a torus are not used: turn rules do not break the rings that they make. */
#pragma once

#include "core/chip/chip.h"

typedef enum cm_turn_rule {
  CM_TURNS_XY,
  CM_TURNS_YX,
  CM_TURNS_WEST_FIRST,
  CM_TURNS_NORTH_LAST,
  CM_TURNS_NEGATIVE_FIRST,
  CM_TURN_RULES
} cm_turn_rule;

/* Routers that a tree is to join. */
typedef struct cm_ends {
  uint32_t source;
  const uint32_t *target; /* [count] they may repeat, and may be the source */
  size_t count;
} cm_ends;

/* "xy", "yx", "west-first", "north-last", "negative-first". */
const char *cm_turn_rule_name(cm_turn_rule rule);

/* "east", "west", "south", "north". */
const char *cm_direction_name(cm_direction direction);

/* A router in words: "router (3, 4)" of those with cores, so many columns and rows of them, "switch 17" of those that follow. */
enum { CM_ROUTER_NAME_MAX = 40 };
void cm_router_name(uint32_t columns, uint32_t rows, uint32_t router, char name[CM_ROUTER_NAME_MAX]);

static inline cm_direction cm_direction_back(cm_direction direction)
{
  return (cm_direction)((unsigned)direction ^ 1u);
}

/* May a packet that travels in direction `from` go on in direction `to`? Straight on always, back never. */
bool cm_turn_allowed(cm_turn_rule rule, cm_direction from, cm_direction to);

/* The router at the other end of a link, or UINT32_MAX where the link would leave the array (or close a torus). */
static inline uint32_t cm_router_beyond(const cm_chip *chip, uint32_t router, cm_direction direction)
{
  uint32_t routers_x = cm_chip_routers_x(chip), routers_y = cm_chip_routers_y(chip);
  switch (direction) {
    case CM_EAST: return router % routers_x + 1 < routers_x ? router + 1 : UINT32_MAX;
    case CM_WEST: return router % routers_x > 0 ? router - 1 : UINT32_MAX;
    case CM_SOUTH: return router / routers_x + 1 < routers_y ? router + routers_x : UINT32_MAX;
    default: return router >= routers_x ? router - routers_x : UINT32_MAX;
  }
}

/* The router of a core, and the core's number among those behind it. */
static inline uint32_t cm_router_of(const cm_chip *chip, uint32_t core)
{
  return core / chip->width / chip->router_y * cm_chip_routers_x(chip) + core % chip->width / chip->router_x;
}
static inline uint32_t cm_core_behind(const cm_chip *chip, uint32_t core)
{
  return core / chip->width % chip->router_y * chip->router_x + core % chip->width % chip->router_x;
}
