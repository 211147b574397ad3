/* Small constants side by side, so that one transfer brings several: a transfer of a hundred bytes is nothing but its
 * latency. Internal to core/machine. */
#pragma once

#include "base/run.h"
#include "core/chip/target.h"
#include "core/operators/graph.h"

enum { CM_PACK_SIZES = 4 };

/* Where a constant lies in packs of one size. */
typedef struct cm_pack {
  uint32_t *value;  /* by value: the constant of the model that holds it; CM_NONE: it stands alone */
  int64_t *offset;  /* by value: its first element there */
} cm_pack;

typedef struct cm_packs {
  uint32_t value_count; /* values of the model before packs were added */
  cm_pack size[CM_PACK_SIZES];
} cm_packs;

/* Adds packs of several sizes, counted in what a port moves in a latency, to a model whose shapes are known: constants of
 * one type in the order of their first use, each at most half a pack and `most` bytes. The caller's: cm_packs_free, also
 * after a failure. Errors: memory, those of constants that are computed. */
cm_status cm_packs_make(cm_model *model, const cm_target *target, uint64_t most, cm_run *run, cm_packs *packs, cm_error *error);
void cm_packs_free(cm_packs *packs);
