/* A cheap look at a network on a chip: about how long a step takes on so many cores and what it costs, without a mapping. */
#pragma once

#include "core/chip/resources.h"
#include "core/look/strand.h"
#include "core/partition/step/step_bound.h"

/* A directed network, ready to be looked at on any chip. */
typedef struct cm_look {
  const cm_demand *demand;
  cm_run *run;
  cm_strand strand[CM_STRANDS];
  double *rate;      /* [nets] spikes a step */
  double *sends;     /* [vertices] rate of its axons */
  uint32_t *last;    /* [nets] while a line is cut: the place after the last neuron that the axon reached; 0: none yet */
  double axons;      /* rate of all that have a target */
} cm_look;

/* What is foreseen. */
typedef struct cm_look_point {
  uint32_t cores;
  double core_ns, step_ns;     /* of the busiest core; with waiting, ways and the barrier */
  double energy_pj;            /* of a step */
  double bound_ns, bound_pj;   /* proved: step on so many cores; energy on any, a packet an axon */
  cm_resource fullest;         /* the limit that parts come nearest to */
  double filled;               /* how near; 0: no limit is stated */
} cm_look_point;

enum { CM_LOOK_POINTS_MAX = 6 };

/* `demand` and `run` are the caller's, for as long. Networks of more synapses than `pins_max` are looked at in stretches.
 * O(pins + vertices log(vertices)). */
cm_status cm_look_begin(const cm_demand *demand, uint64_t pins_max, cm_run *run, cm_look *look, cm_error *error);
void cm_look_end(cm_look *look); /* harmless on a zeroed one */

/* Cuts a line that is whole into parts, as few as the limits of neurons, synapses, inbound axons and memory allow it, where populations are
 * limited each of one; number [vertices].
 * Returns how many. O(pins). */
uint32_t cm_look_cut(const cm_look *look, cm_strand_order order, const cm_limits *limits, uint32_t *number);

/* A line that was cut in stretches. */
typedef struct cm_line_cut {
  double parts, packets, ns;   /* rate; of all stretches together */
  double most[CM_RESOURCES];   /* use of the fullest stretch */
} cm_line_cut;

enum { CM_LOOK_CUTS_MAX = 8 };

/* The same on one chip. */
typedef struct cm_look_on {
  cm_look *look;
  const cm_chip *chip;
  cm_limits limits;      /* of a core */
  cm_step_totals totals;
  cm_strand_order order; /* of the line that packets are fewest along */
  uint32_t fewest;       /* cores that stretches of a line need, not for sure the fewest of all */
  cm_line_cut cut[CM_LOOK_CUTS_MAX + 1]; /* that line in more and more stretches, from the fewest to those of the least time */
  uint32_t cuts;
} cm_look_on;

/* `limits`: the chip's, or tighter ones. O(pins + synapses looked at). Errors: memory. */
cm_status cm_look_on_chip(cm_look *look, const cm_chip *chip, const cm_limits *limits, cm_look_on *on, cm_error *error);

/* Foresees objective time on so many cores; false: along the line, limits ask for more. O(1). */
bool cm_look_at(const cm_look_on *on, uint32_t cores, cm_look_point *point);

/* Foresees the choice between `fewest` cores, which are known to do, and the least time on at most `most`: 1 to CM_LOOK_POINTS_MAX points by
 * rising cores, evenly by ratio. Returns how many. O(1). */
uint32_t cm_look_choices(const cm_look_on *on, uint32_t fewest, uint32_t most, cm_look_point *point);

/* The fewest cores whose step times energy is within a quarter of the least of all points, looked for between these too. */
uint32_t cm_look_knee_between(const cm_look_on *on, const cm_look_point *point, uint32_t points);

/* The number of the first point that is. O(1). */
uint32_t cm_look_knee(const cm_look_point *point, uint32_t points);
