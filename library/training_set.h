/* The examples that a policy is trained on. */
#pragma once

#include "core/learning/training/train.h"

enum { LIBRARY_EXAMPLES_MAX = 20000, LIBRARY_TRAINING_CHIPS_MAX = 32 };

typedef struct library_training_set {
  /* What is asked for. */
  const char *graphs;     /* folder of networks; NULL: none */
  const char *chip_names; /* grids WxH, presets or files, with commas between */
  uint32_t generated;     /* graphs drawn for each chip */
  bool trees;             /* drawn graphs have axons with several targets */
  uint64_t seed;
  cm_run *run;
  /* What came of it. */
  cm_chip *chip[LIBRARY_TRAINING_CHIPS_MAX];
  uint32_t chips;
  cm_example **example; /* [examples] */
  uint32_t examples;
} library_training_set;

/* Reads and draws all of it; library_training_set_free has to follow, after errors too. Errors: those of chips and networks,
 * CM_TOO_LARGE, memory, stops. */
cm_status library_training_set_make(library_training_set *set, cm_error *error);
void library_training_set_free(library_training_set *set);
