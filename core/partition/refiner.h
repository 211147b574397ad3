/* A way to make a partition better on one level of a method: what it suits, and how it is done. A method has a row of them, and a level of
 * its own kind that they work on. */
#pragma once

#include "base/status.h"

typedef struct cm_refiner {
  bool (*suits)(const void *level);
  cm_status (*refine)(void *level, cm_error *error);
} cm_refiner;

/* All of a row that suit, one after another. */
static inline cm_status cm_refine(const cm_refiner *row, size_t count, void *level, cm_error *error)
{
  cm_status status = CM_OK;
  for (size_t i = 0; i < count && status == CM_OK; i++)
    if (row[i].suits(level))
      status = row[i].refine(level, error);
  return status;
}
