/* The turn rules of plain meshes in words of their own, and a step on one. */
#pragma once

#include <string.h>

#include "core/chip/turns.h"

enum { ROUTERS_MAX = 256, PARTS_MAX = 40, LINKS_MAX = ROUTERS_MAX * CM_DIRECTIONS };

static inline bool legal_turn(cm_turn_rule rule, int from, int to)
{
  static const char *const forbidden[CM_TURN_RULES] = {
    [CM_TURNS_XY] = "NE NW SE SW", [CM_TURNS_YX] = "EN ES WN WS", [CM_TURNS_WEST_FIRST] = "NW SW",
    [CM_TURNS_NORTH_LAST] = "NE NW", [CM_TURNS_NEGATIVE_FIRST] = "EN SW"};
  static const char letter[] = "EWSN";
  char turn[3] = {letter[from], letter[to], 0};
  bool back = strcmp(turn, "EW") == 0 || strcmp(turn, "WE") == 0 || strcmp(turn, "SN") == 0 || strcmp(turn, "NS") == 0;
  return !back && (from == to || strstr(forbidden[rule], turn) == NULL);
}

/* One step over a link; -1: it leaves the array. */
static inline int step(const cm_chip *chip, int router, int direction)
{
  int rx = (int)cm_chip_routers_x(chip), ry = (int)cm_chip_routers_y(chip), x = router % rx, y = router / rx;
  x += direction == CM_EAST ? 1 : direction == CM_WEST ? -1 : 0;
  y += direction == CM_SOUTH ? 1 : direction == CM_NORTH ? -1 : 0;
  return x < 0 || y < 0 || x >= rx || y >= ry ? -1 : y * rx + x;
}
