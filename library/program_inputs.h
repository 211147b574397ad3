/* What a program is run on: arrays, files, and random numbers for the rest. */
#pragma once

#include "core/machine/program/program.h"
#include "library/arrays.h"

typedef struct library_program_given {
  json_t *files;                /* texts, FILE or NAME=FILE; NULL: none */
  const coremap_arrays *arrays; /* NULL: none */
  uint64_t seed;                /* of numbers for inputs that neither gives */
} library_program_given;

/* Makes inputs [p->input_count], the caller's; also on failure those that are not NULL. *any: the first that is random, NULL: none. Errors: CM_BAD_REQUEST (what is no input, or
 * does not fit one), those of cm_tensor_read. */
cm_status library_program_inputs(const library_program_given *given, const cm_program *p, cm_memory *memory, cm_tensor **inputs,
                                 const char **any, cm_error *error);
