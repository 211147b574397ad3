/* Between the files of code generation. */
#pragma once

#include "core/machine/emit/object.h"
#include "core/machine/issue.h"

/* An instruction: its number in its lane, from 1, and when it ends. */
typedef struct cm_emitter_symbol {
  uint64_t seq;
  uint32_t lane;
  double done;
} cm_emitter_symbol;

/* What an operator of the program is of: a node of the plan with a piece's changes; and the one before in its list. */
typedef struct cm_emitter_operator_of {
  cm_split_change change;
  uint32_t node, before;
} cm_emitter_operator_of;

typedef struct cm_emitter {
  cm_plan *plan;
  cm_program *program;
  cm_emission *out;
  cm_object *object;
  cm_memory *memory;
  uint32_t lanes;
  cm_hop_times hops;    /* of the program's chip: the plan's may be of a part of it */
  uint32_t *tensor_of;  /* by value: number + 1 */
  uint32_t *buffer_of;  /* by tile: number + 1 of its present buffer */
  uint64_t *stored_by;  /* by tile: list of its STOREs */
  uint32_t *line_owner; /* by line of the chip's memory: buffer + 1 that lay there last */
  uint64_t *access;     /* by buffer and lane: symbol + 1 of the last instruction that touched it */
  uint64_t *writer;     /* by buffer: list of the instructions that fill it */
  struct cm_symbol_link *links; /* of such lists */
  size_t link_count;
  uint64_t link_room, access_room, writer_room, address_room, bytes_room, tensor_room, operator_room, operand_room, part_room, symbol_room, made_from_room;
  uint64_t *lane_count; /* instructions of each lane */
  double *lane_free;
  cm_issue issue;
  uint64_t *known;      /* [lane][lane]: instructions of the second that are known to be done */
  uint64_t symbol_count;
  cm_emitter_symbol *symbol;
  uint64_t *wait;       /* scratch, by lane: symbol + 1 */
  const double *rates;  /* by device: of the operator that the next instruction computes; its own, or: */
  double piece_rates[CM_TARGET_DEVICES_MAX]; /* of a piece that has others than all of its operator */
  uint32_t lane;        /* of the next instruction; CM_NONE: where it can begin first */
  uint32_t *operators_like; /* lists of operators by node and changes: the last + 1 */
  uint64_t operator_lists;
  cm_emitter_operator_of *made_from; /* by operator of the program */
  cm_box *inputs;
  cm_event *places; /* buffers that the next piece makes */
  size_t place_count;
  uint64_t place_room;
} cm_emitter;

/* A list of symbols: number + 1 of its first link, 0 when empty. */
typedef struct cm_symbol_link {
  uint64_t symbol; /* + 1 */
  uint64_t next;   /* link + 1 */
} cm_symbol_link;

/* Everything but the code; what all of it takes; and its end, also after a failure. */
cm_status cm_emitter_begin(cm_emitter *e, const char *chip_name, const cm_target *target, cm_error *error);
void cm_emitter_sum_up(cm_emitter *e);
void cm_emitter_end(cm_emitter *e);

/* Names an object after the first and last operator of a segment. */
void cm_emitter_name(const cm_plan *plan, const cm_segment *segment, cm_object *object);

/* The program's number of a value, and of a node with a piece's changes; made when they are new. */
cm_status cm_emitter_tensor(cm_emitter *e, uint32_t value, uint32_t *number, cm_error *error);
cm_status cm_emitter_operator(cm_emitter *e, const cm_plan_op *op, uint32_t op_number, const cm_split_change *change,
                              uint32_t *number, cm_error *error);

/* A buffer for a tile at an address; the next instruction waits for what was done to what lay there. */
cm_status cm_emitter_buffer(cm_emitter *e, uint32_t tile, uint64_t address, uint32_t *number, cm_error *error);

/* The next instruction waits for a symbol (0: for none), or until a buffer is filled. */
void cm_emitter_wait(cm_emitter *e, uint64_t symbol);
void cm_emitter_wait_filled(cm_emitter *e, uint32_t buffer);

/* Appends an instruction that waits for what was said (forgotten after); its lane is chosen here. *symbol is its number,
 * from 1. */
cm_status cm_emitter_append(cm_emitter *e, const cm_instruction *given, uint64_t *symbol, cm_error *error);

/* The instruction of a symbol reads or writes a buffer; the first one fills it. */
cm_status cm_emitter_touch(cm_emitter *e, uint32_t buffer, uint64_t symbol, cm_error *error);

/* Adds a symbol (+ 1) to a list; the next instruction waits for all of a list. */
cm_status cm_emitter_list(cm_emitter *e, uint64_t *list, uint64_t symbol, cm_error *error);
void cm_emitter_wait_all(cm_emitter *e, uint64_t list);

/* The box that an instruction transfers. */
void cm_emitter_box(cm_instruction *instruction, const cm_box *box);

/* Loads of a tile or box wait for the stores of what it meets. */
void cm_emitter_wait_for_home(cm_emitter *e, uint32_t tile);

/* A piece whose inputs lie in the buffers that e->buffer_of names; e->places has the buffers that it makes. */
cm_status cm_emitter_run(cm_emitter *e, uint32_t piece, cm_error *error);
