/* What must hold whatever the bytes. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

static inline void demand(int holds, const char *what)
{
  if (!holds) {
    fprintf(stderr, "%s\n", what);
    abort();
  }
}
