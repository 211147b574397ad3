#include "core/simulate/fabric_ways.h"

#include "core/chip/interconnect/interconnect.h"

static uint64_t local_bit(const cm_fabric *f, uint32_t core)
{
  return UINT64_C(1) << (CM_DIRECTIONS + cm_core_behind(f->chip, core));
}

/* Which ways a packet takes on a mesh: dimension by dimension, the trunk along the first, branches along the second. */
static uint64_t route(const cm_fabric *f, const cm_fabric_packet *p)
{
  const cm_traffic *t = f->traffic;
  bool x_first = f->chip->routing == CM_ROUTING_XY;
  cm_direction ahead = x_first ? CM_EAST : CM_SOUTH, back = x_first ? CM_WEST : CM_NORTH,
               up = x_first ? CM_SOUTH : CM_EAST, down = x_first ? CM_NORTH : CM_WEST;
  int32_t a = x_first ? -p->x : -p->y, b = x_first ? -p->y : -p->x;
  uint64_t needs = 0;
  for (uint64_t i = t->first[p->kind]; i < t->first[p->kind + 1]; i++) {
    const cm_packet_target *to = &t->target[i];
    int32_t ta = x_first ? to->x : to->y, tb = x_first ? to->y : to->x;
    if (ta == a) {
      bool along = p->heading == CM_DIRECTIONS || p->heading == ahead || p->heading == back;
      if (tb == b)
        needs |= local_bit(f, to->core);
      else if (tb > b ? along || p->heading == up : along || p->heading == down)
        needs |= UINT64_C(1) << (tb > b ? up : down);
    } else if (p->heading == CM_DIRECTIONS || p->heading == (ta > a ? ahead : back))
      needs |= UINT64_C(1) << (ta > a ? ahead : back);
  }
  return needs;
}

/* The channel of a bit at a router: a link, or the inlet of a core behind it. */
static uint32_t channel_of(const cm_fabric *f, uint32_t router, unsigned bit)
{
  if (bit < CM_DIRECTIONS)
    return router * CM_DIRECTIONS + bit;
  uint32_t i = bit - CM_DIRECTIONS, columns = cm_chip_routers_x(f->chip);
  uint32_t x = router % columns * f->chip->router_x + i % f->chip->router_x,
           y = router / columns * f->chip->router_y + i / f->chip->router_x;
  return f->links + y * f->chip->width + x;
}

static cm_status add_channel(cm_fabric *f, uint32_t channel, uint32_t *count, cm_error *error)
{
  for (uint32_t i = 0; i < *count; i++)
    if (f->way[i] == channel)
      return CM_OK;
  CM_TRY(CM_ROOM(f->run->memory, f->way, &f->way_room, (uint64_t)*count + 1, error));
  f->way[(*count)++] = channel;
  return CM_OK;
}

/* The same on an interconnect: of its ways to its targets, the links after this router. */
static cm_status follow_ways(cm_fabric *f, const cm_fabric_packet *p, uint32_t router, uint32_t *count, cm_error *error)
{
  const cm_interconnect *net = f->chip->interconnect;
  const cm_traffic *t = f->traffic;
  uint32_t source = (uint32_t)p->x;
  for (uint64_t i = t->first[p->kind]; i < t->first[p->kind + 1]; i++) {
    uint32_t core = t->target[i].core, at = cm_router_of(f->chip, core);
    if (at == router) {
      CM_TRY(add_channel(f, f->links + core, count, error));
      continue;
    }
    while (at != source) {
      uint32_t link = cm_interconnect_last(net, source, at);
      at = net->link[link].from;
      if (at != router)
        continue;
      CM_TRY(add_channel(f, link, count, error));
      break;
    }
  }
  return CM_OK;
}

cm_status cm_fabric_ways(cm_fabric *f, const cm_fabric_packet *p, uint32_t router, uint32_t *count, cm_error *error)
{
  uint32_t listed = 0;
  if (!f->by_steps && follow_ways(f, p, router, &listed, error) != CM_OK)
    return error->status;
  for (uint64_t bits = f->by_steps ? route(f, p) : 0; bits != 0; bits &= bits - 1)
    CM_TRY(add_channel(f, channel_of(f, router, (unsigned)__builtin_ctzll(bits)), &listed, error));
  *count = listed;
  return CM_OK;
}
