/* A program as callers hold it. */
#ifndef LIBRARY_PROGRAM_HELD_H
#define LIBRARY_PROGRAM_HELD_H

#include <coremap/program.h>

#include "core/machine/program/program.h"

struct coremap_program {
  cm_memory memory; /* that it stands in */
  cm_program *program;
};

#endif
