/* Between the files that read programs. After a failure, g->r.status says so and everything reads as nothing. */
#pragma once

#include "core/machine/program/codec.h"
#include "core/machine/program/program.h"

typedef struct cm_reading {
  cm_reader r;
  cm_program *p;
  uint64_t operand_room, part_room, version;
  uint64_t instructions; /* that are read */
  bool outside;          /* operands of the present one may lie there */
} cm_reading;

/* What is wrong, where something is and nothing was before. */
#define CM_REFUSE_IF(g, wrong, ...)                   \
  do {                                                \
    if ((g)->r.status == CM_OK && (wrong))            \
      (void)cm_reader_fail(&(g)->r, __VA_ARGS__);     \
  } while (0)

/* A shape's dimensions, as many as are returned; a type of elements. */
uint32_t cm_reading_dims(cm_reading *g, int64_t *dims);
cm_type cm_reading_type(cm_reading *g);

/* An array of `count` + 1 zeroed elements for the program. */
bool cm_reading_array(cm_reading *g, void *pointer, uint64_t count, size_t size);

/* The section of instructions, operands and their parts. */
void cm_reading_code(cm_reading *g);
