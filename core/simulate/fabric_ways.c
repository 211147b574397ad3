#include "core/simulate/fabric_ways.h"

#include "base/order.h"
#include "core/chip/interconnect/interconnect.h"

/* The channel of a mesh to one of a packet's targets. */
static uint32_t channel_to(const cm_fabric *f, const cm_fabric_packet *p, uint32_t router, const cm_packet_target *to)
{
  return cm_fabric_towards(f, router, to->x + p->x, to->y + p->y, to->core);
}

static cm_status add_way(cm_fabric *f, cm_fabric_way way, uint32_t *count, cm_error *error)
{
  CM_TRY(CM_ROOM(f->run->memory, f->way, &f->way_room, (uint64_t)*count + 1, error));
  f->way[(*count)++] = way;
  return CM_OK;
}

/* On a mesh: targets of one channel stand in a row (cm_traffic), whose end is searched by halves. Ways by rising channels. */
static cm_status follow_steps(cm_fabric *f, const cm_fabric_packet *p, uint32_t router, uint32_t *count, cm_error *error)
{
  const cm_packet_target *to = &f->traffic->target[f->traffic->first[p->kind]];
  for (uint32_t first = p->first; first < p->end;) {
    const uint32_t channel = channel_to(f, p, router, &to[first]);
    uint32_t end = first + 1, beyond = p->end, place = *count;
    CM_BISECT(end, beyond, at, channel_to(f, p, router, &to[at]) == channel)
    const cm_fabric_way way = {channel, first, end};
    CM_TRY(add_way(f, way, count, error));
    for (; place > 0 && f->way[place - 1].channel > channel; place--)
      f->way[place] = f->way[place - 1];
    f->way[place] = way;
    first = end;
  }
  return CM_OK;
}

static cm_status add_channel(cm_fabric *f, const cm_fabric_packet *p, uint32_t channel, uint32_t *count, cm_error *error)
{
  for (uint32_t i = 0; i < *count; i++)
    if (f->way[i].channel == channel)
      return CM_OK;
  return add_way(f, (cm_fabric_way){channel, p->first, p->end}, count, error);
}

/* On an interconnect: of its ways to its targets, the links after this router. */
static cm_status follow_ways(cm_fabric *f, const cm_fabric_packet *p, uint32_t router, uint32_t *count, cm_error *error)
{
  const cm_interconnect *net = f->chip->interconnect;
  const cm_traffic *t = f->traffic;
  uint32_t source = (uint32_t)p->x;
  for (uint64_t i = t->first[p->kind]; i < t->first[p->kind + 1]; i++) {
    uint32_t core = t->target[i].core, at = cm_router_of(f->chip, core);
    if (at == router) {
      CM_TRY(add_channel(f, p, f->links + core, count, error));
      continue;
    }
    while (at != source) {
      uint32_t link = cm_interconnect_last(net, source, at);
      at = net->link[link].from;
      if (at != router)
        continue;
      CM_TRY(add_channel(f, p, link, count, error));
      break;
    }
  }
  return CM_OK;
}

cm_status cm_fabric_ways(cm_fabric *f, const cm_fabric_packet *p, uint32_t router, uint32_t *count, cm_error *error)
{
  *count = 0;
  return f->by_steps ? follow_steps(f, p, router, count, error) : follow_ways(f, p, router, count, error);
}
