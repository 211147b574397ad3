/* A problem as it is read, shared by the files that do (problem_read.c). */
#pragma once

#include "core/constraints/problem.h"

#define CM_NEED_MAX ((json_int_t)1 << 40) /* no sum of as many passes 2^63 */

typedef struct cm_problem_reading {
  cm_problem *p;
  cm_memory *memory;
  uint32_t *by_name; /* [nodes] in the order of their names */
  uint64_t pin_capacity;
} cm_problem_reading;

/* A short list of names. */
typedef struct cm_problem_names {
  char ***list;
  uint32_t *count, most;
} cm_problem_names;

/* problem_fields.c: CM_BAD_OPTION at `where`: "WHERE: expected EXPECTED". */
cm_status cm_problem_bad(const char *where, const char *expected, cm_error *error);

/* A member of an object at `group` that is a whole number; *number keeps its value where it is not there. CM_BAD_OPTION. */
cm_status cm_problem_whole(const json_t *object, const char *group, const char *name, json_int_t most, uint64_t *number, cm_error *error);

/* Adds a name to a list, or finds it there. CM_TOO_LARGE, memory. */
cm_status cm_problem_intern(const cm_problem_reading *reading, cm_problem_names of, const char *name, uint32_t *number, cm_error *error);

/* problem_array.c: the tiles. CM_BAD_OPTION, CM_TOO_LARGE, memory. */
cm_status cm_problem_read_array(cm_problem_reading *reading, const json_t *array, cm_error *error);
