/* The examples that a policy is trained on. */
#ifndef CM_CLI_TRAINING_SET_H
#define CM_CLI_TRAINING_SET_H

#include "cli/cli.h"
#include "core/learning/training/train.h"

enum { CLI_EXAMPLES_MAX = 20000, CLI_TRAINING_CHIPS_MAX = 32 };

typedef struct cli_training_set {
  /* What is asked for. */
  const char *graphs;     /* folder of networks; NULL: none */
  const char *chip_names; /* grids WxH, presets or files, with commas between */
  uint32_t generated;     /* graphs drawn for each chip */
  bool trees;             /* drawn graphs have axons with several targets */
  uint64_t seed;
  cm_run *run;
  /* What came of it. */
  cm_chip *chip[CLI_TRAINING_CHIPS_MAX];
  uint32_t chips;
  cm_example **example; /* [examples] */
  uint32_t examples;
} cli_training_set;

/* Reads and draws all of it; cli_training_set_free has to follow, after errors too. Errors: those of chips and networks,
 * CM_TOO_LARGE, memory, stops. */
cm_status cli_training_set_make(cli_training_set *set, cm_error *error);
void cli_training_set_free(cli_training_set *set);

#endif
