/* What a file does not say of how its network runs, as named records, each what a framework does: rows of core/spiking/semantics.def
 * (docs/explanation/running.md). */
#pragma once

#include <stdbool.h>

typedef enum cm_decay { CM_DECAY_EULER, CM_DECAY_EXPONENTIAL, CM_DECAY_CLOSED } cm_decay;
typedef enum cm_current { CM_CURRENT_NEW, CM_CURRENT_OVER_STEP } cm_current;
typedef enum cm_reset { CM_RESET_VALUE, CM_RESET_SUBTRACT, CM_RESET_SUBTRACT_LAST, CM_RESET_SUBTRACT_NEXT } cm_reset;
typedef enum cm_first { CM_FIRST_ALL, CM_FIRST_FORWARD } cm_first;

typedef enum cm_semantics_number {
#define SEMANTICS(number, ...) CM_SEMANTICS_##number,
#include "core/spiking/semantics.def"
#undef SEMANTICS
  CM_SEMANTICS
} cm_semantics_number;

typedef struct cm_semantics {
  const char *name;
  cm_decay decay;
  cm_current current;
  cm_reset reset;
  unsigned output; /* steps */
  cm_first first;
  const char *about;
  unsigned loop; /* steps that a synapse inside a loop of neurons takes at least */
  bool delayed;  /* loops by way of synapses with delays are loops, too */
} cm_semantics;
extern const cm_semantics cm_semantics_table[CM_SEMANTICS];
