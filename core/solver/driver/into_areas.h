/* From a mapping that breaks constraints to one that keeps them: what need not move stays. */
#pragma once

#include "core/mapping/input.h"
#include "core/mapping/mapping.h"

/* Parts on cores; part NULL: none were found. */
typedef struct cm_moved {
  uint32_t *part, *core, parts; /* [vertices], [parts]; core NULL: they have none yet */
} cm_moved;

/* Turns, shifts and trades whole parts until pinned neurons have the shortest way to where they may lie (core/placement/kinds/pulls.h); then related neurons get cores
 * (related_pieces.h), pinned ones leave parts that do not stand there, and full ones make room (core/placement/reassign/reassign.h). `input` has areas, whose chip is split from
 * the job's own, `plain`; the limits of cores are kept. The caller's: cm_moved_clear. Errors: memory, cancelled. */
cm_status cm_move_into_areas(const cm_map_input *input, const cm_chip *plain, const cm_mapping *from, cm_run *run, cm_moved *made, cm_error *error);

/* Parts without cores of neurons that constraints name alike (related_pieces.h), made of those of a mapping. The rest as above. */
cm_status cm_part_by_areas(const cm_map_input *input, const cm_mapping *from, cm_run *run, cm_moved *made, cm_error *error);

void cm_moved_clear(cm_moved *made);
