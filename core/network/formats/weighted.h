/* Weights of rows, as they are read and as whole numbers on a scale. */
#pragma once

#include "base/run.h"
#include "core/network/formats/source.h"
#include "core/network/topology.h"

/* The scale for weights of the largest value `maximum` that must fit `value_max` and whose sum is `sum`:
 * 1 when all are whole numbers that fit, else the largest power of two that fits. CM_TOO_LARGE when even 1
 * does not. */
cm_status cm_weight_scale(double sum, double maximum, double value_max, bool whole, uint64_t *scale, cm_error *error);

/* value * scale, rounded to nearest. */
static inline uint64_t cm_weight_scaled(double value, uint64_t scale)
{
  return (uint64_t)(value * (double)scale + 0.5);
}

/* A synapse beside the first of an entry, and, once rows are closed, of a pin. */
typedef struct cm_beside {
  uint64_t at;
  double weight, delay_ms;
} cm_beside;

/* Weights of entries as they are read. */
typedef struct cm_weights {
  double *value;    /* with their signs; NULL: 1 each so far */
  double *delay_ms; /* NULL: none is known so far; 0: not of this one */
  float *exact;     /* what the first synapse of an entry weighs when the network runs; NULL: its value */
  cm_beside *beside; /* [besides] in order */
  uint64_t room, delay_room, exact_room, beside_room, besides;
  bool fractions;   /* some are no whole numbers */
  bool drop_zeros;  /* entries of weight 0, once repeats have been merged, are no synapses */
  bool runs;        /* the network will say how it runs: weights are kept as float32 where the scale loses bits */
} cm_weights;

/* Sets the two as the options of reading say. */
void cm_weights_as_asked(cm_weights *weights, const cm_source *source);

/* Keeps the weight of entry `count`, the entries before it having theirs; `room` entries are made room for. */
cm_status cm_weights_keep(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, double weight, cm_error *error);

/* Keeps the delay of entry `count`, 0 or more milliseconds, the entries before it having none unless they were given
 * one. */
cm_status cm_weights_keep_delay(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, double delay_ms,
                                cm_error *error);

/* Keeps what entry `count` weighs when the network runs, all entries before it having theirs. */
cm_status cm_weights_keep_exact(cm_weights *weights, cm_memory *memory, uint64_t count, uint64_t room, float weight, cm_error *error);

/* Keeps a synapse beside the first of entry `at`, none of a later entry having been kept. */
cm_status cm_weights_keep_beside(cm_weights *weights, cm_memory *memory, cm_beside beside, cm_error *error);

/* Frees the arrays. */
void cm_weights_free(cm_weights *weights);

/* Closes rows: made has `directed`, vertex_count, net_first [vertex_count + 1] with one row a vertex, and `pin`;
 * weights lie as the pins do. Sorts every row, merges repeats (their weights add up, the shortest delay stays; of directed networks
 * those of other delays are kept beside), leaves out empty rows of directed networks, and counts nets, pins, repeats, self loops and
 * zeros. O(pins). */
cm_status cm_weighted_rows_close(cm_topology *made, cm_weights *weights, cm_run *run, cm_error *error);

/* Makes weights whole numbers on the largest scale that fits: weight_scale, net_weight, pin_weight (none where all
 * are 1), pin_negative, weight_exponent (where all are so small that the scale would lose their digits), pin_delay, and in dynamics
 * what weighs something else when the network runs.
 * CM_TOO_LARGE: weights or delays do not fit. */
cm_status cm_weighted_rows_scale(cm_topology *made, const cm_weights *weights, cm_run *run, cm_error *error);
