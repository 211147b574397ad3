/* One interface before meshes and interconnects. What can fail: a way that an interconnect has no memory to look up. */
#include "core/chip/geometry.h"

#include <math.h>

#include "core/chip/reach.h"

enum { UNITS_PER_HOP = 64 };

uint32_t cm_chip_routers(const cm_chip *chip)
{
  return chip->interconnect != NULL ? chip->interconnect->routers : cm_chip_routers_x(chip) * cm_chip_routers_y(chip);
}

uint32_t cm_chip_links(const cm_chip *chip)
{
  return chip->interconnect != NULL ? chip->interconnect->link_count : cm_chip_routers(chip) * CM_DIRECTIONS;
}

/* The router that a link of a mesh leads to, round an open edge too. */
static uint32_t end_of(const cm_chip *chip, uint32_t link)
{
  uint32_t columns = cm_chip_routers_x(chip), rows = cm_chip_routers_y(chip), router = link / CM_DIRECTIONS;
  uint32_t x = router % columns, y = router / columns;
  switch (link % CM_DIRECTIONS) {
    case CM_EAST: x = (x + 1) % columns; break;
    case CM_WEST: x = (x + columns - 1) % columns; break;
    case CM_SOUTH: y = (y + 1) % rows; break;
    default: y = (y + rows - 1) % rows; break;
  }
  return y * columns + x;
}

static double of_kind(const cm_hop_cost *cost, bool between_dies, cm_direction direction)
{
  return between_dies ? cost->die_to_die : direction <= CM_WEST ? cost->east_west : cost->north_south;
}

cm_link cm_chip_link(const cm_chip *chip, uint32_t link)
{
  if (chip->interconnect != NULL)
    return chip->interconnect->link[link];
  cm_direction direction = (cm_direction)(link % CM_DIRECTIONS);
  bool between_dies = cm_chip_between_dies(chip, link);
  cm_hop_units units = cm_hop_units_of(chip);
  uint32_t from = link / CM_DIRECTIONS, to = end_of(chip, link);
  return (cm_link){.from = from,
                   .to = to,
                   .twin = to * CM_DIRECTIONS + (uint32_t)cm_direction_back(direction),
                   .length = 1,
                   .units = between_dies ? units.die_to_die : direction <= CM_WEST ? units.east_west : units.north_south,
                   .dead = cm_chip_next_router(chip, from, direction) == CM_NO_ROUTER || cm_chip_link_dead(chip, from, direction),
                   .energy_pj = of_kind(&chip->energy_pj, between_dies, direction),
                   .latency_ns = of_kind(&chip->latency_ns, between_dies, direction),
                   .bandwidth = 1};
}

static double links_along(uint32_t routers, bool torus)
{
  return torus && routers > 1 ? routers : routers - 1;
}

double cm_chip_links_there(const cm_chip *chip)
{
  if (chip->interconnect != NULL)
    return chip->interconnect->link_count - chip->interconnect->dead_count;
  uint32_t x = cm_chip_routers_x(chip), y = cm_chip_routers_y(chip);
  return 2.0 * (links_along(x, chip->torus_x) * y + links_along(y, chip->torus_y) * x);
}

/* ---- in words ---- */

void cm_chip_router_name(const cm_chip *chip, uint32_t router, char name[CM_ROUTER_NAME_MAX])
{
  cm_router_name(cm_chip_routers_x(chip), cm_chip_routers_y(chip), router, name);
}

void cm_chip_link_text(const cm_chip *chip, uint32_t link, cm_link_form form, char text[CM_LINK_TEXT_MAX])
{
  const uint32_t columns = cm_chip_routers_x(chip), x = link / CM_DIRECTIONS % columns, y = link / CM_DIRECTIONS / columns;
  const char *direction = cm_direction_name((cm_direction)(link % CM_DIRECTIONS));
  char from[CM_ROUTER_NAME_MAX], to[CM_ROUTER_NAME_MAX];
  if (cm_geometry_of(chip) == CM_BY_AXES) {
    if (form == CM_LINK_IN_WORDS)
      (void)snprintf(text, CM_LINK_TEXT_MAX, "the link %s of router (%u, %u)", direction, x, y);
    else
      (void)snprintf(text, CM_LINK_TEXT_MAX, form == CM_LINK_AS_JSON ? "\"x\": %u, \"y\": %u, \"direction\": \"%s\"" : "%u,%u,%s", x, y, direction);
    return;
  }
  const cm_link *k = &chip->interconnect->link[link];
  if (form != CM_LINK_IN_WORDS) {
    (void)snprintf(text, CM_LINK_TEXT_MAX, form == CM_LINK_AS_JSON ? "\"from\": %u, \"to\": %u" : "%u,%u", k->from, k->to);
    return;
  }
  cm_chip_router_name(chip, k->from, from);
  cm_chip_router_name(chip, k->to, to);
  (void)snprintf(text, CM_LINK_TEXT_MAX, "the link from %s to %s", from, to);
}

const char *cm_chip_rule_name(const cm_chip *chip, cm_turn_rule rule)
{
  return cm_geometry_of(chip) == CM_BY_AXES ? cm_turn_rule_name(rule) : "up-down";
}

const char *cm_chip_link_columns(const cm_chip *chip)
{
  return cm_geometry_of(chip) == CM_BY_AXES ? "x,y,direction" : "from,to";
}

bool cm_chip_find_link(const cm_chip *chip, const char *text, uint32_t *link)
{
  const uint32_t columns = cm_chip_routers_x(chip), rows = cm_chip_routers_y(chip);
  unsigned a, b;
  char here[CM_LINK_TEXT_MAX];
  if (sscanf(text, "%u,%u", &a, &b) != 2)
    return false;
  if (chip->interconnect != NULL) {
    const int64_t found = a < chip->interconnect->routers && b < chip->interconnect->routers ? cm_interconnect_link(chip->interconnect, a, b) : CM_NO_LINK;
    *link = found == CM_NO_LINK ? 0 : (uint32_t)found;
    return found != CM_NO_LINK;
  }
  for (uint32_t d = 0; a < columns && b < rows && d < CM_DIRECTIONS; d++) {
    *link = (b * columns + a) * CM_DIRECTIONS + d;
    cm_chip_link_text(chip, *link, CM_LINK_AS_CSV, here);
    if (strcmp(here, text) == 0)
      return true;
  }
  return false;
}

cm_way_links cm_chip_way_links(const cm_chip *chip, uint32_t core_a, uint32_t core_b)
{
  cm_way_links way = {.net = chip->interconnect, .from = cm_router_of(chip, core_a), .at = cm_router_of(chip, core_b)};
  if (way.net == NULL)
    cm_chip_straights(chip, core_a, core_b, way.along);
  else if (cm_interconnect_hops(way.net, way.from, way.at) == CM_NO_WAY)
    way.at = way.from;
  return way;
}

bool cm_way_links_next(cm_way_links *way, uint32_t *link)
{
  cm_straight *along = &way->along[way->along[0].hops == 0];
  if (way->net == NULL ? along->hops == 0 : way->at == way->from)
    return false;
  *link = way->net == NULL ? (uint32_t)cm_straight_next(along) : cm_interconnect_last(way->net, way->from, way->at);
  if (way->net != NULL)
    way->at = way->net->link[*link].from;
  return true;
}

/* Whether `steps` along an axis of `length` from `from` pass the link that leaves `at` towards `sign`. */
static bool axis_passes(uint32_t from, int32_t steps, uint32_t at, uint32_t length, int32_t sign)
{
  const uint32_t ahead = sign > 0 ? (at + length - from) % length : (from + length - at) % length;
  return (int64_t)steps * sign > (int64_t)ahead;
}

bool cm_chip_way_passes(const cm_chip *chip, uint32_t core_a, uint32_t core_b, uint32_t link)
{
  const cm_interconnect *net = chip->interconnect;
  uint32_t from = cm_router_of(chip, core_a), to = cm_router_of(chip, core_b);
  if (net != NULL) {
    cm_way_links way = cm_chip_way_links(chip, core_a, core_b);
    for (uint32_t one; cm_way_links_next(&way, &one);)
      if (one == link)
        return true;
    return false;
  }
  const uint32_t columns = cm_chip_routers_x(chip), at = link / CM_DIRECTIONS, x = at % columns, y = at / columns;
  const bool rows_first = chip->routing == CM_ROUTING_XY, along_row = link % CM_DIRECTIONS == CM_EAST || link % CM_DIRECTIONS == CM_WEST;
  const uint32_t turn = rows_first ? to % columns + from / columns * columns : from % columns + to / columns * columns;
  const uint32_t run = along_row == rows_first ? from : turn; /* where the straight run along the link's axis begins */
  int32_t east, south;
  if (along_row ? run / columns != y : run % columns != x)
    return false;
  cm_chip_steps(chip, core_a, core_b, &east, &south);
  return along_row ? axis_passes(run % columns, east, x, columns, link % CM_DIRECTIONS == CM_EAST ? 1 : -1)
                   : axis_passes(run / columns, south, y, cm_chip_routers_y(chip), link % CM_DIRECTIONS == CM_SOUTH ? 1 : -1);
}

/* ---- what ways cost ---- */

cm_hop_units cm_hop_units_of(const cm_chip *chip)
{
  const cm_hop_cost *e = &chip->energy_pj;
  double cost[] = {e->router + e->east_west, e->router + e->north_south, e->router + e->die_to_die};
  bool dies = chip->dies_x > 1 || chip->dies_y > 1;
  if (cost[0] == cost[1] && (!dies || cost[2] == cost[0]))
    return (cm_hop_units){1, 1, 1, 1, cost[0]};
  double least = INFINITY, units[3];
  for (int kind = 0; kind < (dies ? 3 : 2); kind++)
    if (cost[kind] > 0 && cost[kind] < least)
      least = cost[kind];
  for (int kind = 0; kind < 3; kind++) /* a hop dearer than this is never wanted: no need to tell how much dearer */
    units[kind] = fmin(round(cost[kind] / least * UNITS_PER_HOP), 1e6);
  return (cm_hop_units){(uint32_t)units[0], (uint32_t)units[1], (uint32_t)units[2], UNITS_PER_HOP, least};
}

uint32_t cm_cheapest_hop_units(const cm_chip *chip)
{
  const cm_interconnect *net = chip->interconnect;
  uint32_t least = UINT32_MAX;
  if (net == NULL)
    return cm_hop_units_of(chip).cheapest;
  for (uint32_t i = 0; i < net->link_count; i++)
    least = !net->link[i].dead && net->link[i].units < least ? net->link[i].units : least;
  return least < UINT32_MAX ? least : 1;
}

uint64_t cm_chip_both_ways(const cm_chip *chip, const cm_hop_units *units, uint32_t core_a, uint32_t core_b)
{
  const cm_interconnect *net = chip->interconnect;
  if (net == NULL)
    return cm_hop_units_pay(units, cm_chip_hops(chip, core_a, core_b)) + cm_hop_units_pay(units, cm_chip_hops(chip, core_b, core_a));
  uint32_t a = cm_router_of(chip, core_a), b = cm_router_of(chip, core_b);
  return (uint64_t)cm_interconnect_units(net, a, b) + cm_interconnect_units(net, b, a);
}

double cm_chip_way_pj(const cm_chip *chip, double packets, uint32_t core_a, uint32_t core_b)
{
  const cm_interconnect *net = chip->interconnect;
  if (net != NULL)
    return packets * net->unit_pj * cm_interconnect_units(net, cm_router_of(chip, core_a), cm_router_of(chip, core_b));
  const cm_hop_cost *e = &chip->energy_pj;
  cm_hops h = cm_chip_hops(chip, core_a, core_b);
  double hops = (double)h.east_west + h.north_south + h.die_to_die;
  return packets * (hops * e->router + h.east_west * e->east_west + h.north_south * e->north_south + h.die_to_die * e->die_to_die);
}

double cm_chip_step_ns(const cm_chip *chip, uint32_t link, double packets)
{
  return cm_geometry_of(chip) == CM_BY_AXES ? packets / chip->costs.link_packets_per_ns : packets * cm_chip_link_ns(chip, link);
}

double cm_hops_cost(const cm_hop_cost *cost, cm_hops hops)
{
  return (1.0 + hops.east_west + hops.north_south + hops.die_to_die) * cost->router + hops.east_west * cost->east_west +
         hops.north_south * cost->north_south + hops.die_to_die * cost->die_to_die;
}

/* A minimal way from the border is straight. */
cm_hops cm_chip_hops_from_border(const cm_chip *chip, uint32_t core)
{
  uint32_t x = core % chip->width, row = core - x;
  const uint32_t from[] = {row, row + chip->width - 1, x, (chip->height - 1) * chip->width + x};
  cm_hops best = {0};
  bool found = false;
  for (int i = 0; cm_geometry_of(chip) == CM_BY_AXES && i < 4; i++) {
    if (i < 2 ? chip->torus_x : chip->torus_y)
      continue;
    cm_hops hops = cm_chip_hops(chip, from[i], core);
    uint32_t way = hops.east_west + hops.north_south + hops.die_to_die, least = best.east_west + best.north_south + best.die_to_die;
    if (!found || way < least || (way == least && cm_hops_cost(&chip->energy_pj, hops) < cm_hops_cost(&chip->energy_pj, best)))
      best = hops;
    found = true;
  }
  return best;
}

uint32_t cm_chip_forbidden_turns(const cm_chip *chip, cm_turn_rule rule)
{
  uint32_t forbidden = 0;
  for (int from = 0; cm_geometry_of(chip) == CM_BY_AXES && from < CM_DIRECTIONS; from++)
    for (int to = 0; to < CM_DIRECTIONS; to++)
      forbidden += from / 2 != to / 2 && !cm_turn_allowed(rule, (cm_direction)from, (cm_direction)to);
  return forbidden;
}
