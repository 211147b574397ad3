/* Geometry of chips, and freeing them. */
#include "core/chip/chip.h"

#include "core/chip/chip_read.h"
#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"

void cm_chip_free(cm_chip *chip)
{
  if (chip == NULL)
    return;
  CM_FREE(chip->description, chip->dead_cores, chip->dead_links, chip->target);
  cm_classes_free(chip);
  cm_interconnect_free(chip->interconnect);
  cm_free(chip);
}

/* Signed steps along one axis of routers from a to b: the shorter way round a torus, the positive one when both
 * are equal. */
static int32_t axis_steps(uint32_t a, uint32_t b, uint32_t routers, bool torus)
{
  int32_t direct = (int32_t)b - (int32_t)a, size = (int32_t)routers;
  if (!torus)
    return direct;
  int32_t forward = direct >= 0 ? direct : direct + size;
  return 2 * (int64_t)forward <= size ? forward : forward - size;
}

/* Die borders on a way of `steps` from a. The link that closes a torus is one where the axis has several dies. */
static uint32_t borders(uint32_t a, int32_t steps, uint32_t routers, uint32_t die_routers)
{
  if (die_routers == routers)
    return 0;
  /* A way has the same links in either direction; counted from its western or northern end. */
  uint32_t length = (uint32_t)(steps < 0 ? -steps : steps);
  uint32_t from = steps >= 0 ? a : a >= length ? a - length : a + routers - length;
  return (from + length) / die_routers - from / die_routers;
}

void cm_chip_steps(const cm_chip *chip, uint32_t core_a, uint32_t core_b, int32_t *x, int32_t *y)
{
  *x = axis_steps(core_a % chip->width / chip->router_x, core_b % chip->width / chip->router_x,
                  cm_chip_routers_x(chip), chip->torus_x);
  *y = axis_steps(core_a / chip->width / chip->router_y, core_b / chip->width / chip->router_y,
                  cm_chip_routers_y(chip), chip->torus_y);
}

void cm_chip_straights(const cm_chip *chip, uint32_t from, uint32_t to, cm_straight along[2])
{
  const uint32_t columns = cm_chip_routers_x(chip), from_x = from % chip->width / chip->router_x, from_y = from / chip->width / chip->router_y;
  const bool x_first = chip->routing == CM_ROUTING_XY;
  int32_t x, y;
  cm_chip_steps(chip, from, to, &x, &y);
  along[0] = (cm_straight){(uint32_t)abs(x), from_x, columns, (x_first ? from_y : to / chip->width / chip->router_y) * columns, 1, x > 0 ? CM_EAST : CM_WEST};
  along[1] = (cm_straight){(uint32_t)abs(y), from_y, cm_chip_routers_y(chip), x_first ? to % chip->width / chip->router_x : from_x, columns,
                           y > 0 ? CM_SOUTH : CM_NORTH};
}

cm_hops cm_chip_hops(const cm_chip *chip, uint32_t core_a, uint32_t core_b)
{
  int32_t x, y;
  cm_chip_steps(chip, core_a, core_b, &x, &y);
  uint32_t crossed_x = borders(core_a % chip->width / chip->router_x, x, cm_chip_routers_x(chip),
                               chip->die_width / chip->router_x);
  uint32_t crossed_y = borders(core_a / chip->width / chip->router_y, y, cm_chip_routers_y(chip),
                               chip->die_height / chip->router_y);
  return (cm_hops){(uint32_t)abs(x) - crossed_x, (uint32_t)abs(y) - crossed_y, crossed_x + crossed_y};
}

uint32_t cm_chip_distance(const cm_chip *chip, uint32_t core_a, uint32_t core_b)
{
  int32_t x, y;
  if (chip->interconnect != NULL)
    return cm_interconnect_hops(chip->interconnect, cm_router_of(chip, core_a), cm_router_of(chip, core_b));
  cm_chip_steps(chip, core_a, core_b, &x, &y);
  return (uint32_t)abs(x) + (uint32_t)abs(y);
}

bool cm_chip_between_dies(const cm_chip *chip, size_t link)
{
  size_t columns = cm_chip_routers_x(chip), rows = cm_chip_routers_y(chip), router = link / CM_DIRECTIONS;
  size_t x = router % columns, y = router / columns, die_x = chip->die_width / chip->router_x,
         die_y = chip->die_height / chip->router_y;
  switch (link % CM_DIRECTIONS) {
    case CM_EAST: return x / die_x != (x + 1) % columns / die_x;
    case CM_WEST: return x / die_x != (x + columns - 1) % columns / die_x;
    case CM_SOUTH: return y / die_y != (y + 1) % rows / die_y;
    default: return y / die_y != (y + rows - 1) % rows / die_y;
  }
}

double cm_chip_port_ns(const cm_chip *chip)
{
  return chip->costs.port_packets_per_ns > 0 ? 1 / chip->costs.port_packets_per_ns : chip->latency_ns.router;
}

double cm_chip_link_ns(const cm_chip *chip, size_t link)
{
  if (chip->interconnect != NULL) {
    const cm_link *k = &chip->interconnect->link[link];
    return (chip->costs.link_packets_per_ns > 0 ? 1 / chip->costs.link_packets_per_ns : k->latency_ns) / k->bandwidth;
  }
  bool along_x = link % CM_DIRECTIONS == CM_EAST || link % CM_DIRECTIONS == CM_WEST;
  if (chip->costs.link_packets_per_ns > 0)
    return 1 / chip->costs.link_packets_per_ns;
  if (cm_chip_between_dies(chip, link))
    return chip->latency_ns.die_to_die;
  return along_x ? chip->latency_ns.east_west : chip->latency_ns.north_south;
}
