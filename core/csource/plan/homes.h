/* What lies where: which loads need not be made because outside memory can be read in place, and the memory of the chip that is left.
 * Internal to core/csource. */
#pragma once

#include "core/csource/plan/flow.h"

enum { CM_C_LINE = 64 }; /* bytes that move together; every buffer of a program begins with one */

/* Bytes of the lines that so many fill. */
static inline uint64_t cm_c_whole_lines(uint64_t bytes)
{
  return (bytes + CM_C_LINE - 1) / CM_C_LINE * CM_C_LINE;
}

/* Elements of dims; of a part from its first to its last. */
int64_t cm_c_count(uint32_t rank, const int64_t *dims);
uint64_t cm_c_reach(const cm_program_part *part);

/* What is known of a buffer. */
typedef struct cm_c_buffer {
  uint64_t first_load; /* + 1: the loads that fill it, a list; 0: none do */
  bool constant;       /* constants alone fill it, and operators alone read it: its values are known */
  bool in_place;       /* a part of an input that lies as in the input */
  uint64_t from, home; /* where it lies in the program and in the code (cm_c_space_pack) */
} cm_c_buffer;

typedef struct cm_c_space {
  cm_c_buffer *buffers;
  uint64_t *next_load;  /* by instruction: + 1, of the same buffer */
  bool *left_out;       /* by instruction: SET, WAIT, and loads that are not made */
  uint64_t bytes;       /* of the chip that code needs */
} cm_c_space;

/* The caller frees with cm_c_space_end, also after a failure. O(program). Errors: memory. */
cm_status cm_c_space_make(const cm_program *program, cm_c_space *space, cm_error *error);
void cm_c_space_end(cm_c_space *space);

/* Gives every buffer its home: those that are never needed at once share memory, whatever the lanes do; one that takes over the place of
 * another at the same instruction keeps to it, and what is made element for element takes that of an input that ends there. The largest goes first, to the lowest place that is free. O(buffers^2 lanes); of more than
 * 16384 buffers all stay where they are. Errors: memory. */
cm_status cm_c_space_pack(const cm_program *program, const cm_c_flow *flow, cm_c_space *space, cm_error *error);

/* Whether a part is of constants. */
bool cm_c_is_constant(const cm_program *program, const cm_c_space *space, const cm_program_part *part);

/* Where an address in a buffer went. */
uint64_t cm_c_address(const cm_c_space *space, uint32_t buffer, uint64_t address);

/* What constants make of an operand all of whose parts lie in constant buffers, or of one of its parts (NULL: of all), its elements in order: a new
 * tensor. O(bytes of the buffers). */
cm_status cm_c_known(const cm_program *program, const cm_c_space *space, const cm_operand *operand, const cm_program_part *part, cm_tensor **made,
                     cm_error *error);

/* Whether a box of a tensor is one run of it; *first is its first element. */
bool cm_c_is_run(const cm_program_tensor *tensor, const int64_t *from, const int64_t *extent, uint64_t *first);

/* Whether a part is the whole of an operand of these dims, in order. */
bool cm_c_is_whole(const cm_program_part *part, const cm_operand *operand);
