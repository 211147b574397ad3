/* Routers, links, ports and cores with finite buffers, through which packets move.
 *
 * A channel carries one packet at a time: links leave every router (four of a mesh, as many as an interconnect has), an inlet enters and an outlet leaves every
 * core, which lets a packet go when another channel takes it. A packet holds a place in the buffer behind the channel from when it sets out (virtual cut-through). The packet
 * at the head of a buffer waits for every channel that it needs; channels serve those that wait in the order in which
 * they came. What leaves a core waits in a queue without end. */
#ifndef CM_MAPPING_SIMULATE_FABRIC_H
#define CM_MAPPING_SIMULATE_FABRIC_H

#include "core/mapping/simulate/events.h"
#include "core/mapping/simulate/frames.h"
#include "core/mapping/simulate/traffic.h"

enum { CM_FABRIC_NONE = UINT32_MAX, CM_FABRIC_CORES_MAX = 60 };

typedef struct cm_fabric_packet {
  uint64_t born_ps, free_ps; /* when it came into being; what its way takes when nothing is in the way */
  uint64_t kind;             /* packet of cm_traffic */
  int32_t x, y;              /* routers from its source's; on an interconnect x is the source's */
  uint32_t next;             /* behind it in its buffer */
  uint8_t heading;           /* cm_direction; CM_DIRECTIONS: at its source */
} cm_fabric_packet;

/* Packets in a row. */
typedef struct cm_fabric_queue {
  uint32_t head, tail;
} cm_fabric_queue;

typedef struct cm_fabric {
  const cm_traffic *traffic;
  const cm_chip *chip;
  cm_run *run;
  uint32_t routers, cores, links; /* routers with cores; links as cm_fabric_links; channel links + core is the core's inlet */
  uint32_t buffers;
  bool processing;        /* cores take time for what they receive */
  cm_events events;
  uint64_t now;
  uint64_t *service_ps, *latency_ps; /* [channels] */
  uint64_t *free_at;      /* [channels] */
  uint8_t *waking;        /* [channels] an event says when it is free */
  uint64_t *outlet_free;  /* [cores] when the outlet takes the next packet */
  uint8_t *outlet_waking; /* [cores] an event says when it does */
  uint32_t *held;         /* [channels] places taken in the buffer behind it */
  uint64_t *carried;      /* [channels] packets */
  uint32_t *wait_head, *wait_tail; /* [channels] buffers whose head needs it */
  uint32_t *node_buffer, *node_next, node_count, node_free; /* of these lists */
  uint64_t node_room, node_next_room;
  cm_fabric_queue *buffer; /* [links + cores] behind each link; what leaves each core */
  uint32_t *needs;         /* [links + cores] channels that the head still needs */
  uint32_t *way;           /* channels that a head needs, while it asks for them */
  uint64_t way_room;
  cm_fabric_queue *inbox;  /* [cores] what a core has to process */
  uint64_t *core_end;      /* [cores] when it has processed all */
  uint64_t *process_from;  /* [cores] when it begins to process at the earliest; zeros at first */
  cm_fabric_packet *packet;
  uint64_t packet_room;
  uint32_t packet_count, packet_free;
  uint32_t *todo;          /* channels to look at */
  uint64_t todo_room, todo_count;
  cm_frames frames;        /* of what passes routers; most 0: not counted */
  uint64_t under_way;      /* packets and copies */
  uint64_t delivered, hops;
  /* Called for every delivery. */
  void (*on_delivery)(void *user, const cm_fabric_packet *packet, uint64_t now);
  /* Called when a core's time to inject has come; puts in what it likes. */
  cm_status (*on_inject)(void *user, uint32_t core, cm_error *error);
  void *user;
} cm_fabric;

/* Links of a chip as channels are numbered: router * CM_DIRECTIONS + direction, or the interconnect's. */
uint32_t cm_fabric_links(const cm_chip *chip);

/* An idle fabric. O(routers + cores) memory. */
cm_status cm_fabric_new(const cm_traffic *traffic, uint32_t buffers, bool processing, cm_run *run, cm_fabric *fabric,
                        cm_error *error);
void cm_fabric_free(cm_fabric *fabric); /* harmless on a zeroed one */

/* A new packet of a kind at the outlet of its core, at fabric->now. */
cm_status cm_fabric_inject(cm_fabric *fabric, uint32_t core, uint64_t kind, cm_error *error);

/* Lets events happen until there is none, `stop` says so (NULL: never), or the run is stopped. */
cm_status cm_fabric_run(cm_fabric *fabric, bool (*stop)(const cm_fabric *fabric), cm_error *error);

/* Picoseconds. */
static inline uint64_t cm_ps(double ns)
{
  return (uint64_t)(ns * 1000 + 0.5);
}

#endif
