#include "core/chip/turns.h"

const char *cm_turn_rule_name(cm_turn_rule rule)
{
  static const char *const names[CM_TURN_RULES] = {
    [CM_TURNS_XY] = "xy", [CM_TURNS_YX] = "yx", [CM_TURNS_WEST_FIRST] = "west-first",
    [CM_TURNS_NORTH_LAST] = "north-last", [CM_TURNS_NEGATIVE_FIRST] = "negative-first"};
  return names[rule];
}

const char *cm_direction_name(cm_direction direction)
{
  static const char *const names[CM_DIRECTIONS] = {
    [CM_EAST] = "east", [CM_WEST] = "west", [CM_SOUTH] = "south", [CM_NORTH] = "north"};
  return names[direction];
}

bool cm_turn_allowed(cm_turn_rule rule, cm_direction from, cm_direction to)
{
  if (from == to)
    return true;
  if (to == cm_direction_back(from))
    return false;
  switch (rule) {
    case CM_TURNS_XY: return from == CM_EAST || from == CM_WEST;
    case CM_TURNS_YX: return from == CM_SOUTH || from == CM_NORTH;
    case CM_TURNS_WEST_FIRST: return to != CM_WEST;
    case CM_TURNS_NORTH_LAST: return from != CM_NORTH;
    default: return !((from == CM_EAST || from == CM_SOUTH) && (to == CM_WEST || to == CM_NORTH));
  }
}

void cm_router_name(uint32_t columns, uint32_t rows, uint32_t router, char name[CM_ROUTER_NAME_MAX])
{
  if (router < columns * rows)
    (void)snprintf(name, CM_ROUTER_NAME_MAX, "router (%u, %u)", router % columns, router / columns);
  else
    (void)snprintf(name, CM_ROUTER_NAME_MAX, "switch %u", router);
}
