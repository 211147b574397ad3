/* Programs: instructions for the units of a chip, with the tensors that they work on (docs/reference/program-file.md). */
#pragma once

#include <stdio.h>

#include "base/run.h"
#include "core/chip/chip.h"
#include "core/machine/cost.h"
#include "core/operators/graph.h"

/* Programs in which a host reads or makes what lies outside are version 7, others of several turns 6, others of chips with a host 5, others with loops in their code and of chips that issue in order 4, others of chips whose cores have memories of
 * their own 3, others 2. */
enum { CM_PROGRAM_VERSION = 2, CM_PROGRAM_VERSION_MEMORIES = 3, CM_PROGRAM_VERSION_STREAM = 4, CM_PROGRAM_VERSION_HOST = 5, CM_PROGRAM_VERSION_TURNS = 6,
       CM_PROGRAM_VERSION_OUTSIDE = 7, CM_LANE_NAME_MAX = 64 };
enum { CM_TURNS_MAX = 1 << 12 };
#define CM_OUTSIDE_BYTES_MAX (UINT64_C(1) << 40) /* of all tensors outside */

typedef enum cm_opcode {
  CM_CODE_LOAD = 1, /* outside -> chip */
  CM_CODE_STORE,    /* chip -> outside */
  CM_CODE_COPY,     /* chip -> chip; the ranges may overlap */
  CM_CODE_MATRIX,   /* an operator on a matrix unit */
  CM_CODE_VECTOR,   /* an operator on a vector unit */
  CM_CODE_SET,      /* adds one to a flag when all before it in its lane is done */
  CM_CODE_WAIT,     /* until a flag has at least a value */
  CM_CODE_HOST,     /* an operator on a host */
  CM_CODE_COUNT,
} cm_opcode;

/* A queue of instructions: a port of a unit that moves data, or a unit that computes. Each executes in order. */
typedef struct cm_lane {
  uint32_t device, unit, port;
} cm_lane;

typedef enum cm_tensor_role {
  CM_ROLE_CONSTANT,
  CM_ROLE_INPUT,
  CM_ROLE_OUTPUT,
  CM_ROLE_SPILL, /* room outside for what does not stay on the chip */
} cm_tensor_role;

/* A tensor in outside memory. */
typedef struct cm_program_tensor {
  const char *name;
  cm_tensor_role role;
  cm_type type;
  uint32_t rank;
  int64_t dims[CM_RANK_MAX];
  uint64_t address, bytes; /* outside */
  cm_tensor *data;         /* of a constant; one reference */
} cm_program_tensor;

/* How elements lie in a buffer on the chip, and in an operand (both row-major, counted in elements). */
typedef struct cm_part_shape {
  uint32_t rank;
  int64_t extent[CM_RANK_MAX], stride[CM_RANK_MAX], to_stride[CM_RANK_MAX];
} cm_part_shape;

/* Elements of a buffer, and where they go in an operand. Programs have millions of parts, of few shapes. */
typedef struct cm_program_part {
  uint32_t buffer; /* number of the buffer that has to lie there: what the checking mode compares; or CM_PART_OUTSIDE and a tensor */
  uint64_t address; /* of the first element; in a tensor its byte */
  int64_t to;
  const cm_part_shape *shape; /* the program's: cm_program_shape */
} cm_program_part;

#define CM_PART_OUTSIDE (UINT32_C(1) << 31)

static inline bool cm_part_is_outside(const cm_program_part *part)
{
  return (part->buffer & CM_PART_OUTSIDE) != 0;
}

static inline uint32_t cm_part_tensor(const cm_program_part *part)
{
  return part->buffer & ~CM_PART_OUTSIDE;
}

/* Bytes from its first element to behind its last, of elements of so many bytes; 0: it has none. */
static inline uint64_t cm_part_span(const cm_program_part *part, size_t width)
{
  int64_t last = 0;
  for (uint32_t d = 0; d < part->shape->rank; d++) {
    if (part->shape->extent[d] < 1)
      return 0;
    last += (part->shape->extent[d] - 1) * part->shape->stride[d];
  }
  return ((uint64_t)last + 1) * width;
}

typedef struct cm_operand {
  cm_type type; /* CM_TYPE_NONE: a left-out input */
  uint32_t rank;
  int64_t dims[CM_RANK_MAX];
  uint64_t first_part;
  uint32_t part_count; /* 0 with elements: immediate int64 numbers, in `numbers` */
  int64_t numbers[CM_RANK_MAX];
} cm_operand;

typedef struct cm_instruction {
  cm_opcode opcode;
  uint32_t lane;
  /* LOAD, STORE: a box of a tensor, and a dense buffer; COPY: two dense ranges. */
  uint32_t tensor;
  int64_t from[CM_RANK_MAX], extent[CM_RANK_MAX];
  uint64_t address, source, bytes; /* on the chip */
  uint32_t buffer, source_buffer;
  /* MATRIX, VECTOR, HOST */
  uint32_t operator_number;
  uint64_t first_operand; /* inputs, then outputs; outputs have one part each */
  uint32_t input_count, output_count;
  cm_work work;  /* multiplications or element operations; bytes of the operands, not in the file */
  cm_remote remote; /* what lies on other cores; of a LOAD or STORE, all bytes as written; not in the file */
  double rate;   /* of the unit on the operator's data type, per nanosecond: from the chip, not in the file */
  /* SET, WAIT */
  uint32_t flag;
  uint64_t value;
} cm_instruction;

/* The code of one subgraph. */
typedef struct cm_program_object {
  const char *name;
  uint64_t first, count; /* instructions */
} cm_program_object;

/* An operator with its attributes; inputs are numbered 0, 1, ... or CM_NONE. */
typedef struct cm_program {
  cm_memory *memory;
  cm_arena arena;
  const char *chip_name;
  cm_target target;   /* memory, devices, cores */
  int64_t opset;
  cm_lane *lanes;
  uint32_t lane_count;
  cm_program_tensor *tensors;
  uint32_t tensor_count;
  uint32_t *inputs, *outputs; /* tensors, in the model's order */
  uint32_t input_count, output_count;
  cm_node *operators;
  uint32_t operator_count;
  uint32_t buffer_count, flag_count;
  uint32_t turns; /* how often all of the code is done, from 1; lanes meet between, and each turn goes on with the next rows (cm_program_rows) */
  cm_program_object *objects;
  uint32_t object_count;
  cm_instruction *instructions; /* in the order of issue; a lane takes its own ones in this order */
  uint64_t instruction_count;
  cm_operand *operands;
  uint64_t operand_count;
  cm_program_part *parts;
  uint64_t part_count;
  struct cm_shape_link **shapes; /* lists of the shapes of parts, by their hash; NULL: there are none yet */
} cm_program;

void cm_program_free(cm_program *program); /* NULL is allowed */

/* The program's own shape like one that is given; it lives as long as the program. Errors: memory. */
cm_status cm_program_shape(cm_program *program, const cm_part_shape *given, const cm_part_shape **kept, cm_error *error);

/* True for the opcodes of operators. */
static inline bool cm_opcode_computes(cm_opcode opcode)
{
  return opcode == CM_CODE_MATRIX || opcode == CM_CODE_VECTOR || opcode == CM_CODE_HOST;
}

/* Rows (of the first dimension) of a tensor outside that one turn has; 0: every turn has the same elements. */
int64_t cm_program_rows(const cm_program *program, uint32_t tensor);

/* "LOAD", "STORE", ... */
const char *cm_opcode_name(cm_opcode opcode);

/* Fills program->lanes, which has room for all lanes of the target. */
void cm_program_number_lanes(cm_program *program);

/* What a rate of a computing instruction is called (cm_rate_name) that counts on `type`. */
void cm_program_rate_name(const cm_program *program, const cm_instruction *instruction, cm_type type, char name[CM_TARGET_NAME_MAX]);

/* What a lane is called: "matrix 3", "data 1 port 0". */
void cm_lane_name(const cm_program *program, uint32_t lane, char name[CM_LANE_NAME_MAX]);

/* The kind of work that an instruction is, and the instruction of a kind of computing. */
cm_unit_kind cm_opcode_unit(cm_opcode opcode);

static inline cm_opcode cm_unit_opcode(cm_unit_kind kind)
{
  return kind == CM_UNIT_MATRIX ? CM_CODE_MATRIX : kind == CM_UNIT_VECTOR ? CM_CODE_VECTOR : CM_CODE_HOST;
}

/* What of an instruction's operands, whose addresses count from base[buffer] (NULL: from 0), lies on other cores than its
 * lane. O(parts). */
cm_remote cm_program_remote(const cm_program *program, const cm_instruction *instruction, const uint64_t *base);

/* Nanoseconds that an instruction keeps its lane busy. SET and WAIT take none beyond waiting. 0 < result. */
double cm_instruction_ns(const cm_program *program, const cm_instruction *instruction);

/* Writes a program file, whole or not at all. Errors: CM_IO, CM_DISK_FULL, memory. */
cm_status cm_program_write(const cm_program *program, const char *path, cm_error *error);

/* The same into a new block on the program's account, freed with cm_free. */
cm_status cm_program_write_memory(const cm_program *program, uint8_t **bytes, size_t *size, cm_error *error);

/* Reads a program file on the run's account; everything in it is checked, so that running it cannot leave the memory it
 * states. Errors: CM_DAMAGED with section and byte, CM_TOO_LARGE, CM_NOT_FOUND, CM_IO, memory. */
cm_status cm_program_read(const char *path, cm_run *run, cm_program **made, cm_error *error);
cm_status cm_program_read_memory(const void *bytes, size_t size, cm_run *run, cm_program **made, cm_error *error);

/* Prints a program as text: tensors, then each subgraph's instructions. Errors: CM_IO. */
cm_status cm_program_disassemble(const cm_program *program, FILE *out, cm_error *error);
