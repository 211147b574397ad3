#include "base/order.h"

#include <stdint.h>

int cm_ascending(const void *a, const void *b)
{
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return p < q ? -1 : p > q;
}

int cm_ascending_real(const void *a, const void *b)
{
  double p = *(const double *)a, q = *(const double *)b;
  return p < q ? -1 : p > q;
}

int cm_ascending_long(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}
