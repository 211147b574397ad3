/* The packets of a steady stream as they come into being: every core's at random times (Poisson), in proportion to the rates
 * of its neurons. They do not depend on what happens on the chip, so they are drawn ahead, many at once: what has to be looked
 * up in memory for one is waited for beside that of the others. */
#pragma once

#include "base/random.h"
#include "core/simulate/events.h"
#include "core/simulate/traffic.h"

enum { CM_ARRIVALS_AHEAD = 128 };

typedef struct cm_arrival {
  uint32_t core, part;
  uint64_t next_ps;    /* when the core's next one comes */
  double at;           /* in the sum of the core's rates: which kind it is */
  uint64_t place;      /* where it is looked for */
  uint64_t kind;       /* packet of cm_traffic */
  cm_packet_target to; /* its first target */
} cm_arrival;

/* A kind of packet that a core sends, in its place among those of the core. */
typedef struct cm_sender {
  double cumulative; /* rates summed up over the core's */
  uint64_t kind;
  cm_packet_target to; /* its first target */
} cm_sender;

typedef struct cm_arrivals {
  const cm_traffic *traffic;
  cm_random random;
  cm_events order;     /* the next one of every core */
  uint64_t *first_ps;  /* [parts] when each core's first one comes; CM_EVENT_NEVER: none ever */
  double *sum, *rate;  /* [parts] of a core's rates: a step, and a ns */
  cm_sender *sender;   /* [packet kinds] by core */
  uint64_t *first;     /* [parts + 1] */
  uint32_t *guess;     /* [packet kinds] of the range of a core's sums in as many cells as it has kinds: the kind, counted from its
                        * first, at which to begin to look for a sum in the cell */
  cm_arrival ahead[CM_ARRIVALS_AHEAD];
  uint32_t next;       /* of these */
} cm_arrivals;

/* A stream of so many steps a ns. O(kinds of packets). Errors: memory. */
cm_status cm_arrivals_new(const cm_traffic *traffic, double load, uint64_t seed, cm_memory *memory, cm_arrivals *arrivals,
                          cm_error *error);
void cm_arrivals_free(cm_arrivals *arrivals); /* harmless on a zeroed one */

/* The next one of all cores, until the next call; some core must send. O(1) expected. Errors: memory. */
cm_status cm_arrivals_next(cm_arrivals *arrivals, const cm_arrival **arrival, cm_error *error);
