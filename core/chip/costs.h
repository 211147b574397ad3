/* What a chip charges for one time step of a spiking network: events at cores, in time and in energy, a barrier between
 * steps, and how fast ports and links are (docs/explanation/step-time.md). */
#pragma once

#include <jansson.h>

#include "base/status.h"

/* What happens at a core in a step. */
typedef enum cm_charge {
  CM_CHARGE_PACKET_SENT,     /* to one core, the sender's own included */
  CM_CHARGE_PACKET_RECEIVED, /* from any core, its own included */
  CM_CHARGE_SYNAPSE,         /* one synapse that a packet reaches */
  CM_CHARGE_NEURON,          /* one neuron, whether it fires or not */
  CM_CHARGE_SPIKE,           /* one neuron that fires, besides CM_CHARGE_NEURON */
  CM_CHARGES
} cm_charge;
extern const char *const cm_charge_names[CM_CHARGES]; /* in files: "packet_sent", ... */

typedef struct cm_charge_cost {
  double ns, pj;
} cm_charge_cost;

enum { CM_BARRIER_POINTS_MAX = 32 };

/* The time between steps: that of the last point with at most as many tiles as are in use, and what the chip then does one after another. */
typedef struct cm_barrier {
  uint32_t tile_x, tile_y; /* cores of a tile */
  uint32_t points;
  uint32_t tiles[CM_BARRIER_POINTS_MAX]; /* [points] ascending, the first is 1 */
  double ns[CM_BARRIER_POINTS_MAX];      /* [points] */
  double spike_ns, packet_ns;            /* for each of all cores' spikes and packets */
} cm_barrier;

typedef struct cm_costs {
  cm_charge_cost charge[CM_CHARGES];
  bool side_by_side;         /* receiving and sending run at the same time */
  cm_barrier barrier;        /* 0 points: none */
  double port_packets_per_ns; /* through a core's inlet, and through its outlet; 0: no bound */
  double link_packets_per_ns; /* through a link between routers; 0: no bound */
} cm_costs;

/* Units where a chip file says nothing: 1 ns and 1 pJ an event but for a spike, sending and receiving side by side, no
 * barrier, ports and links as fast as need be. */
extern const cm_costs cm_costs_unit;

/* Reads the object at /costs of a chip file; `value` NULL: cm_costs_unit. Errors: CM_BAD_CHIP with a JSON pointer. */
cm_status cm_costs_read(const json_t *value, cm_costs *costs, cm_error *error);

/* Whether a chip file says what events cost, in other than units. */
bool cm_costs_are_stated(const cm_costs *costs);

/* What cm_costs_read takes, as a new object; NULL when out of memory. */
json_t *cm_costs_json(const cm_costs *costs);

/* Time between steps with so many tiles in use, in ns, but for what is done one after another. */
double cm_barrier_ns(const cm_barrier *barrier, uint32_t tiles);

/* What is done one after another between steps, in ns: rates of spikes and of packets of all cores, own ones included; on one core alone none are sent. */
double cm_between_ns(const cm_barrier *barrier, uint32_t parts, double spikes, double packets);

/* Events at one core in a step, on average: neurons are a number, the rest are rates. */
typedef struct cm_core_events {
  double count[CM_CHARGES];
} cm_core_events;

/* Time that a core receives (packets and synapses), and sends (neurons, spikes, packets), in ns. */
double cm_receive_ns(const cm_costs *costs, const cm_core_events *events);
double cm_send_ns(const cm_costs *costs, const cm_core_events *events);

/* Time of the core: the longer of the two where they run side by side, else their sum. */
static inline double cm_core_ns(const cm_costs *costs, double receive_ns, double send_ns)
{
  if (!costs->side_by_side)
    return receive_ns + send_ns;
  return receive_ns > send_ns ? receive_ns : send_ns;
}
