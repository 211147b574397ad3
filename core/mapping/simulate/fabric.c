/* Happy path: a packet is put in the queue of its core's outlet -> at the head it asks for channels -> a channel that is
 * free and has a place behind it takes it -> it arrives in the next buffer, or at a core. What can fail: memory, a
 * stop. */
#include "core/mapping/simulate/fabric.h"

#include <string.h>

#include "core/chip/interconnect/interconnect.h"
#include "core/chip/turns.h"

/* ---- packets and lists ---- */

static cm_status new_packet(cm_fabric *f, uint32_t *packet, cm_error *error)
{
  if (f->packet_free != CM_FABRIC_NONE) {
    *packet = f->packet_free;
    f->packet_free = f->packet[*packet].next;
    return CM_OK;
  }
  if (CM_ROOM(f->run->memory, f->packet, &f->packet_room, (uint64_t)f->packet_count + 1, error) != CM_OK)
    return error->status;
  *packet = f->packet_count++;
  return CM_OK;
}

static void free_packet(cm_fabric *f, uint32_t packet)
{
  f->packet[packet].next = f->packet_free;
  f->packet_free = packet;
}

static void append(cm_fabric *f, cm_fabric_queue *q, uint32_t packet)
{
  f->packet[packet].next = CM_FABRIC_NONE;
  if (q->head == CM_FABRIC_NONE)
    q->head = packet;
  else
    f->packet[q->tail].next = packet;
  q->tail = packet;
}

static void drop_head(cm_fabric *f, cm_fabric_queue *q)
{
  q->head = f->packet[q->head].next;
}

/* A buffer's head needs a channel. */
static cm_status wait_for(cm_fabric *f, uint32_t buffer, uint32_t channel, cm_error *error)
{
  uint32_t node = f->node_free;
  if (node != CM_FABRIC_NONE)
    f->node_free = f->node_next[node];
  else {
    if (CM_ROOM(f->run->memory, f->node_buffer, &f->node_room, (uint64_t)f->node_count + 1, error) != CM_OK ||
        CM_ROOM(f->run->memory, f->node_next, &f->node_next_room, (uint64_t)f->node_count + 1, error) != CM_OK)
      return error->status;
    node = f->node_count++;
  }
  f->node_buffer[node] = buffer;
  f->node_next[node] = CM_FABRIC_NONE;
  if (f->wait_head[channel] == CM_FABRIC_NONE)
    f->wait_head[channel] = node;
  else
    f->node_next[f->wait_tail[channel]] = node;
  f->wait_tail[channel] = node;
  return CM_OK;
}

static uint32_t first_waiting(cm_fabric *f, uint32_t channel)
{
  uint32_t node = f->wait_head[channel], buffer = f->node_buffer[node];
  f->wait_head[channel] = f->node_next[node];
  f->node_next[node] = f->node_free;
  f->node_free = node;
  return buffer;
}

static cm_status look_at(cm_fabric *f, uint32_t channel, cm_error *error)
{
  if (CM_ROOM(f->run->memory, f->todo, &f->todo_room, f->todo_count + 1, error) != CM_OK)
    return error->status;
  f->todo[f->todo_count++] = channel;
  return CM_OK;
}

/* ---- routing ---- */

/* The router that a buffer feeds. */
static uint32_t router_of(const cm_fabric *f, uint32_t buffer)
{
  if (buffer >= f->links)
    return cm_router_of(f->chip, buffer - f->links);
  if (f->chip->interconnect != NULL)
    return f->chip->interconnect->link[buffer].to;
  uint32_t router = buffer / CM_DIRECTIONS, x = router % cm_chip_routers_x(f->chip), y = router / cm_chip_routers_x(f->chip);
  uint32_t columns = cm_chip_routers_x(f->chip), rows = cm_chip_routers_y(f->chip);
  switch (buffer % CM_DIRECTIONS) {
    case CM_EAST: x = (x + 1) % columns; break;
    case CM_WEST: x = (x + columns - 1) % columns; break;
    case CM_SOUTH: y = (y + 1) % rows; break;
    default: y = (y + rows - 1) % rows; break;
  }
  return y * columns + x;
}

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
  int32_t a = x_first ? p->x : p->y, b = x_first ? p->y : p->x;
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
  if (CM_ROOM(f->run->memory, f->way, &f->way_room, (uint64_t)*count + 1, error) != CM_OK)
    return error->status;
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
      if (add_channel(f, f->links + core, count, error) != CM_OK)
        return error->status;
      continue;
    }
    while (at != source) {
      uint32_t link = cm_interconnect_last(net, source, at);
      at = net->link[link].from;
      if (at != router)
        continue;
      if (add_channel(f, link, count, error) != CM_OK)
        return error->status;
      break;
    }
  }
  return CM_OK;
}

/* A buffer has a new head: it asks for its channels. */
static cm_status ask(cm_fabric *f, uint32_t buffer, cm_error *error)
{
  uint32_t router = router_of(f, buffer), count = 0;
  const cm_fabric_packet *p = &f->packet[f->buffer[buffer].head];
  if (f->chip->interconnect != NULL && follow_ways(f, p, router, &count, error) != CM_OK)
    return error->status;
  for (uint64_t bits = f->chip->interconnect != NULL ? 0 : route(f, p); bits != 0; bits &= bits - 1)
    if (add_channel(f, channel_of(f, router, (unsigned)__builtin_ctzll(bits)), &count, error) != CM_OK)
      return error->status;
  f->needs[buffer] = count;
  for (uint32_t i = 0; i < count; i++)
    if (wait_for(f, buffer, f->way[i], error) != CM_OK || look_at(f, f->way[i], error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* ---- movement ---- */

/* The head of what leaves a core asks for its channels, once the outlet is free. */
static cm_status leave(cm_fabric *f, uint32_t core, cm_error *error)
{
  if (f->outlet_free[core] <= f->now)
    return ask(f, f->links + core, error);
  if (f->outlet_waking[core])
    return CM_OK;
  f->outlet_waking[core] = 1;
  return cm_events_put(&f->events, f->outlet_free[core], CM_EVENT_OUTLET, core, 0, error);
}

/* The head of a buffer has gone everywhere: the place is free for who feeds the buffer. */
static cm_status advance(cm_fabric *f, uint32_t buffer, cm_error *error)
{
  bool more;
  drop_head(f, &f->buffer[buffer]);
  more = f->buffer[buffer].head != CM_FABRIC_NONE;
  if (buffer >= f->links) {
    f->outlet_free[buffer - f->links] = f->now + f->service_ps[buffer];
    return more ? leave(f, buffer - f->links, error) : CM_OK;
  }
  f->held[buffer]--;
  if (look_at(f, buffer, error) != CM_OK)
    return error->status;
  return more ? ask(f, buffer, error) : CM_OK;
}

/* A packet leaves a router with cores; frames know no others. */
static void count_frame(cm_fabric *f, uint32_t channel)
{
  const cm_interconnect *net = f->chip->interconnect;
  uint32_t router = channel >= f->links ? cm_router_of(f->chip, channel - f->links)
                    : net != NULL       ? net->link[channel].from
                                        : channel / CM_DIRECTIONS;
  if (router < f->routers)
    cm_frames_count(&f->frames, f->now, router);
}

static cm_status send(cm_fabric *f, uint32_t buffer, uint32_t channel, cm_error *error)
{
  uint32_t sent = f->buffer[buffer].head;
  if (--f->needs[buffer] != 0) { /* a copy goes, the head stays for the other channels */
    uint32_t copy = 0;
    if (new_packet(f, &copy, error) != CM_OK)
      return error->status;
    f->packet[copy] = f->packet[sent];
    sent = copy;
    f->under_way++;
  } else if (advance(f, buffer, error) != CM_OK)
    return error->status;
  cm_fabric_packet *p = &f->packet[sent];
  p->free_ps += f->latency_ps[channel];
  f->hops += channel < f->links;
  if (channel < f->links && f->chip->interconnect == NULL) {
    cm_direction heading = (cm_direction)(channel % CM_DIRECTIONS);
    p->heading = (uint8_t)heading;
    p->x += (heading == CM_EAST) - (heading == CM_WEST);
    p->y += (heading == CM_SOUTH) - (heading == CM_NORTH);
  }
  f->held[channel]++;
  f->carried[channel]++;
  if (f->frames.most > 0)
    count_frame(f, channel);
  f->free_at[channel] = f->now + f->service_ps[channel];
  return cm_events_put(&f->events, f->now + f->latency_ps[channel], CM_EVENT_ARRIVE, channel, sent, error);
}

static cm_status serve(cm_fabric *f, uint32_t channel, cm_error *error)
{
  while (f->wait_head[channel] != CM_FABRIC_NONE && f->held[channel] < f->buffers) {
    if (f->free_at[channel] > f->now) {
      if (f->waking[channel])
        return CM_OK;
      f->waking[channel] = 1;
      return cm_events_put(&f->events, f->free_at[channel], CM_EVENT_FREE, channel, 0, error);
    }
    if (send(f, first_waiting(f, channel), channel, error) != CM_OK)
      return error->status;
  }
  return CM_OK;
}

static cm_status settle(cm_fabric *f, cm_error *error)
{
  cm_status status = CM_OK;
  while (f->todo_count > 0 && status == CM_OK)
    status = serve(f, f->todo[--f->todo_count], error);
  return status;
}

/* ---- cores ---- */

/* The synapses that a packet reaches at a core. */
static uint32_t synapses_at(const cm_fabric *f, const cm_fabric_packet *p, uint32_t core)
{
  const cm_traffic *t = f->traffic;
  for (uint64_t i = t->first[p->kind]; i < t->first[p->kind + 1]; i++)
    if (t->target[i].core == core)
      return t->target[i].synapses;
  return 0;
}

static cm_status process(cm_fabric *f, uint32_t core, cm_error *error)
{
  const cm_charge_cost *c = f->chip->costs.charge;
  const cm_fabric_packet *p = &f->packet[f->inbox[core].head];
  uint64_t takes = cm_ps(c[CM_CHARGE_PACKET_RECEIVED].ns + c[CM_CHARGE_SYNAPSE].ns * synapses_at(f, p, core));
  uint64_t begin = f->now > f->process_from[core] ? f->now : f->process_from[core];
  return cm_events_put(&f->events, begin + takes, CM_EVENT_DONE, core, 0, error);
}

static cm_status deliver(cm_fabric *f, uint32_t core, uint32_t packet, cm_error *error)
{
  f->delivered++;
  f->on_delivery(f->user, &f->packet[packet], f->now);
  if (!f->processing) {
    f->held[f->links + core]--;
    f->under_way--;
    free_packet(f, packet);
    return look_at(f, f->links + core, error);
  }
  bool idle = f->inbox[core].head == CM_FABRIC_NONE;
  append(f, &f->inbox[core], packet);
  return idle ? process(f, core, error) : CM_OK;
}

static cm_status finish(cm_fabric *f, uint32_t core, cm_error *error)
{
  uint32_t packet = f->inbox[core].head;
  drop_head(f, &f->inbox[core]);
  free_packet(f, packet);
  f->under_way--;
  f->held[f->links + core]--;
  f->core_end[core] = f->now;
  if (f->inbox[core].head != CM_FABRIC_NONE && process(f, core, error) != CM_OK)
    return error->status;
  return look_at(f, f->links + core, error);
}

/* ---- events ---- */

static cm_status arrive(cm_fabric *f, uint32_t channel, uint32_t packet, cm_error *error)
{
  if (channel >= f->links)
    return deliver(f, channel - f->links, packet, error);
  bool first = f->buffer[channel].head == CM_FABRIC_NONE;
  append(f, &f->buffer[channel], packet);
  return first ? ask(f, channel, error) : CM_OK;
}

static cm_status happen(cm_fabric *f, const cm_timed_event *event, cm_error *error)
{
  switch (event->kind) {
    case CM_EVENT_ARRIVE: return arrive(f, event->where, event->packet, error);
    case CM_EVENT_FREE: f->waking[event->where] = 0; return look_at(f, event->where, error);
    case CM_EVENT_OUTLET: f->outlet_waking[event->where] = 0; return leave(f, event->where, error);
    case CM_EVENT_INJECT: return f->on_inject(f->user, event->where, error);
    default: return finish(f, event->where, error);
  }
}

cm_status cm_fabric_inject(cm_fabric *f, uint32_t core, uint64_t kind, cm_error *error)
{
  uint32_t packet = 0, buffer = f->links + core;
  if (new_packet(f, &packet, error) != CM_OK)
    return error->status;
  f->packet[packet] = (cm_fabric_packet){.born_ps = f->now, .kind = kind, .heading = CM_DIRECTIONS};
  if (f->chip->interconnect != NULL)
    f->packet[packet].x = (int32_t)cm_router_of(f->chip, core);
  f->under_way++;
  bool first = f->buffer[buffer].head == CM_FABRIC_NONE;
  append(f, &f->buffer[buffer], packet);
  return first ? leave(f, core, error) : CM_OK;
}

cm_status cm_fabric_run(cm_fabric *f, bool (*stop)(const cm_fabric *fabric), cm_error *error)
{
  enum { CHECK = 4096 };
  cm_status status = settle(f, error);
  for (uint64_t i = 0; status == CM_OK && f->events.count > 0 && (stop == NULL || !stop(f)); i++) {
    cm_timed_event event = cm_events_take(&f->events);
    f->now = event.ps;
    status = happen(f, &event, error);
    if (status == CM_OK)
      status = settle(f, error);
    if (status == CM_OK && i % CHECK == 0)
      status = cm_run_check(f->run, error);
  }
  return status;
}

/* ---- making one ---- */

static void set_times(cm_fabric *f)
{
  const cm_chip *chip = f->chip;
  const cm_hop_cost *l = &chip->latency_ns;
  const cm_interconnect *net = chip->interconnect;
  for (uint32_t c = 0; c < f->links && net != NULL; c++) {
    f->latency_ps[c] = cm_ps(net->link[c].latency_ns + l->router);
    f->service_ps[c] = cm_ps(cm_interconnect_link_ns(chip, c));
  }
  for (uint32_t c = 0; c < f->links && net == NULL; c++) {
    bool along_x = c % CM_DIRECTIONS == CM_EAST || c % CM_DIRECTIONS == CM_WEST;
    double link = cm_chip_between_dies(chip, c) ? l->die_to_die : along_x ? l->east_west : l->north_south;
    f->latency_ps[c] = cm_ps(link + l->router);
    f->service_ps[c] = cm_ps(cm_chip_link_ns(chip, c));
  }
  for (uint32_t core = 0; core < f->cores; core++) {
    f->latency_ps[f->links + core] = cm_ps(l->router);
    f->service_ps[f->links + core] = cm_ps(cm_chip_port_ns(chip));
  }
}

uint32_t cm_fabric_links(const cm_chip *chip)
{
  return chip->interconnect != NULL ? chip->interconnect->link_count : cm_chip_routers_x(chip) * cm_chip_routers_y(chip) * CM_DIRECTIONS;
}

cm_status cm_fabric_new(const cm_traffic *traffic, uint32_t buffers, bool processing, cm_run *run, cm_fabric *fabric,
                        cm_error *error)
{
  const cm_chip *chip = traffic->chip;
  cm_fabric f = {.traffic = traffic, .chip = chip, .run = run, .buffers = buffers, .processing = processing,
                 .routers = cm_chip_routers_x(chip) * cm_chip_routers_y(chip), .cores = cm_chip_cores(chip),
                 .packet_free = CM_FABRIC_NONE, .node_free = CM_FABRIC_NONE, .events = {.memory = run->memory}};
  cm_memory *memory = run->memory;
  f.links = cm_fabric_links(chip);
  size_t channels = (size_t)f.links + f.cores;
  if (CM_NEW(memory, f.service_ps, channels, error) != CM_OK || CM_NEW(memory, f.latency_ps, channels, error) != CM_OK ||
      CM_NEW(memory, f.free_at, channels, error) != CM_OK || CM_NEW(memory, f.waking, channels, error) != CM_OK ||
      CM_NEW(memory, f.outlet_free, f.cores, error) != CM_OK || CM_NEW(memory, f.outlet_waking, f.cores, error) != CM_OK ||
      CM_NEW(memory, f.held, channels, error) != CM_OK || CM_NEW(memory, f.carried, channels, error) != CM_OK ||
      CM_NEW(memory, f.wait_head, channels, error) != CM_OK || CM_NEW(memory, f.wait_tail, channels, error) != CM_OK ||
      CM_NEW(memory, f.buffer, channels, error) != CM_OK || CM_NEW(memory, f.needs, channels, error) != CM_OK ||
      CM_NEW(memory, f.inbox, f.cores, error) != CM_OK || CM_NEW(memory, f.core_end, f.cores, error) != CM_OK ||
      CM_NEW(memory, f.process_from, f.cores, error) != CM_OK) {
    cm_fabric_free(&f);
    return error->status;
  }
  memset(f.wait_head, 0xff, channels * sizeof *f.wait_head);
  memset(f.buffer, 0xff, channels * sizeof *f.buffer);
  memset(f.inbox, 0xff, f.cores * sizeof *f.inbox);
  set_times(&f);
  *fabric = f;
  return CM_OK;
}

void cm_fabric_free(cm_fabric *f)
{
  void *const blocks[] = {f->service_ps, f->latency_ps, f->free_at,     f->waking,    f->held,   f->carried,
                          f->outlet_free, f->outlet_waking,
                          f->wait_head,  f->wait_tail,  f->node_buffer, f->node_next, f->buffer, f->needs,
                          f->inbox,      f->core_end,   f->process_from, f->packet,     f->todo,        f->way};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    cm_free(blocks[i]);
  cm_events_free(&f->events);
  cm_frames_free(&f->frames);
  *f = (cm_fabric){0};
}
