/* Routers, links, ports and cores with finite buffers, through which packets move.
 *
 * A channel carries one packet at a time: links leave every router (four of a mesh, as many as an interconnect has), an inlet enters and an outlet leaves every
 * core, which lets a packet go when another channel takes it. A packet holds a place in the buffer behind the channel from when it sets out (virtual cut-through). The packet
 * at the head of a buffer waits for every channel that it needs; channels serve those that wait in the order in which
 * they came. What leaves a core waits in a queue without end. */
#pragma once

#include "core/simulate/events.h"
#include "core/simulate/frames.h"
#include "core/simulate/traffic.h"

enum { CM_FABRIC_NONE = UINT32_MAX };

typedef struct cm_fabric_packet {
  uint64_t born_ps, free_ps; /* when it came into being; what its way takes when nothing is in the way */
  uint64_t kind;             /* packet of cm_traffic */
  int32_t x, y;              /* routers still to go; of several targets, back to its source's. On an interconnect x is the source's */
  uint32_t core;             /* of its one target */
  uint32_t next;             /* behind it in its buffer */
  uint32_t first, end;       /* of several targets, as cm_traffic lists them: those that this copy still goes to */
} cm_fabric_packet;

/* A channel that a buffer's head needs, for these of its targets. */
typedef struct cm_fabric_way {
  uint32_t channel, first, end;
} cm_fabric_way;

/* In the list of those that wait for a channel: whose head it is, for which of its targets. */
typedef struct cm_fabric_wait {
  uint32_t buffer, first, end, next;
} cm_fabric_wait;

/* Packets in a row. */
typedef struct cm_fabric_queue {
  uint32_t head, tail;
} cm_fabric_queue;

/* A link and the buffer behind it; or a core's inlet, and what leaves the core. In one line of the cache. */
typedef struct cm_fabric_channel {
  uint64_t free_at, carried; /* when it takes the next packet; packets that it took */
  uint64_t service_ps, latency_ps;
  cm_fabric_queue buffer;
  uint32_t needs;                /* channels that the buffer's head still needs */
  uint32_t held;                 /* places taken in the buffer behind it; of an inlet, in its core's */
  uint32_t wait_head, wait_tail; /* buffers whose head needs it */
  uint32_t router;  /* which the buffer feeds */
  uint8_t lane;     /* of what arrives through it, or CM_EVENT_LANES */
  bool waking;      /* an event says when it is free */
} cm_fabric_channel;

typedef struct cm_fabric_core {
  uint64_t outlet_free;  /* when the outlet takes the next packet */
  uint64_t end;          /* when it has processed all */
  uint64_t process_from; /* when it begins to process at the earliest; 0 at first */
  cm_fabric_queue inbox; /* what it has to process */
  bool outlet_waking;    /* an event says when the outlet is free */
} cm_fabric_core;

typedef struct cm_fabric {
  const cm_traffic *traffic;
  const cm_chip *chip;
  cm_run *run;
  uint32_t routers, cores, links; /* routers with cores; links as cm_chip_links; channel links + core is the core's inlet */
  uint32_t buffers;
  bool processing;        /* cores take time for what they receive */
  bool by_steps;          /* on a mesh: packets know the steps that are to go */
  bool direct;            /* packets have one target each, on a mesh: the next channel follows from what is still to go */
  bool ended;             /* set by who drives it: nothing more is to happen */
  uint32_t leaving;       /* what leaves this core asks for its channels once on_inject has ended; CM_FABRIC_NONE: none */
  cm_events events;
  uint64_t now;
  cm_fabric_channel *channel;   /* [links + cores] */
  cm_fabric_core *core;         /* [cores] */
  cm_fabric_wait *node;         /* of the lists of those that wait */
  uint32_t node_count, node_free;
  uint64_t node_room;
  cm_fabric_way *way;      /* channels that a head needs, while it asks for them */
  uint64_t way_room;
  cm_fabric_packet *packet;
  uint64_t packet_room;
  uint32_t packet_count, packet_free;
  uint32_t *todo;          /* channels to look at */
  uint64_t todo_room, todo_count;
  cm_frames frames;        /* of what passes routers; most 0: not counted */
  uint64_t *carried;       /* [links + cores] for cm_fabric_take_carried */
  uint64_t under_way;      /* packets and copies */
  uint64_t delivered, hops;
  /* Called for every delivery. */
  void (*on_delivery)(void *user, const cm_fabric_packet *packet, uint64_t now);
  /* Called when a core's time to inject has come; puts in a packet, and an event when the next one is due. */
  cm_status (*on_inject)(void *user, uint32_t core, cm_error *error);
  void *user;
} cm_fabric;

/* An idle fabric. O(routers + cores) memory. */
cm_status cm_fabric_new(const cm_traffic *traffic, uint32_t buffers, bool processing, cm_run *run, cm_fabric *fabric,
                        cm_error *error);
void cm_fabric_free(cm_fabric *fabric); /* harmless on a zeroed one */

/* A new packet of a kind at the outlet of its core, at fabric->now; from on_inject, once a call. `to`: the
 * kind's first target. */
cm_status cm_fabric_inject(cm_fabric *fabric, uint32_t core, uint64_t kind, const cm_packet_target *to, cm_error *error);

/* Lets events happen until there is none, it is ended, or the run is stopped. */
cm_status cm_fabric_run(cm_fabric *fabric, cm_error *error);

/* Packets that every channel took [links + cores]; the caller's, once. */
uint64_t *cm_fabric_take_carried(cm_fabric *fabric);

/* Picoseconds. */
static inline uint64_t cm_ps(double ns)
{
  return (uint64_t)(ns * 1000 + 0.5);
}
