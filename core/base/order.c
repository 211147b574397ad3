#include "core/base/order.h"

#include <stdint.h>

int cm_ascending(const void *a, const void *b)
{
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return p < q ? -1 : p > q;
}
