/* A program as callers hold it. */
#pragma once

#include <coremap/program.h>

#include "core/machine/program/program.h"

struct coremap_program {
  cm_memory memory; /* that it stands in */
  cm_program *program;
};
