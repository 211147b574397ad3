/* Running a program: the time of every unit, and what it computes. */
#pragma once

#include "core/machine/program/program.h"

/* Called for each instruction of the first turn that keeps a lane busy, in no particular order; `after` is the one for whose end it waited
 * last, on its own lane or by a flag, CM_NO_INSTRUCTION: it begins with the program. */
typedef void (*cm_simulation_trace)(void *user, uint64_t instruction, double start_ns, double end_ns, uint64_t after);

typedef struct cm_simulation_options {
  bool compute; /* execute on simulated memory; else time alone */
  bool check;   /* prove that nothing is read that was not written or was overwritten, in any timing of the units */
  cm_simulation_trace trace; /* NULL: nothing is traced */
  void *user;                /* of the trace */
} cm_simulation_options;

typedef struct cm_simulation {
  double time_ns;
  double busy_ns[CM_TARGET_DEVICES_MAX]; /* sums over the lanes of a device */
  uint64_t loaded_bytes, stored_bytes; /* activations */
  uint64_t parameter_bytes, copied_bytes;
  uint64_t executed;                   /* instructions */
  uint64_t peak_bytes;                 /* one past the highest byte of the chip's memory that is written */
} cm_simulation;

#define CM_NO_INSTRUCTION UINT64_MAX

/* Runs a program. `inputs` in the order of program->inputs (may be NULL without compute), `outputs` in the order of
 * program->outputs, one reference each for the caller. Lanes execute in order and wait for flags. Time linear in the
 * program. Errors: CM_BAD_NETWORK (an input of another type or shape), CM_DAMAGED (lanes wait for each other for ever; with
 * check: what was read wrongly, by which instruction), memory, CM_CANCELLED. */
cm_status cm_simulate(const cm_program *program, cm_tensor *const *inputs, const cm_simulation_options *options, cm_run *run,
                      cm_tensor **outputs, cm_simulation *result, cm_error *error);
