#include "base/order.h"

enum { RADIX = 256 };

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

uint64_t *cm_sort_by_upper_half(uint64_t *key, uint64_t *other, uint64_t count, uint32_t largest)
{
  for (unsigned shift = 32; shift < 64 && (largest >> (shift - 32)) != 0; shift += 8) {
    uint64_t begin[RADIX] = {0};
    for (uint64_t i = 0; i < count; i++)
      begin[(key[i] >> shift) % RADIX]++;
    uint64_t sum = 0;
    for (int digit = 0; digit < RADIX; digit++) {
      uint64_t here = begin[digit];
      begin[digit] = sum;
      sum += here;
    }
    for (uint64_t i = 0; i < count; i++)
      other[begin[(key[i] >> shift) % RADIX]++] = key[i];
    uint64_t *held = key;
    key = other;
    other = held;
  }
  return key;
}
