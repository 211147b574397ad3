/* Between the files of code generation. */
#ifndef CM_MACHINE_EMITTER_H
#define CM_MACHINE_EMITTER_H

#include "core/machine/emit/object.h"

typedef struct cm_emitter {
  cm_plan *plan;
  cm_program *program;
  cm_emission *out;
  cm_object *object;
  cm_memory *memory;
  uint32_t lanes;
  uint32_t *tensor_of;  /* by value: number + 1 */
  uint32_t *buffer_of;  /* by tile: number + 1 of its present buffer */
  uint64_t *stored_by;  /* by tile: symbol + 1 of its last STORE */
  uint32_t *line_owner; /* by line of the chip's memory: buffer + 1 that lay there last */
  uint64_t *access;     /* by buffer and lane: symbol + 1 of the last instruction that touched it */
  uint64_t *writer;     /* by buffer: symbol + 1 of the instruction that fills it */
  size_t access_capacity, writer_capacity, buffer_capacity, tensor_capacity, operator_capacity;
  uint64_t *lane_count; /* instructions of each lane */
  double *lane_free;
  uint64_t *known;      /* [lane][lane]: instructions of the second that are known to be done */
  uint64_t symbol_count;
  size_t symbol_capacity;
  uint64_t *symbol_seq; /* by symbol: its number in its lane, from 1 */
  uint32_t *symbol_lane;
  double *symbol_done;  /* when it ends */
  uint64_t *wait;       /* scratch, by lane: symbol + 1 */
  uint32_t op_of_cache; /* operators made for the pieces of this one */
  uint32_t cache_first;
  cm_split_change *changes; /* by operator number */
  cm_box *inputs;
  cm_event *places; /* buffers that the next piece makes */
  size_t place_count, place_capacity;
} cm_emitter;

/* Makes an array hold one more than `count`; what is new is zeroed. CM_EMITTER_ROOM does that for a typed array. */
cm_status cm_emitter_grow(cm_memory *memory, void *pointer, size_t *capacity, size_t count, size_t size,
                          cm_error *error);
#define CM_EMITTER_ROOM(e, array, capacity, count, error) \
  cm_emitter_grow((e)->memory, &(array), (capacity), (count), sizeof *(array), (error))

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

/* The instruction of a symbol reads or writes a buffer. */
void cm_emitter_touch(cm_emitter *e, uint32_t buffer, uint64_t symbol);

#endif
