/* Objects: the code of one subgraph before it is linked. Addresses are those of symbols. Internal to core/machine. */
#pragma once

#include "core/machine/program/program.h"
#include "core/machine/memory/segment.h"
#include "core/machine/schedule/timetable.h"

/* An instruction that another one waits for, by its number in the whole program (objects export all of theirs). */
typedef struct cm_object_wait {
  uint32_t instruction; /* of this object */
  uint64_t symbol;
} cm_object_wait;

/* In an object's code, buffers are symbols: addresses count from the beginning of their buffer, and the linker adds where
 * that lies. Operands and their parts, by far the most of a program, are the program's from the beginning. */
typedef struct cm_object {
  char name[128];
  uint64_t first_symbol; /* of its first instruction */
  cm_instruction *instructions;
  size_t instruction_count;
  uint64_t instruction_room, wait_room;
  cm_object_wait *waits;
  size_t wait_count;
} cm_object;

/* Where each buffer of the program lies. */
typedef struct cm_buffer_map {
  uint64_t *address, *bytes;
  uint32_t count;
} cm_buffer_map;

/* What code generation makes. */
typedef struct cm_emission {
  cm_object *objects;
  uint32_t object_count;
  cm_buffer_map buffers;
  cm_program *program; /* everything but the instructions; parts are not relocated */
  uint32_t *pieces;    /* that the instructions which compute are, in their order */
  size_t piece_count;
  uint64_t piece_room;
  double time_ns;      /* by the cost model */
  double busy_ns[CM_TARGET_DEVICES_MAX];
} cm_emission;

/* Instructions for a layout, an object a segment. Errors: CM_BAD_CHIP when a unit has no throughput for a data type that a
 * node needs (names the node), memory. */
cm_status cm_emit(cm_plan *plan, const cm_memory_plan *layout, const char *chip_name, const cm_target *target, cm_run *run,
                  cm_emission *emission, cm_error *error);

/* The same for a timetable: instructions in the order in which they begin, an object from when a segment begins to when
 * the next does. */
cm_status cm_emit_timetable(cm_plan *plan, const cm_sequence *sequence, const cm_timetable *timetable,
                            const char *chip_name, const cm_target *target, cm_run *run, cm_emission *emission,
                            cm_error *error);

void cm_emission_free(cm_emission *emission);

/* Orders, relocates and checks objects; the program is taken out of the emission. Errors: CM_INTERNAL for a symbol that
 * is not defined before it is used, a buffer that leaves the chip or is smaller than what is done with it. */
cm_status cm_link(cm_emission *emission, cm_program **made, cm_error *error);
