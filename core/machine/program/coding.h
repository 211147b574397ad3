/* Between the files that write programs and read them: one walk over what a file holds puts it in bytes, or takes it from there and checks it.
 * After a failure to read, c->r.status says so and everything reads as nothing. */
#pragma once

#include "core/machine/program/codec.h"
#include "core/machine/program/program.h"

typedef struct cm_coding {
  cm_writer *w; /* NULL: it is read */
  cm_reader r;
  cm_program *p; /* what is written stays as it is */
  uint64_t operand_room, part_room, version;
  uint64_t instructions; /* that are done */
  bool outside;          /* operands of the present one may lie there */
} cm_coding;

/* What is wrong, where something is read, and nothing was wrong before. */
#define CM_REFUSE_IF(c, wrong, ...)               \
  do {                                            \
    if (cm_reads(c) && (wrong))                   \
      (void)cm_reader_fail(&(c)->r, __VA_ARGS__); \
  } while (0)

static inline bool cm_reads(const cm_coding *c)
{
  return c->w == NULL && c->r.status == CM_OK;
}

/* A number, as it is written or read: at most `most` then. CM_CODE does that for a field of any type, CM_CODE_ANY without a limit. */
uint64_t cm_code_number(cm_coding *c, uint64_t number, uint64_t most, const char *what);
#define CM_CODE(c, field, most, what) ((field) = (__typeof__(field))cm_code_number((c), (uint64_t)(field), (most), (what)))
#define CM_CODE_ANY(c, field) CM_CODE(c, field, UINT64_MAX, "")
void cm_code_signed(cm_coding *c, int64_t *number);
double cm_code_double(cm_coding *c, double number);

/* A finite number from `least` on. */
void cm_code_real(cm_coding *c, double *number, double least, const char *what);

/* A text of a length: one that is read is the program's. A text up to its end. */
const char *cm_code_text(cm_coding *c, const char *text, size_t length);
const char *cm_code_name(cm_coding *c, const char *name);

/* How many things follow, each at least a byte; and room for them in the program, zeroed, one more than there are: 0 without. */
uint32_t cm_code_count(cm_coding *c, uint64_t count, const char *what);
uint32_t cm_code_array(cm_coding *c, void *pointer, uint64_t count, size_t size, const char *what);

/* Notes what room for something that is read came to; true when there is. */
bool cm_code_room(cm_coding *c, cm_status status);

/* A shape's dimensions, as many as are returned; a type of elements. */
uint32_t cm_code_dims(cm_coding *c, uint32_t rank, int64_t *dims);
void cm_code_type(cm_coding *c, cm_type *type);

/* The sections before the code. */
void cm_code_chip(cm_coding *c);
void cm_code_tensors(cm_coding *c);
void cm_code_constants(cm_coding *c);
void cm_code_operators(cm_coding *c);
void cm_code_objects(cm_coding *c);

/* The section of instructions, operands and their parts: reads it; or writes it, with loops where these halve it. */
void cm_code_read(cm_coding *c);
cm_status cm_code_write(cm_coding *c, bool *loops);
