#include "base/random.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
  return cm_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t rotate(uint64_t x, int bits)
{
  return (x << bits) | (x >> (64 - bits));
}

void cm_random_init(cm_random *random, uint64_t seed, uint64_t stream, uint64_t substream)
{
  uint64_t state = seed;
  state = splitmix(&state) ^ stream;
  state = splitmix(&state) ^ substream;
  for (int i = 0; i < 4; i++)
    random->state[i] = splitmix(&state);
}

uint64_t cm_random_next(cm_random *random)
{
  uint64_t *s = random->state;
  uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return result;
}

uint64_t cm_random_below(cm_random *random, uint64_t bound)
{
  unsigned __int128 product = (unsigned __int128)cm_random_next(random) * bound;
  if ((uint64_t)product < bound) {
    uint64_t threshold = -bound % bound;
    while ((uint64_t)product < threshold)
      product = (unsigned __int128)cm_random_next(random) * bound;
  }
  return (uint64_t)(product >> 64);
}

double cm_random_unit(cm_random *random)
{
  return (double)(cm_random_next(random) >> 11) * 0x1p-53;
}

void cm_random_normals(cm_random *random, float *value, size_t count)
{
  for (size_t i = 0; i < count; i += 2) {
    double radius = sqrt(-2 * log(1 - cm_random_unit(random))), angle = 2 * M_PI * cm_random_unit(random);
    value[i] = (float)(radius * cos(angle));
    if (i + 1 < count)
      value[i + 1] = (float)(radius * sin(angle));
  }
}

double cm_random_unit_of(uint64_t key, uint64_t index)
{
  uint64_t state = key + index * UINT64_C(0xd1342543de82ef95);
  return (double)(splitmix(&state) >> 11) * 0x1p-53;
}

void cm_random_permutation(cm_random *random, uint32_t *order, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    uint32_t j = (uint32_t)cm_random_below(random, (uint64_t)i + 1);
    order[i] = order[j];
    order[j] = i;
  }
}
