/* Happy path: a packet is put in the queue of its core's outlet -> at the head it asks for channels -> a channel that is
 * free and has a place behind it takes it -> it arrives in the next buffer, or at a core. What can fail: memory, a
 * stop. */
#include "core/simulate/fabric.h"

#include "core/chip/geometry.h"
#include "core/simulate/fabric_ways.h"

/* ---- packets and lists ---- */

static inline cm_status new_packet(cm_fabric *f, uint32_t *packet, cm_error *error)
{
  if (f->packet_free != CM_FABRIC_NONE) {
    *packet = f->packet_free;
    f->packet_free = f->packet[*packet].next;
    return CM_OK;
  }
  CM_TRY(CM_ROOM(f->run->memory, f->packet, &f->packet_room, (uint64_t)f->packet_count + 1, error));
  *packet = f->packet_count++;
  return CM_OK;
}

static inline void free_packet(cm_fabric *f, uint32_t packet)
{
  f->packet[packet].next = f->packet_free;
  f->packet_free = packet;
}

static inline void append(cm_fabric *f, cm_fabric_queue *q, uint32_t packet)
{
  f->packet[packet].next = CM_FABRIC_NONE;
  if (q->head == CM_FABRIC_NONE)
    q->head = packet;
  else
    f->packet[q->tail].next = packet;
  q->tail = packet;
}

static inline void drop_head(cm_fabric *f, cm_fabric_queue *q)
{
  q->head = f->packet[q->head].next;
}

/* A buffer's head needs a channel. */
static cm_status wait_for(cm_fabric *f, uint32_t buffer, const cm_fabric_way *way, cm_error *error)
{
  uint32_t node = f->node_free;
  cm_fabric_channel *c = &f->channel[way->channel];
  if (node != CM_FABRIC_NONE)
    f->node_free = f->node[node].next;
  else {
    CM_TRY(CM_ROOM(f->run->memory, f->node, &f->node_room, (uint64_t)f->node_count + 1, error));
    node = f->node_count++;
  }
  f->node[node] = (cm_fabric_wait){buffer, way->first, way->end, CM_FABRIC_NONE};
  if (c->wait_head == CM_FABRIC_NONE)
    c->wait_head = node;
  else
    f->node[c->wait_tail].next = node;
  c->wait_tail = node;
  return CM_OK;
}

static inline cm_fabric_wait first_waiting(cm_fabric *f, cm_fabric_channel *c)
{
  uint32_t node = c->wait_head;
  const cm_fabric_wait one = f->node[node];
  c->wait_head = one.next;
  f->node[node].next = f->node_free;
  f->node_free = node;
  return one;
}

static inline cm_status look_at(cm_fabric *f, uint32_t channel, cm_error *error)
{
  CM_TRY(CM_ROOM(f->run->memory, f->todo, &f->todo_room, f->todo_count + 1, error));
  f->todo[f->todo_count++] = channel;
  return CM_OK;
}

/* A place behind a channel is free: of interest where somebody waits for it. */
static inline cm_status give_place(cm_fabric *f, uint32_t channel, cm_error *error)
{
  f->channel[channel].held--;
  return f->channel[channel].wait_head != CM_FABRIC_NONE ? look_at(f, channel, error) : CM_OK;
}

/* ---- movement ---- */

/* A buffer has a new head: it asks for its channels. */
static cm_status ask(cm_fabric *f, uint32_t buffer, cm_error *error)
{
  cm_fabric_channel *b = &f->channel[buffer];
  const cm_fabric_packet *p = &f->packet[b->buffer.head];
  uint32_t count = 0;
  if (f->direct) {
    const cm_fabric_way way = {.channel = cm_fabric_next(f, p, b->router)};
    b->needs = 1;
    return wait_for(f, buffer, &way, error) == CM_OK ? look_at(f, way.channel, error) : error->status;
  }
  CM_TRY(cm_fabric_ways(f, p, b->router, &count, error));
  b->needs = count;
  for (uint32_t i = 0; i < count; i++)
    if (wait_for(f, buffer, &f->way[i], error) != CM_OK || look_at(f, f->way[i].channel, error) != CM_OK)
      return error->status;
  return CM_OK;
}

/* The head of what leaves a core asks for its channels, once the outlet is free. */
static cm_status leave(cm_fabric *f, uint32_t core, cm_error *error)
{
  cm_fabric_core *c = &f->core[core];
  if (c->outlet_free <= f->now)
    return ask(f, f->links + core, error);
  if (c->outlet_waking)
    return CM_OK;
  c->outlet_waking = true;
  return cm_events_put(&f->events, c->outlet_free, CM_EVENT_OUTLET, core, 0, error);
}

/* The head of a buffer has gone everywhere: the place is free for who feeds the buffer. */
static inline cm_status advance(cm_fabric *f, uint32_t buffer, cm_error *error)
{
  cm_fabric_channel *b = &f->channel[buffer];
  drop_head(f, &b->buffer);
  bool more = b->buffer.head != CM_FABRIC_NONE;
  if (buffer >= f->links) {
    f->core[buffer - f->links].outlet_free = f->now + b->service_ps;
    return more ? leave(f, buffer - f->links, error) : CM_OK;
  }
  CM_TRY(give_place(f, buffer, error));
  return more ? ask(f, buffer, error) : CM_OK;
}

/* A packet leaves a router with cores; frames know no others. */
static void count_frame(cm_fabric *f, uint32_t channel)
{
  uint32_t router = channel >= f->links ? f->channel[channel].router : cm_chip_link(f->chip, channel).from;
  if (router < f->routers)
    cm_frames_count(&f->frames, f->now, router);
}

/* The head of a buffer goes through a channel that it needs. */
static inline cm_status send(cm_fabric *f, const cm_fabric_wait *one, uint32_t channel, cm_error *error)
{
  const uint32_t buffer = one->buffer;
  uint32_t sent = f->channel[buffer].buffer.head;
  if (--f->channel[buffer].needs != 0) { /* a copy goes, the head stays for the other channels */
    uint32_t copy = 0;
    CM_TRY(new_packet(f, &copy, error));
    f->packet[copy] = f->packet[sent];
    sent = copy;
    f->under_way++;
  } else if (advance(f, buffer, error) != CM_OK)
    return error->status;
  cm_fabric_channel *c = &f->channel[channel];
  cm_fabric_packet *p = &f->packet[sent];
  p->free_ps += c->latency_ps;
  p->first = one->first;
  p->end = one->end;
  if (channel < f->links) {
    f->hops++;
    if (f->by_steps) {
      static const int8_t east[] = {1, -1, 0, 0}, south[] = {0, 0, 1, -1};
      uint32_t heading = channel % CM_DIRECTIONS;
      p->x -= east[heading];
      p->y -= south[heading];
    }
  }
  c->held++;
  c->carried++;
  if (f->frames.most > 0)
    count_frame(f, channel);
  c->free_at = f->now + c->service_ps;
  return c->lane < CM_EVENT_LANES
           ? cm_events_put_behind(&f->events, c->lane, f->now, channel, sent, error)
           : cm_events_put(&f->events, f->now + c->latency_ps, CM_EVENT_ARRIVE, channel, sent, error);
}

static cm_status serve(cm_fabric *f, uint32_t channel, cm_error *error)
{
  cm_fabric_channel *c = &f->channel[channel];
  while (c->wait_head != CM_FABRIC_NONE && c->held < f->buffers) {
    if (c->free_at > f->now) {
      if (c->waking)
        return CM_OK;
      c->waking = true;
      return cm_events_put(&f->events, c->free_at, CM_EVENT_FREE, channel, 0, error);
    }
    const cm_fabric_wait one = first_waiting(f, c);
    CM_TRY(send(f, &one, channel, error));
  }
  return CM_OK;
}

static inline cm_status settle(cm_fabric *f, cm_error *error)
{
  cm_status status = CM_OK;
  while (f->todo_count > 0 && status == CM_OK)
    status = serve(f, f->todo[--f->todo_count], error);
  return status;
}

/* As ask, where nothing else is to do: what can go at once does not queue. */
static inline cm_status ask_first(cm_fabric *f, uint32_t buffer, cm_error *error)
{
  if (!f->direct)
    return ask(f, buffer, error);
  cm_fabric_channel *b = &f->channel[buffer];
  const cm_fabric_way way = {.channel = cm_fabric_next(f, &f->packet[b->buffer.head], b->router)};
  const cm_fabric_channel *c = &f->channel[way.channel];
  b->needs = 1;
  if (c->wait_head == CM_FABRIC_NONE && c->held < f->buffers && c->free_at <= f->now) {
    CM_TRY(send(f, &(cm_fabric_wait){.buffer = buffer}, way.channel, error));
  } else if (wait_for(f, buffer, &way, error) != CM_OK)
    return error->status;
  return serve(f, way.channel, error);
}

/* ---- cores ---- */

/* The synapses that a packet reaches at a core. */
static uint32_t synapses_at(const cm_fabric *f, const cm_fabric_packet *p, uint32_t core)
{
  const cm_packet_target *to = &f->traffic->target[f->traffic->first[p->kind]];
  for (uint32_t i = p->first; i < p->end; i++)
    if (to[i].core == core)
      return to[i].synapses;
  return f->direct ? to->synapses : 0;
}

static cm_status process(cm_fabric *f, uint32_t core, cm_error *error)
{
  const cm_charge_cost *cost = f->chip->costs.charge;
  const cm_fabric_core *c = &f->core[core];
  const cm_fabric_packet *p = &f->packet[c->inbox.head];
  uint64_t takes = cm_ps(cost[CM_CHARGE_PACKET_RECEIVED].ns + cost[CM_CHARGE_SYNAPSE].ns * synapses_at(f, p, core));
  uint64_t begin = f->now > c->process_from ? f->now : c->process_from;
  return cm_events_put(&f->events, begin + takes, CM_EVENT_DONE, core, 0, error);
}

static cm_status deliver(cm_fabric *f, uint32_t core, uint32_t packet, cm_error *error)
{
  f->delivered++;
  f->on_delivery(f->user, &f->packet[packet], f->now);
  if (!f->processing) {
    f->under_way--;
    free_packet(f, packet);
    return give_place(f, f->links + core, error);
  }
  cm_fabric_queue *inbox = &f->core[core].inbox;
  bool idle = inbox->head == CM_FABRIC_NONE;
  append(f, inbox, packet);
  return idle ? process(f, core, error) : CM_OK;
}

static cm_status finish(cm_fabric *f, uint32_t core, cm_error *error)
{
  cm_fabric_core *c = &f->core[core];
  uint32_t packet = c->inbox.head;
  drop_head(f, &c->inbox);
  free_packet(f, packet);
  f->under_way--;
  c->end = f->now;
  if (c->inbox.head != CM_FABRIC_NONE && process(f, core, error) != CM_OK)
    return error->status;
  return give_place(f, f->links + core, error);
}

/* ---- events ---- */

static inline cm_status arrive(cm_fabric *f, uint32_t channel, uint32_t packet, cm_error *error)
{
  if (channel >= f->links)
    return deliver(f, channel - f->links, packet, error);
  cm_fabric_queue *buffer = &f->channel[channel].buffer;
  bool first = buffer->head == CM_FABRIC_NONE;
  append(f, buffer, packet);
  return first ? ask_first(f, channel, error) : CM_OK;
}

/* Its driver's events come before those of the packet. */
static inline cm_status inject(cm_fabric *f, uint32_t core, cm_error *error)
{
  f->leaving = CM_FABRIC_NONE;
  CM_TRY(f->on_inject(f->user, core, error));
  return f->leaving != CM_FABRIC_NONE ? ask_first(f, f->leaving, error) : CM_OK;
}

static inline cm_status happen(cm_fabric *f, const cm_timed_event *event, cm_error *error)
{
  switch (event->kind) {
    case CM_EVENT_ARRIVE: return arrive(f, event->where, event->packet, error);
    case CM_EVENT_FREE: f->channel[event->where].waking = false; return serve(f, event->where, error);
    case CM_EVENT_OUTLET: f->core[event->where].outlet_waking = false; return leave(f, event->where, error);
    case CM_EVENT_INJECT: return inject(f, event->where, error);
    default: return finish(f, event->where, error);
  }
}

cm_status cm_fabric_inject(cm_fabric *f, uint32_t core, uint64_t kind, const cm_packet_target *to, cm_error *error)
{
  uint32_t packet = 0, buffer = f->links + core;
  CM_TRY(new_packet(f, &packet, error));
  cm_fabric_packet *p = &f->packet[packet];
  *p = (cm_fabric_packet){.born_ps = f->now, .kind = kind};
  if (f->direct) {
    p->x = to->x;
    p->y = to->y;
    p->core = to->core;
  } else {
    p->end = (uint32_t)(f->traffic->first[kind + 1] - f->traffic->first[kind]);
    p->x = f->by_steps ? 0 : (int32_t)f->channel[buffer].router;
  }
  f->under_way++;
  cm_fabric_queue *queue = &f->channel[buffer].buffer;
  bool first = queue->head == CM_FABRIC_NONE;
  append(f, queue, packet);
  if (first && f->core[core].outlet_free <= f->now)
    f->leaving = buffer;
  else if (first)
    return leave(f, core, error);
  return CM_OK;
}

cm_status cm_fabric_run(cm_fabric *f, cm_error *error)
{
  enum { CHECK = 4096 };
  cm_status status = settle(f, error);
  for (uint64_t i = 0; status == CM_OK && f->events.count > 0 && !f->ended; i++) {
    cm_timed_event event;
    cm_events_take(&f->events, &event);
    f->now = event.ps;
    status = happen(f, &event, error);
    CM_THEN(status, settle(f, error));
    CM_THEN_IF(status, i % CHECK == 0, cm_run_check(f->run, error));
  }
  return status;
}
