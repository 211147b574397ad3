/* What must hold whatever the bytes. */
#ifndef TESTS_FUZZ_DEMAND_H
#define TESTS_FUZZ_DEMAND_H

#include <stdio.h>
#include <stdlib.h>

static inline void demand(int holds, const char *what)
{
  if (!holds) {
    fprintf(stderr, "%s\n", what);
    abort();
  }
}

#endif
