/* Tiles as part of a compilation. */
#pragma once

#include <jansson.h>

#include "core/chip/chip.h"
#include "core/machine/program/program.h"
#include "core/machine/plan/plan.h"

/* What tiles are made of: a program, and the plan and emission that it was linked from. */
typedef struct cm_tiles_input {
  cm_plan *plan;
  const cm_program *program;
  const uint32_t *pieces; /* cm_emission.pieces */
  const cm_chip *chip;
  bool verify; /* cm_tiles_agree */
} cm_tiles_input;

/* Writes the tiles of a program as a network and as a mapping (NULL: not), and adds "tiles" to the report. Phases tile,
 * write. Errors: those of tiles.h; CM_INTERNAL when they do not agree with the program; CM_IO, CM_DISK_FULL. */
cm_status cm_compile_tiles(const cm_tiles_input *input, const char *network, const char *mapping, cm_run *run,
                           json_t *report, cm_error *error);
