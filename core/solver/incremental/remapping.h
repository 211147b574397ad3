/* Between mapping again (remap.c) and reading what is mapped from (remap_old.c). */
#pragma once

#include "core/solver/incremental/assignment.h"
#include "core/solver/incremental/remap.h"
#include "core/verify/check_read.h"

/* One run: owns its arrays, the old mapping's file as read, and the new mapping until it is given out. */
typedef struct cm_remapping {
  const cm_map_input *input;
  cm_remap_afresh *afresh;
  cm_run *run;
  const cm_occupancy *occupancy;
  cm_check_file old;
  uint32_t *old_of;      /* [vertices] the old neuron that each is, CM_NOBODY: new */
  uint32_t *old_core;    /* [old parts] core number, CM_NOWHERE where the chip has no such place or it is not usable */
  uint32_t *part_at;      /* [cores] part there, CM_NOWHERE: none */
  uint32_t usable;
  cm_assignment assignment; /* owns part and core until they become the mapping's */
  cm_mapping *mapping;
  uint32_t lost_cores, dissolved, placed, new_parts;
} cm_remapping;

/* Reads the old mapping: which neuron is which, and where its parts stand on this chip. CM_BAD_MAPPING. */
cm_status cm_remap_load_old(cm_remapping *r, cm_error *error);
