/* Which lane of the code does an instruction, and what it waits for. Internal to core/csource. */
#pragma once

#include "core/machine/program/program.h"

/* An instruction waits until a lane has done so many of its own. */
typedef struct cm_c_flow_wait {
  uint64_t instruction;
  uint32_t lane, count;
} cm_c_flow_wait;

/* Lanes of the code are numbered from 0. A program has more of its own: ports among them. */
typedef struct cm_c_flow {
  uint32_t lanes;
  uint32_t *lane;   /* by instruction: of the code; CM_NONE: it makes no code */
  uint32_t *number; /* by instruction: the how manieth of its lane, from 1 */
  bool *awaited;    /* by instruction: other lanes wait for its number */
  uint32_t *done;   /* [instruction][lane]: how many of each lane are done when it is, itself among them */
  cm_c_flow_wait *waits; /* by instruction */
  uint64_t wait_count, wait_room;
} cm_c_flow;

/* Puts the instructions that are not `left_out` on at most `most` lanes (0: as many as units that compute): those of the units that compute
 * spread over them in turn, a load where it is needed first, a store where its bytes were made. Waits are those of the program, as far as its
 * lanes do not have them by their order (vector clocks). The caller frees with cm_c_flow_end, also after a failure. O(instructions lanes).
 * Errors: CM_DAMAGED (a flag that is set only later in the order of the program), memory. */
cm_status cm_c_flow_make(const cm_program *program, const bool *left_out, uint32_t most, cm_c_flow *flow, cm_error *error);
void cm_c_flow_end(cm_c_flow *flow);
