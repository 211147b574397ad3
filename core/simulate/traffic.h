/* What a mapped network sends: packets with their targets, by source neuron and core. */
#pragma once

#include "base/run.h"
#include "core/mapping/mapped.h"

/* Where a packet goes: routers east and south of its source's (of a mesh), the core, and the synapses that it reaches there. */
typedef struct cm_packet_target {
  int32_t x, y;
  uint32_t core, synapses;
} cm_packet_target;

/* Packet f of a neuron's spike goes to target[first[f]] .. target[first[f + 1] - 1]. */
typedef struct cm_traffic {
  const cm_demand *demand;
  const cm_chip *chip;
  uint32_t parts;
  bool multicast;          /* a packet a net; else a packet a target: first[f] is f */
  const uint32_t *core;    /* [parts] */
  const cm_pacing *pacing; /* when neurons take their turns; NULL: as fast as each core can */
  uint64_t packet_count;   /* kinds of packets */
  uint64_t target_count, target_capacity; /* of `target` */
  uint64_t *first;         /* [packet_count + 1] */
  cm_packet_target *target;
  uint64_t *net_first;     /* [nets + 1] packets of every net */
  uint32_t *member_first;  /* [parts + 1] neurons of every part, ascending */
  uint32_t *member;        /* [vertices] */
  uint32_t *out_first;     /* [vertices + 1] nets of every neuron */
  uint32_t *copies;        /* [vertices] of every neuron beside and with itself; NULL: one each */
  uint32_t *part_on;       /* [cores of the chip] the part there, where there is one */
} cm_traffic;

/* O(pins log(targets)). Unicast: a packet a target core; multicast: a packet a net. */
cm_status cm_traffic_new(const cm_mapped *mapped, bool multicast, cm_run *run, cm_traffic *traffic, cm_error *error);
void cm_traffic_free(cm_traffic *traffic); /* harmless on a zeroed one */

/* The rate of a net, in spikes a step. */
static inline double cm_traffic_rate(const cm_traffic *t, uint32_t net)
{
  return (double)cm_demand_net_weight(t->demand, net) / (double)t->demand->network->weight_scale;
}
